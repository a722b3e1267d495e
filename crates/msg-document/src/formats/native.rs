//! The native form (MS-7): an array of `{role, parts}`. Reading and writing are
//! `msg_core::native`'s.

use msg_core::{Message, Report, native};

use super::{is_of_a_turn, read_list};
use crate::codec::{Codec, Content, Likelihood, WriteOptions};
use crate::outline::Outline;
use crate::refusal::Refusal;
use crate::wrapper::Wrapper;

pub(crate) struct Native;

impl Codec for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn about(&self) -> &'static str {
        "This program's own message JSON: an array of `{role, parts}`"
    }

    fn lacks_ids(&self) -> bool {
        true
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        match outline.messages() {
            Some(list) if list.is_empty() => Likelihood::Possible,
            Some(list) if list.records().any(is_of_a_turn) => Likelihood::No,
            Some(list) if list.records().any(|it| it.is_list("parts")) => Likelihood::Likely,
            _ => Likelihood::No,
        }
    }

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        read_list(bytes, Wrapper::none(bytes, &Native), native::read)
    }

    fn write(
        &self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        if options.provenance {
            messages.iter_mut().for_each(Message::show_provenance);
        }
        native::write(messages, out);
        Report::new()
    }
}
