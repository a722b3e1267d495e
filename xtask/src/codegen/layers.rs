//! Draws the floors of [`LAYERS`] into `docs/architecture.md`.

use std::fmt::Write as _;

use super::{Output, replace_section};
use crate::Res;
use crate::layers::{LAYERS, OUTSIDE, Room, plain};
use crate::workspace::Workspace;

const PAGE: &str = "docs/architecture.md";

pub(crate) fn generate(workspace: &Workspace) -> Res<Vec<Output>> {
    let page = workspace.read(PAGE)?;
    Ok(vec![Output { path: PAGE.to_owned(), text: replace_section(&page, "layers", &picture())? }])
}

/// The floors, top floor first, each room with the rooms that it uses.
fn picture() -> String {
    let mut res = String::from("```text\n");
    let top = LAYERS.iter().map(|it| it.floor).filter(|it| *it != OUTSIDE).max().unwrap_or(0);
    for floor in (0..=top).rev() {
        let mut label = format!("floor {floor}");
        for room in LAYERS.iter().filter(|it| it.floor == floor) {
            push_room(&mut res, &label, room);
            label.clear();
        }
    }
    res.push('\n');
    let mut label = "tools".to_owned();
    for room in LAYERS.iter().filter(|it| it.floor == OUTSIDE) {
        push_room(&mut res, &label, room);
        label.clear();
    }
    res.push_str("```\n");
    res
}

fn push_room(res: &mut String, label: &str, room: &Room) {
    let drawn =
        |it: &str| if it.ends_with('?') { format!("({})", plain(it)) } else { it.to_owned() };
    let uses: Vec<String> = room.uses().into_iter().map(drawn).collect();
    let uses =
        if uses.is_empty() { String::new() } else { format!("──▶ {}", uses.join(", ")) };
    let line = format!("{label:<9}{:<14}{uses}", room.name);
    writeln!(res, "{}", line.trim_end()).expect("because a String takes everything");
}
