//! `cargo xtask python`: builds the Python package into an environment of its own under `target/`, and runs its
//! tests, types, examples and benches (beside the peers it is measured by `cargo xtask bench python`).
//! `cargo xtask python engines` runs the tests of the adapters and the recipes, and compares what Spark, Ray, Polars and
//! DuckDB say with the program. `cargo xtask python wheel` builds the wheel that is released, with the program in it, and
//! tries it in a fresh environment.
//!
//! Nothing of it is part of `cargo test` or `cargo xtask ci`.

use std::path::Path;

use crate::workspace::Workspace;
use crate::{Res, sh};

const TOOLS: &[&str] =
    &["maturin", "hypothesis", "mypy", "orjson", "pyarrow", "pyright", "pytest", "ruff"];
const ENGINES: &[&str] = &[
    "chdb",
    "daft",
    "duckdb",
    "langchain-core",
    "openai",
    "pandas<3",
    "polars",
    "pydantic-ai-slim",
    "pyspark",
    "ray[data]",
];

pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Res {
    let (packages, marked): (Vec<&str>, &str) = match args {
        [] => (TOOLS.to_vec(), "not engine"),
        ["wheel"] => return wheel(workspace).map(|_| ()),
        ["engines"] => ([TOOLS, ENGINES].concat(), "engine"),
        args => return crate::no_more(args),
    };
    let root = workspace.root.join("crates/msg-python");
    let target = target(workspace);
    let place = target.join("python");
    let python = environment(&root, &place)?;
    let install = [&["-m", "pip", "install", "--quiet"], &packages[..]].concat();
    sh::run(&root, &python, &install, &[])?;
    build(&root, &place, &target, "thin")?;
    let pytest = ["-m", "pytest", "-q", "-m", marked, "--doctest-modules", "tests", "README.md"];
    sh::run(&root, &python, &pytest, &[])?;
    if !args.is_empty() {
        return exactness(workspace, &root, &python, &target);
    }
    sh::run(&root, &python, &["-m", "ruff", "check"], &[])?;
    sh::run(
        &root,
        &python,
        &["-m", "mypy", "--strict", "python", "tests", "benches", "--exclude", "tests/typing"],
        &[],
    )?;
    sh::run(&root, &python, &["-m", "pyright", "python"], &[])?;
    sh::run(&root, &python, &["-m", "mypy.stubtest", "msg._msg"], &[])?;
    let conversations = workspace.root.join("benches/data/conversations/recorded.jsonl");
    sh::run(&root, &python, &["benches/speed.py", &conversations.display().to_string()], &[])
}

/// The wheel of a release in a fresh environment: how large it is, how long `pip install` takes, and that the program and
/// the module work there (RE-21). Gives its path.
pub(crate) fn wheel(workspace: &Workspace) -> Res<String> {
    let root = workspace.root.join("crates/msg-python");
    let target = target(workspace);
    let flags = sh::portable_flags(&workspace.root);
    sh::run(
        &workspace.root,
        &sh::cargo(),
        &["build", "--quiet", "--release", "--locked", "-p", "msg-cli"],
        &[("RUSTFLAGS", &flags)],
    )?;
    let program = if cfg!(windows) { "msg.exe" } else { "msg" };
    let packed = root.join("data/scripts").join(program);
    std::fs::copy(target.join("release").join(program), &packed)?;
    let place = target.join("python");
    let python = environment(&root, &place)?;
    sh::run(&root, &python, &["-m", "pip", "install", "--quiet", "maturin"], &[])?;
    let out = target.join("wheels");
    let built = build_wheel(&root, &place, &target, &out, &["--release"]);
    std::fs::remove_file(&packed)?;
    let wheel = built?;
    println!("{wheel}: {:.1} MB", std::fs::metadata(&wheel)?.len() as f64 / 1e6);
    let stray = "import sys, zipfile; found = [it for it in zipfile.ZipFile(sys.argv[1]).namelist() if '/.' in it]; sys.exit(f'{found} do not belong into a wheel' if found else 0)";
    sh::run(&root, &python, &["-c", stray, &wheel], &[])?;
    let bare = target.join("bare");
    let _ = std::fs::remove_dir_all(&bare);
    let python = environment(&root, &bare)?;
    let start = std::time::Instant::now();
    sh::run(&bare, &python, &["-m", "pip", "install", "--quiet", "--no-deps", &wheel], &[])?;
    println!("pip install: {:.1} s", start.elapsed().as_secs_f64());
    let works = "import msg; assert not msg.check([{'role': 'assistant', 'content': 'hi'}])";
    sh::run(&bare, &python, &["-c", works], &[])?;
    sh::run(&bare, &python, &["-m", "msg", "--version"], &[])?;
    sh::run(&bare, &bare.join("bin").join(program).display().to_string(), &["--version"], &[])?;
    Ok(wheel)
}

