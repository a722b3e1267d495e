//! The functions over one document, and over a list of requests, with their options; and which elements of a mended document
//! are elements of the caller's document (RE-9).
//!
//! ```text
//! {"model":"m","messages":[A,B,C]}   mended   {"model":"m","messages":[A,X,C]}
//!   ─▶  {"document":{"model":"m","messages":[0,X,0]},"kept":{"messages":[0,null,2]}}
//! ```
//!
//! Lists are looked at where a document has its messages: the document itself (`""`), and its members. Texts are
//! compared, so that an element is kept exactly where its JSON is the same.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    ops::Range,
};

use msg_cache::{Error, Ledger, LedgerOptions};
use msg_document::{
    CheckOptions, ConvertOptions, Fitter, Format, KeyOptions, ObjectWriter, Refusal, RepairOptions,
    StatsOptions, check, convert, is_valid, key, messages, options_from_json, repair, stats,
    to_json,
};
use msg_json::{JsonError, Kind, Reader, write_str};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::state::{Answer, Status, of_report};

/// A function with its options understood.
pub(crate) enum Act {
    Check(Box<CheckOptions>),
    IsValid(Box<CheckOptions>),
    Repair(Box<RepairOptions>),
    Convert(Format, Box<ConvertOptions>),
    /// With summaries that were written elsewhere, in the order of the requests.
    Fit(Box<Fitter>, Vec<Option<String>>),
    FitRequests(Box<Fitter>),
    Stats(Box<StatsOptions>),
    Cache(Box<LedgerOptions>),
    Messages(Box<CheckOptions>),
    Key(KeyOptions),
}

impl Act {
    /// An act by its number, which `npm/lib/functions.js` knows.
    pub(crate) fn of(act: u32, json: &[u8]) -> Result<Self, Refusal> {
        Ok(match act {
            2 => Act::Check(options_from_json(json)?),
            3 => Act::IsValid(options_from_json(json)?),
            4 => Act::Repair(options_from_json(json)?),
            5 => {
                let (to, json) = without::<String>(json, "to")?;
                let to = to.unwrap_or_default().parse()?;
                Act::Convert(to, Box::new(options_from_json(&json)?))
            }
            6 => {
                let (answers, json) = without::<Vec<Option<String>>>(json, "answers")?;
                let fitter = Fitter::new(options_from_json(&json)?)?;
                Act::Fit(Box::new(fitter), answers.unwrap_or_default())
            }
            7 => Act::Stats(options_from_json(json)?),
            8 => Act::Cache(options_from_json(json)?),
            9 => Act::Messages(options_from_json(json)?),
            10 => Act::Key(options_from_json(json)?),
            11 => Act::FitRequests(Box::new(Fitter::new(options_from_json(json)?)?)),
            other => return Err(Refusal::bad_option(format!("no act has the number {other}"))),
        })
    }

    pub(crate) fn run(&self, json: &[u8], is_kept: bool) -> Result<(Status, Answer), Refusal> {
        let report = |report| Ok((Status::Report, of_report(report)));
        match self {
            Act::Check(options) => report(check(json, options)?.to_json()),
            Act::IsValid(options) => report(to_json(&is_valid(json, options)?)),
            Act::Repair(options) => {
                let it = repair(json, options)?;
                let line = it.report_json();
                let document = it.changed.then_some(it.document);
                Ok(answer(json, document, line, is_kept))
            }
            Act::Convert(to, options) => {
                let it = convert(json, *to, options)?;
                let line = it.report_json();
                Ok((Status::Document, Answer { document: it.document, report: line }))
            }
            Act::Fit(fitter, answers) => {
                let mut it = fitter.answer(json, answers)?;
                let line = it.to_json();
                Ok(match it.take_document() {
                    Some(document) => answer(json, Some(document), line, is_kept),
                    None => (Status::Report, of_report(line)),
                })
            }
            Act::FitRequests(fitter) => report(list(&fitter.requests(json)?)),
            Act::Stats(options) => report(stats(json, options)?.to_json()),
            Act::Cache(options) => report(log(json, options)?),
            Act::Messages(options) => {
                let rows = messages(json, &options.read)?;
                report(list(&rows.iter().map(|it| it.to_json()).collect::<Vec<_>>()))
            }
            Act::Key(options) => report(to_json(&key(json, options)?)),
        }
    }
}

/// A member of options, and the options without it.
fn without<T: DeserializeOwned>(json: &[u8], name: &str) -> Result<(Option<T>, Vec<u8>), Refusal> {
    let mut members: BTreeMap<String, Box<RawValue>> = options_from_json(json)?;
    let member = members.remove(name).map(|it| serde_json::from_str(it.get()));
    let bad = |it| Refusal::bad_option(format!("option {name}: {it}"));
    Ok((member.transpose().map_err(bad)?, to_json(&members)))
}

/// A JSON array of what is JSON already.
fn list(items: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let items: Vec<&[u8]> = items.iter().map(AsRef::as_ref).collect();
    [&b"["[..], &items.join(&b","[..]), b"]"].concat()
}

/// A document of the caller's format; none where it is the caller's.
fn answer(
    input: &[u8],
    document: Option<Vec<u8>>,
    report: Vec<u8>,
    is_kept: bool,
) -> (Status, Answer) {
    match document.filter(|it| it != input) {
        None => (Status::Same, of_report(report)),
        Some(document) if is_kept => {
            let document = marked(input, &document).unwrap_or(document);
            (Status::Document, Answer { document, report })
        }
        Some(document) => (Status::Document, Answer { document, report }),
    }
}

/// The rows of a JSON array of requests, and their totals.
fn log(json: &[u8], options: &LedgerOptions) -> Result<Vec<u8>, Refusal> {
    let requests: Vec<&RawValue> = serde_json::from_slice(json)
        .map_err(|it| Refusal::bad_option(format!("expected a list of requests: {it}")))?;
    let mut ledger = Ledger::new(options.clone());
    let mut rows = Vec::new();
    for (at, request) in requests.iter().enumerate() {
        if at > 0 {
            rows.push(b',');
        }
        match ledger.push(request.get().as_bytes()) {
            Ok(row) => rows.extend(to_json(&row)),
            Err(error) => rows.extend(bad_row(at, &error)),
        }
    }
    let rows = [&b"["[..], &rows, b"]"].concat();
    Ok(ObjectWriter::new().raw("rows", &rows).with("totals", &ledger.totals()).finish())
}

fn bad_row(at: usize, error: &Error) -> Vec<u8> {
    let error = ObjectWriter::new().with("code", &error.code()).with("message", &error.to_string());
    ObjectWriter::new().with("line", &(at + 1)).raw("error", &error.finish()).finish()
}

/// A list of a document: the member's name, and its elements.
type List = (String, Vec<Range<usize>>);

/// The mended document with its kept elements named; nothing where one of the two is not a JSON value.
fn marked(input: &[u8], mended: &[u8]) -> Option<Vec<u8>> {
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
