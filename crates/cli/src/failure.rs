//! Exit codes, and the hints that name options in errors of the libraries.

use dpscope_core::accounting::AccountingError;
use dpscope_core::audit::claim::ClaimError;
use dpscope_core::audit::{AuditError, ScoresError};
use dpscope_core::foreign_text::ForeignText;
use dpscope_core::format::given;
use dpscope_core::mechanism::MechanismError;
use dpscope_core::training_check::TrainingError;
use dpscope_engine::{ArtefactError, EngineError, FloatMode, ShardError};
use dpscope_formats::FormatError;
use dpscope_report::record::{ErrorCode, ErrorReport};
use dpscope_simulation::{PlanError, ReportError};
use dpscope_train::TrainError;

use dpscope_train::data::DataError;

use crate::disk::HAS_DISK;

/// Exit codes of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    Internal = 1,
    Input = 2,
    Refuted = 3,
    Device = 4,
    Artefact = 5,
    Inconclusive = 6,
    Interrupted = 130,
}

/// An error and its exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Exit,
    pub(crate) error: anyhow::Error,
    /// The file that it concerns, where one is known.
    pub(crate) file: Option<String>,
}

pub(crate) type CommandResult = Result<Exit, Failure>;

impl Failure {
    fn from_error(code: Exit, error: anyhow::Error) -> Self {
        Failure { code, error, file: None }
    }

    /// The document under `--json`.
    pub(crate) fn report(&self) -> ErrorReport {
        let message = format!("{:#}", self.error);
        ErrorReport { file: self.file.clone(), ..error_report(self.code, message) }
    }

    pub(crate) fn input(message: impl std::fmt::Display) -> Self {
        Failure::from_error(Exit::Input, anyhow::anyhow!("{message}"))
    }

    pub(crate) fn with(code: Exit, message: impl std::fmt::Display) -> Self {
        Failure::from_error(code, anyhow::anyhow!("{message}"))
    }

    /// Ctrl-C without a saved state.
    pub(crate) fn interrupted() -> Self {
        let message = "interrupted before there was a result; run the same command again";
        Failure::with(Exit::Interrupted, message)
    }

    /// Fails with the first message whose condition is true.
    pub(crate) fn first_of(problems: &[(bool, &str)]) -> Result<(), Self> {
        let first = problems.iter().find(|(is_present, _)| *is_present);
        first.map_or(Ok(()), |(_, message)| Err(Failure::input(message)))
    }

    /// Puts the file in front of the message.
    pub(crate) fn about(self, path: &std::path::Path) -> Self {
        let file = self.file.or_else(|| Some(path.to_string_lossy().into_owned()));
        Failure { error: self.error.context(ForeignText::new(path)), file, ..self }
    }
}

/// Why a command line is not run.
pub(crate) enum Refusal {
    /// It asks for help, or cannot be parsed.
    Usage(clap::Error),
    Input(Failure),
}

impl From<Refusal> for Failure {
    /// What is wrong, without advice on the use of the command.
    fn from(refusal: Refusal) -> Self {
        let error = match refusal {
            Refusal::Input(failure) => return failure,
            Refusal::Usage(error) => error.render().to_string(),
        };
        let problem = ["\n\nUsage:", "\n\nFor more information"]
            .iter()
            .fold(error.as_str(), |text, end| text.split(end).next().unwrap_or(text));
        Failure::input(problem.trim().trim_start_matches("error: "))
    }
}

/// The document of an error without a file.
pub(crate) fn error_report(exit: Exit, message: String) -> ErrorReport {
    ErrorReport {
        schema: ErrorReport::SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        code: match exit {
            Exit::Device => ErrorCode::Device,
            Exit::Artefact => ErrorCode::Artefact,
            Exit::Interrupted => ErrorCode::Interrupted,
            Exit::Internal => ErrorCode::Internal,
            Exit::Done | Exit::Input | Exit::Refuted | Exit::Inconclusive => ErrorCode::Input,
        },
        exit_code: exit as u8,
        message,
        file: None,
    }
}

/// Rejects the first of these options that is present, since it would have no effect.
pub(crate) fn reject_unused_options(options: &[(&str, bool)], why: &str) -> Result<(), Failure> {
    match options.iter().find(|&&(_, is_present)| is_present) {
        Some((name, _)) => Err(Failure::input(format!("{name} has no effect {why}; leave it out"))),
        None => Ok(()),
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let error = match error {
            EngineError::Accounting(error) => return error.into(),
            EngineError::Stopped => return Failure::interrupted(),
            EngineError::Shard(error) => return error.into(),
            EngineError::Artefact(error) => {
                return Failure::with(Exit::Artefact, format!("{error}{}", artefact_hint(&error)));
            }
            error => error,
        };
        let code = match &error {
            EngineError::Kernel(_) | EngineError::Audit(_) => Exit::Input,
            EngineError::Backend { .. } => Exit::Device,
            // An error of the caller, for example a full disk.
            EngineError::Control(_) => Exit::Input,
            _ => Exit::Internal,
        };
        Failure::from_error(code, error.into())
    }
}

