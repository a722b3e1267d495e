//! The schemas in a request: those that a provider refuses, and their repairs (RQ-1 to RQ-9).
//!
//! ```text
//! {"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],…}
//!   Site { pointer "/tools/0/function/parameters", dialect openai }      error[schema::root-not-object]
//! ```
//!
//! The dialect is chosen here; `msg-schema` checks and repairs.

use msg_chainast::Profile;
use msg_core::request::{Function, RequestHead, ResponseFormat, SchemaOrigin, Tool};
use msg_core::{Code, Diagnostic, RawJson, Severity};
use msg_formats::{Format, HeadEdit};
use msg_schema::{Dialect, Fault, SchemaOutcome};

use crate::head_edits::{HeadEdits, Tense};

/// The providers whose schema rules are known.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Provider {
    OpenAi,
    Anthropic,
    Gemini,
    Bedrock,
    Kimi,
    DeepSeek,
    Cohere,
}

impl Provider {
    /// The provider of a profile; `None` if no rules are known.
    fn of_profile(profile: &Profile, model: Option<&str>) -> Option<Self> {
        let is_claude = |it: &str| it.contains("claude") || it.contains("anthropic");
        match &*profile.name {
            "openai" | "openai-responses" | "azure" => Some(Self::OpenAi),
            "anthropic" => Some(Self::Anthropic),
            "gemini" | "vertex" | "gemini-interactions" => Some(Self::Gemini),
            "bedrock" if model.is_some_and(is_claude) => Some(Self::Anthropic),
            "bedrock" => Some(Self::Bedrock),
            "kimi" => Some(Self::Kimi),
            "deepseek" => Some(Self::DeepSeek),
            "cohere" => Some(Self::Cohere),
            _ => None,
        }
    }

    /// The provider of the documents of a format.
    fn of_format(format: Format) -> Option<Self> {
        match format.name() {
            "openai" | "responses" => Some(Self::OpenAi),
            "anthropic" => Some(Self::Anthropic),
            "gemini" | "interactions" => Some(Self::Gemini),
            "bedrock" => Some(Self::Bedrock),
            _ => None,
        }
    }

    /// The schema dialect that it accepts; `None` if it is not known to refuse anything.
    fn dialect(self, strict: Strict) -> Option<Dialect> {
        match (self, strict) {
            (Self::OpenAi, Strict::No) => Some(Dialect::OPENAI),
            (Self::OpenAi, _) => Some(Dialect::OPENAI_STRICT),
            (Self::Anthropic, Strict::No) => Some(Dialect::ANTHROPIC),
            (Self::Anthropic, _) => Some(Dialect::ANTHROPIC_STRICT),
            (Self::Gemini, _) => Some(Dialect::GEMINI),
            (Self::Bedrock, _) => Some(Dialect::BEDROCK),
            (Self::Kimi, _) => Some(Dialect::KIMI),
            (Self::DeepSeek, Strict::No) | (Self::Cohere, Strict::No) => None,
            (Self::DeepSeek, _) => Some(Dialect::DEEPSEEK_STRICT),
            (Self::Cohere, _) => Some(Dialect::COHERE_STRICT),
        }
    }
}

/// Whether a provider enforces a schema.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Strict {
    No,
    /// The tool sets `strict`, which is optional.
    Tool,
    /// An answer format, which is always enforced.
    Answer,
}

/// The place of Bedrock's answer schema, which is JSON in a string.
const IN_TEXT: &str = "/outputConfig/textFormat/structure/jsonSchema/schema";

/// A schema in a head.
struct Site<'h> {
    schema: &'h RawJson,
    origin: &'h SchemaOrigin,
    strict: Strict,
}

fn sites(head: &RequestHead, provider: Provider) -> Vec<Site<'_>> {
    let tools = head.tools.iter().filter_map(Tool::function).filter_map(|it| {
        let strict = if it.strict == Some(true) { Strict::Tool } else { Strict::No };
        let schema = it.parameters.as_ref()?;
        let is_none = provider == Provider::OpenAi && is_no_schema(schema, it);
        (!is_none).then_some(Site { schema, origin: &it.origin, strict })
    });
    let answer = head.schema().map(|it| Site {
        schema: &it.schema,
        origin: &it.origin,
        strict: answer_strictness(provider, it.strict),
    });
    tools.chain(answer).collect()
}

