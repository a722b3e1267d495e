//! Over all formats: results of parallel calls, in any order and some of them missing, stay those of their calls.

use std::collections::{BTreeMap, BTreeSet};

use msg_core::{Message, Part, Role, ToolCall, ToolResult};
use msg_document::{ConvertOptions, Format, ReadOptions, convert};

#[test]
fn each_result_answers_the_call_that_it_answered() {
    let turns: [&[usize]; 8] =
        [&[0, 1, 2], &[2, 1, 0], &[1, 2, 0], &[2], &[1, 0], &[2, 0], &[], &[0, 2, 1]];
    let mut wrong = Vec::new();
    for first in turns {
        for second in turns {
            let json = conversation(&[first.to_vec(), second.to_vec()], 3);
            wrong
                .extend(Format::all().filter_map(|it| results_answer_their_calls(&json, it).err()));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of them: {}",
        wrong.len(),
        wrong[..wrong.len().min(4)].join("\n")
    );
}

/// A conversation with a turn of calls for each list, whose results come in the order of its numbers; a call whose
/// number is missing has no result. All calls are of one tool, so that only their arguments tell them apart.
fn conversation(turns: &[Vec<usize>], calls: usize) -> Vec<u8> {
    let mut messages = vec![Message::user("q")];
    for (turn, order) in turns.iter().enumerate() {
        let id = |n: usize| format!("call{turn}{n}abc");
        let call = |n| ToolCall::new(id(n), "weather", format!(r#"{{"city":"c{turn}-{n}"}}"#));
        let parts = (0..calls).map(|n| Part::ToolCall(call(n))).collect();
        messages.push(Message { parts, ..Message::new(Role::Assistant) });
        messages.extend(order.iter().map(|n| {
            let result = ToolResult::new(id(*n), format!("r{turn}-{n}"));
            Message::new(Role::Tool).with_part(Part::ToolResult(result))
        }));
        messages.push(Message::assistant("done"));
        messages.push(Message::user("next"));
    }
    let mut json = Vec::new();
    msg_core::native::write(&messages, &mut json);
    json
}

/// The results of a conversation that are in it again, each with the arguments of the call that it answers: those of
/// the source that the new document lacks or has otherwise.
fn results_answer_their_calls(json: &[u8], to: Format) -> Result<(), String> {
    let native: Format = "native".parse().expect("because it is a format");
    let read =
        |from| ConvertOptions::default().with_read(ReadOptions::default().with_from(Some(from)));
    let written = match convert(json, to, &read(native)) {
        Ok(written) => written.document,
        // Formats that are read only.
        Err(_) => return Ok(()),
    };
    let again = convert(&written, native, &read(to)).map_err(|it| format!("{to}: {it:?}"))?;
    let (before, after) = (answers(json), answers(&again.document));
    let lost: Vec<_> = before.difference(&after).collect();
    match lost.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "{to}: {lost:?} are not in {after:?}\nof {}\nin {}",
            String::from_utf8_lossy(json),
            String::from_utf8_lossy(&written)
        )),
    }
}

/// Each result with the arguments of its call, without blanks.
fn answers(json: &[u8]) -> BTreeSet<(String, String)> {
    let (messages, _) = msg_core::native::read(json).expect("because it was written so");
    let mut calls: BTreeMap<String, String> = BTreeMap::new();
    let mut res = BTreeSet::new();
    for part in messages.iter().flat_map(|it| &it.parts) {
        match part {
            Part::ToolCall(it) => {
                let arguments = it.arguments.text().replace(' ', "");
                calls.insert(it.id.clone(), arguments);
            }
            Part::ToolResult(it) => {
                let call = calls.get(&it.call_id).cloned().unwrap_or_default();
                res.insert((call, it.content.text().into_owned()));
            }
            _ => {}
        }
    }
    res
}
