//! What is thrown: a record that a page can act on.

use serde::Serialize;
use tsify::Tsify;
use wasm_bindgen::JsValue;

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

impl Failure {
    /// A failure of that kind.
    pub fn new(kind: FailureKind, message: impl ToString) -> Self {
        Failure { kind, field: None, message: message.to_string() }
    }

    /// The same failure, of that input.
    #[must_use]
    pub fn of(self, field: &str) -> Self {
        Failure { field: Some(field.to_owned()), ..self }
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        failure.into_js().map_or_else(|_| JsValue::from_str(&failure.message), Into::into)
    }
}
