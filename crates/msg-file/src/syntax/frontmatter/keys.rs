//! What the keys of the frontmatter mean (MF-4).

use super::Frontmatter;
use super::agents::agents;
use super::yaml::{Entry, Node};
use crate::diag::Findings;

/// Takes the values of the keys; the first of each counts.
pub(super) fn interpret(entries: &[Entry], front: &mut Frontmatter, found: &mut Findings) {
    let mut seen: Vec<&str> = Vec::new();
    for (key, value) in entries {
        if seen.contains(&key.as_str()) {
            let what = format!("the frontmatter has `{key}` twice; the first one counts");
            found.tell(0, "msgfile::yaml-duplicate-key", what);
            continue;
        }
        seen.push(key);
        let Some(value) = value else {
            let what = format!("`{key}` holds an anchor, alias, tag or odd key and is not read");
            found.tell(0, "msgfile::yaml-refused", what);
            continue;
        };
        if value.absent() {
            continue;
        }
        match key.as_str() {
            "agents" => agents(value, front, found),
            "default_agent" => default_agent(value, front, found),
            "message_section" => message_section(value, front, found),
            _ => message_format(value, front, found),
        }
    }
}

fn bad_value(key: &str, found: &mut Findings) {
    let what = format!("`{key}` of the frontmatter has a value of the wrong shape");
    found.tell(0, "msgfile::frontmatter-bad-value", what);
}

fn default_agent(value: &Node, front: &mut Frontmatter, found: &mut Findings) {
    match value.text().filter(|it| !it.is_empty()) {
        Some(text) => front.default_agent = Some(text.to_owned()),
        None => bad_value("default_agent", found),
    }
}

fn message_section(value: &Node, front: &mut Frontmatter, found: &mut Findings) {
    match value {
        Node::Scalar { text, plain: true } if matches!(text.as_str(), "true" | "True" | "TRUE") => {
            front.message_section = Some("Discussion".to_owned());
        }
        Node::Scalar { text, plain: true }
            if matches!(text.as_str(), "false" | "False" | "FALSE") =>
        {
            front.switched_off = true;
        }
        Node::Scalar { text, .. } if !text.trim().is_empty() => {
            front.message_section = Some(text.trim().to_owned());
        }
        _ => bad_value("message_section", found),
    }
}

fn message_format(value: &Node, front: &mut Frontmatter, found: &mut Findings) {
    let digits = value.text().filter(|it| it.bytes().all(|b| b.is_ascii_digit()));
    match digits.and_then(|it| it.parse().ok()) {
        Some(0) | None => bad_value("message_format", found),
        Some(n) => {
            front.message_format = Some(n);
            if n > 1 {
                let what = format!("the file is of format {n}, this program knows format 1");
                found.tell(0, "msgfile::newer-format", what);
            }
        }
    }
}
