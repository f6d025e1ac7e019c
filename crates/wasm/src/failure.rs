//! What is thrown: a record that a page can act on.

use std::fmt::Display;

use dpscope_core::accounting::AccountingError;
use dpscope_engine::EngineError;
use serde::Serialize;
use wasm_bindgen::JsValue;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// What kind of thing went wrong.
    pub kind: FailureKind,
    /// The input that is to be changed, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<&'static str>,
    /// For people: what is wrong and what to change.
    pub message: String,
}

/// Kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
    /// A failure that no single input explains.
    #[must_use]
    pub fn of(kind: FailureKind, message: &str) -> Self {
        Failure { kind, field: None, message: message.to_owned() }
    }

    /// An input that is to be changed: its name, then what to do about it.
    #[must_use]
    pub fn input(field: &'static str, advice: &[&str]) -> Self {
        let mut message = field.to_owned() + " ";
        advice.iter().for_each(|part| message.push_str(part));
        Failure { kind: FailureKind::Input, field: Some(field), message }
    }

    /// An input that is needed.
    #[must_use]
    pub fn missing(field: &'static str) -> Self {
        Failure::input(field, &["is missing; add it"])
    }

    /// A number outside its domain.
    #[must_use]
    pub fn outside(field: &'static str, value: f64, allowed: &str) -> Self {
        Failure::input(field, &["is ", &shown(value), "; it must be ", allowed])
    }

    /// An input that is refused with this error, whichever it is.
    #[must_use]
    pub fn refused(error: &impl Display) -> Self {
        Failure::of(FailureKind::Input, &error.to_string())
    }
}

/// A number as a reader writes it. A browser knows how; Rust's own way is a fifth of what the
/// calculators may weigh.
pub(crate) fn shown(value: f64) -> String {
    if cfg!(target_arch = "wasm32") {
        js_sys::Number::from(value)
            .to_string_with_radix(10)
            .map_or_else(|_| String::new(), String::from)
    } else {
        dpscope_core::format::given(value)
    }
}

impl From<AccountingError> for Failure {
    fn from(error: AccountingError) -> Self {
        match error {
            AccountingError::Argument { name, value, allowed } => {
                let field = if name == "steps_per_epoch" { "steps" } else { name };
                Failure::outside(field, value, allowed)
            }
            AccountingError::Grid { .. } => Failure::of(
                FailureKind::Limit,
                "the privacy loss would need too large a grid; give fewer steps or epochs, a \
                 larger delta, or other noise",
            ),
            AccountingError::Unreachable { name, .. } => Failure::input(
                name,
                &["reaches this epsilon at this delta at no value; change epsilon or delta"],
            ),
            AccountingError::Infinite { delta } => {
                let allowed = "larger: there is no finite epsilon at this delta";
                Failure::outside("delta", delta, allowed)
            }
            _ => Failure::of(FailureKind::Internal, "the accountant failed"),
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
        Failure::of(kind, &error.to_string())
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        crate::plain::to_js(&failure).unwrap_or(JsValue::NULL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_outside_its_domain_names_its_field() {
        let argument =
            |name| AccountingError::Argument { name, value: 1e-9, allowed: "between 0.01 and 1e6" };
        let failure = Failure::from(argument("noise_multiplier"));
        assert_eq!((failure.kind, failure.field), (FailureKind::Input, Some("noise_multiplier")));
        let message = "noise_multiplier is 1e-9; it must be between 0.01 and 1e6";
        assert_eq!(failure.message, message);
        assert_eq!(Failure::from(argument("steps_per_epoch")).field, Some("steps"));
        let grid = Failure::from(AccountingError::Grid { points: 1e12, most: 7 });
        assert_eq!((grid.kind, grid.field), (FailureKind::Limit, None));
    }
}
