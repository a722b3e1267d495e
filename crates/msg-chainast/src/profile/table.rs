//! The built-in profiles: `table.json`, which `cargo xtask codegen` writes from `profiles.toml`.
//!
//! ```text
//! {"default": {"id_max": 0, …}, "profiles": [["mistral", {"last": "user", …, "sources": {…}, "rules": [{…}]}], …]}
//! ```

use std::{collections::BTreeMap, sync::LazyLock};

use msg_core::Role;
use serde::Deserialize;
use serde_json::Value;

use super::{
    Profile, ProviderRule,
    fields::{self, FIELDS},
    rules::FieldError,
};

/// A profile of the table or of a file: the fields in which it differs from the default.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a table of fields; begin one with [NAME]")]
pub(super) struct Row {
    /// Where the fields come from.
    #[serde(default)]
    sources: BTreeMap<String, String>,
    #[serde(default)]
    rules: Vec<ProviderRule>,
    /// What holds for some models besides, by their names.
    #[serde(default)]
    models: BTreeMap<String, Fields>,
    #[serde(flatten)]
    fields: Fields,
}

type Fields = BTreeMap<String, Value>;

/// What holds where a profile says nothing else, and the profiles in the order of the file.
#[derive(Deserialize)]
struct Table {
    default: Fields,
    profiles: Vec<(String, Row)>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    serde_json::from_str(include_str!("table.json")).expect("because it is generated")
});

pub(super) fn default() -> &'static Fields {
    &TABLE.default
}

/// The profiles, in the order of the file.
pub(super) fn profiles() -> impl Iterator<Item = Profile> {
    const WHY: &str = "because the generator reads each value as this does";
    let base = Profile::new("");
    TABLE.profiles.iter().map(move |(name, row)| base.with_row(name, row).expect(WHY))
}

impl Profile {
    /// A copy of another name, with the fields of a row.
    pub(super) fn with_row(&self, name: &str, row: &Row) -> Result<Self, FieldError> {
        let mut profile = Profile { name: name.to_owned(), ..self.clone() };
        profile.fill(&row.fields)?;
        if let Some(field) = row.sources.keys().find(|it| !FIELDS.contains(&it.as_str())) {
            return Err(FieldError::unknown(field).within("sources"));
        }
        profile.sources.extend(row.sources.clone());
        if let Some(rule) = row.rules.iter().find(|it| !it.is_whole()) {
            let problem =
                format!("{:?} must have `answer`, `source` and `code` or `why_not`", rule.number);
            return Err(FieldError::wrong("rules", &problem));
        }
        profile.rules.extend_from_slice(&row.rules);
        let of_model = |(model, fields): (&String, &Fields)| {
            let mut of_model = profile.clone();
            of_model.fill(fields).map_err(|err| err.within(model).within("models"))?;
            Ok((model.clone(), of_model))
        };
        profile.models = row.models.iter().map(of_model).collect::<Result<_, _>>()?;
        Ok(profile)
    }

    fn fill(&mut self, fields: &Fields) -> Result<(), FieldError> {
        fields.iter().try_for_each(|(field, value)| fields::set(self, field, value))?;
        match self.empty.iter().find(|it| Role::known(it.as_str()).is_none()) {
            Some(role) => Err(FieldError::wrong("empty", &format!("unknown role `{role}`"))),
            None => Ok(()),
        }
    }
}
