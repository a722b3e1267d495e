//! Extra members that a provider reads or refuses: cache markers (PM-13 to PM-15) and unknown ones (PM-149).
//!
//! What goes out is the writers' business; this judges what a document of the provider's own format has.

use std::collections::BTreeMap;

use msg_core::{Diagnostic, Extra, Origin, RawJson};

use super::{
    content::CACHE_MARKER,
    state::{Conform, error},
};
use crate::profile::Profile;

/// A message, or a part of it.
type Spot = (usize, Option<usize>);

impl Conform<'_, '_> {
    /// At most so many cache markers, none on reasoning, and of the members that are known.
    pub(super) fn cache_markers(&mut self) {
        let max = self.profile.cache_max;
        if max == 0 {
            return;
        }
        let mut kept = Vec::new();
        for spot in self.spots() {
            if !has_marker(self.extra(spot)) {
                continue;
            }
            match spot
                .1
                .is_some_and(|it| self.items[spot.0].message.parts[it].as_reasoning().is_some())
            {
                true => self.remove_marker(spot, "a cache marker on reasoning"),
                false => kept.push(spot),
            }
        }
        for spot in &kept {
            self.trim_marker(*spot);
        }
        let mut surplus = kept.len().saturating_sub(max);
        // The last markers of the conversation serve the next request, the first ones of the prompt all.
        let is_system = |it: &Spot| self.items[it.0].message.role.is_system();
        let (systems, others): (Vec<Spot>, Vec<Spot>) = kept.into_iter().partition(is_system);
        for spot in others.into_iter().chain(systems.into_iter().rev()) {
            if surplus == 0 {
                break;
            }
            surplus -= 1;
            self.remove_marker(spot, &format!("more than {max} cache markers"));
        }
    }

    fn remove_marker(&mut self, spot: Spot, sentence: &str) {
        let it = error("profile::cache-markers", sentence.to_owned(), "removed `cache_control`");
        self.at_spot(spot, it);
        let extra = self.extra_mut(spot);
        for origin in marked_origins(extra) {
            extra.remove(&origin, CACHE_MARKER);
        }
    }

    /// Takes the members of a marker out that are not known.
    fn trim_marker(&mut self, spot: Spot) {
        let known = &self.profile.cache_members;
        if known.is_empty() {
            return;
        }
        for origin in marked_origins(self.extra(spot)) {
            let Some(marker) = self.extra(spot).get(&origin, CACHE_MARKER) else { continue };
            let Ok(members) = marker.parse::<BTreeMap<String, RawJson>>() else { continue };
            let unknown: Vec<&String> = members.keys().filter(|it| !known.contains(it)).collect();
            let Some(first) = unknown.first() else { continue };
            let sentence = format!("the member `{first}` of a cache marker is not known");
            let kept = known.iter().filter_map(|it| Some((it, members.get(it)?)));
            let kept: Vec<String> = kept
                .map(|(name, it)| format!("{}:{}", RawJson::string(name).text(), it.text()))
                .collect();
            let trimmed = RawJson::new(format!("{{{}}}", kept.join(",")));
            let it = error(
                "profile::cache-markers",
                sentence,
                "removed the unknown members of `cache_control`",
            );
            self.at_spot(spot, it);
            if let Ok(trimmed) = trimmed {
                self.extra_mut(spot).insert(origin, CACHE_MARKER, trimmed);
            }
        }
    }

    /// Members that the provider does not know.
    pub(super) fn unknown_members(&mut self) {
        let refuses_all = self.profile.known_members_only;
        if !refuses_all && self.profile.refused_members.is_empty() {
            return;
        }
        let Profile { refused_members, known_members, format, .. } = self.profile;
        let own = Origin::from(format.as_str());
        let goes = |origin: &Origin, name: &str, value: &RawJson| {
            refused_members.iter().any(|it| it == name)
                || refuses_all
                    && *origin == own
                    && says_something(value)
                    && !known_members.iter().any(|it| it == name)
        };
        for spot in self.spots() {
            let all = self.extra(spot).all();
            let gone: Vec<(Origin, String)> = all
                .filter(|(origin, name, value)| goes(origin, name, value))
                .map(|it| (it.0.clone(), it.1.to_owned()))
                .collect();
            let Some((_, first)) = gone.first() else { continue };
            let names: Vec<String> = gone.iter().map(|it| format!("`{}`", it.1)).collect();
            let sentence = match gone.len() {
                1 => format!("the member `{first}` is not known"),
                n => format!("the member `{first}` and {} more are not known", n - 1),
            };
            let fix = format!("removed {}", names.join(", "));
            let mut it = error("profile::unknown-member", sentence, fix);
            let is_refused = gone.iter().any(|it| refused_members.contains(&it.1));
            if !is_refused {
                it = self.doubting("members", it);
            }
            self.at_spot(spot, it);
            if !is_refused && !self.mends("members") {
                continue;
            }
            let extra = self.extra_mut(spot);
            for (origin, name) in &gone {
                extra.remove(origin, name);
            }
        }
    }

    /// All messages and parts, in order.
    fn spots(&self) -> Vec<Spot> {
        let items = self.items.iter().enumerate();
        items
            .flat_map(|(at, item)| {
                let parts = (0..item.message.parts.len()).map(move |part| (at, Some(part)));
                std::iter::once((at, None)).chain(parts)
            })
            .filter(|it| !self.extra(*it).is_empty())
            .collect()
    }

    fn extra(&self, (item, part): Spot) -> &Extra {
        let message = &self.items[item].message;
        part.map_or(&message.extra, |it| message.parts[it].extra())
    }

    fn extra_mut(&mut self, (item, part): Spot) -> &mut Extra {
        let message = self.items[item].message.to_mut();
        match part {
            None => &mut message.extra,
            Some(it) => message.parts[it].extra_mut(),
        }
    }

    fn at_spot(&mut self, (item, part): Spot, it: Diagnostic) {
        match part {
            None => self.at_message(item, it),
            Some(part) => self.at_part(item, part, it),
        }
    }
}

fn has_marker(extra: &Extra) -> bool {
    extra.all().any(|it| it.1 == CACHE_MARKER && says_something(it.2))
}

fn marked_origins(extra: &Extra) -> Vec<Origin> {
    extra.all().filter(|it| it.1 == CACHE_MARKER).map(|it| it.0.clone()).collect()
}

/// Whether a value is more than a member without information.
fn says_something(value: &RawJson) -> bool {
    !matches!(value.text(), "null" | "[]" | "{}" | "\"\"")
}
