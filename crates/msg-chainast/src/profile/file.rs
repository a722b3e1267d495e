//! Profile files of users (CA-70): TOML of the shape of `profiles.toml`, read with the feature `toml`.
//!
//! The text comes from the caller; no file is opened here.

use std::{ops::Range, sync::Arc};

use serde::{
    Deserialize,
    de::value::{self, MapDeserializer},
};
use toml::{
    Spanned,
    de::{DeInteger, DeTable, DeValue},
};

use crate::Error;

use super::{FIELDS, FieldError, Profile, ProviderRule, Value};

impl Profile {
    /// The one profile of a file: a table `[NAME]` with the fields in which it differs from the default.
    ///
    /// # Errors
    /// If the text is not TOML, holds an unknown field or a wrong value, or not exactly one profile.
    ///
    /// ```
    /// use msg_chainast::Profile;
    ///
    /// let house = Profile::from_toml("[house]\nid_max = 12\narguments = \"object\"\n")?;
    /// assert_eq!((house.name.as_str(), house.id_max), ("house", 12));
    ///
    /// let error = Profile::from_toml("[house]\nid_maximum = 12\n").unwrap_err();
    /// assert_eq!(error.to_string(), "line 2, column 1: unknown field `id_maximum` in profile `house`");
    /// # Ok::<(), msg_chainast::Error>(())
    /// ```
    pub fn from_toml(text: &str) -> Result<Profile, Error> {
        let mut profiles = Profile::all_from_toml(text)?;
        match profiles.len() {
            1 => Ok(profiles.remove(0)),
            found => Err(Error::ProfileCount { found }),
        }
    }

    /// All profiles of a file, in its order. A table `[default]` changes what the others leave out.
    ///
    /// # Errors
    /// If the text is not TOML, or holds an unknown field or a wrong value.
    pub fn all_from_toml(text: &str) -> Result<Vec<Profile>, Error> {
        let at = Lines { text };
        let file = DeTable::parse(text).map_err(|err| at.syntax(&err))?.into_inner();
        let mut tables = Vec::new();
        for (name, value) in &file {
            match value.get_ref() {
                DeValue::Table(it) => tables.push((name, it)),
                _ => return Err(at.outside(name.get_ref(), name.span())),
            }
        }
        tables.sort_by_key(|it| it.0.span().start);
        let mut base = Profile::new("");
        if let Some((_, table)) = tables.iter().find(|it| it.0.get_ref() == "default") {
            base.name = "default".to_owned();
            at.fill(&mut base, table)?;
        }
        let mut profiles = Vec::new();
        for (name, table) in tables.iter().filter(|it| it.0.get_ref() != "default") {
            let mut profile = base.clone();
            profile.name = name.get_ref().to_string();
            at.fill(&mut profile, table)?;
            profiles.push(profile);
        }
        Ok(profiles)
    }
}

/// Says where in the text something stands.
struct Lines<'t> {
    text: &'t str,
}

