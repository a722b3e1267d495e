//! What a provider answered is fine under its profile: a check finds no error, and neither a repair nor a
//! fitting changes anything (CA-70a). The rows are recorded requests; NOTICE.md beside them says of whom.

use msg_document::{CheckOptions, Digest, FitOptions, Fitter, RepairOptions};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Accepted<'a> {
    format: &'a str,
    profile: &'a str,
    #[serde(borrow)]
    body: &'a RawValue,
}

impl Accepted<'_> {
    /// Options of this row's format and profile, and these members.
    fn options<T: for<'de> Deserialize<'de>>(&self, more: &str) -> T {
        let Accepted { format, profile, .. } = self;
        let json = format!(r#"{{"from":"{format}","profile":"{profile}"{more}}}"#);
        serde_json::from_str(&json).expect("because the members are those of the options")
    }
}

#[test]
fn what_a_provider_answered_stays_as_it_is() {
    testkit::rows!("accepted/requests.jsonl").check(|row| {
        let row: Accepted<'_> = serde_json::from_str(&row.text).expect("because a row is JSON");
        let body = row.body.get().as_bytes();
        for request in ["", r#","request":true"#] {
            let options: CheckOptions = row.options(request);
            let checked = msg_document::check(body, &options).expect("because it can be read");
            assert!(checked.ok, "{:?}", checked.diagnostics);
            let options: RepairOptions = row.options(request);
            let mended = msg_document::repair(body, &options).expect("because it can be read");
            assert_eq!(mended.edits, []);
            assert_eq!(mended.document, body);
        }
    });
}

#[test]
fn what_fits_is_not_changed_for_a_provider_that_answered_it() {
    testkit::rows!("accepted/requests.jsonl").check(|row| {
        let row: Accepted<'_> = serde_json::from_str(&row.text).expect("because a row is JSON");
        let options: FitOptions = row.options(r#","budget":1000000"#);
        let fitter = Fitter::new(options).expect("because the options are sound");
        // A chain that only the provider takes is refused, and so not changed.
        let Ok(fitted) = fitter.fit(row.body.get().as_bytes(), &Digest) else { return };
        assert!(fitted.edits().is_empty());
        assert_eq!(fitted.totals().0, fitted.totals().1);
    });
}
