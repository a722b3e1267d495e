//! Where the run of a tool stands (MS-20).
//!
//! The steps between the states are in `lifecycle`; nothing here changes one.

use std::fmt;

/// The state of a tool part (MS-20). The first four are what this crate writes; the others were
/// written by released software and are kept as they were spelled.
///
/// ```
/// use msg_forms::ToolStatus;
/// assert_eq!(ToolStatus::from("partial").meaning(), Some(ToolStatus::Completed));
/// assert_eq!(ToolStatus::from("Completed").meaning(), None); // case counts
/// assert_eq!(ToolStatus::from("queued").as_str(), "queued");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ToolStatus {
    /// The model asked for it; nothing ran yet.
    #[default]
    Pending,
    /// It is being executed.
    Running,
    /// It ended well.
    Completed,
    /// It failed, or was refused before it ran.
    Failed,
    /// Spelling of released software: failed.
    Error,
    /// Spelling of released software: completed, in part.
    Partial,
    /// Spelling of released software: failed, because it was interrupted.
    Interrupted,
    /// Any other text.
    Other(Box<str>),
}

impl ToolStatus {
    /// The text in JSON.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Partial => "partial",
            Self::Interrupted => "interrupted",
            Self::Other(it) => it,
        }
    }

    /// Which of pending, running, completed and failed it means, where that is known (MS-20).
    pub fn meaning(&self) -> Option<Self> {
        match self {
            Self::Pending => Some(Self::Pending),
            Self::Running => Some(Self::Running),
            Self::Completed | Self::Partial => Some(Self::Completed),
            Self::Failed | Self::Error | Self::Interrupted => Some(Self::Failed),
            Self::Other(_) => None,
        }
    }

    /// Whether a step may still follow: only from pending and running (MS-21).
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Pending | Self::Running)
    }
}

impl From<&str> for ToolStatus {
    fn from(text: &str) -> Self {
        match text {
            "pending" => Self::Pending,
            "running" => Self::Running,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "error" => Self::Error,
            "partial" => Self::Partial,
            "interrupted" => Self::Interrupted,
            _ => Self::Other(text.into()),
        }
    }
}

impl fmt::Display for ToolStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
