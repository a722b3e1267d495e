//! The formats of a conversation, their names, and how one is recognised.
//!
//! Recognition looks at the shape of the first messages (`sniff`), then at the file's name where
//! the shape fits several formats. It never fails: what is no format reads as `openai`, and that
//! reader says what is wrong. Reading and writing are in `document`.

mod sniff;

use std::fmt;

use self::sniff::Shape;

/// A format of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, clap::ValueEnum)]
pub(crate) enum Format {
    /// OpenAI chat messages: an array, or a request or response body
    Openai,
    /// OpenAI Responses items: an array, or a request or response body
    Responses,
    /// An array of `AgentMessage`, or a snapshot with `messages`
    Agent,
    /// An array of turns, the dual-layer record, or an object with `turns`
    Turns,
    /// An array of `{role, content}`
    Plain,
    /// A message file (`.msg.md`)
    Msgmd,
    /// This program's own message JSON: an array of `{role, parts}`
    Native,
}

impl Format {
    /// The name as `--from` and `--to` take it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Openai => "openai",
            Format::Responses => "responses",
            Format::Agent => "agent",
            Format::Turns => "turns",
            Format::Plain => "plain",
            Format::Msgmd => "msgmd",
            Format::Native => "native",
        }
    }

    /// Recognises `bytes`, and by `name` (of the file) where their shape leaves a choice. Reads no
    /// further than a few messages, unless one of them is large.
    pub(crate) fn recognise(bytes: &[u8], name: &str) -> Format {
        let named = Format::by_name(name);
        let candidates: &[Format] = match sniff::shape(bytes) {
            Shape::Nothing if named == Some(Format::Msgmd) => &[Format::Msgmd],
            Shape::Chat => &[Format::Openai, Format::Plain, Format::Agent],
            Shape::Certain(format) => return format,
            Shape::Items => &[Format::Responses],
            Shape::Parts => &[Format::Native, Format::Turns],
            Shape::Empty => &[
                Format::Openai,
                Format::Responses,
                Format::Agent,
                Format::Turns,
                Format::Plain,
                Format::Native,
            ],
            Shape::Markdown => &[Format::Msgmd],
            Shape::Nothing => &[Format::Openai],
        };
        named.filter(|it| candidates.contains(it)).unwrap_or(candidates[0])
    }

    /// `history.turns.json` says `turns`; `log.msg.md` and any other `.md` say `msgmd`.
    fn by_name(name: &str) -> Option<Format> {
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
        if name.ends_with(".md") || name.ends_with(".markdown") {
            return Some(Format::Msgmd);
        }
        let stem = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".json"))?;
        let kinds = [
            Format::Openai,
            Format::Responses,
            Format::Agent,
            Format::Turns,
            Format::Plain,
            Format::Native,
        ];
        kinds.into_iter().find(|it| {
            stem.strip_suffix(it.name())
                .is_some_and(|it| it.is_empty() || it.ends_with(['.', '-', '_']))
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Format::{self, *};

    #[track_caller]
    fn check(want: Format, bytes: &str, name: &str) {
        assert_eq!(Format::recognise(bytes.as_bytes(), name), want, "{bytes} in {name}");
    }

    #[test]
    fn by_content() {
        check(Openai, r#"[{"role":"user","content":"hi"}]"#, "x.json");
        check(Openai, r#"{"model":"m","messages":[{"role":"user","content":[]}]}"#, "-");
        check(Openai, r#"{"choices":[{"message":{"role":"assistant"}}]}"#, "-");
        check(Openai, r#"{"tools":[{"type":"function"}],"messages":[]}"#, "-");
        check(Responses, r#"{"model":"m","input":"hi"}"#, "-");
        check(Responses, r#"{"object":"response","output":[]}"#, "-");
        check(Responses, r#"[{"type":"function_call","call_id":"c"}]"#, "-");
        check(Responses, r#"[{"role":"user","content":[{"type":"input_text","text":"a"}]}]"#, "-");
        check(Agent, r#"[{"role":"User","content":{"Text":"Hello"}}]"#, "-");
        check(Agent, r#"{"messages":[{"role":"User","content":{"Text":"Hello"}}]}"#, "-");
        check(Agent, r#"[{"role":"user","content":{"type":"Text","value":"Hello"}}]"#, "-");
        check(Native, r#"[{"role":"user","parts":[{"type":"text","text":"a"}]}]"#, "-");
        check(Turns, r#"[{"role":"user","parts":[],"finished":true}]"#, "-");
        check(Turns, r#"[{"role":"assistant","parts":[{"type":"tool","tool":"a"}]}]"#, "-");
        check(Turns, r#"{"turns":[],"options":{}}"#, "-");
        check(Msgmd, "---\nmodel: m\n---\n## user\nhi\n", "-");
        check(Msgmd, "# Title\n\ntext", "-");
    }

    #[test]
    fn by_name_where_the_content_leaves_a_choice() {
        check(Plain, r#"[{"role":"user","content":"hi"}]"#, "a/log.plain.json");
        check(Turns, r#"[{"role":"user","parts":[]}]"#, "turns.json");
        check(Turns, "[]", "x-turns.jsonl");
        check(Openai, r#"[{"role":"user","content":"hi"}]"#, "log.turns.json");
        check(Openai, r#"[{"role":"user","content":"hi"}]"#, "saturns.json");
        check(Msgmd, "hello", "notes.msg.md");
        check(Msgmd, "[a](b) and more", "notes.md");
    }

    #[test]
    fn what_is_no_format_is_left_to_the_openai_reader() {
        for bytes in
            ["", " ", "{", "[", "[[[[", "[{\"role", "{\"messages\":[{\"role\":", "nope", "\0", "12"]
        {
            check(Openai, bytes, "x.json");
        }
    }
}
