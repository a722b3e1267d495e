//! Which event of a Responses stream belongs to which output item (OA-22): by its output index, else by the
//! item's id, else to the last item, and never to an item of another kind.

use std::collections::BTreeMap;

use msg_codec::Json;
use msg_codec::stream::{BySlot, Closing, Note, Parts, Step};

use super::items::{Class, Form, Item, Shared};

/// The output items of a response.
#[derive(Debug, Clone, Default)]
pub(crate) struct Output {
    items: Vec<Item>,
    by_index: BTreeMap<u64, usize>,
    /// Items by the JSON source of their ids.
    by_id: BTreeMap<String, usize>,
    shared: Shared,
}

/// The id of an output item changed.
const ITEM_ID_CHANGED: Note = Note::warning("stream::item-id-changed");

/// How many ids an item may go by: some providers give it another one in each event that carries it.
const IDS_AN_ITEM: usize = 4;

impl Output {
    /// An event that carries an item.
    pub(crate) fn item(
        &mut self,
        output_index: Option<u64>,
        item: Json<'_>,
        form: Form,
        step: &mut Step<'_, '_>,
    ) {
        if item.is_object()
            && let Some(place) =
                self.place_of(output_index, item.get("id"), Class::of_item(item), step)
        {
            self.put(place, item, form, step);
        }
    }

