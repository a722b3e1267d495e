//! Prints what a kernel costs beside the library that it calls, in instructions over the same rows (SC-22): counts do
//! not depend on what else the machine does. Fails where a kernel costs more than a tenth more.
//!
//! It runs itself under valgrind, which has to be installed.
//!
//! usage: `cargo run --release -p benches --bin column_cost -- FILE.jsonl`

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program that starts valgrind and prints a table"
)]

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::process::Command;

use arrow_array::StringArray;
use msg_document::{CheckOptions, FitOptions, RepairOptions};

/// What a kernel may cost of the library's cost.
const MOST: f64 = 1.1;
/// So many rows at most: valgrind is slow.
const ROWS: usize = 400;

/// A kernel over a column, and the library over its rows.
type Kernel = (&'static str, fn(&StringArray), fn(&StringArray));

const KERNELS: &[Kernel] = &[
    (
        "is_valid",
        |it| counted(|| msg_arrow::is_valid(it, &CheckOptions::default())),
        |it| each(it, |row| msg_document::is_valid(row, &CheckOptions::default())),
    ),
    (
        "check",
        |it| counted(|| msg_arrow::check(it, &CheckOptions::default())),
        |it| each(it, |row| msg_document::check(row, &CheckOptions::default())),
    ),
    (
        "repair",
        |it| counted(|| msg_arrow::repair(it, &RepairOptions::default())),
        |it| each(it, |row| msg_document::repair(row, &RepairOptions::default())),
    ),
    (
        "stats",
        |it| counted(|| msg_arrow::stats(it, &FitOptions::default())),
        |it| each(it, |row| msg_document::stats(row, &FitOptions::default())),
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: column_cost FILE.jsonl")?;
    if let (Some(name), Some(of)) = (args.next(), args.next()) {
        let text = fs::read_to_string(path)?;
        let column: StringArray = text.lines().take(ROWS).map(Some).collect();
        let kernel = KERNELS.iter().find(|it| it.0 == name).ok_or("no such kernel")?;
        if of == "kernel" {
            (kernel.1)(&column)
        } else {
            (kernel.2)(&column)
        }
        return Ok(());
    }
    println!("instructions | library | kernel | ratio");
    println!("---|---|---|---");
    let mut worst: f64 = 0.0;
    for (name, ..) in KERNELS {
        let (library, kernel) = (count(&path, name, "library")?, count(&path, name, "kernel")?);
        println!("{name} | {library:.0} | {kernel:.0} | {:.3}", kernel / library);
        worst = worst.max(kernel / library);
    }
    if worst > MOST {
        Err(format!("a kernel costs {worst:.2} times as much").into())
    } else {
        Ok(())
    }
}

/// The instructions of one run, as callgrind counts them.
fn count(path: &str, name: &str, of: &str) -> Result<f64, Box<dyn Error>> {
    let out = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg("--toggle-collect=*counted*")
        .arg(std::env::current_exe()?)
        .args([path, name, of])
        .output()?;
    let text = String::from_utf8_lossy(&out.stderr);
    let collected = text.lines().find_map(|it| it.split_once("Collected :"));
    let (_, number) = collected.ok_or_else(|| format!("valgrind did not count: {text}"))?;
    Ok(number.trim().parse()?)
}

#[inline(never)]
fn counted<T>(work: impl FnOnce() -> T) {
    black_box(work());
}

fn each<T>(column: &StringArray, answer: impl Fn(&[u8]) -> T) {
    counted(|| {
        for row in column.iter().flatten() {
            black_box(answer(row.as_bytes()));
        }
    });
}
