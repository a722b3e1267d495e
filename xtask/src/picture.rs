//! `cargo xtask picture`: `docs/pictures/view.png`, a page of `msg view` as a browser draws it.
//!
//! Browsers draw a little differently each, so that no check compares it.

use crate::codegen::build;
use crate::workspace::Workspace;
use crate::{Res, sh};

const EXAMPLE: &str = "docs/examples/tau-bench-retail-order.json";

pub(crate) fn run(workspace: &Workspace) -> Res {
    let page = std::env::temp_dir().join(format!("msg-picture-{}.html", std::process::id()));
    let res = draw(workspace, &page.to_string_lossy());
    // Whatever happened, nothing is left over; a page that was never made is not an error.
    let _ = std::fs::remove_file(&page);
    res
}

fn draw(workspace: &Workspace, page: &str) -> Res {
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
