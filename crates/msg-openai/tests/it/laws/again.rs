//! The law of streams that needs this crate's own writer.

use msg_core::json::{TextState, classify};
use msg_core::{CallKind, FinishReason, Message};
use msg_openai::{Assembled, CHAT, MessageForm, StreamOptions, StreamReader, write_result};

fn assemble(bytes: &[u8]) -> Assembled {
    let mut reader = StreamReader::new(&[CHAT], StreamOptions::default());
    reader.feed(bytes, &mut |_| {});
    reader.finish(&mut |_| {})
}

/// A result, streamed again as one chunk, is the same result.
pub(crate) fn assembling_again_changes_nothing(res: &Assembled) {
    for choice in &res.choices {
        let mut ids: Vec<_> = choice.message.tool_calls().map(|it| it.id.as_str()).collect();
        ids.sort_unstable();
        // A chunk cannot tell calls of one id apart, nor has it a place for what is not OpenAI's.
        let is_foreign = |it: &msg_core::Part| it.kind() == "other" || it.kind() == "audio";
        let has_kinds = choice.message.tool_calls().any(|it| it.kind != CallKind::Function);
        // Of an Anthropic block that never ended a chunk cannot tell that it did not.
        let is_cut = choice.finish.as_ref().is_some_and(FinishReason::is_cut);
        let looks_whole =
            |text: &str| text.trim().is_empty() || classify(text) == TextState::Object;
        let is_unended = choice
            .message
            .tool_calls()
            .any(|it| choice.incomplete.contains(&it.id) && looks_whole(it.arguments.text()));
        if !res.complete
            || ids.windows(2).any(|it| it[0] == it[1])
            || has_kinds
            || (is_unended && !is_cut)
            || choice.message.parts.iter().any(is_foreign)
        {
            continue;
        }
        let mut json = Vec::new();
        let mut alone = res.clone();
        alone.choices.retain(|it| it.index == choice.index);
        write_result(&alone, MessageForm::OpenAi, None, &mut json);
        let json = String::from_utf8(json).unwrap();
        let reason = choice.finish.as_ref().map_or("stop", |it| it.as_str());
        let result = json.strip_prefix("{\"message\":").unwrap();
        let end = msg_core::json::skip_value(result.as_bytes(), 0).unwrap();
        let reason = serde_json::to_string(reason).unwrap();
        let chunk = format!(
            "data: {{\"choices\":[{{\"message\":{},\"finish_reason\":{reason}}}]}}\n\ndata: [DONE]\n\n",
            &result[..end]
        );
        let again = assemble(chunk.as_bytes());
        let again = &again.choices[0];
        assert_eq!(again.message.text(), choice.message.text(), "{chunk}");
        let calls = |it: &Message| it.tool_calls().cloned().collect::<Vec<_>>();
        let plain = |it: &Message| {
            let calls = calls(it).into_iter();
            calls.map(|it| (it.id, it.name, it.arguments.into_text())).collect::<Vec<_>>()
        };
        assert_eq!(plain(&again.message), plain(&choice.message), "{chunk}");
        assert_eq!(again.incomplete, choice.incomplete, "{chunk}");
        assert!(again.finish == choice.finish || choice.finish.is_none(), "{chunk}");
    }
}
