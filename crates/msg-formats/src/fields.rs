//! The paths of conversations in a document: the options `field` and `join` (RW-1 to RW-3), paths as typed, and the
//! values at these paths. `rows` uses them.
//!
//! ```text
//! request.body     the member `body` of the member `request`
//! runs[0].input    an element by its number
//! [].messages      `messages` of each element of a list
//! /a.b/0           a JSON Pointer (RFC 6901), for names with dots
//! ```
//!
//! In a document that is a list, `messages` is `[].messages`.

use std::{fmt, ops::Range, str::FromStr};

use msg_core::{pointer_step, step_name};
use msg_json::{JsonError, Kind, Reader};

use crate::refusal::Refusal;

/// The paths of the conversations in a row. By default there are none, and the document is the conversation.
///
/// ```
/// use msg_formats::RowFields;
/// use msg_formats::rows::RowValues;
///
/// let row = r#"{"id":7,"request":{"body":[{"role":"user","content":"hi"}]}}"#;
/// let fields = RowFields::field("request.body".parse()?);
/// let found = fields.find(row).map_err(msg_core::Error::from)?;
/// let RowValues::Field(found) = &found[0] else { unreachable!() };
/// assert_eq!(&row[found[0].range.clone()], r#"[{"role":"user","content":"hi"}]"#);
/// # Ok::<(), msg_formats::Refusal>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowFields {
    places: Vec<Place>,
}

/// One place, or the two places of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// In one member.
    Field(FieldPath),
    /// A request and its answer.
    Join(JoinedPaths),
}

/// The paths of a request and its answer, written `input,output` (RW-3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedPaths {
    /// The path of the request.
    pub input: FieldPath,
    /// The path of the answer.
    pub output: FieldPath,
}

impl RowFields {
    /// The conversation is in the member at this path.
    pub fn field(path: FieldPath) -> Self {
        RowFields { places: vec![Place::Field(path)] }
    }

    /// The conversation is a request and its answer at two paths.
    pub fn join(input: FieldPath, output: FieldPath) -> Self {
        RowFields { places: vec![Place::Join(JoinedPaths { input, output })] }
    }

    /// Adds more paths.
    #[must_use]
    pub fn and(mut self, other: RowFields) -> Self {
        self.places.extend(other.places);
        self
    }

    /// Whether the document itself is the conversation.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Paths from the options `field` and `join`.
    pub fn of(field: Vec<FieldPath>, join: Vec<JoinedPaths>) -> Self {
        let fields = field.into_iter().map(Place::Field);
        RowFields { places: fields.chain(join.into_iter().map(Place::Join)).collect() }
    }

    /// The values at these paths of a document, in the order of the paths. For a pair of paths into the elements of a
    /// list, those of each element (RW-3). Linear.
    ///
    /// Fails if the text is not JSON.
    pub fn find(&self, json: &str) -> Result<Vec<RowValues>, JsonError> {
        let mut res = Vec::with_capacity(self.places.len());
        for place in &self.places {
            match place {
                Place::Field(path) => res.push(RowValues::Field(path.find(json)?)),
                Place::Join(JoinedPaths { input, output }) => {
                    match elements(json, [input, output])? {
                        None => res.push(RowValues::Join(input.find(json)?, output.find(json)?)),
                        Some(elements) => {
                            for it in elements {
                                let asked = input.find_in_each(json, vec![it.clone()])?;
                                res.push(RowValues::Join(
                                    asked,
                                    output.find_in_each(json, vec![it])?,
                                ));
                            }
                        }
                    }
                }
            }
        }
        Ok(res)
    }
}

/// The values at one path of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowValues {
    /// Conversations.
    Field(Vec<RowValue>),
    /// Requests and answers.
    Join(Vec<RowValue>, Vec<RowValue>),
}

/// `a.b`, or `input,output`.
impl fmt::Display for RowFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, place) in self.places.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            match place {
                Place::Field(it) => write!(f, "{comma}`{it}`")?,
                Place::Join(it) => write!(f, "{comma}`{},{}`", it.input, it.output)?,
            }
        }
        Ok(())
    }
}

