//! The documents of the program: what `--json` prints and `--curves` writes.

mod anytime;
mod bound;
mod calibration;
mod canary_optimization;
mod check;
mod claim;
mod comparison;
mod curves;
mod devices;
mod drawn;
mod drawn_sizes;
mod federated_plan;
mod federated_training;
mod generator;
mod imported;
mod independence;
pub mod input;
mod launch;
mod matrix;
mod matrix_request;
mod message;
mod one_run;
mod one_run_plan;
mod one_run_sizes;
mod one_run_training;
mod one_shot;
mod one_shot_simulation;
pub mod page;
mod pate;
mod pategan;
mod plan;
mod planning;
mod report;
mod reproduction;
mod result;
mod row_chart;
mod sampler_evidence;
mod secret_plan;
mod theory;
mod training;
mod utility;
mod value;

pub use anytime::{AnytimeEvidence, AnytimeReport};
pub use bound::{BoundReport, BoundSubject, PairBounds, PairDraws};
pub use calibration::{CalibratedValue, CalibrationReport, CalibrationSettings};
pub use canary_optimization::{
    AucEstimate, CanaryComparison, CanaryOptimizationReport, CanaryValidation, ComparedCanaries,
};
pub use check::{CheckReport, CheckedClaim, LoaderTable, TrainingFindingRecord};
pub use claim::{ClaimRecord, ClaimTest, LimitRecord};
pub use comparison::{
    ComparedQuantity, ComparedValue, Comparison, ComparisonLine, OtherParameters, ShownValue,
    SimulatedAudit, Sweep, SweepRow, ratio_to_poisson,
};
pub use curves::{CurveKind, CurvePoint, CurveRecord, CurvesReport};
pub use devices::{Bench, BenchRate, BenchRow, Device, DeviceFacts, Devices};
pub use drawn::{DrawnFindingRecord, DrawnReport, DrawnReportError};
pub use drawn_sizes::{DrawnSize, DrawnSizes, DrawnTarget, SecretCommitment};
pub use federated_plan::{
    DirectionReport, FederatedCommitment, FederatedPlan, FederatedSize, FederatedSizes,
};
pub use federated_training::{
    FederatedAccounted, FederatedAccuracy, FederatedAttackRecord, FederatedTrainings, RoundByRound,
};
pub use generator::{
    AttackCounts, GeneratorAttack, GeneratorFinding, GeneratorReport, IndicativeFigures,
};
pub use imported::{ImportedClaim, ImportedReport, RecordSource};
pub use independence::{IndependenceRecord, IndependenceTest};
pub use launch::LaunchReport;
pub use matrix::{MatrixReport, MatrixStrategyKind, MatrixStrategyRecord, MatrixValue};
pub use matrix_request::{MatrixNoise, MatrixRequest};
pub use message::{Completions, ErrorCode, ErrorReport, Serving};
pub use one_run::{
    ClaimedTraining, ClaimedTrainingError, IndependentCanaries, IndependentPairs,
    OneRunFindingRecord, OneRunReport, PlannedRunsRecord, ProjectedRunRecord, ProjectionsRecord,
    RankingStep,
};
pub use one_run_plan::{OneRunPlan, PlannedGame, PlannedRule, ScoreDirection};
pub use one_run_sizes::{
    CanariesReport, CommitmentRecord, OneRunSize, OneRunSizes, OneRunTarget, PlanCheck,
    PoolCommitment,
};
pub use one_run_training::{OneRunTrainings, RepeatRecord, RepeatSummary};
pub use one_shot::{OneShotEstimate, OneShotFiles, OneShotReport};
pub use one_shot_simulation::{OneShotQuantity, OneShotSimulation, OneShotSummary};
pub use pate::{PateReport, VoteLabels, VotesTarget};
pub use pategan::{
    CheckOutcome, GeneratorCheck, GeneratorFault, PateGanData, PateGanReport, PateGanSettings,
    TargetChoice,
};
pub use plan::PlanRecord;
pub use planning::{PlanReport, PlanTarget, PredictedRow};
pub(crate) use report::theory_decides;
pub use report::{Credible, Observations, Report, RunFacts, SeedSource};
pub use reproduction::{Reproduction, ReproductionColumn, ReproductionNote, ReproductionSection};
pub use result::{ResultRecord, ValueAtCut};
pub use row_chart::{
    Axis, ChartRow, Ink, LegendEntry, Mark, RowChart, RowPanel, Shape, Spacing, Tick,
};
pub use sampler_evidence::{RecordedUsesRecord, SamplerEvidenceRecord};
pub use secret_plan::SecretPlan;
pub use theory::{AuditedEpsilon, TheoryComparison};
pub use training::{Idealised, TrainingFacts};
pub use utility::{
    ClassifierFigures, GeneratorUtility, Utility, UtilityFigure, UtilityFigures, UtilityReport,
};
pub(crate) use value::bound_records;
pub use value::{BoundRecord, EstimateRecord, FindingRecord, PrivacyUnit, Quantity};