/// Whether a function of Responses is not strict and has the schema `{}`, which the API takes as one without
/// properties.
fn is_no_schema(schema: &RawJson, it: &Function) -> bool {
    let is_flat = it.origin.pointer == format!("{}/parameters", it.pointer);
    is_flat && it.strict == Some(false) && schema.members().is_some_and(|it| it.is_empty())
}

/// Findings for strict functions of a chat request without a schema. OpenAI takes that as an open object, which strict
/// mode refuses.
fn strict_without_schema<'h>(
    head: &'h RequestHead,
    profile: &Profile,
) -> impl Iterator<Item = (String, Diagnostic)> + 'h {
    let is_chat = matches!(&*profile.name, "openai" | "azure");
    let is_such =
        move |it: &&Function| is_chat && it.strict == Some(true) && it.parameters.is_none();
    head.tools.iter().filter_map(Tool::function).filter(is_such).map(|it| {
        let pointer = format!("{}/function", it.pointer);
        let text = "a strict tool must have a schema";
        let mut found = Diagnostic::error(Code::new("schema::open-object"), text);
        found.answer =
            Some("'additionalProperties' is required to be supplied and to be false.".into());
        (format!("{pointer}/strict"), found.at_pointer(pointer))
    })
}

/// Anthropic always enforces the schema of an answer.
fn answer_strictness(provider: Provider, strict: Option<bool>) -> Strict {
    match provider == Provider::Anthropic || strict == Some(true) {
        true => Strict::Answer,
        false => Strict::No,
    }
}

/// The repair of a schema.
struct Mend {
    /// The faults, with pointers into the schema.
    faults: Vec<Fault>,
    /// The repaired schema; `None` if none exists or none is needed.
    schema: Option<RawJson>,
    /// Whether the tool stops being strict.
    drops_strict: bool,
    /// Whether the schema moves from the member for OpenAPI to the one for JSON Schema.
    moves: bool,
}

impl Mend {
    fn of(site: &Site<'_>, provider: Provider) -> Option<Self> {
        if let (Provider::Gemini, Some(source)) = (provider, &site.origin.openapi) {
            return Some(Self::of_openapi(source, site.schema));
        }
        let dialect = provider.dialect(site.strict)?;
        let strict = Self::in_dialect(site.schema, dialect);
        if strict.faults.is_empty() || strict.schema.is_some() || site.strict != Strict::Tool {
            return Some(strict);
        }
        let lax = dialect.lax().map(|it| Self::in_dialect(site.schema, it));
        match lax {
            // It is refused even if the tool is not strict.
            Some(lax) if !lax.faults.is_empty() && lax.schema.is_none() => Some(strict),
            Some(lax) => Some(Self { drops_strict: true, ..lax }),
            None if dialect.is_strict() => {
                Some(Self { faults: Vec::new(), schema: None, drops_strict: true, moves: false })
            }
            None => Some(strict),
        }
    }

    fn in_dialect(schema: &RawJson, dialect: Dialect) -> Self {
        let faults = msg_schema::check(schema, dialect);
        let schema = match msg_schema::mend(schema, dialect) {
            SchemaOutcome::Mended(it) if !faults.is_empty() => Some(it),
            _ => None,
        };
        Self { faults, schema, drops_strict: false, moves: false }
    }

    /// Moves the schema to Gemini's member for JSON Schema, if its repair is valid in both spellings (RQ-9).
    fn of_openapi(source: &RawJson, translated: &RawJson) -> Self {
        let faults = msg_schema::check(source, Dialect::GEMINI_OPENAPI);
        let schema = msg_schema::for_gemini(translated);
        let schema = match msg_schema::mend(&schema, Dialect::GEMINI) {
            _ if faults.is_empty() => None,
            SchemaOutcome::Accepted => Some(schema),
            SchemaOutcome::Mended(it) => Some(it),
            SchemaOutcome::NoMend => None,
        };
        // The client chose the member, so a schema that the OpenAPI spelling cannot express stays.
        let is_said = |it: &RawJson| msg_schema::check(it, Dialect::GEMINI_OPENAPI).is_empty();
        let schema = schema.filter(is_said);
        Self { faults, schema, drops_strict: false, moves: true }
    }

    fn is_mended(&self) -> bool {
        self.schema.is_some() || self.drops_strict
    }

