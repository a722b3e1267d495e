//! The options of a conversion (`--options JSON`, or `options` of a turns document).
//!
//! Assigns each option to its library, which interprets the value.

use std::collections::BTreeMap;

use msg_chainast::Profile;
use msg_formats::{FieldPath, JoinedPaths, ReadOptions, Refusal, RowFields, WriteOptions};
use msg_forms::{agent::AgentForm, turns::LowerOptions};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::options;
use crate::options::Paths;

/// The options that say how turns become messages (OA-6 to OA-12).
const LOWERING: &[&str] = &[
    "profile",
    "system_prompt",
    "system_role",
    "agent_display_name",
    "product_name",
    "include_reasoning",
    "reasoning",
    "failed_tools",
    "empty_tool_output",
    "invalid_arguments",
    "arguments",
    "text_separator",
    "split_interleaved",
];

/// Options of a conversion.
#[derive(Debug, Clone, Default)]
pub struct ConvertOptions {
    /// How the document is read.
    pub read: ReadOptions,
    /// How messages are written.
    pub write: WriteOptions,
    /// How turns become messages.
    pub lower: LowerOptions,
    /// What is converted besides the messages.
    pub carry: Carry,
    /// Whether a loss is an error.
    pub strict: bool,
    /// The provider for which the new document is repaired.
    pub profile: Option<Profile>,
    /// All options that were given so far, by name.
    members: Members,
}

/// Reads an object with the flags of `msg convert` and the members of `--options`.
impl<'de> Deserialize<'de> for ConvertOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Members::deserialize(deserializer)?;
        ConvertOptions::of(members).map_err(serde::de::Error::custom)
    }
}

type Members = BTreeMap<String, Box<RawValue>>;

/// Removes a member and returns its value, unless it is missing or null.
fn take<T: DeserializeOwned>(members: &mut Members, name: &str) -> Result<Option<T>, Refusal> {
    match members.remove(name) {
        Some(value) => parse(name, &value),
        None => Ok(None),
    }
}

/// How much of a document is converted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Carry {
    /// Only the conversation.
    #[default]
    Conversation,
    /// The whole request, as far as the target has a place for it (AN-21).
    Request {
        /// The model for the target. The name in the source belongs to another provider.
        model: Option<String>,
    },
    /// The answer of a model, as a response with id, model, finish reason and usage.
    Response,
}

impl ConvertOptions {
    msg_core::setters! {
        new;
        /// Sets how much of the document is converted.
        with_carry(carry: Carry);
        /// Makes a loss an error.
        with_strict() strict = true;
        /// Repairs the new document for this provider.
        with_profile(profile: impl Into<Profile>) profile = Some(profile.into());
        /// Sets how the document is read.
        with_read(read: ReadOptions);
    }

    fn of(mut members: Members) -> Result<Self, Refusal> {
        let of = &mut members;
        let read = options::read(take(of, "from")?, take(of, "calls")?, take(of, "max_bytes")?);
        let field = take::<Paths<FieldPath>>(of, "field")?.map_or_else(Vec::new, |it| it.0);
        let join = take::<Paths<JoinedPaths>>(of, "join")?.map_or_else(Vec::new, |it| it.0);
        let read = read.with_fields(RowFields::of(field, join));
        let mut res = ConvertOptions::default().with_read(read);
        let (request, model) = (take(of, "request")?.unwrap_or(false), take(of, "model")?);
        let response = take(of, "response")?.unwrap_or(false);
        res.carry = match (request, model) {
            (false, None) if response => Carry::Response,
            _ if response => return Err(bad("response and request exclude each other")),
            (true, model) => Carry::Request { model },
            (false, None) => Carry::Conversation,
            (false, Some(_)) => return Err(bad("model is for a request, which is false")),
        };
        res.strict = take(of, "strict")?.unwrap_or(false);
        res.write.session = session(of, res.write.session)?;
        res.with_members(members)
    }

