//! The functions over one document, with their options.

use std::collections::BTreeMap;

use msg_cache::LedgerOptions;
use msg_document::{
    CheckOptions, ConvertOptions, Fitter, Format, KeyOptions, Refusal, RepairOptions, StatsOptions,
    check, convert, is_valid, key, messages, options_from_json, repair, stats, to_json,
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::cache;
use crate::kept;
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
            Act::Cache(options) => report(cache::log(json, options)?),
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
            let document = kept::marked(input, &document).unwrap_or(document);
            (Status::Document, Answer { document, report })
        }
        Some(document) => (Status::Document, Answer { document, report }),
    }
}