    /// The items as the response lists them at its end. Each is another item of the stream, or new.
    pub(crate) fn list(&mut self, items: &[Json<'_>], step: &mut Step<'_, '_>) {
        for (at, (item, found)) in items.iter().zip(self.matches(items)).enumerate() {
            let place = match found {
                _ if !item.is_object() => continue,
                Some(place) => place,
                None => match self.open(Some(at as u64), step) {
                    Some(place) => place,
                    None => return,
                },
            };
            self.set_id(place, item.get("id"), step);
            self.put(place, *item, Form::Whole, step);
        }
    }

    /// Ends texts and calls, and gives the parts in the order of the output indices.
    pub(crate) fn close(mut self, closing: Closing, step: &mut Step<'_, '_>) -> Parts {
        let closed = self.shared.calls.close(closing, step);
        let mut calls = BySlot::new(closed);
        let mut parts = Parts::default();
        self.items.sort_by_key(|it| it.output_index.unwrap_or(u64::MAX));
        for item in self.items {
            item.into_parts(&mut calls, &mut parts);
        }
        parts
    }

    /// Ends the texts; what half a surrogate pair at an end became is announced.
    pub(crate) fn flush(&mut self, step: &mut Step<'_, '_>) {
        self.items.iter_mut().for_each(|it| it.flush(step));
    }

    /// Whether the model called something.
    pub(crate) fn has_calls(&self) -> bool {
        !self.shared.calls.is_empty()
    }

    fn put(&mut self, place: usize, item: Json<'_>, form: Form, step: &mut Step<'_, '_>) {
        if let Some(id) = item.get("id").filter(|it| it.filled().is_some())
            && self.by_id.len() < step.limits.max_calls.saturating_mul(IDS_AN_ITEM)
        {
            self.by_id.entry(id.source().to_owned()).or_insert(place);
        }
        self.items[place].whole(item, form, &mut self.shared, step);
    }

    /// The item of this kind that an event is about, and what it shares with the others.
    pub(crate) fn find(
        &mut self,
        output_index: Option<u64>,
        id: Option<Json<'_>>,
        class: Class,
        step: &mut Step<'_, '_>,
    ) -> Option<(&mut Item, &mut Shared)> {
        let place = self.place_of(output_index, id, Some(class), step)?;
        Some((&mut self.items[place], &mut self.shared))
    }

    /// Where the item is: by its output index, else by its id, else the last one. A new one is made where
    /// there is none, and where the one that is there is of another kind, up to the limit.
    fn place_of(
        &mut self,
        output_index: Option<u64>,
        id: Option<Json<'_>>,
        class: Option<Class>,
        step: &mut Step<'_, '_>,
    ) -> Option<usize> {
        let last = self.items.len().checked_sub(1);
        let found = match output_index {
            Some(index) => last
                .filter(|&last| self.items[last].output_index == output_index)
                .or_else(|| self.by_index.get(&index).copied()),
            None => id.and_then(|id| self.by_id.get(id.source()).copied()).or(last),
        };
        let place = match found {
            Some(place) if self.items[place].takes(class) => place,
            Some(_) => self.place_beside(output_index, class, step)?,
            None => self.open(output_index, step)?,
        };
        self.set_id(place, id, step);
        Some(place)
    }

    /// The last item of this kind under an index where one of another kind is, or a new one: neither takes what
    /// is the other's. There are no more items than the caller's limit.
    fn place_beside(
        &mut self,
        output_index: Option<u64>,
        class: Option<Class>,
        step: &mut Step<'_, '_>,
    ) -> Option<usize> {
        step.note(Note::INDEX_REUSED, || "items of two kinds have one output index or id".into());
        let will_do = |it: &Item| it.output_index == output_index && it.takes(class);
        self.items.iter().rposition(will_do).or_else(|| self.open(output_index, step))
    }

    fn open(&mut self, output_index: Option<u64>, step: &mut Step<'_, '_>) -> Option<usize> {
        if self.items.len() >= step.limits.max_calls {
            step.note(Note::LIMIT, || "the response has more items than allowed".into());
            return None;
        }
        let place = self.items.len();
        self.items.push(Item::new(output_index));
        if let Some(index) = output_index {
            self.by_index.insert(index, place);
        }
        Some(place)
    }

    fn set_id(&mut self, place: usize, id: Option<Json<'_>>, step: &mut Step<'_, '_>) {
        let id = id.filter(|it| it.filled().is_some()).map_or("", Json::source);
        let item = &mut self.items[place];
        if id.is_empty() || item.id == id {
            return;
        }
        if item.id.is_empty() {
            self.by_id.insert(id.to_owned(), place);
        } else {
            step.note(ITEM_ID_CHANGED, || "an item's id changed".into());
        }
        id.clone_into(&mut item.id);
    }

    /// For each of the listed items the one of the stream that it is, each at most once: by place and id,
    /// else by id, else by place, which is the output index only where no item was left out of the list, else
    /// the first of its kind that is left. Linear.
    fn matches(&self, list: &[Json<'_>]) -> Vec<Option<usize>> {
        let mut res = Matching::new(&self.items, list);
        let ids: Vec<_> = list.iter().map(|it| it.get("id").map(Json::source)).collect();
        let by_place = |at: usize| self.by_index.get(&(at as u64)).copied();
        for (at, id) in ids.iter().enumerate() {
            let same_id = |place: &usize| Some(&*self.items[*place].id) == *id;
            res.claim(at, by_place(at).filter(same_id));
        }
        for (at, id) in ids.iter().enumerate() {
            res.claim(at, id.and_then(|id| self.by_id.get(id).copied()));
        }
        (0..list.len()).for_each(|at| res.claim(at, by_place(at)));
        for class in Class::ALL {
            res.claim_of(class);
        }
        res.found
    }
}

/// Listed items while they are matched with those of the stream.
struct Matching<'i> {
    items: &'i [Item],
    /// For each item of the stream whether it is not matched yet.
    free: Vec<bool>,
    classes: Vec<Option<Class>>,
    /// For each listed item the place of the one that it is.
    found: Vec<Option<usize>>,
}

impl<'i> Matching<'i> {
    fn new(items: &'i [Item], list: &[Json<'_>]) -> Self {
        let classes = list.iter().map(|it| Class::of_item(*it)).collect();
        Self { items, free: vec![true; items.len()], classes, found: vec![None; list.len()] }
    }

    /// Matches a listed item with one that shares index or id with the item at this place.
    fn claim(&mut self, at: usize, place: Option<usize>) {
        let (None, Some(place)) = (self.found[at], place) else { return };
        if self.free[place] && self.items[place].takes(self.classes[at]) {
            self.free[place] = false;
            self.found[at] = Some(place);
        }
    }

    /// Matches what is left of one kind in the order of both.
    fn claim_of(&mut self, class: Class) {
        let mut left = (0..self.items.len())
            .filter(|it| self.free[*it] && self.items[*it].class() == Some(class))
            .collect::<Vec<_>>()
            .into_iter();
        for (found, own) in self.found.iter_mut().zip(&self.classes) {
            if found.is_none() && *own == Some(class) {
                *found = left.next();
            }
        }
    }
}
