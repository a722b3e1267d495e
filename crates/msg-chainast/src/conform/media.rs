//! Where images, sound, video and files are allowed, what results may contain (PM-31, PM-81, PM-132), and the names of
//! documents (PM-107 to PM-109, PM-205, PM-206).
//!
//! Media in a place that is not allowed move into a user message after the results or the system messages, if they are
//! allowed there. Nothing is decoded or converted.

use std::collections::HashSet;

use msg_core::{Code, Content, Diagnostic, File, Message, Part, Role, with_article};

use super::{
    Conform, error, is_empty_text,
    members::Facts,
    mended_if,
    names::{Numbers, cut, limit},
};
use crate::{
    constants::EMPTY_CONTENT,
    profile::{Acceptance, CharClass, Profile},
    repair::{Item, is_answered, pairs, without_members},
};

/// Parts on their way into a user message, with their places in the input.
type Moved = Vec<(Part, (usize, usize))>;

/// The kind of a medium, as profiles name it.
#[inline]
pub(crate) fn kind(part: &Part) -> Option<&'static str> {
    match part {
        Part::Image(_) => Some("image"),
        Part::Audio(_) => Some("audio"),
        Part::File(it) => Some(kind_of_file(it)),
        Part::Other(it) => {
            let facts = Facts::of(it);
            facts.kind.as_deref().is_some_and(|it| it.contains("video")).then_some("video")
        }
        _ => None,
    }
}

/// Like [`kind`], with a separate word for the id of a sound that the model made, where sound data are not accepted.
fn kind_in_place(part: &Part) -> Option<&'static str> {
    match part {
        Part::Audio(it) if it.data.is_none() => Some("audio-id"),
        _ => kind(part),
    }
}

/// The kind of a file by its type. APIs with one member for all types have other rules for files that are not
/// documents.
fn kind_of_file(file: &File) -> &'static str {
    let data = file.data.as_deref().or(file.url.as_deref());
    let told = data.and_then(|it| it.strip_prefix("data:")).or(file.media_type.as_deref());
    match told.and_then(|it| it.split('/').next()) {
        Some("video") => "video",
        Some("audio") => "audio",
        _ => "file",
    }
}

/// Whether a part is a document.
pub(crate) fn is_document(part: &Part) -> bool {
    kind(part) == Some("file")
}

/// Whether a user message can contain a medium. The id of a sound that the model made has no meaning
/// there.
fn may_be_of_user(part: &Part) -> bool {
    !matches!(part, Part::Audio(it) if it.data.is_none())
}

/// Whether a part is a medium, or a result with one.
fn has_media(part: &Part) -> bool {
    let inner = part.as_tool_result().map_or(&[][..], |it| it.content.parts());
    std::iter::once(part).chain(inner).any(|it| kind(it).is_some())
}

impl Conform<'_, '_> {
    pub(super) fn media_places(&mut self) {
        let mut parts = self.items.iter().flat_map(|it| &it.message.parts);
        if !self.judges_media() || !parts.any(has_media) {
            return;
        }
        let answered = self.answered();
        let mut placed: Vec<Item<'_>> = Vec::with_capacity(self.items.len());
        let mut moved = Moved::new();
        for (at, mut item) in std::mem::take(&mut self.items).into_iter().enumerate() {
            // Media of a system message go after the last system message.
            let waits = matches!(item.message.role, Role::Tool | Role::System | Role::Developer);
            if !waits && !moved.is_empty() {
                put_before(&mut item, &mut moved, &mut placed);
            }
            self.take_media(&mut item, answered[at], &mut moved);
            placed.push(item);
        }
        if let Some(place) = moved.first().map(|it| it.1) {
            placed.push(user_of(&mut moved, place.0));
        }
        self.items = placed;
    }

    fn judges_media(&self) -> bool {
        self.profile.media_roles.iter().all(|it| it != "any")
            || self.profile.error_result == Acceptance::Reject
    }

