//! The values of a profile's fields that are a choice of several words. A choice of two is a `bool` in the struct,
//! which the table of fields writes as its words.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An enum whose values are words of a profile file.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$value_doc])* #[serde(rename = $word)] $value,)+
        }

        impl $name {
            /// The word of a profile file.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $word,)+
                }
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
    /// Which reasoning is accepted.
    ReasoningKept {
        /// All.
        All = "all",
        /// None.
        None = "none",
        /// What stands among the content parts, as Mistral's `thinking` does.
        Parts = "parts",
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
