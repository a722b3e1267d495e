//! Options from keyword arguments (PY-8), understood once and kept (PY-11). An unknown name and a wrong type are
//! `TypeError`s, a value that an option cannot have is an `OptionError` (RE-15); both speak of arguments.
//!
//! ```text
//! check(x, profil="openai")    TypeError: check() got an unexpected option 'profil', did you mean 'profile'?
//! check(x, open="yes")         TypeError: check() option 'open' expects bool, found str
//! check(x, profile="openia")   OptionError: profile: no profile is called "openia", …
//! ```
//!
//! And what is raised (PY-9): `ParseError` for a document that cannot be read, `OptionError` for a bad option,
//! `InternalError` for a panic. The classes are Python's, so that `ParseError` is a `ValueError` too.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, OnceLock},
};

use msg_document::{
    CaptureOptions, CheckOptions, ConvertOptions, Fitter, KeyOptions, ReadOptions, Refusal,
    RepairOptions, StatsOptions, ToolsOptions, options_from_json,
};
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    sync::PyOnceLock,
    types::{PyBool, PyDict, PyList, PyString, PyTuple, PyType},
};

use crate::input::{is_mapping, options_json};
use crate::known;

/// An option that a function has.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    /// The types that it takes; empty takes any.
    takes: &'static str,
}

impl Known {
    pub(crate) const fn new(name: &'static str, takes: &'static str) -> Self {
        Known { name, takes }
    }

    /// Whether a value is of a type that the option takes.
    fn fits(&self, value: &Bound<'_, PyAny>) -> bool {
        let is_bool = value.is_instance_of::<PyBool>();
        self.takes.is_empty()
            || value.is_none()
            || self.takes.split('|').any(|it| match it {
                "bool" => is_bool,
                // Numbers of numpy are not of the type `int`, and mean one.
                "int" => !is_bool && value.hasattr("__index__").unwrap_or(false),
                "str" => value.is_instance_of::<PyString>(),
                "list" => value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>(),
                "dict" => is_mapping(value),
                _ => false,
            })
    }
}

/// A function or class as its caller knows it: its name and its options.
#[derive(Clone, Copy)]
pub(crate) struct Act {
    pub(crate) name: &'static str,
    pub(crate) known: &'static [Known],
}

impl Act {
    pub(crate) const fn new(name: &'static str, known: &'static [Known]) -> Self {
        Act { name, known }
    }
}

/// The parsed options of an act.
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
    msg_arrow::SummaryOptions,
    msg_cache::CacheOptions,
    msg_cache::LedgerOptions,
    msg_session::SessionOptions,
    ReadOptions,
    CheckOptions,
    RepairOptions,
    ConvertOptions,
    StatsOptions,
    KeyOptions,
    CaptureOptions,
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
///
/// Fails with `TypeError` for an unknown name or a wrong type, with `OptionError` for a value.
pub(crate) fn of<T: Understood>(
    act: Act,
    options: Option<&Bound<'_, PyDict>>,
    py: Python<'_>,
) -> PyResult<Arc<T>> {
    if let Some(options) = options.filter(|it| !it.is_empty()) {
        return given(act, options);
    }
    if let Some(unset) = T::unset().get() {
        return Ok(Arc::clone(unset));
    }
    let options = Arc::new(T::of(b"{}").map_err(|it| refused(py, &it))?);
    Ok(Arc::clone(T::unset().get_or_init(|| options)))
}

/// Options that a caller gave.
fn given<T: Understood>(act: Act, options: &Bound<'_, PyDict>) -> PyResult<Arc<T>> {
    let json = match options_json(options) {
        Ok(json) => json,
        Err(err) => {
            expect_known(act, options)?;
            return Err(err);
        }
    };
    let key = (TypeId::of::<T>(), json);
    if let Some(found) = kept(|it| it.get(&key).map(Arc::clone)) {
        return found.downcast::<T>().map_err(|_| PyTypeError::new_err(act.name));
    }
    expect_known(act, options)?;
    let understood = T::of(&key.1).map_err(|it| bad_value::<T>(options, &it))?;
    let understood = Arc::new(understood);
    kept(|it| {
        if it.len() >= MAX_KEPT {
            it.clear();
        }
        it.insert(key, Arc::clone(&understood) as Arc<dyn Any + Send + Sync>);
    });
    Ok(understood)
}

