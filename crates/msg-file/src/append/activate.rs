//! Switching a Markdown file on: a line in its frontmatter, a heading at its end (MF-36).

use super::joint;
use crate::document::{Document, Mode};
use crate::error::Error;
use crate::limits::Limits;
use crate::syntax::line::Eol;
use crate::syntax::scan::bom_len;

/// The bytes of a Markdown file with the record switched on in the section `name` (`Discussion`
/// unless the frontmatter names one), checked by reading them.
pub(crate) fn activated(doc: &Document, name: Option<&str>) -> Result<Vec<u8>, Error> {
    let refused = |what: &str| Error::refused("msgfile::not-activated", what.to_owned());
    let eol = Eol::of(doc.bytes());
    let mut bytes = doc.bytes().to_vec();
    if !doc.is_active() {
        let value = name.unwrap_or("Discussion");
        if value.trim().is_empty() || value.chars().any(char::is_control) {
            return Err(refused("the name of the section is empty or holds control characters"));
        }
        let line = format!("message_section: {}{}", scalar(value), eol.as_str());
        match doc.frontmatter() {
            Some(front) if front.switched_off => {
                return Err(refused("the file is switched off by `message_section: false`"));
            }
            Some(front) if front.broken => return Err(refused("the frontmatter is broken")),
            Some(front) => drop(bytes.splice(front.close..front.close, line.into_bytes())),
            None => {
                let at = bom_len(&bytes);
                let text = format!("---{0}{line}---{0}", eol.as_str());
                drop(bytes.splice(at..at, text.into_bytes()));
            }
        }
    }
    let with_front = Document::read(bytes.as_slice(), Mode::Markdown, &Limits::default())?;
    let Some(section) = with_front.frontmatter().and_then(|f| f.message_section.clone()) else {
        return Err(refused("the frontmatter does not take the line that switches the file on"));
    };
    if with_front.section().is_none() {
        bytes.extend_from_slice(&joint(&bytes));
        bytes.extend_from_slice(format!("# {section}{}", eol.as_str()).as_bytes());
        let done = Document::read(bytes.as_slice(), Mode::Markdown, &Limits::default())?;
        if done.section().is_none() {
            return Err(refused("a heading for the section cannot be added"));
        }
    }
    Ok(bytes)
}

/// A name as a YAML scalar that is read as this name.
fn scalar(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == ' ')
        && name.trim() == name
        && name.starts_with(char::is_alphabetic)
        && !["true", "false", "null", "yes", "no", "on", "off"]
            .contains(&name.to_lowercase().as_str());
    if plain { name.to_owned() } else { format!("'{}'", name.replace('\'', "''")) }
}
