//! Privacy statements to paste, in every format.

use dpscope_core::accounting::{
    Accountant, BallsInBins, Deterministic, FixedSize, Given, PersistentShuffle, Poisson, Query,
    RandomAllocation, Shuffle, ShuffleMethod, Training, TruncatedPoisson,
};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::mechanism::{SamplerKind, Truncation};
use dpscope_core::training_check::TrainingDescription;
use dpscope_report::record::PrivacyUnit;
use dpscope_report::record::page::StatementTexts;
use dpscope_report::words::{PrivacyStatement, StatementFormat, own_claim};
use wasm_bindgen::prelude::*;

use super::check::checked;
use crate::conclusion::checked as checked_claim;
use crate::failure::Failure;
use crate::input::{named, read, read_optional};
use crate::output::{JsResult, to_js};

/// The statement of a training at a δ, which `command` reproduces. `adjacency` is that of the bounds of
/// batches of fixed size and of truncated ones, zero-out if omitted, and of the claim, add-remove if
/// omitted; `truncation` has the sizes of truncated ones, which have no bounds without them.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "StatementTexts")]
pub fn training_statement(
    #[wasm_bindgen(unchecked_param_type = "SamplerKind")] sampler: &str,
    #[wasm_bindgen(unchecked_param_type = "Training")] training: &JsValue,
    delta: f64,
    command: String,
    claim: Option<f64>,
    #[wasm_bindgen(unchecked_optional_param_type = "Adjacency")] adjacency: Option<String>,
    #[wasm_bindgen(unchecked_optional_param_type = "Truncation")] truncation: &JsValue,
) -> JsResult {
    let adjacency: Option<Adjacency> =
        adjacency.map(|name| named("adjacency", &name)).transpose()?;
    let bounds = adjacency.unwrap_or(Adjacency::ZeroOut);
    let sampler = named("sampler", sampler)?;
    let training = read(training, "training")?;
    let neighbours = (bounds, read_optional(truncation, "truncation")?);
    let stated = stated(sampler, training, delta, neighbours, command)?;
    let claim = checked_claim(claim)?.map(|epsilon| PrivacyClaim {
        adjacency: adjacency.unwrap_or(Adjacency::AddRemove),
        ..own_claim(epsilon, delta)
    });
    to_js(&texts(&PrivacyStatement { claim, ..stated }))
}

/// The statement of a described training, which `command` reproduces.
///
/// # Errors
/// As [`super::check`].
#[wasm_bindgen(unchecked_return_type = "StatementTexts")]
pub fn check_statement(
    #[wasm_bindgen(unchecked_param_type = "TrainingDescription")] training: &JsValue,
    command: String,
) -> JsResult {
    let training: TrainingDescription = read(training, "training")?;
    to_js(&texts(&PrivacyStatement::of_check(&checked(&training)?, command)))
}

fn stated(
    sampler: SamplerKind,
    training: Training,
    delta: f64,
    (adjacency, truncation): (Adjacency, Option<Truncation>),
    command: String,
) -> Result<PrivacyStatement, Failure> {
    let given = Given::Delta(delta);
    let (upper, lower) = (Query::upper(training, given), Query::lower(training, given));
    let truncated = truncation.map(|truncation| TruncatedPoisson { adjacency, truncation });
    Ok(PrivacyStatement {
        loader: sampler.into(),
        training: training.into(),
        unit: PrivacyUnit::Record,
        sizes: None,
        delta,
        adjacency,
        claim: None,
        poisson: Some(Poisson.account(&upper)?),
        lower: match sampler {
            SamplerKind::Shuffle | SamplerKind::BatchThenShuffle => {
                Shuffle(ShuffleMethod::Best).account(&lower).ok()
            }
            SamplerKind::PersistentShuffle => {
                PersistentShuffle(ShuffleMethod::Best).account(&lower).ok()
            }
            SamplerKind::RandomAllocation => RandomAllocation.account(&lower).ok(),
            SamplerKind::FixedSize => FixedSize { adjacency }.account(&lower).ok(),
            SamplerKind::TruncatedPoisson => truncated.and_then(|it| it.account(&lower).ok()),
            _ => None,
        },
        upper: match sampler {
            SamplerKind::Poisson => None,
            SamplerKind::TruncatedPoisson => truncated.and_then(|it| it.account(&upper).ok()),
            SamplerKind::RandomAllocation => RandomAllocation.account(&upper).ok(),
            SamplerKind::FixedSize => FixedSize { adjacency }.account(&upper).ok(),
            SamplerKind::BallsInBins => BallsInBins.account(&upper).ok(),
            _ => Deterministic.account(&upper).ok(),
        },
        command,
    })
}

pub(crate) fn texts(statement: &PrivacyStatement) -> StatementTexts {
    StatementTexts {
        markdown: statement.text(StatementFormat::Markdown),
        latex: statement.text(StatementFormat::Latex),
        plain: statement.text(StatementFormat::Plain),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn example(sampler: SamplerKind) -> StatementTexts {
        let training = Training {
            noise_multiplier: 1.0,
            steps_per_epoch: 100,
            epochs: 1,
            sampling_rate: None,
        };
        let command = "dpscope compare".to_owned();
        let truncation = Some(Truncation { dataset_size: 10_000, max_batch_size: 110 });
        let neighbours = (Adjacency::ZeroOut, truncation);
        texts(&stated(sampler, training, 1e-5, neighbours, command).unwrap())
    }

    #[test]
    fn bounds_are_those_of_the_sampler() {
        let plain = |sampler| example(sampler).plain;
        let shuffled = plain(SamplerKind::Shuffle);
        assert!(shuffled.contains("ε ≥ 4.0631") && shuffled.contains("ε ≤ 4.3772"), "{shuffled}");
        assert!(plain(SamplerKind::BallsInBins).contains("bound: ε ≤ 0.62"));
        assert!(!plain(SamplerKind::Poisson).contains("4.3772"));
        let fixed = plain(SamplerKind::FixedSize);
        assert!(fixed.contains("bound: ε ≤ 5.07") && fixed.contains("is refuted"), "{fixed}");
        let truncated = plain(SamplerKind::TruncatedPoisson);
        assert!(
            truncated.contains("bound: ε ≤ 3.61") && truncated.contains("neither"),
            "{truncated}"
        );
        let allocated = plain(SamplerKind::RandomAllocation);
        assert!(allocated.contains("each record in 1 step per epoch"), "{allocated}");
        assert!(plain(SamplerKind::Deterministic).contains("lower bound: none"));
    }
}