fn kept<R>(act: impl FnOnce(&mut Kept) -> R) -> R {
    // A poisoned lock holds nothing that a panic could have left half done.
    act(KEPT.lock().unwrap_or_else(|it| it.into_inner()).get_or_insert_default())
}

/// Fails for an option that the function does not have, and for one of another type.
fn expect_known(act: Act, options: &Bound<'_, PyDict>) -> PyResult<()> {
    for (name, value) in options.iter() {
        let name = name.cast::<PyString>()?.to_str()?.to_owned();
        let name = if name == "from" { "from_" } else { &name };
        let Some(it) = act.known.iter().find(|it| it.name == name) else {
            return Err(PyTypeError::new_err(unexpected(act, name)));
        };
        if !it.fits(&value) {
            let (expected, found) = (it.takes.replace('|', " or "), value.get_type().name()?);
            let text = format!("{}() option '{name}' expects {expected}, found {found}", act.name);
            return Err(PyTypeError::new_err(text));
        }
    }
    Ok(())
}

fn unexpected(act: Act, name: &str) -> String {
    let near = act.known.iter().map(|it| (distance(name, it.name), it.name)).min();
    let hint = match near {
        Some((far, near)) if far <= 1 + near.len() / 4 => format!(", did you mean '{near}'?"),
        _ if act.known.is_empty() => ", it has none".to_owned(),
        _ => {
            let all: Vec<_> = act.known.iter().map(|it| it.name).collect();
            format!(", expected {}", all.join(", "))
        }
    };
    format!("{}() got an unexpected option '{name}'{hint}", act.name)
}

/// How many letters have to be put in, taken out or replaced, at most as many as `a` has.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, letter) in a.chars().take(64).enumerate() {
        let mut before = std::mem::replace(&mut row[0], at + 1);
        for (i, other) in b.iter().enumerate() {
            let replaced = before + usize::from(letter != *other);
            before = row[i + 1];
            row[i + 1] = replaced.min(row[i] + 1).min(before + 1);
        }
    }
    row[b.len()]
}

/// The error for a value, with the name of its option: the first that is refused alone.
fn bad_value<T: Understood>(options: &Bound<'_, PyDict>, refusal: &Refusal) -> PyErr {
    let py = options.py();
    for (name, value) in options.iter() {
        let one = PyDict::new(py);
        let refused_alone = one.set_item(&name, value).is_ok().then(|| options_json(&one));
        let Some(Ok(json)) = refused_alone else { continue };
        if let Err(alone) = T::of(&json)
            && said(&alone) == said(refusal)
        {
            return bad_option(py, &format!("{name}: {}", said(refusal)));
        }
    }
    bad_option(py, &said(refusal))
}

/// What a refusal says, without the place in a text that the caller never wrote.
fn said(refusal: &Refusal) -> String {
    let text = refusal.diagnostic().message();
    let text = text.strip_prefix("options are not understood: ").unwrap_or(&text);
    let end = text.rfind(" at line ").filter(|it| text[it + 9..].contains(" column "));
    text[..end.unwrap_or(text.len())].to_owned()
}

/// A sentence of the program in words of Python: `--max-tokens N` is `max_tokens=N`, `--repair` is `repair=True`.
pub(crate) fn in_python(text: &str) -> String {
    let text = text.replace("`msg convert --help`", "`msg.formats()`");
    let text = text.replace("(feature `bpe`)", "(feature `tokens`)");
    let text = text.replace(", as `jq -s .` does", "");
    let text = text.replace("name the dialect if you know it", "`agent` names who wrote it");
    let text = text.split("; `-` reads a pipe").next().unwrap_or_default();
    // Commands that are functions.
    let text = ["check", "tools", "stream"].iter().fold(text.to_owned(), |text, it| {
        text.replace(&format!("`msg {it}`"), &format!("`msg.{it}`"))
    });
    let mut pieces = text.split("--");
    let mut res = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_name = |it: char| it.is_ascii_lowercase() || it == '-';
        let end = piece.find(|it| !is_name(it)).unwrap_or(piece.len());
        let (flag, rest) = piece.split_at(end);
        let name = flag.replace('-', "_");
        match known::FIT.iter().chain(known::CONVERT).chain(known::CHECK).find(|it| it.name == name)
        {
            Some(it) if it.takes == "bool" => res.push_str(&format!("{name}=True{rest}")),
            // In code, up to its end: `--field request.body` is `field="request.body"`.
            Some(it) if it.takes.contains("str") && res.ends_with('`') && rest.contains('`') => {
                let (value, rest) = rest.split_once('`').unwrap_or((rest, ""));
                res.push_str(&format!("{name}=\"{}\"`{rest}", value.trim()));
            }
            Some(_) => {
                let value = rest
                    .strip_prefix(' ')
                    .filter(|it| !it.starts_with(|it: char| it.is_lowercase()));
                res.push_str(
                    &value.map_or_else(|| format!("{name}{rest}"), |it| format!("{name}={it}")),
                );
            }
            None if name.is_empty() => res.push_str(&format!("--{rest}")),
            None => res.push_str(&format!("{name}{rest}")),
        }
    }
    res
}

