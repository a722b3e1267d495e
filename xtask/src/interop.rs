//! `cargo xtask interop`: whether the libraries of providers accept what `msg` writes. Conversations of the benches and
//! the cases of the wire crates are written as Bedrock Converse requests (judged by the validator of botocore), as
//! Gemini Interactions (by the types of google-genai) and as UI messages (by `convertToModelMessages` of the AI SDK).
//!
//! The libraries are fetched into `target/interop`. Nothing of it is part of `cargo test` or `cargo xtask ci`.

use std::path::Path;

use crate::workspace::Workspace;
use crate::{Res, no_more, python, sh};

/// The Python libraries that judge.
const LIBRARIES: &[&str] = &["botocore", "google-genai"];

/// Where the documents are that are written.
const DOCUMENTS: &[&str] = &[
    "benches/data/conversations/recorded.jsonl",
    "crates/msg-anthropic/test_data/messages/convert.jsonl",
    "crates/msg-bedrock/test_data/converse/convert.jsonl",
    "crates/msg-gemini/test_data/contents/convert.jsonl",
    "crates/msg-gemini/test_data/interactions/convert.jsonl",
];

pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Res {
    no_more(args)?;
    let root = &workspace.root;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    let place = target.join("interop");
    let python = python::environment(root, &place)?;
    sh::run(root, &python, &[&["-m", "pip", "install", "--quiet"], LIBRARIES].concat(), &[])?;
    let prefix = place.display().to_string();
    sh::run(root, "npm", &["install", "--silent", "--prefix", &prefix, "ai"], &[])?;
    sh::run(root, &sh::cargo(), &["build", "--quiet", "-p", "msg-cli"], &[])?;
    let program = target.join("debug/msg").display().to_string();
    let refused: Vec<_> = ["botocore", "google-genai", "ai"]
        .into_iter()
        .filter(|it| judge(root, &python, &program, it, &place).is_err())
        .collect();
    if refused.is_empty() {
        Ok(())
    } else {
        Err(format!("refusals: {}", refused.join(", ")).into())
    }
}

/// Lets one library judge all documents; its counts and refusals are printed.
fn judge(root: &Path, python: &str, program: &str, oracle: &str, place: &Path) -> Res {
    let modules = place.join("node_modules").display().to_string();
    let args = [&["benches/scripts/interop.py", program, oracle], DOCUMENTS].concat();
    sh::run(root, python, &args, &[("NODE_MODULES", &modules)])
}
