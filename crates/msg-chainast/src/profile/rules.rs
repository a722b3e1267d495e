//! The values of a profile's fields that are a choice of words.

use std::fmt;

use super::{
    CharClass, Value,
    fields::{FieldValue, word},
};

/// An enum whose values are words of a profile file.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$value_doc])* $value,)+
        }

        impl $name {
            /// The words of a profile file.
            pub(crate) const WORDS: &'static [(&'static str, $name)] = &[$(($word, $name::$value)),+];

            /// The word of a profile file.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $word,)+
                }
            }
        }

        impl FieldValue for $name {
            fn read(value: Value<'_>) -> Result<Self, String> {
                word(value, Self::WORDS)
            }

            fn print(&self) -> String {
                self.as_str().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// Within what a call id may occur once.
    IdScope {
        /// In one message.
        Message = "message",
        /// In the whole chain.
        Chain = "chain",
    }
}

words! {
    /// Whether a user message is required.
    UserMessage {
        /// No.
        Any = "any",
        /// One, somewhere.
        Some = "some",
        /// The chain behind the system message begins with one.
        First = "first",
    }
}

words! {
    /// What may follow tool results.
    AfterTool {
        /// Anything.
        Any = "any",
        /// An assistant message, and no user message.
        Assistant = "assistant",
    }
}

words! {
    /// Where the system prompt goes; read by wire formats (CA-73).
    SystemPlace {
        /// Into a message.
        Message = "message",
        /// Into a field of the request.
        Field = "field",
        /// Before the first text of the user.
        User = "user",
        /// Nowhere: there is none.
        None = "none",
    }
}

words! {
    /// Whether the role developer is known.
    DeveloperRole {
        /// It is.
        Keep = "keep",
        /// It is not; system stands in its place.
        System = "system",
    }
}

words! {
    /// What becomes of a system message that a provider does not take where it stands.
    LaterSystem {
        /// It joins the system message at the front.
        Hoist = "hoist",
        /// It becomes a user message in its place.
        User = "user",
    }
}

words! {
    /// When a message is empty.
    EmptyIs {
        /// Without a part.
        Part = "part",
        /// Without a part that holds something: texts may be empty.
        Text = "text",
    }
}

words! {
    /// Where results may stand that are not directly behind their call.
    LaterResults {
        /// Anywhere behind it.
        Accept = "accept",
        /// Behind further assistant messages, which are read as one with it.
        Joined = "joined",
        /// Nowhere.
        Reject = "reject",
    }
}

words! {
    /// Whether a provider takes something.
    Acceptance {
        /// It does.
        Accept = "accept",
        /// It does not.
        Reject = "reject",
    }
}

words! {
    /// What the arguments of a call have to be.
    ArgumentsRule {
        /// Any text.
        Any = "any",
        /// JSON.
        Json = "json",
        /// A JSON object.
        Object = "object",
    }
}

words! {
    /// Whether a result has to bear the name of its call.
    ResultNames {
        /// No.
        Any = "any",
        /// Yes.
        Call = "call",
    }
}

words! {
    /// What a request may end with.
    LastMessage {
        /// Anything.
        Any = "any",
        /// No assistant message.
        User = "user",
    }
}

words! {
    /// Which reasoning is accepted.
    ReasoningKept {
        /// All.
        All = "all",
        /// None.
        None = "none",
        /// That of turns in which a tool is called.
        CallTurns = "call-turns",
    }
}

words! {
    /// Where reasoning is required.
    ReasoningRequired {
        /// Nowhere.
        None = "none",
        /// In every message that calls a tool.
        Calls = "calls",
        /// In every assistant message of a turn in which a tool is called.
        Messages = "messages",
        /// As the signature of the first call of each message of the current turn.
        CallSignature = "call-signature",
    }
}

words! {
    /// Whether the signature of a call is accepted.
    CallSignatures {
        /// It is.
        Keep = "keep",
        /// It is not.
        Drop = "drop",
    }
}

words! {
    /// Which extra members are taken.
    Members {
        /// All.
        Any = "any",
        /// Those that this model knows.
        Known = "known",
    }
}

words! {
    /// What of the tools that a provider runs itself may be sent.
    ServerTools {
        /// All.
        Keep = "keep",
        /// Calls, and results behind their call in the same message.
        Pairs = "pairs",
        /// Nothing.
        None = "none",
    }
}

words! {
    /// To what signed reasoning is bound.
    ReasoningBound {
        /// To nothing.
        None = "none",
        /// To the model that made it.
        Model = "model",
        /// To the account that asked for it.
        Account = "account",
    }
}

/// The names that messages may have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageNames {
    /// None.
    None,
    /// Names of these characters.
    Of(CharClass),
}

impl fmt::Display for MessageNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MessageNames::None => f.write_str("none"),
            MessageNames::Of(class) => class.fmt(f),
        }
    }
}
