//! The tests of the program: each runs the built `msg` the way a shell does.
//!
//! What a command prints and writes is data, in `test_data/commands` and `test_data/files` (see
//! `commands`); other files, pipes and long runs are functions here; `across`
//! holds laws between the crates, for whatever conversation is given.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod across;
mod chat;
mod chat_apis;
mod commands;
mod dataset;
mod doctor;
mod example;
mod explain;
mod files;
mod findings;
mod fit;
mod guides;
mod help_examples;
mod lines;
mod message_files;
mod redaction;
mod rescue;
mod rows;
mod server;
mod sessions;
mod view;

use std::process::Output;

use assert_cmd::Command;

/// Runs `msg` on `stdin`.
fn msg(args: &[&str], stdin: &[u8]) -> Output {
    program().args(args).write_stdin(stdin).output().unwrap()
}

/// The program, in an environment that says nothing about how it prints.
fn program() -> Command {
    let mut program = Command::cargo_bin("msg").unwrap();
    program.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("COLUMNS");
    program
}

/// Standard output as text.
fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Standard error as text.
fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Whether a program that the tests start would not notice this signal (`-HUP`): who runs them under `nohup` or in the
/// background has it ignored, and children inherit that.
#[cfg(unix)]
fn is_ignored(signal: &str) -> bool {
    let number = match signal {
        "-HUP" => 1,
        "-INT" => 2,
        "-QUIT" => 3,
        "-USR1" => 10,
        "-TERM" => 15,
        _ => return false,
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|it| it.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|it| u64::from_str_radix(it.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (number - 1)) != 0
}