    /// Whether a user message may follow each message or its results. It may not while a call is
    /// pending.
    fn answered(&self) -> Vec<bool> {
        let mut answered = vec![true; self.items.len()];
        for (assistant, tools) in pairs(&self.items) {
            if !is_answered(&self.items, assistant, tools.clone()) {
                answered[assistant..tools.end].fill(false);
            }
        }
        answered
    }

    /// Removes media from a message that must not contain them, if a user message may contain them.
    fn take_media(&mut self, item: &mut Item<'_>, mends: bool, moved: &mut Moved) {
        let role = item.message.role.clone();
        for at in 0..item.message.parts.len() {
            let part = &item.message.parts[at];
            if part.as_tool_result().is_some() {
                self.take_from_result(item, at, mends, moved);
                continue;
            }
            let is_refused = kind_in_place(part).is_some_and(|it| !self.takes(role.as_str(), it));
            let Some(kind) = kind(part).filter(|_| is_refused) else { continue };
            let place = item.place(at);
            let may_move = may_be_of_user(part) && self.takes("user", kind);
            let mended = mends && may_move && role != Role::User;
            self.tell_media("profile::media-place", (kind, role.as_str()), place, None, mended);
            if mended && self.mends("media_roles") {
                let part = &mut item.message.to_mut().parts[at];
                moved.push((std::mem::replace(part, left_behind(kind)), place));
            }
        }
    }

    /// Like [`Conform::take_media`], for the content of a result. A failed result must not contain
    /// media.
    fn take_from_result(&mut self, item: &mut Item<'_>, at: usize, mends: bool, moved: &mut Moved) {
        let Some(result) = item.message.parts[at].as_tool_result() else { return };
        let failed = result.is_error && self.profile.error_result == Acceptance::Reject;
        let refused = |it: &Part| kind(it).filter(|it| failed || !self.takes("tool", it));
        let Some(first) = result.content.parts().iter().find_map(refused) else { return };
        let goes = |it: &Part| {
            refused(it).is_some_and(|kind| mends && may_be_of_user(it) && self.takes("user", kind))
        };
        let (id, content) = (result.call_id.clone(), result.content.clone());
        let (gone, mut kept): (Vec<Part>, Vec<Part>) =
            content.into_parts().into_iter().partition(goes);
        let mended = !gone.is_empty();
        if mended && kept.iter().all(|it| is_empty_text(it, true)) {
            kept.push(left_behind(first));
        }
        let place = item.place(at);
        if mended && self.mends("media_roles") {
            if let Some(Part::ToolResult(it)) = item.message.to_mut().parts.get_mut(at) {
                it.content = kept.into();
            }
            moved.extend(gone.into_iter().map(|it| (it, place)));
        }
        let code = if failed { "profile::error-result" } else { "profile::media-place" };
        self.tell_media(code, (first, "tool"), place, Some(&id), mended);
    }

    fn tell_media(
        &mut self,
        code: &'static str,
        (kind, role): (&str, &str),
        place: (usize, usize),
        id: Option<&str>,
        mended: bool,
    ) {
        let sentence = match code {
            "profile::error-result" => format!("{} in a failed result", with_article(kind)),
            _ => format!("{} in {} message", with_article(kind), with_article(role)),
        };
        let it = mended_if(mended, error(code, sentence, "moved into a user message after it"));
        let id = id.map(|id| self.ids_in_input.get(&place).map_or(id, String::as_str));
        let mut it = self.doubting("media_roles", it).at_part(place.0, place.1);
        it.at.tool_call_id = id.map(str::to_owned);
        self.report.push(it);
    }

    /// Whether this kind of medium may be in a message of this role.
    fn takes(&self, role: &str, kind: &str) -> bool {
        self.profile.media_roles.iter().any(|it| match it.split_once(':') {
            None => it == "any" || it == role,
            // A place that accepts sounds also accepts their ids.
            Some((of, only)) => {
                of == role && (only == kind || Some(only) == kind.strip_suffix("-id"))
            }
        })
    }

