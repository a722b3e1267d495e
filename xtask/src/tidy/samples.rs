//! The head of a folder with more than three files shows its data: a sample or a drawing in its module docs.
//!
//! Whether it is a good one is for the reader to say.

use std::collections::BTreeMap;

use super::House;
use crate::Res;

/// Files of a folder from which on its head has a sample.
const MANY: usize = 4;

pub(crate) fn check(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    let mut n_files: BTreeMap<&str, usize> = BTreeMap::new();
    let sources = || {
        house
            .sources
            .iter()
            .filter(|it| it.path.starts_with("crates/") && it.path.contains("/src/"))
    };
    for file in sources() {
        if let Some((folder, _)) = file.path.rsplit_once('/') {
            *n_files.entry(folder).or_default() += 1;
        }
    }
    for (folder, n_files) in n_files.into_iter().filter(|it| it.1 >= MANY) {
        let heads = ["/mod.rs", "/lib.rs", "/main.rs", ".rs"].map(|it| format!("{folder}{it}"));
        let head = heads.iter().find_map(|head| sources().find(|it| it.path == *head));
        let Some(head) = head else { continue };
        let docs = || head.text.lines().take_while(|it| it.starts_with("//!"));
        if !docs().any(|it| it.starts_with("//! ```")) {
            breaches.push(format!(
                "{}: a folder of {n_files} files, whose docs show no sample of its data",
                head.path
            ));
        }
    }
    Ok(())
}
