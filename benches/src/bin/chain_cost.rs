//! Prints what the operations of the chain tree cost a message, in instructions, at 1 000, 10 000 and 100 000
//! messages: counts do not depend on what else the machine does. Fails where ten times the messages cost more
//! than 10.5 times as much.
//!
//! It runs itself under valgrind, which has to be installed.
//!
//! usage: `cargo run --release -p benches --bin chain_cost`

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program that starts valgrind and prints a table"
)]

use std::{error::Error, hint::black_box, process::Command};

use benches::chains;
use msg_chainast::{ChainAst, CheckOptions, Message, Profile, RepairOptions, SeededIds, check};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

/// The most that ten times the messages may cost.
const GROWTH: f64 = 10.5;

/// An operation on a chain of some length, by name. Only [`counted`] is counted.
type Operation = (&'static str, fn(usize));

const OPERATIONS: &[Operation] = &[
    ("parse", |n| parse(chains::mixed(n))),
    ("flatten", |n| flatten(chains::mixed(n))),
    ("repair, valid", |n| repair(chains::mixed(n))),
    ("repair, results missing", |n| repair(chains::missing(n))),
    ("repair, results late", |n| repair(chains::late(n))),
    ("check", |n| judge(chains::mixed(n), None)),
    ("check, `openai`", |n| judge(chains::mixed(n), Profile::named("openai"))),
    ("check, `generic`", |n| judge(chains::mixed(n), Profile::named("generic"))),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    if let (Some(name), Some(n)) = (args.next(), args.next()) {
        let operation = OPERATIONS.iter().find(|it| it.0 == name).ok_or("no such operation")?;
        operation.1(n.parse()?);
        return Ok(());
    }
    println!("instructions a message | 1 000 | 10 000 | 100 000 | growth to 100 000");
    println!("---|---|---|---|---");
    let mut worst: f64 = 0.0;
    for (name, _) in OPERATIONS {
        let counts = SIZES.map(|n| count(name, n).map(|it| it / n as f64));
        let [small, middle, large] = counts;
        let (small, middle, large) = (small?, middle?, large?);
        let growth = 10.0 * large / middle;
        println!("{name} | {small:.0} | {middle:.0} | {large:.0} | {growth:.2}");
        worst = worst.max(growth);
    }
    if worst > GROWTH {
        return Err(format!("ten times the messages cost {worst:.2} times as much").into());
    }
    Ok(())
}

/// The instructions of one operation, as callgrind counts them.
fn count(name: &str, n: usize) -> Result<f64, Box<dyn Error>> {
    let out = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg("--toggle-collect=*counted*")
        .arg(std::env::current_exe()?)
        .args([name, &n.to_string()])
        .output()?;
    let text = String::from_utf8_lossy(&out.stderr);
    let collected = text.lines().find_map(|it| it.split_once("Collected :"));
    let (_, number) = collected.ok_or_else(|| format!("valgrind did not count: {text}"))?;
    Ok(number.trim().parse()?)
}

#[inline(never)]
fn counted<T>(work: impl FnOnce() -> T) -> T {
    black_box(work())
}

fn parse(chain: Vec<Message>) {
    counted(|| ChainAst::parse(chain).expect("because the shape is valid"));
}

fn flatten(chain: Vec<Message>) {
    let chain = ChainAst::parse(chain).expect("because the shape is valid");
    counted(|| chain.messages().map(|it| it.parts.len()).sum::<usize>() + chain.size());
}

fn repair(chain: Vec<Message>) {
    counted(|| ChainAst::repair(chain, &RepairOptions::new(), &mut SeededIds::new(1)));
}

fn judge(chain: Vec<Message>, profile: Option<&Profile>) {
    counted(|| check(&chain, profile, &CheckOptions::new()));
}