    /// A result without content (PM-105).
    pub(super) fn empty_results(&mut self) {
        if self.profile.empty_result == Acceptance::Accept {
            return;
        }
        let blank = |it: &Part| it.as_text().is_some_and(|it| it.trim().is_empty());
        let judge = |part: &Part| {
            let content = &part.as_tool_result()?.content;
            if !content.parts().iter().all(blank) {
                return None;
            }
            let (content, lost) = placeholder(content.parts());
            let fix = format!("inserted a placeholder text{}", without_members(&lost));
            let it = error("profile::empty-result", "a tool result without content", fix);
            Some((it, Some(content)))
        };
        self.mend_parts(judge, |part, content| {
            if let Part::ToolResult(it) = part {
                it.content = content;
            }
        });
    }
}

/// The replacement for empty texts, which keeps their members, and the names of members that do not
/// fit.
fn placeholder(parts: &[Part]) -> (Content, Vec<String>) {
    let mut text = Part::text(EMPTY_CONTENT);
    let mut lost = Vec::new();
    for part in parts {
        let clashes = part.extra().all().filter(|(origin, name, value)| {
            text.extra().get(origin, name).is_some_and(|kept| kept != *value)
        });
        lost.extend(clashes.map(|it| it.1.to_owned()));
        text.extra_mut().merge(part.extra().clone());
    }
    (vec![text].into(), lost)
}

/// The text that replaces a medium.
fn left_behind(kind: &str) -> Part {
    Part::text(format!("[{kind}]"))
}

/// Puts media before a message: into it, if it is the user's.
fn put_before(item: &mut Item<'_>, moved: &mut Moved, placed: &mut Vec<Item<'_>>) {
    if item.message.role == Role::User {
        item.prepend(std::mem::take(moved));
    } else {
        let at = moved[0].1.0;
        placed.push(user_of(moved, at));
    }
}

fn user_of(moved: &mut Moved, at: usize) -> Item<'static> {
    let mut item = Item::whole(Message::new(Role::User), at).inserted();
    for (part, place) in moved.drain(..) {
        item.push_part(part, place);
    }
    item
}

// Names of documents, and the text beside them (PM-107 to PM-109).

/// The name of a document if no character of its name is accepted.
const NAMELESS: &str = "document";

impl Conform<'_, '_> {
    pub(crate) fn file_names(&mut self) {
        let class = &self.profile.file_name_class;
        let max = limit(self.profile.file_name_max);
        let is_unique = self.profile.file_name_unique;
        if class.is_any() && max == usize::MAX && !is_unique {
            return;
        }
        // Accepted names stay, wherever they are.
        let parts = self.items.iter().flat_map(|it| &it.message.parts);
        let names = parts.filter_map(name_of).filter(|it| accepted_name(it, class, max) == **it);
        let mut taken: HashSet<String> = names.map(|it| it.to_lowercase()).collect();
        let (mut kept, mut numbers) = (HashSet::new(), Numbers::default());
        // A name that no other document has, ignoring case; with a number if necessary.
        let mut own_name = |name: &str| {
            let mut is_free = |it: &str| taken.insert(it.to_lowercase());
            match is_free(name) {
                true => name.to_owned(),
                false => numbers.name(name, '-', max, is_free).unwrap_or_else(|| name.to_owned()),
            }
        };
        let judge = |part: &Part| {
            let name = name_of(part)?;
            let accepted = accepted_name(name, class, max);
            let stays = accepted == *name && kept.insert(name.to_lowercase());
            let new = match is_unique && !stays {
                true => own_name(&accepted),
                false => accepted.clone(),
            };
            let sentence = match accepted == *name {
                true => format!("another document is called `{name}`"),
                false => format!("the document name `{name}` is not accepted"),
            };
            (new != *name).then(|| (error("profile::file-name", sentence, "renamed"), Some(new)))
        };
        self.mend_parts(judge, |part, new| {
            if let Part::File(it) = part {
                it.filename = Some(new);
            }
        });
    }

