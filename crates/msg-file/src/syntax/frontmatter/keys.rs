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
            found.tell(
                0,
                "msgfile::yaml-duplicate-key",
                format!("the frontmatter has `{key}` twice; the first one counts"),
            );
            continue;
        }
        seen.push(key);
        let Some(value) = value else {
            found.tell(
                0,
                "msgfile::yaml-refused",
                format!("`{key}` holds an anchor, alias, tag or odd key and is not read"),
            );
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
    found.tell(
        0,
        "msgfile::frontmatter-bad-value",
        format!("`{key}` of the frontmatter has a value of the wrong shape"),
    );
}

fn default_agent(value: &Node, front: &mut Frontmatter, found: &mut Findings) {
    match value {
        Node::Scalar { text, .. } if !text.is_empty() => front.default_agent = Some(text.clone()),
        _ => bad_value("default_agent", found),
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
    let number = match value {
        Node::Scalar { text, .. } if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    };
    match number {
        Some(0) | None => bad_value("message_format", found),
        Some(n) => {
            front.message_format = Some(n);
            if n > 1 {
                found.tell(
                    0,
                    "msgfile::newer-format",
                    format!("the file is of format {n}, this program knows format 1"),
                );
            }
        }
    }
}
