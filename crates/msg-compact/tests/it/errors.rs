//! Each error has its code.

use msg_compact::{CODES, Error};

#[test]
fn each_error_has_its_code() {
    let unknown = Error::UnknownName { kind: "policy", name: "x".to_owned(), expected: None };
    let option = Error::BadOption { option: "keep".to_owned(), reason: "below 0".to_owned() };
    let rows = [
        (Error::BadBudget { reason: "0 tokens".into() }, "compact::bad-budget"),
        (unknown, "compact::unknown-name"),
        (option, "compact::bad-option"),
        (Error::TokenIndex { messages: 2, counted: 1 }, "compact::other-index"),
        (Error::PromptTooLong { needed: 9, limit: 5 }, "compact::prompt-too-long"),
        (Error::UnknownRequest { id: 1 }, "compact::unknown-request"),
        (Error::AnsweredTwice { id: 1 }, "compact::answered-twice"),
        (Error::PlanMismatch { message: 3 }, "compact::plan-mismatch"),
        (Error::SplitsTurn { turn: 3 }, "compact::splits-turn"),
        (Error::NothingKept, "compact::nothing-kept"),
    ];
    for (error, code) in rows {
        let found = error.diagnostic();
        assert_eq!((found.code.as_str(), &*found.message()), (code, &*error.to_string()));
        assert!(CODES.iter().any(|it| it.code == code), "{code} is in the table");
    }
}