    /// Checks images whose type differs from their data, and images and documents whose type has a spelling that is not
    /// accepted.
    pub(crate) fn media_types(&mut self) {
        let profile = self.profile;
        let judges_images = profile.image_type_true || !profile.image_types.is_empty();
        if !judges_images && profile.file_types.is_empty() {
            return;
        }
        let judge = |part: &Part| {
            // Most parts are of another kind.
            if !matches!(part, Part::Image(_) | Part::File(_) | Part::ToolResult(_)) {
                return None;
            }
            let inner = part.as_tool_result().map_or(&[][..], |it| it.content.parts());
            let mut all = std::iter::once(part).chain(inner);
            let (told, is, code) = all.find_map(|it| {
                let code =
                    if is_document(it) { "profile::file-type" } else { "profile::image-type" };
                wrong_type(it, profile).map(|(told, is)| (told, is, code))
            })?;
            let sentence = match is_taken(told, profile) {
                true => format!("an image of the type `{told}` is one of `{is}`"),
                false => format!("media type `{told}` is not accepted"),
            };
            let fix = format!("wrote {is}");
            Some((error(code, sentence, fix), Some(())))
        };
        let say_type = |part: &mut Part| say_type(part, profile);
        self.mend_parts(judge, |part, ()| match part {
            Part::ToolResult(it) => it.content.parts_mut().iter_mut().for_each(say_type),
            part => say_type(part),
        });
    }

    /// More documents than a request may have.
    pub(crate) fn surplus_files(&mut self) {
        if self.profile.files_max == 0 {
            return;
        }
        let (max, mut n) = (self.profile.files_max, 0);
        let judge = |part: &Part| {
            n += usize::from(is_document(part));
            let is_first = n == max.saturating_add(1) && is_document(part);
            let sentence = || {
                format!(
                    "more than {max} documents: some must be left out, or sent as texts, by hand"
                )
            };
            let code = Code::new("profile::too-many-files");
            is_first.then(|| (Diagnostic::error(code, sentence()), None))
        };
        self.mend_parts(judge, |_, ()| {});
    }

    pub(crate) fn file_texts(&mut self) {
        if !self.profile.file_needs_text {
            return;
        }
        for at in 0..self.items.len() {
            let message = &self.items[at].message;
            let has_text = |it: &Part| it.as_text().is_some_and(|it| !it.trim().is_empty());
            let Some(file) = message.parts.iter().position(is_document) else {
                continue;
            };
            if message.role != Role::User || message.parts.iter().any(has_text) {
                continue;
            }
            let sentence = "a document without a text part in the same message";
            let fix = "inserted a placeholder text";
            self.at_part(at, file, error("profile::file-without-text", sentence, fix));
            let place = (self.items[at].origin.message, 0);
            self.items[at].push_part(Part::text(EMPTY_CONTENT), place);
        }
    }
}

/// How the base64 of images begins.
const BEGINNINGS: [(&str, &str); 4] = [
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
];

/// Other spellings of types, which most providers do not accept.
const OTHER_NAMES: [(&str, &str); 3] =
    [("image/jpg", "image/jpeg"), ("image/pjpeg", "image/jpeg"), ("image/x-png", "image/png")];

/// The same for documents.
const FILE_NAMES: [(&str, &str); 2] =
    [("application/x-pdf", "application/pdf"), ("application/pdf", "application/pdf")];

fn is_taken(media_type: &str, profile: &Profile) -> bool {
    profile.image_types.is_empty() || profile.image_types.iter().any(|it| it == media_type)
}

/// The usual name of a type of images.
fn usual_name(told: &str) -> Option<&'static str> {
    let same = |it: &&(&str, &'static str)| it.0.eq_ignore_ascii_case(told);
    let usual = BEGINNINGS.iter().map(|it| it.1).find(|it| it.eq_ignore_ascii_case(told));
    usual.or_else(|| OTHER_NAMES.iter().find(same).map(|it| it.1))
}

