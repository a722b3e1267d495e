//! Closure: a conversion makes no conversation worse, and with the profile of the target it is mended in the same run.

use std::collections::BTreeSet;

use msg_chainast::Profile;
use msg_document::{CheckOptions, ConvertOptions, Format, ReadOptions, check, convert};

/// Findings that a conversion may leave, because only some providers of the target format refuse them: ids are not
/// changed (MS-25), and media stay in place.
const OF_TARGET: [&str; 2] = ["profile::tool-call-id", "profile::media-place"];

/// Findings that apply only to histories: an answer may become a list of messages.
const OF_HISTORY: [&str; 3] =
    ["chain::unexpected-first-role", "profile::user-message", "profile::consecutive-assistant"];

/// The provider of a format, by the name of its profile.
pub(crate) fn profile_of(to: Format) -> Option<&'static Profile> {
    let name = match to.name() {
        "responses" => "openai-responses",
        "interactions" => "gemini-interactions",
        name => name,
    };
    Profile::named(name)
}

/// A sound document has no error in another format that it had not before, as the provider of that format judges both.
pub(crate) fn conversions_make_nothing_worse(
    json: &[u8],
    from: Format,
    to: Format,
) -> Result<(), String> {
    let Some(profile) = profile_of(to).filter(|_| from != to) else { return Ok(()) };
    if !is_sound(json, from) {
        return Ok(());
    }
    let options = ConvertOptions::default().with_read(ReadOptions::default().with_from(Some(from)));
    let Ok(converted) = convert(json, to, &options) else { return Ok(()) };
    let Ok(before) = errors(json, from, profile) else { return Ok(()) };
    let after = errors(&converted.document, to, profile)?;
    let is_allowed =
        |it: &str| OF_TARGET.contains(&it) || OF_HISTORY.contains(&it) && is_response(json);
    let was_there = |it: &String| before.contains(it) || is_allowed(it);
    let new: Vec<_> = after.iter().filter(|it| !was_there(it)).collect();
    let written = || String::from_utf8_lossy(&converted.document);
    let said = || String::from_utf8_lossy(json);
    match new.is_empty() {
        true => Ok(()),
        false => Err(format!("{from} to {to}: {new:?} are new\nof {}\nin {}", said(), written())),
    }
}

/// With a profile a conversion has the errors that it says are left, and no others.
pub(crate) fn conversions_for_a_provider_are_mended(
    json: &[u8],
    from: Format,
    to: Format,
) -> Result<(), String> {
    let Some(profile) = profile_of(to).filter(|_| from != to) else { return Ok(()) };
    let read = ReadOptions::default().with_from(Some(from));
    let options = ConvertOptions::default().with_read(read).with_profile(profile.clone());
    let Ok(converted) = convert(json, to, &options) else { return Ok(()) };
    let left: BTreeSet<_> = converted.remaining.iter().map(|it| it.code.as_str()).collect();
    let after = errors(&converted.document, to, profile)?;
    let new: Vec<_> = after.iter().filter(|it| !left.contains(it.as_str())).collect();
    match new.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "{from} to {to} for its provider: {new:?} are not mended\nof {}\nin {}",
            String::from_utf8_lossy(json),
            String::from_utf8_lossy(&converted.document)
        )),
    }
}

/// Whether a document has no error, as the provider of its own format judges it too.
pub(crate) fn is_sound(json: &[u8], format: Format) -> bool {
    let options = CheckOptions::default().with_read(ReadOptions::default().with_from(Some(format)));
    let own = profile_of(format).map(|it| options.clone().with_profile(it.clone()));
    let is_ok = |it: &CheckOptions| check(json, it).is_ok_and(|it| it.ok);
    is_ok(&options) && own.is_none_or(|it| is_ok(&it))
}

/// The codes of what a provider refuses in a document. Calls at its end are open: those of an answer that is written
/// after its request are run afterwards.
fn errors(json: &[u8], format: Format, profile: &Profile) -> Result<BTreeSet<String>, String> {
    let read = ReadOptions::default().with_from(Some(format));
    let mut options = CheckOptions::default().with_read(read).with_profile(profile.clone());
    options.chain = options.chain.with_open();
    let checked = check(json, &options).map_err(|it| {
        format!("{format} is not read again: {it:?}\n{}", String::from_utf8_lossy(json))
    })?;
    let errors = checked.diagnostics.iter().filter(|it| it.is_error());
    Ok(errors.map(|it| it.code.as_str().to_owned()).collect())
}

/// Whether a document is the answer of an API: an object without the history that it answers.
fn is_response(json: &[u8]) -> bool {
    let history = ["messages", "contents", "input", "steps"];
    let body = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(json);
    body.is_ok_and(|it| !history.iter().any(|name| it.contains_key(*name)))
}
