//! Failures, which pages catch as records.

use std::fmt::Display;

use dpscope_core::accounting::{AccountingError, CalibrationError};
use dpscope_core::mechanism::MechanismError;
use dpscope_engine::{ArtefactError, EngineError, ShardError};
use serde::Serialize;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// The input to change, if one is at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<&'static str>,
    /// For people: the fact, then what to change.
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
    /// The device is absent, or failed.
    Device,
    /// A file that cannot be read.
    File,
    /// A bug of this program.
    Internal,
}

impl Failure {
    /// A failure without a field.
    #[must_use]
    pub fn of(kind: FailureKind, message: &str) -> Self {
        Failure { kind, field: None, message: message.to_owned() }
    }

    /// An invalid input: its name, then what to do about it.
    #[must_use]
    pub fn input(field: &'static str, advice: &[&str]) -> Self {
        let mut message = field.to_owned() + " ";
        advice.iter().for_each(|part| message.push_str(part));
        Failure { kind: FailureKind::Input, field: Some(field), message }
    }

    /// A required input.
    #[must_use]
    pub fn missing(field: &'static str) -> Self {
        Failure::input(field, &["is missing; add it"])
    }

    /// A number outside its domain.
    #[must_use]
    pub fn outside(field: &'static str, value: f64, allowed: &str) -> Self {
        Failure::input(field, &["is ", &shown(value), "; it must be ", allowed])
    }

    /// An input that this error rejects.
    #[must_use]
    pub fn rejected(error: &impl Display) -> Self {
        Failure::of(FailureKind::Input, &error.to_string())
    }
}

/// A number in decimal digits. In a browser by JavaScript: Rust's formatting of floats is a fifth of
/// the budget of the calculators.
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
                Failure::outside(field, value, &allowed)
            }
            AccountingError::Grid { .. } => Failure::of(
                FailureKind::Limit,
                "the grid would be too large; use fewer steps or epochs, or a larger delta",
            ),
            AccountingError::Unreachable { name, .. } => {
                Failure::input(name, &["reaches this epsilon nowhere; change epsilon or delta"])
            }
            AccountingError::Infinite { delta } => {
                let allowed = "larger: no finite epsilon is proven at this delta";
                Failure::outside("delta", delta, allowed)
            }
            _ => Failure::of(FailureKind::Internal, "the accountant failed"),
        }
    }
}

impl From<CalibrationError> for Failure {
    fn from(error: CalibrationError) -> Self {
        match error {
            CalibrationError::Accounting(error) => error.into(),
            CalibrationError::Missing { name } => Failure::missing(name),
            CalibrationError::Unused { name } => {
                Failure::input(name, &["has no effect here; leave it out"])
            }
            CalibrationError::StepsOfEpoch => {
                Failure::input("parameter", &["cannot be steps for this sampler; use epochs"])
            }
            _ => Failure::input("sampler", &["has no proven accountant; use another"]),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let kind = match error {
            EngineError::Accounting(error) => return error.into(),
            EngineError::Stopped => FailureKind::Stopped,
            EngineError::Backend { .. } => FailureKind::Device,
            EngineError::Shard(_) | EngineError::Kernel(_) | EngineError::Audit(_) => {
                FailureKind::Input
            }
            EngineError::Artefact(_) => FailureKind::File,
            _ => FailureKind::Internal,
        };
        Failure::of(kind, &error.to_string())
    }
}

impl From<ArtefactError> for Failure {
    fn from(error: ArtefactError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<ShardError> for Failure {
    fn from(error: ShardError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<MechanismError> for Failure {
    fn from(error: MechanismError) -> Self {
        let field = match error.parameter() {
            Some("steps_per_epoch") => "steps",
            Some(name) => name,
            None => "sampler",
        };
        Failure { field: Some(field), ..Failure::rejected(&error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_outside_its_domain_names_its_field() {
        let argument = |name| AccountingError::Argument {
            name,
            value: 1e-9,
            allowed: "between 0.01 and 1e6".into(),
        };
        let failure = Failure::from(argument("noise_multiplier"));
        assert_eq!((failure.kind, failure.field), (FailureKind::Input, Some("noise_multiplier")));
        let message = "noise_multiplier is 1e-9; it must be between 0.01 and 1e6";
        assert_eq!(failure.message, message);
        let infinite = AccountingError::Infinite { delta: 0.0 };
        let words = infinite.to_string();
        assert_eq!(Failure::from(infinite).message, words);
        assert_eq!(Failure::from(argument("steps_per_epoch")).field, Some("steps"));
        let grid = Failure::from(AccountingError::Grid { points: 1e12, most: 7 });
        assert_eq!((grid.kind, grid.field), (FailureKind::Limit, None));
    }
}