/// What to do about an artefact, in terms of options.
fn artefact_hint(error: &ArtefactError) -> &'static str {
    match error {
        ArtefactError::Malformed { .. } => "; name a file written by --checkpoint or --out",
        ArtefactError::Gap { .. } => ", or pass --allow-gaps to accept an estimate",
        ArtefactError::MixedModes { .. } => "; pass --allow-mixed to accept that",
        ArtefactError::FloatModeMismatch { here: FloatMode::Fast, .. } => {
            "; pass --float-mode exact"
        }
        ArtefactError::FloatModeMismatch { here: FloatMode::Exact, .. } => {
            "; pass --float-mode fast and use the GPU that counted it"
        }
        _ => "",
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Counts(error) => error.into(),
            ReportError::Mechanism(error) => error.into(),
            ReportError::Claim(error) => error.into(),
            error => Failure::with(Exit::Internal, error.to_string()),
        }
    }
}

impl From<ClaimError> for Failure {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::Delta { claimed, .. } => {
                Failure::input(format!("{error}; pass --delta {}", given(claimed)))
            }
            error => Failure::input(error),
        }
    }
}

impl From<AccountingError> for Failure {
    /// Names the option of the argument.
    fn from(error: AccountingError) -> Self {
        let AccountingError::Argument { name, value, allowed } = error else {
            return Failure::input(match error {
                AccountingError::Grid { .. } => format!(
                    "{error}; reduce --steps or --epochs, increase --delta, or change \
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
        Failure::input(format!("{} is {}; it must be {allowed}", option(name), given(value)))
    }
}

/// The option of a field of the library.
pub(crate) fn option(field: &str) -> String {
    let name = match field {
        "steps_per_epoch" => "steps",
        "draws" => "observations",
        "target_slot" => "target-step",
        "phases" => return "the number of phases".to_owned(), // of a record
        name => return format!("--{}", name.replace('_', "-")),
    };
    format!("--{name}")
}

impl From<MechanismError> for Failure {
    fn from(error: MechanismError) -> Self {
        Failure::input(error.in_terms_of(option))
    }
}

impl From<TrainingError> for Failure {
    fn from(error: TrainingError) -> Self {
        Failure::input(error.in_terms_of(option))
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
    /// Names the option of a field.
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Observations { .. }
            | PlanError::SplitObservations { .. }
            | PlanError::Delta { .. }
            | PlanError::Significance { .. }
            | PlanError::Seed { .. } => Failure::input(format!("--{error}")),
            PlanError::Mechanism(error) => error.into(),
            error => Failure::input(error),
        }
    }
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<ScoresError> for Failure {
    /// Names the calls to make instead of passing labels as a world.
    fn from(error: ScoresError) -> Self {
        match error {
            ScoresError::Labels { .. } => Failure::input(format!(
                "{error}: scores with label 1 as --target, scores with label 0 as --zero-out (in Python \
                 `audit_scores(target=scores[labels == 1], zero_out=scores[labels == 0])`), if each \
                 score comes from its own training run; for members and non-members of one model, use \
                 `dpscope audit one-run --scores scores.npy --coins labels.npy`"
            )),
            error => Failure::input(error),
        }
    }
}

macro_rules! input_errors {
    ($($error:ty),*) => { $(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::from_error(Exit::Input, error.into())
            }
        }
    )* };
}

input_errors!(
    ShardError,
    dpscope_core::audit::bound::BoundError,
    dpscope_core::audit::planner::PlannerError,
    dpscope_core::audit::trade_off::TradeOffError
);

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        match error {
            error if !HAS_DISK => Failure::input(error.in_page()),
            error => Failure::from_error(Exit::Input, error.into()),
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Format { name, source } if !HAS_DISK => {
                Failure::input(format!("{name}: {}", source.in_page()))
            }
            error => Failure::from_error(Exit::Input, error.into()),
        }
    }
}

impl From<dpscope_recorded::FileError> for Failure {
    fn from(error: dpscope_recorded::FileError) -> Self {
        use dpscope_recorded::FileProblem;
        let failure = match error.problem {
            FileProblem::Format(error) => Failure::from(error),
            FileProblem::Changed(problem) => Failure::with(Exit::Artefact, problem),
            FileProblem::Content(problem) => Failure::input(problem),
        };
        failure.about(std::path::Path::new(&error.file))
    }
}