    /// The findings, with the repair as a proposal (`help`) or as done.
    fn reported(&self, pointer: &str, tense: Tense) -> Vec<Diagnostic> {
        let fix = |fault: &Fault| match self.is_mended() {
            true => Some(fix(fault, self.moves, tense)),
            false => None,
        };
        let mut res: Vec<_> = self
            .faults
            .iter()
            .map(|fault| {
                let (mut text, mut pointer) = (fault.message.clone(), pointer.to_owned());
                match pointer == IN_TEXT {
                    true if fault.pointer.is_empty() => {}
                    true => text = format!("{text}, at `{}` of the schema", fault.pointer),
                    false => pointer.push_str(&fault.pointer),
                }
                let mut it = Diagnostic::error(Code::new(fault.code), text).at_pointer(pointer);
                if tense == Tense::Past && self.is_mended() {
                    it.severity = Severity::Warning;
                }
                it.answer = fault.answer.as_deref().map(Into::into);
                match fix(fault) {
                    Some(fix) => it.with_fix(fix),
                    None => it,
                }
            })
            .collect();
        if self.drops_strict && tense == Tense::Past {
            let text = "a strict tool cannot have this schema";
            let it = Diagnostic::warning(Code::new("schema::strict-dropped"), text);
            res.push(it.at_pointer(pointer).with_fix("dropped `strict` of the tool"));
        }
        res
    }
}

/// The edit that repairs a fault.
fn fix(fault: &Fault, moves: bool, tense: Tense) -> String {
    let (imperative, past) = if moves { ("move", "moved") } else { verb(fault.code) };
    let object = match (moves, fault.code) {
        (true, _) => "the schema to the member for JSON Schema",
        (_, "schema::root-not-object") => "the root an object",
        (_, "schema::root-union") => "the alternatives into one object and describe them",
        (_, "schema::open-object") => "`additionalProperties: false`",
        (_, "schema::optional-property") => "all properties required, optional ones nullable",
        (_, "schema::untyped-array") => "`items: {}`",
        (_, "schema::type-beside-union") => "the type into the branches",
        (_, "schema::ref") => "the reference so that it needs no other schema, or describe it",
        (_, "schema::required-unknown") => "the property",
        _ => "the schema, with what is lost in its description",
    };
    let verb = if tense == Tense::Past { past } else { imperative };
    format!("{verb} {object}")
}

fn verb(code: &str) -> (&'static str, &'static str) {
    match code {
        "schema::root-not-object" | "schema::optional-property" => ("make", "made"),
        "schema::root-union" => ("merge", "merged"),
        "schema::open-object" | "schema::untyped-array" | "schema::required-unknown" => {
            ("add", "added")
        }
        "schema::type-beside-union" => ("move", "moved"),
        _ => ("rewrite", "rewrote"),
    }
}

/// Findings for schemas that the provider refuses.
pub(crate) fn check_head(head: &RequestHead, profile: &Profile) -> Vec<Diagnostic> {
    let model = head.model.as_deref().or(Some(&profile.model).map(|it| &**it));
    let Some(provider) = Provider::of_profile(profile, model) else { return Vec::new() };
    let mut res = Vec::new();
    for site in sites(head, provider) {
        let openapi = site.origin.openapi.as_ref().filter(|_| provider == Provider::Gemini);
        let dialect = match openapi {
            Some(_) => Some(Dialect::GEMINI_OPENAPI),
            None => provider.dialect(site.strict),
        };
        let Some(dialect) = dialect else { continue };
        let Some(mend) = Mend::of(&site, provider) else { continue };
        // The faults are those of the source's dialect, even if the repair uses another.
        let faults = msg_schema::check(openapi.unwrap_or(site.schema), dialect);
        res.extend(Mend { faults, ..mend }.reported(&site.origin.pointer, Tense::Imperative));
    }
    let lacking = strict_without_schema(head, profile);
    res.extend(lacking.map(|it| it.1.with_fix("drop `strict` of the tool")));
    if provider == Provider::Anthropic {
        res.extend(strict_limits(head));
    }
    res
}

