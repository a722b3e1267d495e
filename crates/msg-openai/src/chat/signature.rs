//! The signature of a Gemini thought, which rides in `extra_content.google.thought_signature` of a
//! call (OA-1): taken out of that object and put back.

use msg_core::RawJson;
use msg_json::{Writer, to_text};

use msg_codec::codec::{RawMember, object_members, object_of, text_of};

/// An `extra_content` taken apart.
pub(crate) struct Split<'a> {
    pub(crate) signature: String,
    /// The object without the signature, if anything is left of it.
    pub(crate) rest: Option<RawJson>,
    /// The source, if [`join`] would not give it back.
    pub(super) odd: Option<&'a str>,
}

/// Takes the signature out; none if there is none, or it is not text.
pub(crate) fn split(source: &str) -> Option<Split<'_>> {
    let whole = RawJson::new(source).ok()?;
    let members = object_members(&whole)?;
    let google = members.iter().find(|it| it.name == "google")?;
    let inside = RawJson::new(google.value).ok()?;
    let inside = object_members(&inside)?;
    let (signature, lone) =
        text_of(inside.iter().find(|it| it.name == "thought_signature")?.value)?;
    if signature.is_empty() || lone {
        return None;
    }
    let kept: Vec<_> = inside.iter().filter(|it| it.name != "thought_signature").collect();
    let google = (!kept.is_empty()).then(|| object_of(kept.iter().map(|it| (&*it.name, it.value))));
    let rest: Vec<_> = members
        .iter()
        .filter_map(|it| match (&*it.name, &google) {
            ("google", None) => None,
            ("google", Some(left)) => Some(("google", left.text())),
            (name, _) => Some((name, it.value)),
        })
        .collect();
    let rest = (!rest.is_empty()).then(|| object_of(rest.into_iter()));
    let signature = signature.into_owned();
    let joined = join(&signature, rest.as_ref());
    let odd = (RawJson::new(joined).ok()? != whole).then_some(source);
    Some(Split { signature, rest, odd })
}

/// Puts a signature into an `extra_content`, after what is there.
pub(super) fn join(signature: &str, rest: Option<&RawJson>) -> String {
    let members = rest.and_then(object_members).unwrap_or_default();
    let mut done = false;
    let write = |it: &mut Writer<'_>| {
        for member in &members {
            if member.name == "google" && !done {
                done = true;
                google(it.key("google"), Some(member), signature);
            } else {
                it.key(&member.name).raw(member.value);
            }
        }
        if !done {
            google(it.key("google"), None, signature);
        }
    };
    to_text(|it| it.object(write))
}

fn google(it: &mut Writer<'_>, rest: Option<&RawMember<'_>>, signature: &str) {
    let rest = rest.and_then(|it| RawJson::new(it.value).ok());
    let rest = rest.as_ref().and_then(object_members).unwrap_or_default();
    it.object(|it| {
        for member in rest.iter().filter(|it| it.name != "thought_signature") {
            it.key(&member.name).raw(member.value);
        }
        it.key("thought_signature").str(signature);
    });
}
