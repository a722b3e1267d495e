//! Texts: message files, tool calls in text, turns, JSON.

#[path = "../../../crates/msg-core/tests/it/laws.rs"]
mod core_laws;
#[path = "../../../crates/msg-file/tests/it/laws.rs"]
mod file_laws;
#[path = "../../../crates/msg-forms/tests/it/laws.rs"]
mod forms_laws;
#[path = "../../../crates/msg-json/tests/it/laws.rs"]
mod json_laws;
#[path = "../../../crates/testkit/tests/it/laws.rs"]
mod testkit_laws;
#[path = "../../../crates/msg-xml/tests/it/laws.rs"]
mod xml_laws;

use msg_core::native;
use msg_file::{Mode, NewCell};
use msg_forms::turns::{self, LowerOptions};
use msg_xml::ParsedCall;

pub(crate) fn core_forms(bytes: &[u8]) {
    forms_laws::reading_is_total(bytes);
    forms_laws::plain_comes_back_as_it_was(bytes);
    if let Ok((messages, _)) = native::read(bytes) {
        forms_laws::native_holds_everything(&messages);
        messages.iter().for_each(forms_laws::an_empty_report_means_no_loss);
        messages.iter().for_each(forms_laws::argument_text_survives_turns);
    }
    if let Ok((turns, _)) = turns::read(bytes) {
        forms_laws::turns_come_back(&turns);
        forms_laws::strict_lowering_is_safe(&turns, &LowerOptions::strict());
    }
}

pub(crate) fn core_text(bytes: &[u8]) {
    let Some((&max_chars, rest)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    json_laws::strings_are_read_back(&text);
    json_laws::mended_is_an_object(&text);
    core_laws::cuts_are_clean(&text, usize::from(max_chars));
    let events: Vec<_> = text.lines().filter_map(|it| serde_json::from_str(it).ok()).collect();
    forms_laws::a_partial_turn_is_whole(&events);
}

pub(crate) fn file_read(bytes: &[u8]) {
    let (mode, bytes) = match bytes.split_first() {
        Some((0, rest)) => (Mode::Markdown, rest),
        _ => (Mode::MessageFile, bytes),
    };
    file_laws::identity(bytes, mode);
    file_laws::any_tail(bytes);
    file_laws::format_keeps_meaning(bytes, mode);
    file_laws::history_is_sound(bytes, mode);
    file_laws::edit_touches_its_cell(bytes, mode, "v&#10;");
}

pub(crate) fn file_write(bytes: &[u8]) {
    let cut = bytes.first().map_or(0, |&n| usize::from(n)).min(bytes.len());
    let (old, body) = bytes.split_at(cut);
    for exact in [false, true] {
        let cell =
            NewCell { exact, ..NewCell::output("bot", String::from_utf8_lossy(body).into_owned()) };
        file_laws::write_then_read(&cell);
        file_laws::append_keeps_the_past(old, Mode::MessageFile, &cell);
        file_laws::append_keeps_the_past(old, Mode::Markdown, &cell);
    }
    let texts: Vec<String> =
        bytes.split(|&b| b == 0xFF).map(|t| String::from_utf8_lossy(t).into_owned()).collect();
    file_laws::messages_come_back(b"", &file_laws::chain_of(&texts[..texts.len().min(6)]));
    let chunks: Vec<(bool, String)> =
        texts.into_iter().enumerate().map(|(i, t)| (i % 2 == 1, t)).collect();
    file_laws::streams_come_back(&chunks);
}

pub(crate) fn xml_read(bytes: &[u8]) {
    let [a, b, c, d, n, input @ ..] = bytes else { return };
    let choice = u32::from_le_bytes([*a, *b, *c, *d]);
    let opts = xml_laws::options(choice);
    let finish = xml_laws::finish(choice);
    xml_laws::chunks_do_not_matter(input, input.chunks(1 + usize::from(*n)), finish.clone(), &opts);
    xml_laws::spans_account_for_the_input(input, finish.clone(), &opts);
    xml_laws::drop_changes_no_call(input, finish.clone(), &opts);
    xml_laws::pieces_are_the_values(input, 1 + usize::from(*n), finish, &opts);
}

pub(crate) fn xml_render(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    xml_laws::results_come_back(&text);
    let (key, value) = text.split_once('=').unwrap_or(("x", &text));
    let arguments = serde_json::json!({ key: value, "list": [value, key] });
    xml_laws::rendered_calls_come_back(&ParsedCall::new("t", arguments.to_string()));
    if serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).is_ok() {
        xml_laws::rendered_calls_come_back(&ParsedCall::new("t", text.into_owned()));
    }
}

pub(crate) fn split(bytes: &[u8]) {
    testkit_laws::cuts_lose_nothing(&bytes[..bytes.len().min(64)]);
    let text = String::from_utf8_lossy(bytes);
    testkit_laws::a_diff_holds_both_texts(&text);
}
