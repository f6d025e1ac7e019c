//! Exit codes, and which error has which.

use dpscope_core::accounting::AccountingError;
use dpscope_core::audit::AuditError;
use dpscope_core::format::{excerpt, given, is_plain};
use dpscope_core::training_check::TrainingError;
use dpscope_engine::{ArtefactError, EngineError, PlanError};
use dpscope_train::TrainError;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    Internal = 1,
    Input = 2,
    Refuted = 3,
    Device = 4,
    Artefact = 5,
    Interrupted = 130,
}

/// An error with the exit code that it ends in.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Exit,
    pub(crate) error: anyhow::Error,
}

pub(crate) type Done = Result<Exit, Failure>;

impl Failure {
    pub(crate) fn input(message: impl std::fmt::Display) -> Self {
        Failure { code: Exit::Input, error: anyhow::anyhow!("{message}") }
    }

    pub(crate) fn with(code: Exit, message: impl std::fmt::Display) -> Self {
        Failure { code, error: anyhow::anyhow!("{message}") }
    }

    /// Ctrl-C where nothing is kept.
    pub(crate) fn interrupted() -> Self {
        let message = "interrupted before there was a result; run the same command again";
        Failure::with(Exit::Interrupted, message)
    }

    /// The first message whose condition holds.
    pub(crate) fn first_of(refusals: &[(bool, &str)]) -> Result<(), Self> {
        let first = refusals.iter().find(|(refused, _)| *refused);
        first.map_or(Ok(()), |(_, message)| Err(Failure::input(message)))
    }

    /// The same failure, with the file that it is about in front.
    pub(crate) fn about(self, path: &std::path::Path) -> Self {
        let name = path.display().to_string();
        let name = if name.chars().all(is_plain) { name } else { excerpt(&name, 1000) };
        Failure { error: self.error.context(name), ..self }
    }
}

/// Refuses the first of these options that is given where it would have no effect.
pub(crate) fn refuse_idle(options: &[(&str, bool)], why: &str) -> Result<(), Failure> {
    match options.iter().find(|&&(_, is_given)| is_given) {
        Some((name, _)) => Err(Failure::input(format!("{name} has no effect {why}; leave it out"))),
        None => Ok(()),
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let error = match error {
            EngineError::Accounting(error) => return error.into(),
            EngineError::Stopped => return Failure::interrupted(),
            error => error,
        };
        let code = match &error {
            EngineError::Plan(_) | EngineError::Kernel(_) | EngineError::Audit(_) => Exit::Input,
            EngineError::Artefact(_) => Exit::Artefact,
            EngineError::Backend { .. } => Exit::Device,
            // The caller's own failure (a full disk, say) keeps its code.
            EngineError::Control(_) => Exit::Input,
            _ => Exit::Internal,
        };
        Failure { code, error: error.into() }
    }
}

impl From<AccountingError> for Failure {
    /// The arguments of an accountant are options here.
    fn from(error: AccountingError) -> Self {
        let AccountingError::Argument { name, value, allowed } = error else {
            return Failure::input(match error {
                AccountingError::Grid { .. } => format!(
                    "{error}; give fewer --steps or --epochs, a larger --delta, or another \
                     --noise-multiplier"
                ),
                AccountingError::Infinite { .. } => format!("--{error}"),
                AccountingError::NoValue { .. } | AccountingError::NotCalibrated { .. } => {
                    error.to_string()
                }
                AccountingError::Unreachable { name: "noise_multiplier", .. } => {
                    format!("{error}; change --epsilon or --delta")
                }
                _ => format!("{error}; change --epsilon, --delta or --noise-multiplier"),
            });
        };
        let option = match name {
            "steps_per_epoch" => "steps".to_owned(),
            "draws" => "observations".to_owned(),
            _ => name.replace('_', "-"),
        };
        Failure::input(format!("--{option} is {}; it must be {allowed}", given(value)))
    }
}

impl From<TrainingError> for Failure {
    fn from(error: TrainingError) -> Self {
        match error {
            TrainingError::Argument { name, value, allowed } => {
                Failure::input(format!("{name} is {}; it must be {allowed}", given(value)))
            }
            TrainingError::Missing { name } => {
                let option = name.replace('_', "-");
                Failure::input(format!("{name} is missing; give --{option}, or {name} in the file"))
            }
            TrainingError::WithoutNoise { name } => Failure::input(format!(
                "{name} is given without noise_std; give --noise-std as well, or leave it out"
            )),
            TrainingError::Sampler(error) => error.into(),
            _ => Failure::input(error),
        }
    }
}

impl From<TrainError> for Failure {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Engine(error) => error.into(),
            error => Failure::input(error),
        }
    }
}

impl From<ArtefactError> for Failure {
    fn from(error: ArtefactError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Self {
        EngineError::from(error).into()
    }
}

macro_rules! input_errors {
    ($($error:ty),*) => { $(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure { code: Exit::Input, error: error.into() }
            }
        }
    )* };
}

input_errors!(
    dpscope_core::audit::bound::BoundError,
    dpscope_core::audit::claim::ClaimError,
    dpscope_core::mechanism::MechanismError,
    dpscope_core::audit::planner::PlannerError,
    dpscope_core::audit::trade_off::TradeOffError,
    dpscope_engine::RecordedError,
    dpscope_formats::FormatError
);