impl FromStr for JoinedPaths {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let halves = text.split_once(',').filter(|it| !it.1.contains(','));
        let (input, output) = halves.ok_or_else(|| {
            Refusal::bad_option(format!(
                "bad pair `{text}`: expected two paths, such as `input,output`"
            ))
        })?;
        Ok(JoinedPaths { input: input.trim().parse()?, output: output.trim().parse()? })
    }
}

msg_core::serde_as_text!(read JoinedPaths);

/// The maximum number of steps of a path.
const MOST_STEPS: usize = 32;

/// A path to a value in a JSON document (RW-1).
///
/// ```
/// use msg_formats::FieldPath;
///
/// let path: FieldPath = "request.body".parse()?;
/// assert_eq!(path.to_string(), "request.body");
/// assert!("a..b".parse::<FieldPath>().is_err());
/// # Ok::<(), msg_formats::Refusal>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath {
    text: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// A member by name, or an element by index.
    Name(String),
    /// Each element of a list.
    Each,
}

/// A value at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowValue {
    /// Its byte range in the document.
    pub range: Range<usize>,
    /// Its JSON Pointer.
    pub pointer: String,
}

impl FromStr for FieldPath {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let bad = |why: &str| {
            let text = format!("bad path `{text}`: {why}, expected for example `request.body`");
            Refusal::bad_option(text)
        };
        let steps = match text.strip_prefix('/') {
            Some(pointer) => {
                pointer.split('/').map(|it| Step::Name(step_name(it).into())).collect()
            }
            None => dotted(text.strip_prefix('.').unwrap_or(text)).map_err(bad)?,
        };
        if steps.len() > MOST_STEPS {
            return Err(bad("more than 32 steps"));
        }
        Ok(FieldPath { text: text.to_owned(), steps })
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

msg_core::serde_as_text!(read FieldPath);

impl FieldPath {
    /// The values at this path, in document order. In a document that is a list, a path that begins with a member
    /// is applied to each element. Linear.
    ///
    /// Fails if the text is not JSON.
    pub fn find(&self, json: &str) -> Result<Vec<RowValue>, JsonError> {
        let whole = whole(json)?;
        if self.each_element().is_some() && json.as_bytes()[whole.range.start] == b'[' {
            let mut elements = Vec::new();
            Step::Each.follow(json, &whole, &mut elements)?;
            return self.find_in_each(json, elements);
        }
        follow(&self.steps, json, vec![whole])
    }

    /// The values that it selects from these elements of a document that is a list.
    fn find_in_each(
        &self,
        json: &str,
        elements: Vec<RowValue>,
    ) -> Result<Vec<RowValue>, JsonError> {
        follow(self.each_element().unwrap_or_default(), json, elements)
    }

