//! The flags that say where in each document its conversation is.
//!
//! What is done with them is the library's: `msg_document::Row`.

use msg_document::{FieldPath, Fields, JoinedPaths, ReadOptions};
use serde::{Serialize, Serializer};

// No doc comment on the flattened struct: clap would show it as the text of the command.
#[derive(Debug, Clone, Default, clap::Args, Serialize)]
#[command(next_help_heading = "Rows")]
pub(crate) struct RowArgs {
    /// Take the conversation from this member of each document or line, such as `request.body`; `[]` represents
    /// each element of a list. Repeatable.
    #[arg(long, value_name = "PATH")]
    #[serde(serialize_with = "as_texts")]
    field: Vec<FieldPath>,
    /// Take the request from one member and its answer from another, such as `input,output`. Repeatable.
    #[arg(long, value_name = "INPUT,OUTPUT")]
    #[serde(serialize_with = "as_pairs")]
    join: Vec<JoinedPaths>,
}

impl RowArgs {
    /// Whether a document is a row that holds its conversation somewhere.
    pub(crate) fn are_given(&self) -> bool {
        !self.field.is_empty() || !self.join.is_empty()
    }

    /// The same way of reading, with these places.
    pub(crate) fn over(&self, read: ReadOptions) -> ReadOptions {
        let fields = self.field.iter().cloned().map(Fields::field);
        let pairs = self.join.iter().cloned().map(|it| Fields::join(it.input, it.output));
        read.with_fields(fields.chain(pairs).fold(Fields::default(), Fields::and))
    }
}

fn as_texts<S: Serializer>(paths: &[FieldPath], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(ToString::to_string))
}

fn as_pairs<S: Serializer>(pairs: &[JoinedPaths], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(pairs.iter().map(|it| format!("{},{}", it.input, it.output)))
}
