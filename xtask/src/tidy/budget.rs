//! A user of one crate compiles few others: the counts that [`LAYERS`] sets are kept.

use std::collections::BTreeSet;

use super::House;
use crate::layers::LAYERS;
use crate::{Res, sh};

pub(crate) fn check(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    for room in LAYERS.iter().filter(|it| it.max_crates > 0) {
        let edges = "normal,no-proc-macro";
        let args =
            ["tree", "--locked", "--package", room.name, "--edges", edges, "--prefix", "none"];
        let tree = sh::read(&house.workspace.root, &sh::cargo(), &args)?;
        let crates: BTreeSet<&str> = tree
            .lines()
            .filter_map(|it| it.split(' ').next())
            .filter(|it| !it.is_empty())
            .collect();
        if crates.len() > room.max_crates {
            let names: Vec<_> = crates.into_iter().collect();
            breaches.push(format!(
                "{} brings {} crates, LAYERS allows {}: {}",
                room.name,
                names.len(),
                room.max_crates,
                names.join(" ")
            ));
        }
    }
    Ok(())
}
