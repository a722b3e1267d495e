//! Crashes at every byte, without a real crash: the states that one leaves are made by hand.
//!
//! Answers that are on disk while they come: written over, or beside what others write (MF-42).

#![allow(clippy::disallowed_methods, reason = "these tests are about files")]

use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use msg_core::{Message, Part, Role, ToolCall, ToolResult};
use msg_file::{
    AppendOptions, CellRef, Error, FileLimits, Force, HistoryOptions, MessageFile, Mode, NewCell,
    NewId, Nonce, ToCells, append,
    store::{Appender, AppenderOptions, CrashRepair, Durability, GrowingMessage, replace},
};

use crate::laws::nonces;

/// FNV-1a, as in the sidecar.
fn hash(bytes: &[u8]) -> u64 {
    let step = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The sidecar of an append that died: `record` was to be written after `old`. Who updates the program in
/// between finds it in this form.
pub(crate) fn sidecar(old: &[u8], record: &[u8]) -> Vec<u8> {
    let (offset, before, len, sum) = (old.len(), hash(old), record.len(), hash(record));
    let holder = r#"{"pid":1,"host":"host","since":"2026-01-01T00:00:00Z"}"#;
    let head = format!(r#"{{"form":"msg-file-lock-3","holder":{holder},"#)
        + &format!(
            r#""content":{{"largest":0,"last":null,"journal":{{"offset":{offset},"before":{before}}}}},"#
        )
        + &format!(r#""record":[{len},{sum}]}}"#);
    [format!("{head}\t{:x}\n", hash(head.as_bytes())).as_bytes(), record].concat()
}

pub(crate) fn sidecar_path(path: &Path) -> PathBuf {
    path.with_file_name(".t.msg.md.lock")
}

pub(crate) fn flush() -> AppenderOptions {
    AppenderOptions { durability: Durability::Flush, ..AppenderOptions::default() }
}

pub(crate) fn start(dir: &Path, text: &str) -> PathBuf {
    let path = dir.join("t.msg.md");
    fs::write(&path, text).unwrap();
    let _ = fs::remove_file(sidecar_path(&path));
    path
}

pub(crate) fn read(path: &Path) -> MessageFile {
    MessageFile::read(fs::read(path).unwrap(), Mode::MessageFile, &FileLimits::default()).unwrap()
}

pub(crate) const OLD: &str = "# Title\n\n# %% q[^1]\n\n[^1]: [markdown]\n\nhello\n";

/// The record that appending "second" to OLD would write.
fn record() -> Vec<u8> {
    let cells = [NewCell::message("second\n\nline")];
    let options = AppendOptions::default();
    let (all, _) =
        append(OLD.as_bytes(), Mode::MessageFile, cells, &options, &mut nonces()).unwrap();
    all[OLD.len()..].to_vec()
}

#[test]
fn a_killed_append_is_redone_at_every_byte() {
    let dir = tempfile::tempdir().unwrap();
    let record = record();
    for cut in 0..=record.len() {
        let path = start(dir.path(), OLD);
        fs::write(sidecar_path(&path), sidecar(OLD.as_bytes(), &record)).unwrap();
        OpenOptions::new().append(true).open(&path).unwrap().write_all(&record[..cut]).unwrap();

        let mut log = Appender::open(&path, flush()).unwrap();
        let done = log.append(&NewCell::message("third"), &mut nonces()).unwrap();
        assert_eq!(done.mended, (cut < record.len()).then_some(CrashRepair::Redone), "{cut}");
        let doc = read(&path);
        let bodies: Vec<_> = doc.cells().iter().map(|c| c.body_text().into_owned()).collect();
        assert_eq!(bodies, ["hello", "second\n\nline", "third"], "{cut}");
        assert!(doc.bytes().starts_with(OLD.as_bytes()));
        assert!(doc.diagnostics().is_empty(), "{:?}", doc.diagnostics());
    }
}

/// A journal that is torn itself is none: what is there of the record stays.
#[test]
fn a_torn_journal_is_no_journal() {
    let dir = tempfile::tempdir().unwrap();
    let (record, half) = (record(), record().len() / 2);
    let whole = sidecar(OLD.as_bytes(), &record);
    for cut in 0..=whole.len() {
        let torn = [OLD.as_bytes(), &record[..half]].concat();
        let path = start(dir.path(), "");
        fs::write(&path, &torn).unwrap();
        fs::write(sidecar_path(&path), &whole[..cut]).unwrap();
        drop(Appender::open(&path, flush()).unwrap());
        let expected = if cut == whole.len() { [OLD.as_bytes(), &record].concat() } else { torn };
        assert_eq!(fs::read(&path).unwrap(), expected, "{cut}");
    }
}

#[test]
fn a_cut_without_a_journal_keeps_all_bytes_and_whole_cells() {
    let dir = tempfile::tempdir().unwrap();
    let record = record();
    for cut in 0..record.len() {
        let path = start(dir.path(), OLD);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(&record[..cut]).unwrap();
        let torn = fs::read(&path).unwrap();
        let mut log = Appender::open(&path, flush()).unwrap();
        let done = log.append(&NewCell::message("third"), &mut nonces()).unwrap();
        assert_eq!(done.mended.is_some(), !torn.ends_with(b"\n"), "{cut}");
        let doc = read(&path);
        assert!(doc.bytes().starts_with(&torn));
        assert_eq!(doc.cells().last().unwrap().body_text(), "third");
        assert!(doc.cells()[0].body_text().starts_with("hello"));
    }
}

#[test]
fn a_journal_that_does_not_fit_is_recovered_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = start(dir.path(), "# %% other[^9]\n\n[^9]: [markdown]\n\nsaved by hand\n");
    fs::write(sidecar_path(&path), sidecar(&[b'x'; 1000], &record())).unwrap();
    let mut log = Appender::open(&path, flush()).unwrap();
    let done = log.append(&NewCell::message("third"), &mut nonces()).unwrap();
    assert_eq!(done.mended, Some(CrashRepair::Recovered));
    let doc = read(&path);
    assert_eq!(doc.cells()[1].body_text(), "second\n\nline");
    assert_eq!(doc.cells()[1].attr("recovered").as_deref(), Some("1"));
    assert_eq!(doc.cells().len(), 3);
}

#[test]
fn a_save_over_the_file_loses_no_cell_that_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    for rename in [true, false] {
        let path = start(dir.path(), OLD);
        let mut log = Appender::open(&path, flush()).unwrap();
        log.append(&NewCell::message("two"), &mut nonces()).unwrap();
        let buffer = fs::read_to_string(&path).unwrap();
        log.append(&NewCell::message("three"), &mut nonces()).unwrap();
        let edited = buffer.replace("hello", "HELLO, longer").replace("two", "TWO");
        if rename {
            fs::write(dir.path().join("new"), &edited).unwrap();
            fs::rename(dir.path().join("new"), &path).unwrap();
        } else {
            fs::write(&path, &edited).unwrap();
        }
        let done = log.append(&NewCell::message("four"), &mut nonces()).unwrap();
        assert_eq!(done.recovered, ["3"]);
        let doc = read(&path);
        let bodies: Vec<_> = doc.cells().iter().map(|c| c.body_text().into_owned()).collect();
        assert_eq!(bodies, ["HELLO, longer", "TWO", "three", "four"]);
        assert_eq!(doc.cells()[2].attr("recovered").as_deref(), Some("1"));
        assert_eq!(log.reconcile().unwrap(), []);
    }
}

#[test]
fn what_is_no_longer_kept_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = start(dir.path(), OLD);
    let mut log = Appender::open(&path, AppenderOptions { keep_bytes: 0, ..flush() }).unwrap();
    log.append(&NewCell::message("two"), &mut nonces()).unwrap();
    fs::write(&path, OLD).unwrap();
    let done = log.append(&NewCell::message("three"), &mut nonces()).unwrap();
    assert_eq!(
        done.warnings.iter().map(|d| d.code.as_str()).collect::<Vec<_>>(),
        ["msgfile::cell-lost"]
    );
}

