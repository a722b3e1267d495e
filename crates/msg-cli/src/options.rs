//! The library's options out of the flags of a command.
//!
//! Flags are written as the JSON object that a line's `options`, Python and a column hold too, and the library
//! reads that: what a flag says is what the member of its name says, and a flag that is not a member is refused
//! whenever the command runs.
//!
//! ```text
//! --max-tokens 4k --include-system     {"max_tokens":4000,"include_system":true}    TrimOptions
//! a line's {"max_tokens":500} over it  {"max_tokens":500,"include_system":true}     TrimOptions of the line
//! ```
//!
//! What a flag names and a member holds (a file of tools, of profiles) is read by the command.
//!
//! The flags of CA-90 that the commands about chains share.
//!
//! Does not read conversations; a profile file is the one thing that is read here.

use std::path::{Path, PathBuf};

use msg_chainast::{ChainCheckOptions, Profile};
use msg_core::RawJson;
use msg_document::Refusal;
use serde::{Deserialize, Serialize, Serializer, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::exit::Failure;
use crate::input::side_file;
use crate::words;
use crate::words::{did_you_mean, profile_of};

/// The flags given to a command, as members.
pub(crate) struct Flags(Map<String, Value>);

impl Flags {
    /// Starts with these flags.
    pub(crate) fn of(flags: &impl Serialize) -> Self {
        Flags(Map::new()).and(flags)
    }

    /// Adds these flags.
    pub(crate) fn and(mut self, flags: &impl Serialize) -> Self {
        let Ok(Value::Object(given)) = serde_json::to_value(flags) else { return self };
        self.0.extend(given.into_iter().filter(|(_, it)| match it {
            Value::Null => false,
            Value::Array(it) => !it.is_empty(),
            Value::Object(it) => !it.is_empty(),
            _ => true,
        }));
        self
    }

    /// The first flag, as typed.
    pub(crate) fn first(&self) -> Option<String> {
        self.0.keys().next().map(|it| format!("--{}", it.replace('_', "-")))
    }

    /// The options of these flags. Fails for invalid values.
    pub(crate) fn options<T: DeserializeOwned>(self) -> Result<T, Failure> {
        read(self.0).map_err(|it| Failure::Usage(it.to_string()))
    }

    /// The options of `line`: its own, over those of the flags, member by member.
    ///
    /// Fails for unknown options and invalid values.
    pub(crate) fn options_of_line<T: DeserializeOwned>(
        mut self,
        line: &[u8],
    ) -> Result<T, Refusal> {
        self.0.extend(own(line).map_err(|it| bad(&it))?);
        read(self.0).map_err(|it| bad(&it))
    }
}

/// The pairs of a repeated flag, as an object.
pub(crate) fn as_object<T: Serialize, S: Serializer>(
    pairs: &[(String, T)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

/// The member `options` of a line. Anything but an object is refused by the reader of the document, with a better
/// place.
fn own(line: &[u8]) -> serde_json::Result<Map<String, Value>> {
    #[derive(Deserialize)]
    struct Line {
        #[serde(default)]
        options: Option<RawJson>,
    }
    let is_object = line.trim_ascii_start().starts_with(b"{");
    let line = serde_json::from_slice::<Line>(line).ok().filter(|_| is_object);
    line.and_then(|it| it.options).map_or(Ok(Map::new()), |it| it.parse())
}

fn read<T: DeserializeOwned>(members: Map<String, Value>) -> serde_json::Result<T> {
    serde_json::from_value(Value::Object(members))
}

fn bad(error: &serde_json::Error) -> Refusal {
    Refusal::bad_option(format!("options are not understood: {error}"))
}

#[derive(Debug, Clone, clap::Args, Serialize)]
#[command(next_help_heading = "Rules")]
pub(crate) struct ChainArgs {
    /// Allow calls without results at the end, which the agent has not run yet.
    #[arg(long)]
    pub(crate) open: bool,
    /// Also apply the rules of this provider; `msg profiles` lists them.
    #[arg(long, value_name = "NAME", value_parser = words::profile(), hide_possible_values = true)]
    #[serde(skip)]
    profile: Option<String>,
    /// Read your own profiles from a TOML file; --profile selects one of several.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    profile_file: Option<PathBuf>,
}

/// Facts about the request that the messages are for.
#[derive(Debug, Clone, clap::Args, Serialize)]
#[command(next_help_heading = "Rules")]
pub(crate) struct RequestArgs {
    /// Judge the document as a request: with --profile also its tools, settings and last message.
    #[arg(long)]
    request: bool,
    /// The model that wrote the assistant messages, if the document does not name it: some providers refuse
    /// signed reasoning of other models.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The provider that wrote them, if the document does not name it.
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// With --profile: the model of the request, if the document does not name it.
    #[arg(long, value_name = "NAME")]
    #[serde(skip)]
    for_model: Option<String>,
}

impl RequestArgs {
    /// Whether tools and settings are checked too.
    pub(crate) fn is_asked(&self) -> bool {
        self.request
    }

    /// These options as command-line text.
    pub(crate) fn command(&self) -> String {
        let request = if self.request { " --request" } else { "" };
        let option = |name: &str, it: &Option<String>| {
            it.as_ref().map_or_else(String::new, |it| format!(" --{name} {it}"))
        };
        let asked =
            [("model", &self.model), ("provider", &self.provider), ("for-model", &self.for_model)];
        asked.iter().fold(request.to_owned(), |res, (name, it)| res + &option(name, it))
    }

    /// The profile, adjusted to this model.
    pub(crate) fn ask(&self, profile: Option<Profile>) -> Result<Option<Profile>, Failure> {
        let Some(model) = &self.for_model else { return Ok(profile) };
        let profile =
            profile.ok_or_else(|| Failure::Usage("--for-model needs --profile".into()))?;
        Ok(Some(profile.asked_as(model)))
    }
}

#[derive(Debug, Clone, clap::Args, Serialize)]
#[command(next_help_heading = "How to mend")]
pub(crate) struct RepairArgs {
    /// What to do with results that match no call: fabricate a call, drop them, or keep them
    /// [default: fabricate].
    #[arg(long, value_name = "HOW", value_parser = ["fabricate", "drop", "keep"])]
    orphans: Option<String>,
    /// What to do with an assistant message at the start: insert a user message before it, or drop it
    /// [default: insert].
    #[arg(long, value_name = "HOW", value_parser = ["insert", "drop"])]
    first: Option<String>,
    /// What to do with a message of unknown role: drop it, or make it a user message
    /// [default: drop].
    #[arg(long, value_name = "HOW", value_parser = ["drop", "user"])]
    unknown_role: Option<String>,
    /// What to do with arguments that are not JSON: keep them; mend those with one possible meaning; complete also
    /// truncated ones, for display; sanitize: escape control characters, else write `{}` [default: keep].
    #[arg(long, value_name = "HOW", value_parser = ["keep", "mend", "complete", "sanitize"])]
    arguments: Option<String>,
    /// Also repair warnings: what the provider accepts but ignores, or may refuse [default: errors only].
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    all: bool,
    /// The pattern of fresh tool call ids, such as `call_{r:24:x}`.
    #[arg(long, value_name = "PATTERN")]
    id_pattern: Option<String>,
}

impl ChainArgs {
    /// The requested profile; a file of profiles may have up to `max_bytes`. Fails for an unknown name, and for a file
    /// that is not a profile.
    pub(crate) fn profile(&self, max_bytes: u64) -> Result<Option<Profile>, Failure> {
        if let Some(path) = &self.profile_file {
            return profile_file(path, self.profile.as_deref(), max_bytes).map(Some);
        }
        let Some(name) = &self.profile else { return Ok(None) };
        let found = Profile::named(name).ok_or_else(|| unknown_profile(name))?;
        Ok(Some(found.clone()))
    }

    /// Whether a provider's rules are applied.
    pub(crate) fn has_profile(&self) -> bool {
        self.profile.is_some() || self.profile_file.is_some()
    }

    /// The command that repairs what these options find.
    pub(crate) fn repair_command(&self) -> String {
        let mut command = "msg repair".to_owned();
        if let Some(path) = &self.profile_file {
            command.push_str(&format!(" --profile-file {}", path.display()));
        }
        if let Some(name) = &self.profile {
            command.push_str(&format!(" --profile {name}"));
        }
        command
    }

    /// The options of `check`.
    pub(crate) fn check_options(&self) -> ChainCheckOptions {
        ChainCheckOptions { open: self.open, ..ChainCheckOptions::new() }
    }
}

impl RepairArgs {
    /// The first of these flags that was given.
    pub(crate) fn given(&self) -> Option<String> {
        Flags::of(self).first()
    }
}

/// The failure for an unknown profile; lists the known ones.
pub(crate) fn unknown_profile(name: &str) -> Failure {
    let known: Vec<_> = Profile::names().collect();
    let near = match profile_of(name) {
        Some(meant) => format!("; did you mean {meant}?"),
        None => did_you_mean(name, known.iter().copied()),
    };
    Failure::Usage(format!("no profile is called {name:?}, expected {}{near}", known.join(", ")))
}

fn profile_file(path: &Path, name: Option<&str>, max_bytes: u64) -> Result<Profile, Failure> {
    let text = side_file(path, max_bytes)?;
    let usage = |it: String| Failure::Usage(format!("{}: {it}", path.display()));
    let Some(name) = name else {
        return Profile::from_toml(&text).map_err(|it| usage(it.to_string()));
    };
    let all = Profile::all_from_toml(&text).map_err(|it| usage(it.to_string()))?;
    let is_it = |it: &Profile| it.name == name || it.aliases.iter().any(|it| it == name);
    let known: Vec<_> = all.iter().map(|it| it.name.clone()).collect();
    all.into_iter().find(is_it).ok_or_else(|| {
        let near = did_you_mean(name, known.iter().map(String::as_str));
        usage(format!("no profile is called {name:?}, expected {}{near}", known.join(", ")))
    })
}
