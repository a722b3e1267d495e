//! The edges between the packages are those of [`LAYERS`], no more and no fewer.

use std::collections::BTreeSet;

use serde_json::Value;

use super::House;
use crate::Res;
use crate::layers::{self, LAYERS, Room};

pub(crate) fn check(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    let packages = house.workspace.packages("Cargo.toml")?;
    let names: BTreeSet<&str> = packages.iter().map(name).collect();
    for room in LAYERS.iter().filter(|it| !names.contains(it.name)) {
        breaches.push(format!("LAYERS lists {}, which is not a package", room.name));
    }
    for package in &packages {
        match layers::find(name(package)) {
            Some(room) => compare(package, room, &names, breaches),
            None => breaches.push(format!("{} is not in LAYERS", name(package))),
        }
    }
    Ok(())
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap_or_default()
}

/// Every dependency counts, whatever target, feature or kind it is for.
fn compare(package: &Value, room: &Room, names: &BTreeSet<&str>, breaches: &mut Vec<String>) {
    let mut uses = BTreeSet::new();
    let mut tested_with = BTreeSet::new();
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let to = name(dependency);
        if !names.contains(to) {
            continue;
        }
        if let Some(target) = dependency["target"].as_str() {
            breaches.push(format!(
                "{} uses {to} for {target} only: the floors are the same everywhere",
                room.name
            ));
        }
        match dependency["kind"].as_str() {
            Some("dev") => tested_with.insert(to.to_owned()),
            Some(kind) => {
                breaches.push(format!("{} uses {to} as a {kind} dependency", room.name));
                false
            }
            None if dependency["optional"] == true => uses.insert(format!("{to}?")),
            None => uses.insert(to.to_owned()),
        };
    }
    report(room, "uses", &uses, &room.uses(), breaches);
    report(room, "is tested with", &tested_with, &room.tested_with(), breaches);
}

fn report(
    room: &Room,
    verb: &str,
    found: &BTreeSet<String>,
    allowed: &[&str],
    breaches: &mut Vec<String>,
) {
    for edge in found.iter().filter(|it| !allowed.contains(&it.as_str())) {
        breaches.push(format!("{} {verb} {edge}, which LAYERS does not allow", room.name));
    }
    for edge in allowed.iter().filter(|it| !found.contains(**it)) {
        breaches.push(format!("{} no longer {verb} {edge}, which LAYERS still lists", room.name));
    }
}
