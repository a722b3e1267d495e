//! `cargo xtask ci`: everything that has to pass before a change goes in.

use std::time::Instant;

use crate::layers::{LAYERS, OUTSIDE};
use crate::workspace::Workspace;
use crate::{Res, bench, codegen, sh, tidy};

/// A step: its name and the arguments and environment that cargo runs it with.
type Step = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const STEPS: &[Step] = &[
    ("format", &["fmt", "--all", "--check"], &[]),
    ("tests", &["test", "--locked"], &[]),
    (
        "lints",
        &["clippy", "--locked", "--all-targets", "--all-features", "--", "-D", "warnings"],
        &[],
    ),
    (
        "crashes",
        &[
            "test",
            "--locked",
            "--package",
            "msg-cli",
            "--features",
            "test-hooks,sqlite",
            "--test",
            "it",
            "--",
            "doctor",
            "sessions",
        ],
        &[],
    ),
    // Not a default member, so that other builds do not compile the crates of Arrow.
    ("columns", &["test", "--locked", "--package", "msg-arrow"], &[]),
    (
        "lints of columns",
        &["clippy", "--locked", "--package", "msg-arrow", "--all-targets", "--", "-D", "warnings"],
        &[],
    ),
    ("docs", &["doc", "--locked", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]),
];

pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Res {
    let tests_done = match args {
        ["--tests-done", rest @ ..] => {
            crate::no_more(rest)?;
            true
        }
        args => {
            crate::no_more(args)?;
            false
        }
    };
    let mut failed = Vec::new();
    for (name, args, env) in STEPS {
        if !(tests_done && *name == "tests") {
            step(name, &mut failed, || sh::run(&workspace.root, &sh::cargo(), args, env));
        }
    }
    step("examples", &mut failed, || examples(workspace));
    step("each crate alone", &mut failed, || each_alone(workspace));
    step("fuzz targets", &mut failed, || fuzz_targets(workspace));
    step("instructions", &mut failed, || bench::count(workspace, &[]));
    step("tidy", &mut failed, || tidy::run(workspace, &[]));
    step("codegen", &mut failed, || codegen::run(workspace, &["--check"]));
    if failed.is_empty() {
        println!("== all steps passed");
        Ok(())
    } else {
        Err(format!("failed: {}", failed.join(", ")).into())
    }
}

/// Runs the example programs of every crate; each runs without arguments and checks what it shows.
fn examples(workspace: &Workspace) -> Res {
    for room in LAYERS.iter().filter(|it| it.floor != OUTSIDE) {
        let folder = workspace.root.join("crates").join(room.name).join("examples");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|it| it.ok()?.path().file_stem()?.to_str().map(str::to_owned))
            .collect();
        names.sort();
        for name in names {
            let args = ["run", "--quiet", "--locked", "--package", room.name, "--example", &name];
            sh::read(&workspace.root, &sh::cargo(), &args)?;
        }
    }
    Ok(())
}

/// Builds each library with its default features and without the others, which otherwise lend it
/// features that its own manifest forgot.
fn each_alone(workspace: &Workspace) -> Res {
    for room in LAYERS.iter().filter(|it| it.floor != OUTSIDE) {
        sh::run(
            &workspace.root,
            &sh::cargo(),
            &["check", "--quiet", "--locked", "--package", room.name],
            &[],
        )?;
    }
    Ok(())
}

/// Compiles the fuzz targets, without libFuzzer: that takes no nightly and no C++ compiler. Their
/// workspace is another, the build folder need not be.
fn fuzz_targets(workspace: &Workspace) -> Res {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace.root.join("target"), Into::into);
    let target = target.display().to_string();
    let mut args = vec!["check", "--quiet", "--locked", "--no-default-features"];
    args.extend(["--manifest-path", "xtask/fuzz/Cargo.toml", "--target-dir", &target]);
    sh::run(&workspace.root, &sh::cargo(), &args, &[])
}

/// Runs one step; a failure is noted and the next steps still run, so that one run shows everything.
fn step(name: &'static str, failed: &mut Vec<&'static str>, run: impl FnOnce() -> Res) {
    println!("== {name}");
    let start = Instant::now();
    let verdict = match run() {
        Ok(()) => "passed",
        Err(err) => {
            eprintln!("{err}");
            failed.push(name);
            "FAILED"
        }
    };
    println!("== {name} {verdict} in {:.1} s", start.elapsed().as_secs_f64());
}