/// The stated type of an image or a document, if the data of the image have another type or this spelling is refused,
/// and the correct one.
pub(crate) fn wrong_type<'a>(part: &'a Part, profile: &Profile) -> Option<(&'a str, &'static str)> {
    let it = match part {
        Part::Image(it) => it,
        Part::File(it) => return wrong_type_of_file(it, profile),
        _ => return None,
    };
    let (told, data) = it.url.as_deref()?.strip_prefix("data:")?.split_once(";base64,")?;
    let essence = told.split(';').next()?;
    let usual = usual_name(essence);
    // Data that begins like WebP may be audio; the name follows the length.
    let is_whole = |is: &str| is != "image/webp" || data.get(12..16) == Some("RUJQ");
    let begins = BEGINNINGS.iter().find(|it| data.starts_with(it.0) && is_whole(it.1));
    let begins = begins.map(|it| it.1);
    let by_data = begins.filter(|it| profile.image_type_true && usual != Some(it));
    // A type that is not accepted may only be a wrong name.
    let is = by_data.or(usual.or(begins).filter(|_| !is_taken(essence, profile)))?;
    let is_image = told.get(..6).is_some_and(|it| it.eq_ignore_ascii_case("image/"));
    (told != is && is_image && is_taken(is, profile)).then_some((told, is))
}

/// As [`wrong_type`], of a document.
fn wrong_type_of_file<'a>(file: &'a File, profile: &Profile) -> Option<(&'a str, &'static str)> {
    let data = file.data.as_deref().or(file.url.as_deref());
    let of_data = data.and_then(|it| it.strip_prefix("data:")?.split([';', ',']).next());
    let told = of_data.filter(|it| !it.is_empty()).or(file.media_type.as_deref())?;
    let is = FILE_NAMES.iter().find(|it| it.0.eq_ignore_ascii_case(told))?.1;
    let takes = |name: &str| profile.file_types.iter().any(|it| it == name);
    (!takes(told) && takes(is)).then_some((told, is))
}

impl Profile {
    /// Changes the media type of an image or a document to one that this provider accepts, if the type is refused or is
    /// not that of the data. Returns the old and the new type. `None` for other parts.
    ///
    /// ```
    /// use msg_chainast::Profile;
    /// use msg_core::{Image, Part};
    ///
    /// let anthropic = Profile::named("anthropic").expect("because it is built in");
    /// let mut part = Part::Image(Image::from_url("data:image/jpg;base64,/9j/"));
    /// let change = anthropic.settle_media_type(&mut part);
    /// assert_eq!(change, Some(("image/jpg".to_owned(), "image/jpeg")));
    /// ```
    pub fn settle_media_type(&self, part: &mut Part) -> Option<(String, &'static str)> {
        let (told, is) = wrong_type(part, self)?;
        let told = told.to_owned();
        say_type(part, self);
        Some((told, is))
    }
}

/// Sets the type of an image or a document.
fn say_type(part: &mut Part, profile: &Profile) {
    let Some((_, is)) = wrong_type(part, profile) else { return };
    let (address, media_type) = match part {
        Part::Image(it) => (&mut it.url, &mut it.media_type),
        Part::File(it) if it.data.is_some() => (&mut it.data, &mut it.media_type),
        Part::File(it) => (&mut it.url, &mut it.media_type),
        _ => return,
    };
    if let Some(it) = address
        && let Some((_, data)) = it.split_once(";base64,").filter(|it| it.0.starts_with("data:"))
    {
        *it = format!("data:{is};base64,{data}");
    }
    if media_type.is_some() {
        *media_type = Some(is.to_owned());
    }
}

/// The name of a document.
fn name_of(part: &Part) -> Option<&String> {
    if let Part::File(it) = part { it.filename.as_ref() } else { None }
}

/// A name of accepted characters: without its extension, and with one space for each run of other
/// characters.
fn accepted_name(name: &str, class: &CharClass, max: usize) -> String {
    let accepted = |it: &str| {
        class.accepts(it)
            && it.len() <= max
            && !it.contains("  ")
            && it.trim() == it
            && !it.is_empty()
    };
    if accepted(name) {
        return name.to_owned();
    }
    let stem = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ending.len() <= 5 => stem,
        _ => name,
    };
    let words: String = stem.chars().map(|it| if class.contains(it) { it } else { ' ' }).collect();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let new = cut(&words, max).trim_end();
    if new.is_empty() { NAMELESS.to_owned() } else { new.to_owned() }
}
