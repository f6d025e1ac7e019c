//! Privacy statements to paste, in every format.

use dpscope_core::accounting::{
    Accountant, Given, KnownBound, Poisson, Query, Setting, deciding_bounds,
};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::TrainingDescription;
use dpscope_report::record::PrivacyUnit;
use dpscope_report::record::input::BoundSetting;
use dpscope_report::record::page::StatementTexts;
use dpscope_report::words::{PrivacyStatement, StatementFormat};
use wasm_bindgen::prelude::*;

use super::check::checked;
use crate::conclusion::checked as checked_claim;
use crate::failure::Failure;
use crate::input::{named, read};
use crate::output::{JsResult, to_js};

/// The statement of a training at a δ, which `command` reproduces. The adjacency of the setting is that of
/// the bounds of batches of limited size, and of the claim, which is under add/remove if it is omitted.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "StatementTexts")]
pub fn training_statement(
    #[wasm_bindgen(unchecked_param_type = "SamplerKind")] sampler: &str,
    #[wasm_bindgen(unchecked_param_type = "BoundSetting")] setting: &JsValue,
    delta: f64,
    command: String,
    claim: Option<f64>,
) -> JsResult {
    let setting: BoundSetting = read(setting, "setting")?;
    let adjacency = setting.adjacency.unwrap_or(Adjacency::AddRemove);
    let stated = stated(named("sampler", sampler)?, setting.into(), delta, command)?;
    let claim = checked_claim(claim)?;
    let claim = claim.map(|epsilon| PrivacyClaim { epsilon, delta, adjacency });
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
    setting: Setting,
    delta: f64,
    command: String,
) -> Result<PrivacyStatement, Failure> {
    let (training, given) = (setting.training, Given::Delta(delta));
    let known = |bound: Option<KnownBound>| bound?.account(&setting, given)?.ok();
    let [lower, upper] = deciding_bounds(sampler).map(known);
    Ok(PrivacyStatement {
        loader: sampler.into(),
        training: training.into(),
        unit: PrivacyUnit::Record,
        sizes: None,
        delta,
        adjacency: if sampler.limits_batch_size() { setting.adjacency } else { Adjacency::ZeroOut },
        claim: None,
        poisson: Some(Poisson.account(&Query::upper(training, given))?),
        lower,
        upper,
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
    use dpscope_core::accounting::Training;
    use dpscope_core::mechanism::Truncation;

    use dpscope_core::mechanism::SamplerParameter;

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
        let setting = Setting { truncation, ..Setting::zero_out(training) };
        texts(&stated(sampler, setting, 1e-5, command).unwrap())
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
        let with = |parameter: SamplerParameter| plain(parameter.samplers().next().unwrap());
        let truncated = with(SamplerParameter::MaxBatchSize);
        assert!(
            truncated.contains("bound: ε ≤ 3.61") && truncated.contains("neither"),
            "{truncated}"
        );
        let allocated = with(SamplerParameter::UsesPerEpoch);
        assert!(allocated.contains("each record in 1 step per epoch"), "{allocated}");
        assert!(plain(SamplerKind::Deterministic).contains("lower bound: none"));
    }
}
