//! A sorted list that nearly always holds one place, and allocates only for more.

/// Places in the order of a key.
#[derive(Debug, Default)]
pub(super) enum Places<T> {
    #[default]
    None,
    One(T),
    Many(Vec<T>),
}

impl<T: Copy> Places<T> {
    pub(super) fn as_slice(&self) -> &[T] {
        match self {
            Places::None => &[],
            Places::One(it) => std::slice::from_ref(it),
            Places::Many(all) => all,
        }
    }

    /// Takes the last one out.
    pub(super) fn pop(&mut self) -> Option<T> {
        match self {
            Places::None => None,
            Places::One(it) => {
                let it = *it;
                *self = Places::None;
                Some(it)
            }
            Places::Many(all) => all.pop(),
        }
    }

    /// Puts a place where it belongs; nearly always that is the end.
    pub(super) fn insert<K: Ord>(&mut self, it: T, key: impl Fn(&T) -> K) {
        match self {
            Places::None => *self = Places::One(it),
            Places::One(first) if key(first) <= key(&it) => *self = Places::Many(vec![*first, it]),
            Places::One(first) => *self = Places::Many(vec![it, *first]),
            Places::Many(all) => {
                let behind = all.last().is_none_or(|last| key(last) <= key(&it));
                let at = match behind {
                    true => all.len(),
                    false => all.partition_point(|other| key(other) <= key(&it)),
                };
                all.insert(at, it);
            }
        }
    }
}
