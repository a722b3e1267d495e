//! `cargo xtask ci`: everything that has to pass before a change goes in.
//!
//! Compiling is most of it, so it is done once: what comes after the tests has their features and those of the program
//! that only its tests of crashes need ([`WHOLE`]), which compiles little beside the program again. The release build of
//! the instruction counts, which seldom fills two cores, is made beside the tests.
//!
//! ```text
//! format, tests, columns and crashes, lints, docs, each crate alone, examples, codegen, tidy    one after the other
//! instructions                                                                                 beside them
//! ```

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Instant;

use crate::layers::{LAYERS, OUTSIDE};
use crate::workspace::{Built, Workspace};
use crate::{Res, bench, codegen, sh, tidy};

/// All that is built from one set of features: whatever has one of its own would compile the crates below it again.
/// The benches bring what only they need, and the fuzz targets link only where libFuzzer is.
const WHOLE: &[&str] = &[
    "--locked",
    "--workspace",
    "--exclude=benches",
    "--exclude=msg-fuzz",
    "--features=msg-cli/test-hooks",
];
/// The fuzz targets are linted too, without libFuzzer: that takes no nightly and no C++ compiler.
const LINTED: &[&str] = &[
    "--locked",
    "--workspace",
    "--exclude=benches",
    "--all-targets",
    "--features=msg-cli/test-hooks",
    "--",
    "-D",
    "warnings",
];

pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Res {
    let mut steps = Steps { workspace, failed: Vec::new() };
    match args {
        [] => whole(&mut steps, Tests::ToRun)?,
        ["--tests-done"] => whole(&mut steps, Tests::Done)?,
        ["beside"] => steps.run("instructions", |it| bench::count(it, &[])),
        args => crate::no_more(args)?,
    }
    if steps.failed.is_empty() {
        println!("== all steps passed");
        Ok(())
    } else {
        Err(format!("failed: {}", steps.failed.join(", ")).into())
    }
}

/// Whether `cargo test` has passed before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tests {
    ToRun,
    Done,
}

fn whole(steps: &mut Steps<'_>, tests: Tests) -> Res {
    steps.cargo("format", &["fmt", "--all", "--check"], &[]);
    let beside = Beside::start()?;
    if tests == Tests::ToRun {
        steps.cargo("tests", &["test", "--locked"], &[]);
    }
    steps.run("columns and crashes", columns_and_crashes);
    steps.cargo("lints", &[&["clippy"], LINTED].concat(), &[]);
    // As users have them, so that each crate alone finds them checked.
    let strict = [("RUSTDOCFLAGS", "-D warnings")];
    steps.cargo("docs", &["doc", "--locked", "--no-deps"], &strict);
    steps.run("each crate alone", each_alone);
    steps.run("examples", examples);
    steps.run("codegen", |it| {
        let workspace = Workspace { root: it.root.clone(), program: Some(program(it)?) };
        codegen::run(&workspace, &["--check"])
    });
    steps.run("tidy", |it| tidy::run(it, &[]));
    beside.finish(&mut steps.failed)
}

/// Runs steps; a failure is noted and the next steps still run, so that one run shows everything.
struct Steps<'a> {
    workspace: &'a Workspace,
    failed: Vec<&'static str>,
}

impl Steps<'_> {
    fn cargo(&mut self, name: &'static str, args: &[&str], env: &[(&str, &str)]) {
        self.run(name, |it| sh::run(&it.root, &sh::cargo(), args, env));
    }

    fn run(&mut self, name: &'static str, run: impl FnOnce(&Workspace) -> Res) {
        println!("== {name}");
        let start = Instant::now();
        let verdict = match run(self.workspace) {
            Ok(()) => "passed",
            Err(err) => {
                eprintln!("{err}");
                self.failed.push(name);
                "FAILED"
            }
        };
        println!("== {name} {verdict} in {:.1} s", start.elapsed().as_secs_f64());
    }
}

/// The steps that run beside the tests: this program once more, whose output is shown when it has ended.
struct Beside {
    child: Child,
    output: PathBuf,
}

impl Beside {
    fn start() -> Res<Self> {
        let output = std::env::temp_dir().join(format!("msg-ci-{}", std::process::id()));
        let file = File::create(&output)?;
        let child = Command::new(std::env::current_exe()?)
            .args(["ci", "beside"])
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()?;
        Ok(Self { child, output })
    }

    fn finish(mut self, failed: &mut Vec<&'static str>) -> Res {
        let status = self.child.wait()?;
        print!("{}", String::from_utf8_lossy(&std::fs::read(&self.output)?));
        std::fs::remove_file(&self.output)?;
        if !status.success() {
            failed.push("what ran beside the tests");
        }
        Ok(())
    }
}

/// Runs the tests that `cargo test` leaves out: those of the columns, for which the crates of Arrow are compiled, and
/// those of the program that stop it in the middle of a write or need SQLite.
fn columns_and_crashes(workspace: &Workspace) -> Res {
    let mut n_ran = 0;
    for test in workspace.executables(&[&["test", "--no-run"], WHOLE].concat())? {
        let args: &[&str] = match &*test.package {
            "msg-arrow" => &["--quiet"],
            "msg-cli" if test.name == "it" => &["--quiet", "doctor", "sessions"],
            _ => continue,
        };
        if test.is_test {
            let folder = workspace.root.join("crates").join(&test.package);
            sh::run(&folder, &test.path, args, &[])?;
            n_ran += 1;
        }
    }
    if n_ran < 3 {
        return Err(format!("{n_ran} programs of tests were built, expected 3").into());
    }
    let examples = [&["test", "--quiet", "--doc"], WHOLE, &["--", "crates/msg-arrow"]].concat();
    sh::run(&workspace.root, &sh::cargo(), &examples, &[])
}

/// Runs the example programs of every crate, which the tests have built; each runs without arguments and checks what
/// it shows.
fn examples(workspace: &Workspace) -> Res {
    let mut ran: Vec<String> = Vec::new();
    for example in workspace.executables(&[&["build", "--examples"], WHOLE].concat())? {
        if ran.contains(&example.path) {
            return Err(format!("two examples have the name of {}", example.path).into());
        }
        sh::read(&workspace.root, &example.path, &[])?;
        ran.push(example.path);
    }
    if ran.is_empty() { Err("no example was built".into()) } else { Ok(()) }
}

/// The `msg` that the tests have built.
fn program(workspace: &Workspace) -> Res<String> {
    // The examples are named because their features are those of the tests; without them other features would be built.
    let build = [&["build", "--bin=msg", "--examples"], WHOLE].concat();
    let built = workspace.executables(&build)?;
    let is_msg = |it: &Built| it.package == "msg-cli" && it.name == "msg";
    built.into_iter().find(is_msg).map(|it| it.path).ok_or_else(|| "cargo built no msg".into())
}

/// Builds each library with its default features and without the others, which otherwise lend it
/// features that its own manifest forgot.
fn each_alone(workspace: &Workspace) -> Res {
    for room in LAYERS.iter().filter(|it| it.floor != OUTSIDE) {
        let check = ["check", "--quiet", "--locked", "--package", room.name];
        sh::run(&workspace.root, &sh::cargo(), &check, &[])?;
    }
    Ok(())
}
