//! `cargo xtask ci`: everything that has to pass before a change goes in.
//!
//! Compiling is most of it, so that what `cargo test` has built is run by the later steps. Instructions are counted apart
//! (`cargo xtask bench count`): their release build takes as long as a third of all this.

use std::time::Instant;

use crate::layers::{LAYERS, OUTSIDE};
use crate::workspace::{Built, Workspace};
use crate::{Res, codegen, sh, tidy};

/// Matches the way the tests are built, because the tests build the examples.
const EXAMPLES: [&str; 4] = ["build", "--profile=test", "--examples", "--locked"];
/// What is built for the tests that stop the program in the middle of a write, and for those of columns. The crates of
/// Arrow are not among the default members, so that other builds do not compile them. All packages are named: alone,
/// either would be built with other features of its dependencies, and nearly all crates would be built again.
const MORE: [&str; 4] =
    ["--locked", "--workspace", "--exclude=benches", "--features=msg-cli/test-hooks"];
/// Filters by module name.
const CRASHES_AND_COLUMNS: [&str; 5] = ["--test=it", "--", "doctor", "sessions", "columns"];
/// Filters by folder.
const DOCS_OF_COLUMNS: [&str; 3] = ["--doc", "--", "msg-arrow"];
const EXAMPLES_OF_COLUMNS: &str = "crates/msg-arrow/examples";
/// Lints the benches without their peers, and the fuzz targets without libFuzzer, which needs a C++ compiler.
const LINTED: [&str; 7] = [
    "--locked",
    "--workspace",
    "--all-targets",
    "--features=msg-cli/test-hooks",
    "--",
    "-D",
    "warnings",
];

pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Res {
    let mut steps = Steps { workspace, failed: Vec::new() };
    match args {
        [] => whole(&mut steps, Tests::ToRun),
        ["--tests-done"] => whole(&mut steps, Tests::Done),
        args => crate::no_more(args)?,
    }
    if steps.failed.is_empty() {
        println!("== all steps passed");
        Ok(())
    } else {
        Err(format!("failed: {}", steps.failed.join(", ")).into())
    }
}

/// Whether `cargo test` has already passed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tests {
    ToRun,
    Done,
}

fn whole(steps: &mut Steps<'_>, tests: Tests) {
    steps.cargo("format", &["fmt", "--all", "--check"], &[]);
    if tests == Tests::ToRun {
        steps.cargo("tests", &["test", "--locked"], &[]);
    }
    let more = |what: &[&'static str]| [&["test"], &MORE[..], what].concat();
    steps.cargo("crashes and columns", &more(&CRASHES_AND_COLUMNS), &[]);
    steps.cargo("docs of columns", &more(&DOCS_OF_COLUMNS), &[]);
    steps.cargo("lints", &[&["clippy"], &LINTED[..]].concat(), &[]);
    // Checks the docs of each crate alone, as users see them.
    let strict = [("RUSTDOCFLAGS", "-D warnings")];
    steps.cargo("docs", &["doc", "--locked", "--no-deps"], &strict);
    steps.run("each crate alone", each_alone);
    steps.run("examples", examples);
    steps.run("codegen", |it| {
        let workspace = Workspace { root: it.root.clone(), program: Some(program(it)?) };
        codegen::run(&workspace, &["--check"])
    });
    steps.run("tidy", |it| tidy::run(it, &[]));
}

/// Runs steps and collects failures, so one run shows all of them.
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

/// Runs the examples of every crate, which the tests have built. Each takes no arguments and checks its own output.
fn examples(workspace: &Workspace) -> Res {
    let mut ran: Vec<String> = Vec::new();
    let mut named = Vec::new();
    for entry in std::fs::read_dir(workspace.root.join(EXAMPLES_OF_COLUMNS))? {
        let name = entry?.path().with_extension("");
        named.extend(name.file_name().map(|it| format!("--example={}", it.to_string_lossy())));
    }
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    let columns = [&["build", "--profile=test"], &MORE[..], &named].concat();
    let built = [workspace.executables(&EXAMPLES)?, workspace.executables(&columns)?];
    for example in built.into_iter().flatten() {
        if ran.contains(&example.path) {
            return Err(format!("two examples have the name of {}", example.path).into());
        }
        sh::read(&workspace.root, &example.path, &[])?;
        ran.push(example.path);
    }
    if ran.is_empty() { Err("no example was built".into()) } else { Ok(()) }
}

/// The `msg` that the tests have built. The examples are named because their features are those of the tests; without
/// them other features would be built.
fn program(workspace: &Workspace) -> Res<String> {
    let built = workspace.executables(&[&EXAMPLES[..], &["--bin=msg"]].concat())?;
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
