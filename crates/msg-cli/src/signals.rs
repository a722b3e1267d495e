//! Signals that end the program: temporary files go before it does.
//!
//! A thread of its own waits for them, so that nothing runs inside a signal handler. A signal that whoever
//! started the program chose to ignore (`nohup`) stays ignored. `msg chat` does not use this: there a
//! signal is a wish to end, see its `stop`.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

/// The temporary files of this process.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// From now on a signal that ends the program takes its temporary files along.
pub(crate) fn clean_up() {
    static STARTED: Once = Once::new();
    STARTED.call_once(wait_for_one);
}

/// Makes a temporary file that a signal removes; no signal comes between making and knowing it.
pub(crate) fn temporary<T, E>(
    make: impl FnOnce() -> Result<T, E>,
    path: impl FnOnce(&T) -> PathBuf,
) -> Result<T, E> {
    clean_up();
    let mut all = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    let made = make()?;
    all.push(path(&made));
    Ok(made)
}

/// The file has got its name, or is gone.
pub(crate) fn forget(path: &Path) {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).retain(|it| it != path);
}

/// Removes what is there; whoever makes one later waits for ever, since the program ends.
#[cfg(unix)]
fn remove_all() {
    let all = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    for path in all.iter() {
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(all);
    msg_file::store::remove_temporary_files();
}

#[cfg(unix)]
fn wait_for_one() {
    use signal_hook::consts::{
        SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU,
        SIGXFSZ,
    };
    const ENDING: [i32; 11] = [
        SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU,
        SIGXFSZ,
    ];
    let wanted = ENDING.into_iter().filter(|it| !is_ignored(*it));
    // Without it a signal ends the program as ever, and leaves the file.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            remove_all();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

#[cfg(not(unix))]
fn wait_for_one() {}

/// Whether a signal is ignored; false where the system does not tell.
pub(crate) fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("SigIgn:"));
    let ignored = line.and_then(|it| u64::from_str_radix(it.trim(), 16).ok()).unwrap_or(0);
    ignored & (1 << (signal - 1)) != 0
}