    /// The steps within an element of a document that is a list; `None` if the path names one element by its index.
    fn each_element(&self) -> Option<&[Step]> {
        match self.steps.split_first()? {
            (Step::Each, rest) => Some(rest),
            (Step::Name(name), _) => name.parse::<usize>().is_err().then_some(&self.steps[..]),
        }
    }
}

/// The elements of a document that is a list, if both paths apply to each element; otherwise `None`.
fn elements(json: &str, paths: [&FieldPath; 2]) -> Result<Option<Vec<RowValue>>, JsonError> {
    let whole = whole(json)?;
    let are_of_each = paths.iter().all(|it| it.each_element().is_some());
    if !are_of_each || json.as_bytes()[whole.range.start] != b'[' {
        return Ok(None);
    }
    let mut res = Vec::new();
    Step::Each.follow(json, &whole, &mut res)?;
    Ok(Some(res))
}

/// The value of the whole document.
fn whole(json: &str) -> Result<RowValue, JsonError> {
    let mut reader = Reader::from_text(json);
    let start = reader.next_offset();
    let raw = reader.raw()?;
    reader.finish()?;
    Ok(RowValue { range: start..start + raw.len(), pointer: String::new() })
}

fn follow(
    steps: &[Step],
    json: &str,
    mut found: Vec<RowValue>,
) -> Result<Vec<RowValue>, JsonError> {
    for step in steps {
        let mut next = Vec::new();
        for it in &found {
            step.follow(json, it, &mut next)?;
        }
        found = next;
    }
    Ok(found)
}

impl Step {
    fn follow(&self, json: &str, at: &RowValue, out: &mut Vec<RowValue>) -> Result<(), JsonError> {
        let mut reader = Reader::from_text(&json[at.range.clone()]);
        let place = |reader: &mut Reader<'_>, step: &str| {
            let start = at.range.start + reader.next_offset();
            let raw = reader.raw()?;
            let pointer = format!("{}/{}", at.pointer, pointer_step(step));
            Ok::<_, JsonError>(RowValue { range: start..start + raw.len(), pointer })
        };
        match (self, reader.peek()?) {
            (Step::Name(name), Kind::Object) => {
                reader.begin_object()?;
                let mut last = None;
                while let Some(key) = reader.next_key()? {
                    match key.text == name.as_str() {
                        true => last = Some(place(&mut reader, name)?),
                        false => _ = reader.raw()?,
                    }
                }
                out.extend(last);
            }
            (step, Kind::Array) => {
                let wanted = match step {
                    Step::Name(name) => match name.parse::<usize>() {
                        Ok(number) => Some(number),
                        Err(_) => return Ok(()),
                    },
                    Step::Each => None,
                };
                reader.begin_array()?;
                let mut number = 0;
                while reader.next_element()? {
                    match wanted.is_none_or(|it| it == number) {
                        true => out.push(place(&mut reader, &number.to_string())?),
                        false => _ = reader.raw()?,
                    }
                    number += 1;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The steps of `a.b[0][]`.
fn dotted(text: &str) -> Result<Vec<Step>, &'static str> {
    let mut steps = Vec::new();
    for piece in text.split('.') {
        let (name, mut rest) = piece.split_at(piece.find('[').unwrap_or(piece.len()));
        if name.is_empty() && (rest.is_empty() || !steps.is_empty()) {
            return Err("a name is missing");
        }
        if !name.is_empty() {
            steps.push(Step::Name(name.to_owned()));
        }
        while let Some(inner) = rest.strip_prefix('[') {
            let (number, after) = inner.split_once(']').ok_or("`]` is missing")?;
            let is_number = number.bytes().all(|it| it.is_ascii_digit());
            steps.push(match number {
                "" => Step::Each,
                _ if is_number => Step::Name(number.to_owned()),
                _ => return Err("brackets take a number"),
            });
            rest = after;
        }
        if !rest.is_empty() {
            return Err("a dot is missing");
        }
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::FieldPath;

    #[test]
    fn paths_lead_to_values() {
        let json = r#" {"a":{"b":[{"c":1},{"c":2}]},"a.b":3,"a":{"b":[{"c":4},{"c":5}]}}"#;
        let found = |path: &str| {
            let path: FieldPath = path.parse().expect("because it is one");
            let found = path.find(json).expect("because it is JSON");
            let shown =
                found.iter().map(|it| format!("{} {}", it.pointer, &json[it.range.clone()]));
            shown.collect::<Vec<_>>()
        };
        assert_eq!(found("a.b[1].c"), ["/a/b/1/c 5"]);
        assert_eq!(found(".a.b[].c"), ["/a/b/0/c 4", "/a/b/1/c 5"]);
        assert_eq!(found("/a.b"), ["/a.b 3"]);
        assert_eq!(found("/a/b/0/c"), ["/a/b/0/c 4"]);
        assert_eq!(found("a.x.c"), [""; 0]);
        for bad in ["", "a..b", "a[", "a[x]", "a[0]b", "a.[0].", "."] {
            assert!(bad.parse::<FieldPath>().is_err(), "{bad}");
        }
    }
}
