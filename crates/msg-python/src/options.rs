//! Options from keyword arguments (PY-8), understood once and kept (PY-11).

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use msg_document::{
    CheckOptions, ConvertOptions, FitOptions, Fitter, KeyOptions, Refusal, RepairOptions,
    StreamOptions, ToolsOptions, options_from_json,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::refused;
use crate::input::Input;

/// What an act understands its options as.
pub(crate) trait Understood: Any + Send + Sync + Sized {
    fn of(json: &[u8]) -> Result<Self, Refusal>;

    /// Those of a call without options.
    fn unset() -> &'static OnceLock<Arc<Self>>;
}

macro_rules! understood {
    ($($options:ty),*) => {$(
        impl Understood for $options {
            fn of(json: &[u8]) -> Result<Self, Refusal> {
                options_from_json(json)
            }

            fn unset() -> &'static OnceLock<Arc<Self>> {
                static UNSET: OnceLock<Arc<$options>> = OnceLock::new();
                &UNSET
            }
        }
    )*};
}

understood!(
    CheckOptions,
    RepairOptions,
    ConvertOptions,
    FitOptions,
    KeyOptions,
    StreamOptions,
    ToolsOptions
);

impl Understood for Fitter {
    fn of(json: &[u8]) -> Result<Self, Refusal> {
        Fitter::new(options_from_json(json)?)
    }

    fn unset() -> &'static OnceLock<Arc<Self>> {
        static UNSET: OnceLock<Arc<Fitter>> = OnceLock::new();
        &UNSET
    }
}

/// Compiled options by their text, for a program that uses a handful again and again.
type Kept = HashMap<(TypeId, Vec<u8>), Arc<dyn Any + Send + Sync>>;
static KEPT: Mutex<Option<Kept>> = Mutex::new(None);
const MAX_KEPT: usize = 64;

/// The options of a call, understood before if they can be.
pub(crate) fn of<T: Understood>(
    options: Option<&Bound<'_, PyDict>>,
    py: Python<'_>,
) -> PyResult<Arc<T>> {
    if let Some(options) = options.filter(|it| !it.is_empty()) {
        return kept(Input::of(options.as_any())?.json().to_vec(), py);
    }
    if let Some(unset) = T::unset().get() {
        return Ok(Arc::clone(unset));
    }
    let options = Arc::new(T::of(b"{}").map_err(|it| refused(py, &it))?);
    Ok(Arc::clone(T::unset().get_or_init(|| options)))
}

/// Options from the cache.
fn kept<T: Understood>(json: Vec<u8>, py: Python<'_>) -> PyResult<Arc<T>> {
    let key = (TypeId::of::<T>(), json);
    // A poisoned lock holds nothing that a panic could have left half done.
    let mut kept = KEPT.lock().unwrap_or_else(|it| it.into_inner());
    let kept = kept.get_or_insert_default();
    if let Some(found) = kept.get(&key).and_then(|it| Arc::clone(it).downcast::<T>().ok()) {
        return Ok(found);
    }
    let options = Arc::new(T::of(&key.1).map_err(|it| refused(py, &it))?);
    if kept.len() >= MAX_KEPT {
        kept.clear();
    }
    kept.insert(key, Arc::clone(&options) as Arc<dyn Any + Send + Sync>);
    Ok(options)
}
