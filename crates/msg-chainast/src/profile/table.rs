//! The built-in profiles: `table.json`, which `cargo xtask codegen` writes from `profiles.toml`.
//!
//! ```text
//! {"name": "mistral", "fields": {"last": "user", …}, "sources": {…}, "rules": [{"rule": "PM-121", …}], "models": {…}}
//! ```

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use super::{Profile, ProviderRule, Value};

/// A profile: the fields in which it differs from the default.
#[derive(Deserialize)]
struct Row {
    name: String,
    fields: Fields,
    /// Where the fields come from.
    #[serde(default)]
    sources: BTreeMap<String, String>,
    #[serde(default)]
    rules: Vec<ProviderRule>,
    /// What holds for some models besides, by their names.
    #[serde(default)]
    models: BTreeMap<String, Fields>,
}

type Fields = BTreeMap<String, Value>;

/// What holds where a profile says nothing else, and the profiles in the order of the file.
#[derive(Deserialize)]
struct Table {
    default: Fields,
    profiles: Vec<Row>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    serde_json::from_str(include_str!("table.json")).expect("because it is generated")
});

pub(super) fn default() -> &'static Fields {
    &TABLE.default
}

/// The profiles, in the order of the file.
pub(super) fn profiles() -> impl Iterator<Item = Profile> {
    TABLE.profiles.iter().map(|row| {
        let mut profile = Profile::new(&row.name);
        fill(&mut profile, &row.fields);
        profile.sources = row.sources.clone().into_iter().collect();
        profile.rules.clone_from(&row.rules);
        let of_model = |(model, fields): (&String, &Fields)| {
            let mut profile = profile.clone();
            fill(&mut profile, fields);
            (model.clone(), profile)
        };
        profile.models = row.models.iter().map(of_model).collect();
        profile
    })
}

fn fill(profile: &mut Profile, fields: &Fields) {
    for (field, value) in fields {
        profile.set(field, value).expect("because the generator reads each value as this does");
    }
}
