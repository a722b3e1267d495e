//! Writers that die, write together, or find the file saved by somebody else (MF-41 to MF-45).
//!
//! The writers are this very test binary, started again with a job in its environment, so that a
//! kill is a real one.
#![allow(clippy::disallowed_methods, reason = "these tests are about files and processes")]

use crate::laws::read;
use msg_core::Severity;
use msg_file::store::{Appender, AppenderOptions, Durability};
use msg_file::{MessageFile, Mode, NewCell, Nonce};
use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const JOB: &str = "MSG_FILE_TEST_WRITER";

fn flush() -> AppenderOptions {
    AppenderOptions { durability: Durability::Flush, ..AppenderOptions::default() }
}

/// The job of a child: appends `N` cells by `NAME` to `PATH` and says each id when it is acknowledged.
#[test]
fn writer() {
    let Ok(job) = std::env::var(JOB) else { return };
    let mut job = job.splitn(3, ' ');
    let (name, count, path) = (job.next().unwrap(), job.next().unwrap(), job.next().unwrap());
    let mut log = Appender::open(Path::new(path), flush()).unwrap();
    let mut out = std::io::stdout();
    for i in 0..count.parse::<usize>().unwrap() {
        let cell = NewCell::message(format!("{name} {i}\n\n```\n# %% text of {name}\n```"));
        let done = log.append(&cell, &mut || Nonce::from_random(i as u64));
        match done {
            Ok(done) => writeln!(out, "ack {} {i} {}", done.id, done.recovered.join(",")).unwrap(),
            Err(error) => writeln!(out, "error {error}").unwrap(),
        }
        out.flush().unwrap();
    }
}

/// What is worse than an information.
fn oddities(doc: &MessageFile) -> Vec<String> {
    doc.check().iter().filter(|d| d.severity > Severity::Info).map(ToString::to_string).collect()
}

fn start(name: &str, count: usize, path: &Path) -> Child {
    command(name, count, path).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn command(name: &str, count: usize, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "crash::writer", "--nocapture"]);
    command.env(JOB, format!("{name} {count} {}", path.display()));
    command
}

/// Index of each acknowledged cell and its id.
fn acknowledged(child: &mut Child) -> Vec<(String, usize)> {
    let out = BufReader::new(child.stdout.take().unwrap());
    let acks = out.lines().map_while(Result::ok).filter_map(|l| {
        let at = l.find("ack ")?;
        let mut it = l[at + 4..].split(' ');
        Some((it.next()?.to_owned(), it.next()?.parse().ok()?))
    });
    acks.collect()
}

#[test]
fn four_writers_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.msg.md");
    fs::write(&path, "# Title\n").unwrap();
    let mut children: Vec<_> =
        ["a", "b", "c", "d"].map(|n| start(n, 100, &path)).into_iter().collect();
    let acks: Vec<_> = children.iter_mut().map(acknowledged).collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let doc = read(&fs::read(&path).unwrap(), Mode::MessageFile);
    assert_eq!(doc.cells().len(), 400);
    assert_eq!(oddities(&doc), Vec::<String>::new());
    let ids: HashSet<_> = doc.cells().iter().map(|c| c.id().unwrap().into_owned()).collect();
    assert_eq!(ids.len(), 400);
    for (name, acks) in ["a", "b", "c", "d"].iter().zip(&acks) {
        assert_eq!(acks.len(), 100);
        let mine: Vec<String> = doc
            .cells()
            .iter()
            .map(|c| c.body_text().lines().next().unwrap().to_owned())
            .filter(|l| l.starts_with(name))
            .collect();
        assert_eq!(
            mine,
            (0..100).map(|i| format!("{name} {i}")).collect::<Vec<_>>(),
            "the order of {name}"
        );
    }
}