impl Lines<'_> {
    fn place(&self, span: Range<usize>) -> (usize, usize) {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    fn syntax(&self, err: &toml::de::Error) -> Error {
        let (line, column) = self.place(err.span().unwrap_or_default());
        Error::ProfileSyntax { line, column, problem: err.message().to_owned() }
    }

    fn outside(&self, field: &str, span: Range<usize>) -> Error {
        let (line, column) = self.place(span);
        Error::OutsideProfile { field: field.to_owned(), line, column }
    }

    fn fill(&self, profile: &mut Profile, table: &DeTable<'_>) -> Result<(), Error> {
        let mut models = None;
        for (field, value) in table {
            let set = match (&**field.get_ref(), value.get_ref()) {
                ("models", DeValue::Table(it)) => {
                    models = Some(it);
                    Ok(())
                }
                ("sources", DeValue::Table(sources)) => {
                    self.fill_sources(profile, sources)?;
                    Ok(())
                }
                ("rules", DeValue::Array(rules)) => {
                    for rule in rules {
                        profile.rules.push(self.rule(profile, rule)?);
                    }
                    Ok(())
                }
                (name, _) => set(profile, name, value),
            };
            let span = match &set {
                Err(FieldError::Unknown { .. }) => field.span(),
                _ => value.span(),
            };
            set.map_err(|source| self.field(profile, span, source))?;
        }
        // Last, as each is the whole profile with other fields.
        if let Some(models) = models {
            profile.models = self.models(profile, models)?;
        }
        Ok(())
    }

    fn models(
        &self,
        profile: &Profile,
        models: &DeTable<'_>,
    ) -> Result<Arc<[(String, Profile)]>, Error> {
        let mut tables: Vec<_> = models.iter().collect();
        tables.sort_by_key(|it| it.0.get_ref());
        let mut all = Vec::with_capacity(tables.len());
        for (model, value) in tables {
            let DeValue::Table(fields) = value.get_ref() else {
                return Err(self.field(profile, value.span(), wrong("models", "tables")));
            };
            let mut of_model = profile.clone();
            self.fill(&mut of_model, fields)?;
            all.push((model.get_ref().to_string(), of_model));
        }
        Ok(all.into())
    }

    fn fill_sources(&self, profile: &mut Profile, sources: &DeTable<'_>) -> Result<(), Error> {
        for (field, value) in sources {
            let name = &**field.get_ref();
            let known = FIELDS.contains(&name);
            let source = match value.get_ref().as_str() {
                _ if !known => Err((field.span(), FieldError::Unknown { field: name.to_owned() })),
                None => Err((value.span(), wrong("sources", "texts"))),
                Some(it) => Ok((name.to_owned(), it.to_owned())),
            };
            match source {
                Ok(it) => profile.sources.push(it),
                Err((span, source)) => return Err(self.field(profile, span, source)),
            }
        }
        Ok(())
    }

    /// A rule: its number, the codes of findings, what the provider answers, and where that was seen.
    fn rule(&self, profile: &Profile, rule: &Spanned<DeValue<'_>>) -> Result<ProviderRule, Error> {
        let expected = "tables of `rule`, `answer`, `source` and `code` or `why_not`, all texts";
        let refused = |span| self.field(profile, span, wrong("rules", expected));
        let DeValue::Table(table) = rule.get_ref() else { return Err(refused(rule.span())) };
        let text = |it: &'_ Spanned<DeValue<'_>>| it.get_ref().as_str().map(str::to_owned);
        let members =
            table.iter().map(|(name, value)| Some((name.get_ref().as_ref(), text(value)?)));
        let members: Option<Vec<(&str, String)>> = members.collect();
        let read = |it: Vec<_>| {
            let members = MapDeserializer::<_, value::Error>::new(it.into_iter());
            ProviderRule::deserialize(members).ok().filter(ProviderRule::is_whole)
        };
        members.and_then(read).ok_or_else(|| refused(rule.span()))
    }

    fn field(&self, profile: &Profile, span: Range<usize>, source: FieldError) -> Error {
        let (line, column) = self.place(span);
        Error::ProfileField {
            profile: profile.name.clone(),
            line,
            column,
            problem: source.to_string(),
        }
    }
}

fn set(profile: &mut Profile, field: &str, value: &Spanned<DeValue<'_>>) -> Result<(), FieldError> {
    match value.get_ref() {
        DeValue::String(it) => profile.set(field, &Value::Text(it.to_string())),
        DeValue::Boolean(it) => profile.set(field, &Value::Flag(*it)),
        DeValue::Integer(it) => match number(it) {
            Some(it) => profile.set(field, &Value::Number(it)),
            None => Err(wrong(field, "a number from 0 on")),
        },
        DeValue::Array(all) => {
            let texts: Option<_> =
                all.iter().map(|it| it.get_ref().as_str().map(str::to_owned)).collect();
            profile.set(field, &Value::List(texts.ok_or_else(|| wrong(field, "a list of texts"))?))
        }
        // No field holds anything else; an unknown one is told before that.
        _ if FIELDS.contains(&field) => {
            Err(wrong(field, "a text, a number, a list, true or false"))
        }
        _ => Err(FieldError::Unknown { field: field.to_owned() }),
    }
}

fn number(it: &DeInteger<'_>) -> Option<usize> {
    usize::from_str_radix(it.as_str(), it.radix()).ok()
}

fn wrong(field: &str, expected: &str) -> FieldError {
    FieldError::Value { field: field.to_owned(), expected: expected.to_owned() }
}