static CLASSES: PyOnceLock<[Py<PyType>; 3]> = PyOnceLock::new();

fn classes<'py>(py: Python<'py>) -> PyResult<[Bound<'py, PyType>; 3]> {
    let classes = CLASSES.get_or_try_init(py, || -> PyResult<_> {
        let module = py.import("msg.errors")?;
        let class = |name: &str| -> PyResult<Py<PyType>> {
            Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind())
        };
        Ok([class("ParseError")?, class("OptionError")?, class("InternalError")?])
    })?;
    Ok([0, 1, 2].map(|it| classes[it].bind(py).clone()))
}

/// The exception that a refusal is, in words of Python: what is wrong, and what would mend it (RE-17).
pub(crate) fn refused(py: Python<'_>, refusal: &Refusal) -> PyErr {
    let diagnostic = refusal.diagnostic();
    let fix = diagnostic.fix.as_deref().map(|it| format!("; {it}")).unwrap_or_default();
    let text = in_python(&format!("{}{fix}", diagnostic.message()));
    if refusal.is_bad_option() {
        return bad_option(py, &text);
    }
    let line = String::from_utf8_lossy(&refusal.to_json()).into_owned();
    match classes(py) {
        Ok([parse, ..]) => PyErr::from_type(parse, (text, line)),
        Err(err) => err,
    }
}

/// A value that an option cannot have.
pub(crate) fn bad_option(py: Python<'_>, text: &str) -> PyErr {
    match classes(py) {
        Ok([_, option, _]) => PyErr::from_type(option, with_guess(&plain(&in_python(text)))),
        Err(err) => err,
    }
}

/// A sentence without types of Rust: `max_depth: invalid value: integer `-1`, expected usize` names none that Python has.
fn plain(text: &str) -> String {
    let text = text.replace("unknown variant", "unknown value");
    let parts = text.split_once("invalid value: ").or(text.split_once("invalid type: "));
    let parts = parts.and_then(|(option, it)| Some((option, it.split_once(", expected ")?)));
    let Some((option, (found, expected))) = parts else { return text };
    let is_whole = matches!(expected, "u8" | "u16" | "u32" | "u64" | "usize" | "i64");
    let is_number = found.starts_with("integer") || found.starts_with("floating point");
    let (found, expected) = (in_words(found), in_words(expected));
    match is_whole && is_number {
        true if found.starts_with('-') => {
            format!("{option}expected a number from 0, found {found}")
        }
        true => format!("{option}expected a smaller number, found {found}"),
        false => format!("{option}expected {expected}, found {found}"),
    }
}

/// What serde calls a value or a type, as Python does.
fn in_words(text: &str) -> String {
    let value = ["integer ", "floating point ", "string ", "boolean "]
        .iter()
        .find_map(|it| text.strip_prefix(it));
    match (text, value.map(|it| it.trim_matches('`'))) {
        (_, Some("true")) => "True".to_owned(),
        (_, Some("false")) => "False".to_owned(),
        (_, Some(value)) => value.to_owned(),
        ("null" | "unit value", _) => "None".to_owned(),
        ("sequence" | "a sequence", _) => "a list".to_owned(),
        ("map" | "a map", _) => "a dict".to_owned(),
        ("u8" | "u16" | "u32" | "u64" | "usize" | "i64", _) => "an int".to_owned(),
        ("f64", _) => "a number".to_owned(),
        _ if text.starts_with("struct ") => "a dict".to_owned(),
        _ => text.to_owned(),
    }
}