#[test]
fn others_are_seen_and_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let path = start(dir.path(), "");
    let mut one = Appender::open(&path, flush()).unwrap();
    let mut two = Appender::open(&path, flush()).unwrap();
    for i in 0..10 {
        let log = if i % 2 == 0 { &mut one } else { &mut two };
        let done = log.append(&NewCell::message(format!("{i}")), &mut nonces()).unwrap();
        assert_eq!(done.id, (i + 1).to_string());
    }
    assert!(read(&path).diagnostics().is_empty());
}

#[test]
fn a_held_lock_names_its_holder() {
    let dir = tempfile::tempdir().unwrap();
    let path = start(dir.path(), OLD);
    Appender::open(&path, flush()).unwrap().append(&NewCell::message("x"), &mut nonces()).unwrap();
    let held = File::open(&path).unwrap();
    held.lock().unwrap();
    let options = AppenderOptions { lock_timeout: Duration::from_millis(20), ..flush() };
    match Appender::open(&path, options) {
        Err(error @ Error::Locked { pid, .. }) => {
            assert_eq!((pid, error.code().as_str()), (std::process::id(), "msgfile::locked"));
        }
        other => panic!("{other:?}"),
    }
}

/// What an appender meets on the disk has a code: an editor, a folder where its sidecar goes, what is no file.
#[test]
fn what_an_appender_meets_has_a_code() {
    let dir = tempfile::tempdir().unwrap();
    let path = start(dir.path(), OLD);
    fs::write(dir.path().join(".t.msg.md.swp"), "").unwrap();
    fs::create_dir(sidecar_path(&path)).unwrap();
    let mut log = Appender::open(&path, flush()).unwrap();
    let done = log.append(&NewCell::message("x"), &mut nonces()).unwrap();
    let mut codes: Vec<_> = done.warnings.iter().map(|it| it.code.as_str()).collect();
    codes.sort_unstable();
    assert_eq!(codes, ["msgfile::editor-file", "msgfile::no-sidecar"]);
    let refused = Appender::open(dir.path(), flush()).unwrap_err();
    assert_eq!(refused.code().as_str(), "msgfile::io");
    let limits = FileLimits { max_bytes: 3, ..FileLimits::default() };
    let refused = MessageFile::read(OLD.as_bytes(), Mode::MessageFile, &limits).unwrap_err();
    assert_eq!(refused.code().as_str(), "msgfile::too-large");
    // A disk that is full, which no test can make.
    let full = Error::WriteFailed { at: 0, source: std::io::ErrorKind::StorageFull.into() };
    assert_eq!(full.code().as_str(), "msgfile::write-failed");
}

