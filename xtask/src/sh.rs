//! Runs other programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Res;

/// The cargo that runs this program.
pub(crate) fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// `RUSTFLAGS` for what is released: the texts of panics name files as the workspace and the registry do, not by their
/// place on the machine that builds.
pub(crate) fn portable_flags(root: &Path) -> String {
    let mut places = vec![root.to_owned()];
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| {
        std::env::var_os("HOME")
            .or_else(|| std::env::var_os("USERPROFILE"))
            .map(|it| PathBuf::from(it).join(".cargo"))
    });
    let registries = home.and_then(|it| std::fs::read_dir(it.join("registry/src")).ok());
    places.extend(registries.into_iter().flatten().flatten().map(|it| it.path()));
    let remapped = places.iter().map(|it| format!("--remap-path-prefix={}=.", it.display()));
    let given = std::env::var("RUSTFLAGS").ok().filter(|it| !it.is_empty());
    given.into_iter().chain(remapped).collect::<Vec<_>>().join(" ")
}

/// A command as it would be typed, for messages.
fn typed(program: &str, args: &[&str]) -> String {
    let program = Path::new(program).file_stem().and_then(|it| it.to_str()).unwrap_or(program);
    std::iter::once(program).chain(args.iter().copied()).collect::<Vec<_>>().join(" ")
}

/// Runs a program in `dir` with its output shown.
pub(crate) fn run(dir: &Path, program: &str, args: &[&str], env: &[(&str, &str)]) -> Res {
    let status =
        Command::new(program).args(args).envs(env.iter().copied()).current_dir(dir).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` failed ({status})", typed(program, args)).into()),
        Err(err) => Err(format!("`{}` does not start: {err}", typed(program, args)).into()),
    }
}

/// Runs a program in `dir` and gives what it prints; its errors are shown.
pub(crate) fn read(dir: &Path, program: &str, args: &[&str]) -> Res<String> {
    let output = Command::new(program)
        .args(args)
        .current_dir(dir)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|err| format!("`{}` does not start: {err}", typed(program, args)))?;
    if !output.status.success() {
        return Err(format!("`{}` failed ({})", typed(program, args), output.status).into());
    }
    String::from_utf8(output.stdout)
        .map_err(|_| format!("`{}` printed no UTF-8", typed(program, args)).into())
}

/// Whether a program runs and succeeds; nothing is shown.
pub(crate) fn succeeds(dir: &Path, program: &str, args: &[&str]) -> bool {
    let status = Command::new(program)
        .args(args)
        .current_dir(dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|it| it.success())
}
