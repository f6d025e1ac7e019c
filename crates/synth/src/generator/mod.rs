//! Audits of a user's own generator from what its runs released: what is fixed beforehand, outcomes of
//! runs, scores of canaries, the report. Files belong to the caller.

mod canaries;
mod feature_file;
mod manifest;
mod outcomes;
mod public_domain;
mod report;

pub use canaries::canary_scores;
pub use feature_file::{FeatureTable, read_features};
pub use manifest::{
    BoundsSource, ColumnEntry, Duplicates, FreshCanaries, Game, Manifest, ManifestError, Scoring,
    columns_from_toml, row_of, schema_of,
};
pub use outcomes::{FailedRuns, Outcome, OutcomeError, WorldOutcomes, WorldsAttack};
pub use public_domain::uniform_row;
pub use report::{GeneratorPlan, report_without_bound, worlds_report};
