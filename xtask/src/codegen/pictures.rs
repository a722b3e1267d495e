//! Draws what `msg check` prints about the example as `docs/pictures/check.svg`, from a run of it.
//!
//! ```text
//! ESC[1m ESC[91m error ESC[0m : text      <tspan class="b c91">error</tspan><tspan>: text</tspan>
//! ```

use std::{fmt::Write as _, process::Command};

use super::Output;
use crate::codegen::build;
use crate::codegen::pages;
use crate::workspace::Workspace;
use crate::{Res, sh};

/// What is shown; the first is what a reader would type.
const TYPED: &str = "msg check docs/examples/tau-bench-retail-order.json";
/// The height of a line and the width of a character, in units of the picture.
const LINE: usize = 18;
const COLUMN: usize = 8;

pub(super) fn generate(workspace: &Workspace) -> Res<Vec<Output>> {
    let mut command = Command::new(pages::build(workspace)?);
    command.args(TYPED.split(' ').skip(1)).args(["--color", "always"]).current_dir(&workspace.root);
    let output = command.output()?;
    let printed = String::from_utf8([output.stdout, output.stderr].concat())?;
    let text = draw(&format!("$ {TYPED}\n{printed}"));
    Ok(vec![Output { path: "docs/pictures/check.svg".to_owned(), text }])
}

/// Text with colours of a terminal as a picture.
fn draw(text: &str) -> String {
    let lines: Vec<_> = text.trim_end().lines().map(spans).collect();
    let longest = lines.iter().map(|it| it.iter().map(|it| it.1.chars().count()).sum()).max();
    let (width, height) = ((longest.unwrap_or(0) + 4) * COLUMN, (lines.len() + 2) * LINE);
    let mut res = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <style>text {{ font: 13px ui-monospace, monospace; fill: #e8e8ea; white-space: pre }} .b {{ font-weight: bold }} \
         .c91, .c31 {{ fill: #ff8a80 }} .c33, .c93 {{ fill: #f0c060 }} .c32, .c92 {{ fill: #7fd095 }} .c94, .c34 {{ fill: #7fb0ff }} \
         .c36, .c96 {{ fill: #7fd6d6 }}</style>\n<rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#161618\"/>\n"
    );
    for (number, line) in lines.iter().enumerate() {
        let _ = write!(res, "<text x=\"{}\" y=\"{}\">", 2 * COLUMN, (number + 1) * LINE + LINE / 2);
        for (class, text) in line {
            let _ = write!(res, "<tspan class=\"{class}\">{}</tspan>", escape(text));
        }
        res.push_str("</text>\n");
    }
    res + "</svg>\n"
}

/// The pieces of a line, each with the classes of its colours.
fn spans(line: &str) -> Vec<(String, &str)> {
    let mut class = String::new();
    let mut res = Vec::new();
    for (number, piece) in line.split("\u{1b}[").enumerate() {
        let text = match piece.split_once('m') {
            Some((code, text)) if number > 0 => {
                match code {
                    "0" => class.clear(),
                    "1" => class.push_str("b "),
                    code => class.push_str(&format!("c{code}")),
                }
                text
            }
            _ => piece,
        };
        if !text.is_empty() {
            res.push((class.trim_end().to_owned(), text));
        }
    }
    res
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(' ', "\u{a0}")
}

// `cargo xtask picture`: `docs/pictures/view.png`, a page of `msg view` as a browser draws it.
//
// Browsers draw a little differently each, so that no check compares it.

const EXAMPLE: &str = "docs/examples/tau-bench-retail-order.json";

pub(crate) fn run(workspace: &Workspace) -> Res {
    let page = std::env::temp_dir().join(format!("msg-picture-{}.html", std::process::id()));
    let res = draw_picture(workspace, &page.to_string_lossy());
    // Whatever happened, nothing is left over; a page that was never made is not an error.
    let _ = std::fs::remove_file(&page);
    res
}

fn draw_picture(workspace: &Workspace, page: &str) -> Res {
    let root = &workspace.root;
    // The example has problems, so the command fails; a browser without a page fails below.
    sh::succeeds(root, &build(workspace)?, &["view", EXAMPLE, "--price", "3:15", "-o", page]);
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let browser = browsers.into_iter().find(|it| sh::succeeds(root, it, &["--version"]));
    let browser = browser.ok_or_else(|| format!("none of {} is installed", browsers.join(", ")))?;
    let picture = format!("--screenshot={}", root.join("docs/pictures/view.png").display());
    let address = format!("file://{page}");
    let args = [
        "--headless",
        "--no-sandbox",
        "--hide-scrollbars",
        "--window-size=1180,640",
        &picture,
        &address,
    ];
    sh::run(root, browser, &args, &[])
}
#[cfg(test)]
mod tests {
    use super::spans;

    #[test]
    fn colours_become_classes() {
        let line = spans("a\u{1b}[1m\u{1b}[91mb\u{1b}[0mc");
        let expected = [("", "a"), ("b c91", "b"), ("", "c")];
        assert_eq!(line, expected.map(|(class, text)| (class.to_owned(), text)));
    }
}