/// A refused value with the one that was meant, where that is near: `no profile is called "opnai", …`.
fn with_guess(text: &str) -> String {
    let Some((said, known)) = text.split_once(", expected ").or(text.split_once(": expected "))
    else {
        return text.to_owned();
    };
    let quoted = |quote: char| said.split(quote).nth(1).filter(|it| !it.is_empty());
    let Some(given) = quoted('"').or_else(|| quoted('`')) else { return text.to_owned() };
    let known = known.trim_start_matches("one of ").replace(" or ", ", ");
    let names = known.split(", ").map(|it| it.trim_matches(['`', '"']));
    match names.map(|it| (distance(given, it), it)).min() {
        Some((far, near)) if far <= 1 + near.len() / 4 => {
            format!("{text}; did you mean {near:?}?")
        }
        _ => text.to_owned(),
    }
}

/// A bad document that never became one.
pub(crate) fn unreadable(py: Python<'_>, message: &str) -> PyErr {
    match classes(py) {
        Ok([parse, ..]) => PyErr::from_type(parse, (message.to_owned(), String::new())),
        Err(err) => err,
    }
}

/// Runs what must not panic; a panic is an `InternalError`, not PyO3's exception, which `except Exception` misses.
pub(crate) fn guarded<T>(py: Python<'_>, run: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| match classes(py) {
        Ok([_, _, internal]) => Err(PyErr::from_type(internal, "a bug in msg, please report it")),
        Err(err) => Err(err),
    })
}

#[cfg(test)]
mod tests {
    use super::{distance, in_python, plain, with_guess};

    #[test]
    fn no_sentence_names_a_type_of_rust() {
        let rows = [
            (
                "n: invalid value: integer `-1`, expected usize",
                "n: expected a number from 0, found -1",
            ),
            (
                "n: invalid value: integer `300`, expected u8",
                "n: expected a smaller number, found 300",
            ),
            (
                "n: invalid type: floating point `1e+30`, expected i64",
                "n: expected a smaller number, found 1e+30",
            ),
            ("n: invalid type: string \"b\", expected u64", "n: expected an int, found \"b\""),
            ("n: invalid type: map, expected a sequence", "n: expected a list, found a dict"),
            (
                "n: invalid type: boolean `true`, expected struct Flat",
                "n: expected a dict, found True",
            ),
            ("n: unknown variant `a`, expected `b`", "n: unknown value `a`, expected `b`"),
            ("budget: a budget must be above 0", "budget: a budget must be above 0"),
        ];
        for (text, expected) in rows {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn flags_become_arguments() {
        assert_eq!(
            in_python("mend it (--repair) or set --budget N"),
            "mend it (repair=True) or set budget=N"
        );
        assert_eq!(in_python("a -- b"), "a -- b");
        assert_eq!(
            in_python("`--field request.body` reads it, `--join a,b` both"),
            "`field=\"request.body\"` reads it, `join=\"a,b\"` both"
        );
        assert_eq!(
            in_python("x (`msg convert --help` lists them)"),
            "x (`msg.formats()` lists them)"
        );
    }

    #[test]
    fn a_value_that_is_near_is_named() {
        let rows = [
            (r#"profile: no profile is called "opnai", expected openai, gemini"#, "openai"),
            (
                "orphans: unknown variant `fabricat`, expected one of `fabricate`, `drop`",
                "fabricate",
            ),
            (r#"preset: unknown preset "windo", expected forge or window"#, "window"),
            (
                r#"dialects: dialect "hermess" cannot be used: expected one of glm, hermes"#,
                "hermes",
            ),
        ];
        for (text, near) in rows {
            assert_eq!(with_guess(text), format!("{text}; did you mean \"{near}\"?"));
        }
        let far = r#"no profile is called "x", expected openai, gemini"#;
        assert_eq!(with_guess(far), far);
        assert_eq!(with_guess("a budget must be above 0"), "a budget must be above 0");
    }

    #[test]
    fn near_names_are_near() {
        assert_eq!(
            (distance("profil", "profile"), distance("", "abc"), distance("open", "open")),
            (1, 3, 0)
        );
    }
}