/// The build folder.
pub(crate) fn target(workspace: &Workspace) -> std::path::PathBuf {
    let given = std::env::var_os("CARGO_TARGET_DIR").map(Into::into);
    given.unwrap_or_else(|| workspace.root.join("target"))
}

/// Builds a wheel into the folder `out`, after removing others there, and returns its path. `options` go to maturin; a
/// wheel for testing can be built without optimisation.
pub(crate) fn build_wheel(
    root: &Path,
    place: &Path,
    target: &Path,
    out: &Path,
    options: &[&str],
) -> Res<String> {
    let _ = std::fs::remove_dir_all(out);
    let maturin = place.join("bin/maturin").display().to_string();
    let (out_name, target) = (out.display().to_string(), target.display().to_string());
    let flags = sh::portable_flags(root.parent().and_then(Path::parent).unwrap_or(root));
    let env = [("CARGO_TARGET_DIR", target.as_str()), ("RUSTFLAGS", &flags)];
    let build = [&["build", "--quiet", "--out", &out_name], options].concat();
    sh::run(root, &maturin, &build, &env)?;
    let wheel = std::fs::read_dir(out)?.next().ok_or("maturin built no wheel")??;
    Ok(wheel.path().display().to_string())
}

/// Every engine says what the program says, also where a worker is killed (SC-50, SC-53): the small documents of the
/// tests, slowed down so that there is time to kill. With `--data` the same script takes logs.
fn exactness(workspace: &Workspace, root: &Path, python: &str, target: &Path) -> Res {
    sh::run(&workspace.root, &sh::cargo(), &["build", "--quiet", "-p", "msg-cli"], &[])?;
    let program = target.join("debug/msg").display().to_string();
    let small = ["--times", "8", "--batch", "20", "--pause", "0.2", "--kill"];
    let script = [&["benches/exactness.py", "--msg", &program], &small[..]].concat();
    sh::run(root, python, &script, &[])
}

/// The environment's interpreter; creates it if missing.
pub(crate) fn environment(root: &Path, place: &Path) -> Res<String> {
    let python = place.join("bin/python");
    if !python.is_file() {
        let place = place.display().to_string();
        sh::run(root, "python3", &["-m", "venv", &place], &[])?;
    }
    Ok(python.display().to_string())
}

/// Builds the package into the environment at `place`, which contains maturin. `lto` is `fat` for releases and
/// measurements; tests skip it to save time.
pub(crate) fn build(root: &Path, place: &Path, target: &Path, lto: &str) -> Res {
    let maturin = place.join("bin/maturin").display().to_string();
    let (place, target) = (place.display().to_string(), target.display().to_string());
    let env = [
        ("VIRTUAL_ENV", place.as_str()),
        ("CARGO_TARGET_DIR", target.as_str()),
        ("CARGO_PROFILE_RELEASE_LTO", lto),
    ];
    sh::run(root, &maturin, &["develop", "--quiet", "--release"], &env)
}