/// Findings for more strict tools than Anthropic accepts in one request.
fn strict_limits(head: &RequestHead) -> Vec<Diagnostic> {
    let is_strict = |it: &&Function| it.strict == Some(true);
    let strict: Vec<_> = head.tools.iter().filter_map(Tool::function).filter(is_strict).collect();
    let schemas = || strict.iter().filter_map(|it| it.parameters.as_ref());
    let counts: Vec<_> = schemas().map(msg_schema::count_properties).collect();
    let limits = [
        ("strict tools", strict.len(), 20, "The maximum number of strict tools supported is 20."),
        (
            "optional properties in strict tools",
            counts.iter().map(|it| it.optional).sum(),
            24,
            "Schemas contain too many optional parameters (limit: 24).",
        ),
        (
            "properties with unions in strict tools",
            counts.iter().map(|it| it.unions).sum(),
            16,
            "Schemas contain too many parameters with union types (limit: 16 parameters with unions).",
        ),
    ];
    let above = limits.into_iter().filter(|it| it.1 > it.2);
    above
        .map(|(what, has, limit, answer)| {
            let text = format!("the request has {has} {what}, at most {limit} are accepted");
            let mut it = Diagnostic::error(Code::new("schema::too-large"), text);
            it.answer = Some(answer.into());
            it.at_pointer("/tools")
        })
        .collect()
}

/// Repairs the schemas of a head for another format, and returns the changes.
pub(crate) fn mend_for_format(head: &mut RequestHead, to: Format) -> Vec<Diagnostic> {
    let Some(provider) = Provider::of_format(to) else { return Vec::new() };
    let mut res = Vec::new();
    // OpenAPI schemas have been translated, and are written as JSON Schema.
    let settle = |schema: &mut RawJson, origin: &SchemaOrigin, strict| {
        let origin = SchemaOrigin { openapi: None, ..origin.clone() };
        let site = Site { schema, origin: &origin, strict };
        let mend = Mend::of(&site, provider)?;
        let found = mend.reported(&origin.pointer, Tense::Past);
        if let Some(mended) = mend.schema {
            *schema = mended;
        }
        Some((found, mend.drops_strict))
    };
    for tool in &mut head.tools {
        let Tool::Function(Function { parameters: Some(schema), origin, strict, .. }) = tool else {
            continue;
        };
        let strictness = if *strict == Some(true) { Strict::Tool } else { Strict::No };
        if let Some((found, drops_strict)) = settle(schema, origin, strictness) {
            res.extend(found);
            *strict = strict.filter(|_| !drops_strict);
        }
    }
    if let Some(ResponseFormat::Schema(it)) = &mut head.response_format {
        let strictness = answer_strictness(provider, it.strict);
        res.extend(settle(&mut it.schema, &it.origin, strictness).map_or_else(Vec::new, |it| it.0));
    }
    res
}

/// Adds the repairs of the schemas in a head, for its provider.
pub(crate) fn add_schema_edits(head: &RequestHead, profile: &Profile, res: &mut HeadEdits) {
    let model = head.model.as_deref().or(Some(&profile.model).map(|it| &**it));
    let Some(provider) = Provider::of_profile(profile, model) else { return };
    for (pointer, mut found) in strict_without_schema(head, profile) {
        found.severity = Severity::Warning;
        res.found.push(found.with_fix("dropped `strict` of the tool"));
        res.add(pointer, HeadEdit::Remove);
    }
    for site in sites(head, provider) {
        let Some(mend) = Mend::of(&site, provider) else { continue };
        let pointer = site.origin.pointer.as_str();
        res.found.extend(mend.reported(pointer, Tense::Past));
        let parent = pointer.rsplit_once('/').map_or("", |it| it.0);
        if mend.drops_strict {
            // Responses are strict by default, so `strict` is set to false instead of removed.
            let is_flat =
                parent.rsplit('/').nth(1) == Some("tools") && pointer.ends_with("/parameters");
            let edit = if is_flat {
                HeadEdit::Set(RawJson::written(|it| it.bool(false)))
            } else {
                HeadEdit::Remove
            };
            res.add(format!("{parent}/strict"), edit);
        }
        let Some(schema) = mend.schema else { continue };
        let edit = match (mend.moves, pointer.rsplit('/').next()) {
            (true, Some("parameters")) => HeadEdit::Rename("parametersJsonSchema", Some(schema)),
            (true, Some("response_schema")) => {
                HeadEdit::Rename("response_json_schema", Some(schema))
            }
            (true, _) => HeadEdit::Rename("responseJsonSchema", Some(schema)),
            _ if pointer == IN_TEXT => HeadEdit::Set(RawJson::string(schema.text())),
            _ => HeadEdit::Set(schema),
        };
        res.add(pointer, edit);
    }
}
