//! A call while it is read: what is known of it, and how its arguments come together (XT-15).

use crate::json::{Json, Members};

/// Arguments as they were written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arguments {
    /// Named values.
    Object(Members),
    /// Anything else: a text, or a JSON value that is no object.
    Other(Json),
}

/// A call that is not finished or not judged.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// Where its source begins and ends.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) name: Option<String>,
    pub(crate) server: Option<String>,
    pub(crate) args: Option<Arguments>,
    pub(crate) args_closed: bool,
    /// Parameters without wrapper.
    pub(crate) loose: Members,
    /// Raw inner source by parameter.
    pub(crate) raws: Vec<(String, usize, usize)>,
    pub(crate) stray_after_name: bool,
    /// Arguments came as JSON: they have their types already (XT-31).
    pub(crate) typed: bool,
    /// What was streamed is not what the arguments became.
    pub(crate) resend: bool,
    pub(crate) sent_any: bool,
    pub(crate) complete: bool,
}

impl Draft {
    pub(crate) fn new(start: usize) -> Self {
        Draft {
            start,
            end: start,
            name: None,
            server: None,
            args: None,
            args_closed: false,
            loose: Members::default(),
            raws: Vec::new(),
            stray_after_name: false,
            typed: false,
            resend: false,
            sent_any: false,
            complete: true,
        }
    }

    pub(crate) fn has_params(&self) -> bool {
        self.args.is_some() || !self.loose.is_empty()
    }

    /// Adds another ARGS value: objects merge, of texts the first stays.
    pub(crate) fn add_args(&mut self, more: Arguments) {
        self.args = Some(match (self.args.take(), more) {
            (None, more) => more,
            (Some(Arguments::Object(mut all)), Arguments::Object(more)) => {
                self.resend = true;
                merge(&mut all, more);
                Arguments::Object(all)
            }
            (Some(first), _) => {
                self.resend = true;
                first
            }
        });
    }

    /// The arguments with the parameters that stood outside the wrapper added after them (XT-14).
    pub(crate) fn take_arguments(&mut self) -> Json {
        let loose = std::mem::take(&mut self.loose);
        match self.args.take() {
            None => Json::Object(loose),
            Some(Arguments::Other(value)) => value,
            Some(Arguments::Object(mut all)) => {
                if !loose.is_empty() {
                    self.resend = true;
                }
                merge(&mut all, loose);
                Json::Object(all)
            }
        }
    }
}

/// Adds all of `more`, value by value.
fn merge(all: &mut Members, more: Members) {
    for (key, value) in more.into_list() {
        match value {
            Json::Array(items) => items.into_iter().for_each(|v| all.add(key.clone(), v)),
            value => all.add(key, value),
        }
    }
}
