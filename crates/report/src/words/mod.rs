//! Sentences about single values.

mod accounted;
mod audited;
mod bounds;
mod canary_optimization;
mod claim;
mod conclusion;
mod contradiction;
mod described;
mod drawn;
mod drawn_batches;
mod explained;
mod finding;
mod generator;
mod headline;
mod imported;
mod length;
mod library_loader;
mod null_finding;
mod one_run;
mod one_run_design;
mod one_shot;
mod output_finding;
mod output_phase;
mod pategan;
mod privacy_statement;
mod sampler;
mod sampler_evidence;
mod server_finding;
mod step_finding;
mod subject;
mod training_finding;

pub use accounted::{InWords, is_loose};
#[cfg(feature = "schema")]
pub(crate) use accounted::{direction_in_words, method_in_words, scope_in_words};
pub use audited::{AuditBound, AuditConclusion, Claimant};
pub use bounds::{BoundWords, bound_words};
pub use canary_optimization::{AucEstimate, differs, optimised_canaries};
pub use claim::{claim_sentence, limit_sentence, outcome_name, proven_sentence, verdict_in_words};
pub use conclusion::{Conclusion, OwnClaim};
pub use described::{
    calibrations, check_verdict_in_words, claim_note, described_sentence, known_epsilon_sentence,
};
pub use drawn::{
    drawn_adjacencies, drawn_adjacency_sentence, drawn_assumption, drawn_ceiling_in_words,
    drawn_claim_sentence, drawn_finding_sentence, drawn_guesses_in_words, drawn_headline,
    drawn_subject, drawn_title,
};
pub use drawn_batches::{drawn_sampler_sentence, loader_finding_sentence, loader_test_in_words};
pub use explained::{
    ESTIMATE_MEANING, adjacency_explained, coverage_sentence, threat_model_sentence, unit_in_words,
};
pub use finding::{DEPENDENT_RUNS, dependence_sentence, finding_sentence};
pub use generator::{CONSTANT_ROWS, GeneratorResult};
pub use headline::{NO_LEAKAGE, headline};
pub(crate) use headline::{canary_headline, headline_after, headline_of};
pub use imported::imported_sentence;
pub use length::{epochs_in_words, rounding_sentence};
pub use library_loader::{library_loader_sentence, unread_arguments_sentence};
pub use one_run::{
    CANARIES_ALONE, INDEPENDENT_CANARIES, LOOK_FOR_A_LEAK, PAIRS_FACTOR, adjacency_in_words,
    adjacency_sentence, canaries_sentence, canary_score_sentence, claimed_training_in_words,
    claimed_training_sentence, coins_sentence, guess_rule_sentence, one_run_claim_sentence,
    one_run_finding_sentence, one_run_headline, projected_noise_sentence, projected_score_sentence,
    runs_sentence, self_test_sentence,
};
pub use one_run_design::{
    CanaryGameKind, CanaryScoreKind, CoinsStatus, GuessRuleKind, OneRunDesign,
};
pub(crate) use one_shot::one_shot_neighbours;
pub use one_shot::{
    CanaryNull, LOOK_FOR_AN_ERROR, NO_ARRIVAL, OneShotAttacker, OneShotDesign, OneShotRule,
    attacker_name, canary_null_sentence, canary_number_sentence, holds_for_sentence,
    noisy_sum_sentence, one_shot_claim_sentence, one_shot_headline, one_shot_quantity,
    one_shot_rule, sees_sentence,
};
pub(crate) use output_phase::step_number;
pub use output_phase::{phase_in_words, phase_text};
pub use pategan::PateGanFinding;
pub use privacy_statement::{PrivacyStatement, STATEMENT_SCOPE, StatementFormat};
pub(crate) use sampler::BOUNDED;
pub use sampler::{
    SAMPLER_MENU, SamplerWords, batches, loader_batches, names_of_samplers, sampler_words,
};
pub use sampler_evidence::{recorded_uses_sentence, sampler_evidence_sentence};
pub use step_finding::{step_finding_sentence, step_headline};
pub use subject::{ONE_MODEL, Subject};
pub use training_finding::training_finding_sentence;
