//! Lists of `{"type": kind, "text": …}`: how both formats spell a text that comes in pieces where the model has
//! one place for it. It knows no kind.

use msg_codec::codec::text_of;
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
