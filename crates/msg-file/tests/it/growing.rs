//! Answers that are on disk while they come: written over, or beside what others write (MF-42).
#![allow(clippy::disallowed_methods, reason = "these tests are about files")]

use crate::laws::nonces;
use crate::store::{OLD, flush, read, sidecar, sidecar_path, start};
use msg_core::{Message, Part, Role, ToolCall, ToolResult};
use msg_file::store::{Appender, GrowingMessage};
use msg_file::{HistoryOptions, NewCell, ToCells};
use std::fs;
use std::path::Path;

fn answer(text: &str) -> Message {
    Message::assistant(text)
}

fn marked(finish: &str) -> ToCells {
    ToCells { agent: None, attrs: vec![("finish_reason".to_owned(), Some(finish.to_owned()))] }
}

fn bodies(path: &Path) -> Vec<String> {
    read(path).cells().iter().map(|c| c.body_text().into_owned()).collect()
}

/// A result that is not one text has no form of its own, and is its JSON.
#[test]
fn a_result_of_several_parts_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = start(dir.path(), OLD);
    let mut log = Appender::open(&path, flush()).unwrap();
    let call = Message::new(Role::Assistant).with_part(ToolCall::new("c1", "look", "{}"));
    let parts = vec![Part::text("one"), Part::text("two")];
    let result = Message::new(Role::Tool).with_part(ToolResult::new("c1", parts));
    for message in [&call, &result] {
        log.append_message(message, &ToCells::default(), &mut nonces()).unwrap();
    }
    let back = read(&path).messages(&HistoryOptions::default()).unwrap();
    let found = back.iter().flat_map(Message::tool_results).next().unwrap();
    assert_eq!(found.content.parts(), result.tool_results().next().unwrap().content.parts());
}

#[test]
fn a_growing_answer_is_on_disk_and_one_answer_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = start(dir.path(), OLD);
    let (mut log, mut growing) =
        (Appender::open(&path, flush()).unwrap(), GrowingMessage::default());
    for text in ["The", "The cap\n# %% [^1]", "The cap"] {
        let done =
            log.grow_message(&mut growing, &answer(text), &marked("interrupted"), &mut nonces());
        assert_eq!(done.unwrap()[0].id, "2");
        assert_eq!(bodies(&path), ["hello", text]);
        assert!(fs::read(&path).unwrap().starts_with(OLD.as_bytes()));
    }
    log.grow_message(&mut growing, &answer("The capital."), &marked("stop"), &mut nonces())
        .unwrap();
    assert_eq!(bodies(&path), ["hello", "The capital."]);
    assert_eq!(read(&path).cells()[1].attr("finish_reason").as_deref(), Some("stop"));
    let third = log.append(&NewCell::message("third"), &mut nonces()).unwrap();
    assert_eq!((third.id.as_str(), third.recovered.len()), ("3", 0));
    assert_eq!(bodies(&path), ["hello", "The capital.", "third"]);
}

#[test]
fn what_others_do_to_a_growing_answer_stands() {
    let dir = tempfile::tempdir().unwrap();
    for removed in [false, true] {
        let path = start(dir.path(), OLD);
        let (mut log, mut growing) =
            (Appender::open(&path, flush()).unwrap(), GrowingMessage::default());
        let mut grow = |text: &str| {
            log.grow_message(&mut growing, &answer(text), &marked("x"), &mut nonces()).unwrap()
        };
        grow("one");
        if removed {
            fs::write(&path, OLD.replace("hello", "HELLO")).unwrap();
            grow("one two");
            assert_eq!(bodies(&path), ["HELLO", "one two"]);
        } else {
            let mut other = Appender::open(&path, flush()).unwrap();
            other.append(&NewCell::message("mine"), &mut nonces()).unwrap();
            assert_eq!(grow("one two")[0].id, "2");
            assert_eq!(bodies(&path), ["hello", "one two", "mine"]);
            assert_eq!(grow("one two three")[0].id, "2");
            assert_eq!(bodies(&path), ["hello", "one two three", "mine"]);
        }
    }
}

/// The process dies between any two bytes of a rewriting: what is there is the old state or the new.
#[test]
fn a_killed_growth_is_the_old_answer_or_the_new() {
    let dir = tempfile::tempdir().unwrap();
    let path = start(dir.path(), OLD);
    let (mut log, mut growing) =
        (Appender::open(&path, flush()).unwrap(), GrowingMessage::default());
    log.grow_message(&mut growing, &answer("one"), &marked("x"), &mut nonces()).unwrap();
    let half = fs::read(&path).unwrap();
    log.grow_message(&mut growing, &answer("one two"), &marked("y"), &mut nonces()).unwrap();
    let whole = fs::read(&path).unwrap();
    let record = &whole[OLD.len()..];
    let states = (0..=record.len()).map(|n| whole[..OLD.len() + n].to_vec());
    for state in states.chain([half]) {
        fs::write(&path, &state).unwrap();
        fs::write(sidecar_path(&path), sidecar(OLD.as_bytes(), record)).unwrap();
        drop(Appender::open(&path, flush()).unwrap());
        let texts = bodies(&path);
        assert!(texts == ["hello", "one"] || texts == ["hello", "one two"], "{texts:?}");
    }
}