    /// These options, changed by the members of a JSON object, which are those of `msg convert
    /// --options`.
    ///
    /// Fails for unknown options and invalid values.
    ///
    /// ```
    /// use msg_document::ConvertOptions;
    ///
    /// let options = ConvertOptions::default().with(br#"{"layout":"canonical"}"#)?;
    /// assert!(!options.write.encode.keeps_layout());
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn with(self, json: &[u8]) -> Result<Self, Refusal> {
        let members = serde_json::from_slice(json)
            .map_err(|it| bad(format!("options must be a JSON object: {it}")))?;
        self.with_members(members)
    }

    fn with_members(mut self, members: Members) -> Result<Self, Refusal> {
        for (name, value) in &members {
            self.set(name, value)?;
        }
        self.members.extend(members);
        let all =
            serde_json::to_string(&self.members).expect("because raw JSON under text keys is JSON");
        self.lower = serde_json::from_str(&all).map_err(|it| bad(format!("options: {it}")))?;
        Ok(self)
    }

    fn set(&mut self, name: &str, value: &RawValue) -> Result<(), Refusal> {
        if value.get() == "null" {
            return Ok(());
        }
        match name {
            "provenance" => self.write.provenance = parse(name, value)?,
            "preview" => self.write.preview = Some(parse(name, value)?),
            "agent_form" => {
                self.write.agent_form = match word(name, value)?.as_str() {
                    "document" => AgentForm::Document,
                    "sdk" => AgentForm::Sdk,
                    _ => return Err(bad("option agent_form takes document or sdk")),
                }
            }
            _ => {
                let is_ours = match word(name, value) {
                    Ok(word) => self.set_word(name, &word)?,
                    Err(error) if !LOWERING.contains(&name) => return Err(error),
                    Err(_) => false,
                };
                if !is_ours && !LOWERING.contains(&name) {
                    return Err(bad(format!("no option is called {name}")));
                }
            }
        }
        Ok(())
    }

    /// Sets an option of the wire formats. Several formats may have it, each with its own words. Returns false if no
    /// format has it.
    fn set_word(&mut self, name: &str, word: &str) -> Result<bool, Refusal> {
        let results = [
            self.write.encode.set(name, word),
            self.write.anthropic.set(name, word),
            self.write.bedrock.set(name, word),
            self.write.gemini.set(name, word),
        ];
        let is_set = results.iter().any(|it| matches!(it, Ok(true)));
        match results.into_iter().find_map(Result::err).filter(|_| !is_set) {
            Some(error) => Err(bad(error.to_string())),
            None => Ok(is_set),
        }
    }
}

/// The options for writing a session.
fn session(
    members: &mut Members,
    mut options: msg_session::WriteOptions,
) -> Result<msg_session::WriteOptions, Refusal> {
    match take::<String>(members, "context")?.as_deref() {
        None | Some("drop") => {}
        Some("keep") => options.context = msg_session::ContextPolicy::Keep,
        Some(_) => return Err(bad("option context takes keep or drop")),
    }
    if let Some(cwd) = take(members, "cwd")? {
        options.cwd = cwd;
    }
    if let Some(id) = take(members, "session_id")? {
        options.session_id = id;
    }
    Ok(options)
}

/// A string's text, any other scalar's source text.
fn word(name: &str, value: &RawValue) -> Result<String, Refusal> {
    match value.get().as_bytes().first() {
        Some(b'"') => parse(name, value),
        Some(b'{' | b'[') => Err(bad(format!("option {name} takes no list and no object"))),
        _ => Ok(value.get().to_owned()),
    }
}

fn parse<'a, T: Deserialize<'a>>(name: &str, value: &'a RawValue) -> Result<T, Refusal> {
    serde_json::from_str(value.get()).map_err(|it| bad(format!("option {name}: {it}")))
}

fn bad(text: impl Into<String>) -> Refusal {
    Refusal::bad_option(text)
}
