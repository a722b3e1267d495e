//! Each crate's laws are fuzzed: its `laws.rs`, or each file of its `laws/`, is taken in by `xtask/fuzz`.

use super::House;
use crate::Res;

const TARGETS: &str = "xtask/fuzz/fuzz_targets/";

pub(crate) fn check(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    let targets: Vec<_> = house.sources.iter().filter(|it| it.path.starts_with(TARGETS)).collect();
    let is_laws = |path: &str| {
        path.ends_with("tests/it/laws.rs")
            || path.contains("tests/it/laws/") && !path.ends_with("/mod.rs")
    };
    for laws in house.sources.iter().filter(|it| is_laws(&it.path)) {
        let included = format!("#[path = \"../../../{}\"]", laws.path);
        if !targets.iter().any(|it| it.text.contains(&included)) {
            breaches.push(format!("{} is in no fuzz target", laws.path));
        }
    }
    Ok(())
}
