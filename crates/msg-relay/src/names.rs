//! Names of tools that the upstream refuses are changed on the way up and given back on the way down (RE-28).
//!
//! ```text
//! client `get.weather`  ─▶  upstream `get_weather`  ─▶  client `get.weather`
//! ```

use std::collections::{HashMap, HashSet};

use msg_core::request::{RequestHead, Tool, ToolChoice};
use msg_core::{Message, Part};

use crate::api::Api;

/// The names that were changed: the upstream's and the client's.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    to_client: HashMap<String, String>,
}

impl Names {
    /// Changes the names that `api` refuses, everywhere where one occurs.
    pub(crate) fn change(api: Api, head: &mut RequestHead, messages: &mut [Message]) -> Self {
        let mut to_upstream = HashMap::new();
        let mut taken: HashSet<String> = HashSet::new();
        let mut refused = Vec::new();
        each_name(head, messages, &mut |name| {
            if is_accepted(api, name) {
                taken.insert(name.clone());
            } else if !refused.contains(name) {
                refused.push(name.clone());
            }
        });
        for name in refused {
            let new = unused(accepted(api, &name), api, &taken);
            taken.insert(new.clone());
            to_upstream.insert(name, new);
        }
        if !to_upstream.is_empty() {
            each_name(head, messages, &mut |name| {
                if let Some(new) = to_upstream.get(name) {
                    name.clone_from(new);
                }
            });
        }
        Names { to_client: to_upstream.into_iter().map(|(old, new)| (new, old)).collect() }
    }

    /// The client's name of a tool.
    pub(crate) fn of_client<'n>(&'n self, name: &'n str) -> &'n str {
        self.to_client.get(name).map_or(name, String::as_str)
    }

    /// Whether every name is as the client gave it.
    pub(crate) fn is_empty(&self) -> bool {
        self.to_client.is_empty()
    }

    /// How many were changed.
    pub(crate) fn len(&self) -> usize {
        self.to_client.len()
    }
}

/// The longest name of a tool: Anthropic 128, all others 64 (the same figures as in the profiles).
fn longest(api: Api) -> usize {
    if api == Api::Messages { 128 } else { 64 }
}

fn is_google(api: Api) -> bool {
    matches!(api, Api::Gemini | Api::Interactions)
}

fn is_accepted(api: Api, name: &str) -> bool {
    !name.is_empty()
        && name.len() <= longest(api)
        && name.bytes().all(|it| is_plain(api, it))
        && (!is_google(api) || !name.as_bytes()[0].is_ascii_digit())
}

fn is_plain(api: Api, byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'-')
        || is_google(api) && matches!(byte, b'.' | b':')
}

/// The nearest name that is accepted.
fn accepted(api: Api, name: &str) -> String {
    let mut new: String = name
        .chars()
        .map(|it| if it.is_ascii() && is_plain(api, it as u8) { it } else { '_' })
        .collect();
    if new.is_empty() || is_google(api) && new.as_bytes()[0].is_ascii_digit() {
        new.insert(0, '_');
    }
    new.truncate(longest(api));
    new
}

/// The name itself, or with a number appended if another tool has it.
fn unused(name: String, api: Api, taken: &HashSet<String>) -> String {
    if !taken.contains(&name) {
        return name;
    }
    let numbered = |number: usize| {
        let end = format!("_{number}");
        let room = longest(api) - end.len();
        format!("{}{end}", &name[..name.len().min(room)])
    };
    // One of the first `taken.len() + 1` numbers is free.
    (2..).map(numbered).find(|it| !taken.contains(it)).unwrap_or(name)
}

fn each_name(
    head: &mut RequestHead,
    messages: &mut [Message],
    visit: &mut impl FnMut(&mut String),
) {
    for tool in &mut head.tools {
        match tool {
            Tool::Function(it) => visit(&mut it.name),
            Tool::Custom(it) => visit(&mut it.name),
            _ => {}
        }
    }
    match &mut head.tool_choice {
        Some(ToolChoice::Tool(name) | ToolChoice::Custom(name)) => visit(name),
        Some(ToolChoice::Allowed { tools, .. }) => {
            for it in tools {
                if let ToolChoice::Tool(name) | ToolChoice::Custom(name) = it {
                    visit(name);
                }
            }
        }
        _ => {}
    }
    for part in messages.iter_mut().flat_map(|it| &mut it.parts) {
        match part {
            Part::ToolCall(it) => visit(&mut it.name),
            Part::ToolResult(it) => {
                if let Some(name) = &mut it.name {
                    visit(name);
                }
            }
            _ => {}
        }
    }
}
