//! Which elements of a mended document are elements of the caller's document (RE-9).
//!
//! ```text
//! {"model":"m","messages":[A,B,C]}   mended   {"model":"m","messages":[A,X,C]}
//!   ─▶  {"document":{"model":"m","messages":[0,X,0]},"kept":{"messages":[0,null,2]}}
//! ```
//!
//! Lists are looked at where a document has its messages: the document itself (`""`), and its members. Texts are
//! compared, so that an element is kept exactly where its JSON is the same.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use msg_json::{JsonError, Kind, Reader, write_str};

/// A list of a document: the member's name, and its elements.
type List = (String, Vec<Range<usize>>);

/// The mended document with its kept elements named; nothing where one of the two is not a JSON value.
pub(crate) fn marked(input: &[u8], mended: &[u8]) -> Option<Vec<u8>> {
    let (own, new) = (std::str::from_utf8(input).ok()?, std::str::from_utf8(mended).ok()?);
    let (own_lists, new_lists) = (lists(own).ok()?, lists(new).ok()?);
    let mut out = b"{\"document\":".to_vec();
    let (mut kept, mut at) = (Vec::new(), 0);
    for (name, elements) in &new_lists {
        let own = own_lists.iter().find(|it| it.0 == *name).map_or(&[][..], |it| &it.1);
        let found = places((own_texts(input, own), elements), mended);
        for (element, _) in elements.iter().zip(&found).filter(|it| it.1.is_some()) {
            out.extend_from_slice(&mended[at..element.start]);
            out.push(b'0');
            at = element.end;
        }
        kept.push((name, found));
    }
    out.extend_from_slice(&mended[at..]);
    out.extend_from_slice(b",\"kept\":{");
    for (n, (name, found)) in kept.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        write_str(&mut out, name);
        out.push(b':');
        out.extend(msg_document::to_json(found));
    }
    out.extend_from_slice(b"}}");
    Some(out)
}

/// The caller's elements by their text, the first first.
fn own_texts<'a>(input: &'a [u8], own: &[Range<usize>]) -> HashMap<&'a [u8], VecDeque<usize>> {
    let mut res: HashMap<&[u8], VecDeque<usize>> = HashMap::new();
    for (at, element) in own.iter().enumerate() {
        res.entry(&input[element.clone()]).or_default().push_back(at);
    }
    res
}

fn places(
    (mut own, elements): (HashMap<&[u8], VecDeque<usize>>, &[Range<usize>]),
    mended: &[u8],
) -> Vec<Option<usize>> {
    let mut place = |it: &Range<usize>| own.get_mut(&mended[it.clone()])?.pop_front();
    elements.iter().map(|it| place(it)).collect()
}

/// The lists of a document, in their order; of members with one name the last, which is the one that JavaScript sees.
fn lists(json: &str) -> Result<Vec<List>, JsonError> {
    let mut reader = Reader::from_text(json);
    let mut res: Vec<List> = Vec::new();
    match reader.peek()? {
        Kind::Array => res.push((String::new(), elements(&mut reader)?)),
        Kind::Object => {
            reader.begin_object()?;
            let mut names = Vec::new();
            while let Some(name) = reader.next_key()? {
                let name = name.text.into_owned();
                match reader.peek()? {
                    Kind::Array => res.push((name.clone(), elements(&mut reader)?)),
                    _ => drop(reader.raw()?),
                }
                names.push(name);
            }
            res.retain(|list| names.iter().filter(|it| **it == list.0).count() == 1);
        }
        _ => drop(reader.raw()?),
    }
    reader.finish()?;
    Ok(res)
}

fn elements(reader: &mut Reader<'_>) -> Result<Vec<Range<usize>>, JsonError> {
    let mut res = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        let start = reader.next_offset();
        let text = reader.raw()?;
        res.push(start..start + text.len());
    }
    Ok(res)
}

#[cfg(test)]
mod tests {
    use super::marked;

    #[test]
    fn kept_elements_are_named_and_others_are_written() {
        let own = br#"{"model":"m","messages":[{"a":1}, {"b":2},{"a":1}],"stop":["x"]}"#;
        let new = br#"{"model":"m","messages":[{"a":1},7,{"a":1},{"a":1}],"stop":["x"]}"#;
        let text = marked(own, new).map(|it| String::from_utf8_lossy(&it).into_owned());
        let expected = r#"{"document":{"model":"m","messages":[0,7,0,{"a":1}],"stop":[0]},"kept":{"messages":[0,null,2,null],"stop":[0]}}"#;
        assert_eq!(text.as_deref(), Some(expected));
    }

    #[test]
    fn a_member_that_is_there_twice_is_written_whole() {
        let own = br#"{"messages":[1],"messages":[2]}"#;
        let text = marked(own, own).map(|it| String::from_utf8_lossy(&it).into_owned());
        let expected = r#"{"document":{"messages":[1],"messages":[2]},"kept":{}}"#;
        assert_eq!(text.as_deref(), Some(expected));
    }

    #[test]
    fn lines_are_no_value() {
        assert_eq!(marked(b"{}\n{}", b"{}"), None);
    }
}