#[test]
fn a_killed_writer_leaves_whole_cells_and_keeps_its_word() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.msg.md");
    for round in 0..12u64 {
        let _ = fs::remove_file(&path);
        fs::write(&path, "# %% first[^1]\n\n[^1]: [markdown]\n\nhello\n").unwrap();
        let mut child = start("k", 100_000, &path);
        std::thread::sleep(Duration::from_millis(15 + round * 7));
        child.kill().unwrap();
        let acks = acknowledged(&mut child);
        child.wait().unwrap();

        let mut log = Appender::open(&path, flush()).unwrap();
        log.append(&NewCell::message("after"), &mut || Nonce::from_random(1)).unwrap();
        let doc = read(&fs::read(&path).unwrap(), Mode::MessageFile);
        assert_eq!(oddities(&doc), Vec::<String>::new());
        let bodies: Vec<_> = doc.cells().iter().map(|c| c.body_text().into_owned()).collect();
        assert_eq!((bodies[0].as_str(), bodies.last().unwrap().as_str()), ("hello", "after"));
        for (i, body) in bodies[1..bodies.len() - 1].iter().enumerate() {
            assert_eq!(
                *body,
                format!("k {i}\n\n```\n# %% text of k\n```"),
                "cells are whole, once, in order"
            );
        }
        for (id, i) in &acks {
            let cell = doc.cell(&id.as_str().into()).unwrap();
            assert!(
                cell.body_text().starts_with(&format!("k {i}\n")),
                "an acknowledged cell is there"
            );
        }
    }
}

/// The system refuses to let the file grow at every length of one append: the writer is told, or dies.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_at_every_byte() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.msg.md");
    let old = format!("# %% first[^1]\n\n[^1]: [markdown]\n\n{}\n", "x".repeat(2000));
    for extra in (0..90).step_by(3) {
        for dies in [false, true] {
            fs::write(&path, &old).unwrap();
            let writer = command("w", 1, &path);
            let limit = old.len() + extra;
            // prlimit bounds the file size by bytes; unless the signal is ignored, the writer dies of it.
            let ignore = if dies { "" } else { "trap '' XFSZ; " };
            let script = format!("{ignore}exec prlimit --fsize={limit} \"$0\" \"$@\"");
            let mut limited = Command::new("sh");
            limited.arg("-c").arg(script).arg(writer.get_program()).args(writer.get_args());
            limited.envs(writer.get_envs().filter_map(|(k, v)| Some((k, v?))));
            let Ok(out) = limited.stderr(Stdio::null()).output() else { return };
            let acked = String::from_utf8_lossy(&out.stdout).contains("ack 2 0");
            if !dies && !acked && String::from_utf8_lossy(&out.stdout).contains("error") {
                assert_eq!(
                    fs::read(&path).unwrap(),
                    old.as_bytes(),
                    "a failed append is taken back"
                );
            }
            let mut log = Appender::open(&path, flush()).unwrap();
            log.append(&NewCell::message("after"), &mut || Nonce::from_random(1)).unwrap();
            let doc = read(&fs::read(&path).unwrap(), Mode::MessageFile);
            assert!(doc.bytes().starts_with(old.as_bytes()), "old bytes stay");
            assert_eq!(oddities(&doc), Vec::<String>::new());
            let bodies: Vec<_> =
                doc.cells()[1..].iter().map(|c| c.body_text().into_owned()).collect();
            let whole = "w 0\n\n```\n# %% text of w\n```";
            assert!(bodies == ["after"] || bodies == [whole, "after"], "{bodies:?}");
            assert!(!acked || bodies.len() == 2, "an acknowledged cell is there");
        }
    }
}

#[test]
fn a_person_saves_while_writers_write() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.msg.md");
    fs::write(&path, "# %% first[^1]\n\n[^1]: [markdown]\n\nhello\n").unwrap();
    let mut logs: Vec<_> = (0..4).map(|_| Appender::open(&path, flush()).unwrap()).collect();
    let mut acks = Vec::new();
    for round in 0..40 {
        // The editor's buffer is old: two cells younger than it are lost when it is saved.
        let buffer = fs::read_to_string(&path).unwrap();
        for log in logs.iter_mut().skip(round % 3).take(2) {
            let text = format!("cell {}", acks.len());
            let done = log
                .append(&NewCell::message(text.as_str()), &mut || Nonce::from_random(1))
                .unwrap();
            acks.push((done.id, text));
        }
        if round % 2 == 0 {
            fs::write(dir.path().join("save"), buffer.replace("hello", "hello again")).unwrap();
            fs::rename(dir.path().join("save"), &path).unwrap();
        } else {
            fs::write(&path, buffer).unwrap();
        }
    }
    for log in &mut logs {
        log.reconcile().unwrap();
    }
    let doc = read(&fs::read(&path).unwrap(), Mode::MessageFile);
    let there: HashSet<_> = doc.cells().iter().map(|c| c.body_text().into_owned()).collect();
    for (_, text) in acks {
        assert!(there.contains(&text), "{text} is gone");
    }
}
