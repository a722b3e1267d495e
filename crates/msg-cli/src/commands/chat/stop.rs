//! Whether somebody wants the run to end: Ctrl-C, or a signal that ends programs.
//!
//! The first one is a wish, so that what has come can be kept; a second one ends the program as it
//! always does. A signal that whoever started the program chose to ignore (`nohup`) stays ignored.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGINT;
#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGTERM};

use crate::signals::is_ignored;

#[cfg(unix)]
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
#[cfg(not(unix))]
const SIGNALS: [i32; 1] = [SIGINT];

/// A wish to end.
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Catches the signals from now on.
    pub(super) fn on_signals() -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in SIGNALS.into_iter().filter(|it| !is_ignored(*it)) {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))?;
            signal_hook::flag::register(signal, Arc::clone(&stop))?;
        }
        Ok(Self(stop))
    }

    /// Whether a signal came.
    pub(super) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
