//! What is thrown: a record that a page can act on.

use dpscope_core::accounting::AccountingError;
use dpscope_core::shown::given;
use dpscope_core::theory::reason;
use dpscope_engine::EngineError;
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
    /// An input that is to be changed.
    #[must_use]
    pub fn input(field: &str, message: String) -> Self {
        Failure { kind: FailureKind::Input, field: Some(field.to_owned()), message }
    }

    /// A number outside its domain.
    #[must_use]
    pub fn outside(field: &str, value: f64, allowed: &str) -> Self {
        Failure::input(field, format!("{field} is {}; it must be {allowed}", given(value)))
    }

    /// A failure that no single input explains.
    #[must_use]
    pub fn of(kind: FailureKind, message: String) -> Self {
        Failure { kind, field: None, message }
    }

    /// An input that is refused with this error, whichever it is.
    #[must_use]
    pub fn refused(error: &impl std::fmt::Display) -> Self {
        Failure::of(FailureKind::Input, error.to_string())
    }
}

impl From<AccountingError> for Failure {
    fn from(error: AccountingError) -> Self {
        match error {
            AccountingError::Argument { name, value, allowed } => {
                let field = if name == "steps_per_epoch" { "steps" } else { name };
                Failure::outside(field, value, allowed)
            }
            AccountingError::Grid { .. } => {
                let why = reason(&error);
                let advice = "give fewer steps or epochs, a larger delta, or other noise";
                Failure::of(FailureKind::Limit, format!("{why}; {advice}"))
            }
            _ => Failure::refused(&error),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let kind = match error {
            EngineError::Accounting(error) => return error.into(),
            EngineError::Stopped => FailureKind::Stopped,
            EngineError::Backend { .. } => FailureKind::Device,
            EngineError::Plan(_) | EngineError::Kernel(_) | EngineError::Audit(_) => {
                FailureKind::Input
            }
            EngineError::Artefact(_) => FailureKind::File,
            _ => FailureKind::Internal,
        };
        Failure::of(kind, error.to_string())
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        serde_wasm_bindgen::to_value(&failure).unwrap_or_else(|error| error.into())
    }
}