/// A child gets an id of its own below its parent, or none at all (MF-37).
#[test]
fn nonces_that_are_all_in_use_are_refused() {
    let of = NewId::Of(CellRef::Id("1".into()));
    let call = NewCell { place: of, ..NewCell::output("tool", "x") };
    let options = AppendOptions::default();
    let mut same = || Nonce::from_random(7);
    let mut append = |cells| append(OLD.as_bytes(), Mode::MessageFile, cells, &options, &mut same);
    let refused = append(vec![call.clone(), call]).unwrap_err();
    assert_eq!(refused.code().as_str(), "msgfile::nonce-exhausted");
}

#[test]
fn replace_keeps_modes_and_links_and_refuses_what_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = start(dir.path(), OLD);
    let refused = |bytes: &[u8]| replace(&path, bytes, b"newer", Force::No).unwrap_err().code();
    assert_eq!(refused(b"other").as_str(), "msgfile::changed-on-disk");
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let link = dir.path().join("link.msg.md");
        symlink(&path, &link).unwrap();
        replace(&link, OLD.as_bytes(), b"new", Force::No).unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        fs::hard_link(&path, dir.path().join("second")).unwrap();
        assert_eq!(refused(b"new").as_str(), "msgfile::not-replaceable");
        replace(&path, b"new", b"newer", Force::Yes).unwrap();
        assert_eq!(fs::read(dir.path().join("second")).unwrap(), b"newer");
        let looped = dir.path().join("loop.msg.md");
        symlink(&looped, &looped).unwrap();
        assert!(matches!(replace(&looped, b"", b"", Force::No), Err(Error::NotReplaceable(_))));
    }
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|n| !n.to_string_lossy().starts_with(".msg-file-")));
}

/// Where the file system has extended attributes, a replaced file keeps them.
#[cfg(unix)]
#[test]
fn replace_keeps_extended_attributes() {
    let dir = tempfile::tempdir().unwrap();
    let path = start(dir.path(), OLD);
    if xattr::set(&path, "user.origin", b"a person").is_err() {
        return;
    }
    replace(&path, OLD.as_bytes(), b"new", Force::No).unwrap();
    assert_eq!(xattr::get(&path, "user.origin").unwrap().as_deref(), Some(&b"a person"[..]));
}

#[test]
fn a_markdown_file_is_switched_on_by_force_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notes.md");
    fs::write(&path, "# Notes\n").unwrap();
    assert!(Appender::open(&path, flush()).is_err());
    let mut log = Appender::open(&path, AppenderOptions { force: Force::Yes, ..flush() }).unwrap();
    log.append(&NewCell::message("hi"), &mut nonces()).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.starts_with(
            "---\nmessage_section: Discussion\n---\n# Notes\n\n# Discussion\n\n## %% [^1]\n"
        ),
        "{text}"
    );
}

#[test]
fn a_refusal_leaves_neither_lock_nor_file() {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("session.jsonl");
    fs::write(&json, "{\"role\":\"user\"}\n").unwrap();
    let refused = Appender::open(&json, AppenderOptions::default()).unwrap_err();
    assert_eq!(refused.code().as_str(), "msgfile::not-a-message-file");
    let new = dir.path().join("new.msg.md");
    let cell = NewCell { place: NewId::Id("a b".into()), ..NewCell::message("x") };
    let mut log = Appender::open(&new, AppenderOptions::default()).unwrap();
    assert!(log.append(&cell, &mut nonces()).is_err());
    let md = dir.path().join("new.md");
    let mut log =
        Appender::open(&md, AppenderOptions { force: Force::Yes, ..AppenderOptions::default() })
            .unwrap();
    assert!(log.append(&cell, &mut nonces()).is_err());
    let there: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(there, ["session.jsonl"]);
    let forced =
        Appender::open(&json, AppenderOptions { force: Force::Yes, ..AppenderOptions::default() });
    forced.unwrap().append(&NewCell::message("x"), &mut nonces()).unwrap();
    assert!(fs::read_to_string(&json).unwrap().starts_with("{\"role\":\"user\"}\n\n# %% [^1]"));
}

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
