//! `cargo xtask python`: builds the Python package into an environment of its own under `target/`, and runs its
//! tests, types and examples. `cargo xtask python engines` runs the tests with Spark, Ray, Polars and DuckDB.
//!
//! Nothing of it is part of `cargo test` or `cargo xtask ci`.

use std::path::Path;

use crate::workspace::Workspace;
use crate::{Res, sh};

const TOOLS: &[&str] = &["maturin", "hypothesis", "mypy", "pyarrow", "pytest"];
const ENGINES: &[&str] = &[
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
        ["engines"] => ([TOOLS, ENGINES].concat(), "engine"),
        args => return crate::no_more(args),
    };
    let root = workspace.root.join("crates/msg-python");
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace.root.join("target"), Into::into);
    let place = target.join("python");
    let python = environment(&root, &place)?;
    let install = [&["-m", "pip", "install", "--quiet"], &packages[..]].concat();
    sh::run(&root, &python, &install, &[])?;
    build(&root, &place, &target)?;
    let pytest = ["-m", "pytest", "-q", "-m", marked, "--doctest-modules", "tests", "README.md"];
    sh::run(&root, &python, &pytest, &[])?;
    sh::run(&root, &python, &["-m", "mypy", "--strict", "python", "tests"], &[])?;
    sh::run(&root, &python, &["-m", "mypy.stubtest", "msg._msg"], &[])
}

/// The environment's interpreter; made if it is not there.
fn environment(root: &Path, place: &Path) -> Res<String> {
    let python = place.join("bin/python");
    if !python.is_file() {
        let place = place.display().to_string();
        sh::run(root, "python3", &["-m", "venv", &place], &[])?;
    }
    Ok(python.display().to_string())
}

/// Builds the package into the environment at `place`, which has maturin.
pub(crate) fn build(root: &Path, place: &Path, target: &Path) -> Res {
    let maturin = place.join("bin/maturin").display().to_string();
    let (place, target) = (place.display().to_string(), target.display().to_string());
    let env = [("VIRTUAL_ENV", place.as_str()), ("CARGO_TARGET_DIR", target.as_str())];
    sh::run(root, &maturin, &["develop", "--quiet", "--release"], &env)
}
