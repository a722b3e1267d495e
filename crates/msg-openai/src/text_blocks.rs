//! What the contents of both formats share: lists of `{"type": kind, "text": …}`, by which they spell a text that comes
//! in pieces where the model has one place for it, and the member that both spell in the same way.

use msg_codec::codec::{Losses, RawMember, text_of};
use msg_core::{Extra, Origin, RawJson};
use msg_json::{JsonError, Reader, Writer, to_text};

/// The texts of a list of blocks.
#[derive(Default)]
pub(crate) struct TextBlocks {
    pub(crate) texts: Vec<String>,
    pub(crate) lone_surrogate: bool,
    /// Whether a writer writes such blocks for these texts.
    is_plain: bool,
}

impl TextBlocks {
    /// Reads a list; none if one of its elements is anything else than a block of this kind.
    pub(crate) fn read(source: &str, kind: &str) -> Option<Self> {
        let mut res = Self { is_plain: true, ..Self::default() };
        let mut reader = Reader::from_text(source);
        reader.begin_array().ok()?;
        while reader.next_element().ok()? {
            res.block(&mut reader, kind).ok()??;
        }
        Some(res)
    }

    fn block(&mut self, reader: &mut Reader<'_>, kind: &str) -> Result<Option<()>, JsonError> {
        let (mut text, mut place) = (None, 0);
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            let value = text_of(reader.raw()?);
            place += 1;
            match (&*key.text, value) {
                ("type", Some((word, _))) if word == kind => self.is_plain &= place == 1,
                ("text", Some(value)) if text.is_none() => {
                    self.is_plain &= place == 2;
                    text = Some(value);
                }
                ("type" | "text", _) => return Ok(None),
                _ => self.is_plain = false,
            }
        }
        let Some((text, lone_surrogate)) = text else { return Ok(None) };
        self.lone_surrogate |= lone_surrogate;
        self.texts.push(text.into_owned());
        Ok(Some(()))
    }

    /// The source, if it is not what is written for these texts where there are so many blocks at the most.
    pub(crate) fn odd<'a>(&self, source: &'a str, most: usize) -> Option<&'a str> {
        let is_written = self.is_plain && !self.lone_surrogate && self.texts.len() <= most;
        (!is_written).then_some(source)
    }
}

/// A list of a block of this kind for each text, as it is written.
pub(crate) fn blocks<'t>(kind: &str, texts: impl IntoIterator<Item = &'t str>) -> String {
    to_text(|it| it.array(texts, |it, text| write_block(it, kind, text)))
}

/// Writes a block.
pub(crate) fn write_block(it: &mut Writer<'_>, kind: &str, text: &str) {
    it.object(|it| {
        it.key("type").str(kind);
        it.key("text").str(text);
    });
}

/// The member of a content part that both formats have: the end of a prefix that is cached.
const SHARED: &str = "prompt_cache_breakpoint";

/// The shared member of a part, if it is from the other format.
pub(crate) fn shared<'a>(extra: &'a Extra, own: &Origin) -> Option<&'a RawJson> {
    let other = if *own == Origin::OpenAi { Origin::Responses } else { Origin::OpenAi };
    extra.get(&other, SHARED).filter(|_| extra.get(own, SHARED).is_none())
}

/// The unknown members of a content part: those of its format, and the shared one.
pub(crate) fn part_members<'a>(
    extra: &'a Extra,
    own: &'a Origin,
    skip: &[&str],
) -> Vec<RawMember<'a>> {
    let mut res = RawMember::all_of(extra, own, skip);
    let shared = shared(extra, own);
    res.extend(shared.map(|it| RawMember { name: SHARED.into(), value: it.text() }));
    res
}

/// Notes the unknown members that a content part leaves out.
pub(crate) fn lose_foreign(losses: &mut Losses<'_>, at: usize, extra: &Extra, own: &Origin) {
    let is_shared = shared(extra, own).is_some();
    let is_openai = |it: &Origin| matches!(it, Origin::OpenAi | Origin::Responses);
    for (origin, name, _) in extra.all().filter(|it| it.0 != own) {
        if !(is_shared && name == SHARED && is_openai(origin)) {
            losses.raw(Some(at), &format!("{origin}.{name}"));
        }
    }
}
