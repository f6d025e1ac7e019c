//! What is thrown: a record that a page can act on.

use serde::Serialize;
use tsify::Tsify;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Serialize, Tsify)]
pub struct Failure {
    /// What kind of thing went wrong.
    pub kind: FailureKind,
    /// The input that is to be changed, where one is.
    #[tsify(optional)]
    pub field: Option<String>,
    /// For people: what is wrong and what to change.
    pub message: String,
}

/// Kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Tsify)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FailureKind {
    /// An input outside its domain.
    Input,
    /// The computation would need more memory or time than is allowed.
    Limit,
    /// Stopped by the page.
    Stopped,
    /// No such device, or it failed.
    Device,
    /// A file that cannot be read.
    File,
    /// A mistake of this program.
    Internal,
}
