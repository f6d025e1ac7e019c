//! Recorded outputs and uses, as in `own_trainer.json`.

use dpscope_core::recorded::independence::RecordedRuns;
use dpscope_core::recorded::{
    NoisePower, OutputModel, Placement, PlacementCandidates, SamplerEvidence, UseCounts,
};
use dpscope_core::special::normal_quantile;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::calibrated_score;
use super::document::{Case, GoldenError};
use super::drawn_batches::LoaderInputs;
use super::federated::compare;
use super::one_run::Tolerance;
use super::{Finding, Outcome};
use crate::uniforms::Uniforms;

/// Groups of the file; those that the library does not compute are skipped.
const GROUPS: [&str; 11] = [
    "mixture_fit",
    "exact_noise",
    "outputs_needed",
    "explanation",
    "holm",
    "sampler",
    "other_batches",
    "uses",
    "step_limits",
    "calibrated_score",
    "loader",
];

/// The level at which the file's samplers are refuted.
const SIGNIFICANCE: f64 = 1e-3;

pub(super) fn is_group(name: &str) -> bool {
    GROUPS.contains(&name)
}

pub(super) fn evaluate(case: &Case<'_>) -> Result<Vec<Finding>, GoldenError> {
    let group = case.at("group")?;
    let name = group.text()?;
    if !is_group(name) {
        return Err(group.error(&format!("`{name}` is not a group of this format")));
    }
    let (inputs, expected) = (case.at("inputs")?, case.at("expected")?);
    let seen = match name {
        "sampler" => samplers(&inputs.parsed()?, &expected)?,
        "uses" => uses(&inputs)?,
        "calibrated_score" => calibrated_score::scores(&inputs.parsed()?),
        "outputs_needed" => outputs_needed(&inputs.parsed()?),
        "step_limits" => super::step_limits::evaluate(&inputs.parsed()?),
        "loader" => inputs.parsed::<LoaderInputs>()?.checked(),
        _ => return Ok(vec![expected.skipped("not computed by the library")]),
    };
    let mut found = Vec::new();
    match seen {
        Some(seen) => compare(&expected, Some(&seen), &Tolerance::of(case)?, &mut found)?,
        None => found.push(expected.finding(f64::INFINITY, Outcome::Failed("refused".into()))),
    }
    Ok(found)
}

/// A question for the outputs of each world that find noise of `ratio` times the stated one.
#[derive(Debug, Deserialize)]
struct OutputsNeeded {
    /// b, κ, σ and the uses per step
    stated: [f64; 4],
    rho: f64,
    ratio: f64,
    tests: usize,
    power: f64,
}

fn outputs_needed(inputs: &OutputsNeeded) -> Option<Value> {
    // any number: the uses are the file's share of them
    const STEPS: u32 = 1_000;
    let [other_mean, contrast, noise_multiplier, uses_per_step] = inputs.stated;
    let model = OutputModel {
        other_mean,
        contrast,
        zero_out_share: inputs.rho,
        noise_multiplier,
        uses: uses_per_step * f64::from(STEPS),
    };
    let needed = |power: NoisePower| {
        power.outputs_needed(inputs.ratio, inputs.tests, inputs.power).map(f64::ceil)
    };
    let mixture = needed(NoisePower::of_outputs(&model, STEPS)?)?;
    Some(json!({ "mixture": mixture, "exact": needed(NoisePower::with_sums())? }))
}

fn uses(inputs: &Case<'_>) -> Result<Option<Value>, GoldenError> {
    let counts: Vec<u64> = inputs.at("counts")?.parsed()?;
    let found = UseCounts::of(&counts, inputs.at("steps")?.count()?, inputs.at("rate")?.number()?);
    Ok(found.map(|found| {
        json!({
            "once": found.is_once,
            "mean": found.mean,
            "poisson_total_p": found.poisson_total_p,
            "poisson_dispersion": found.poisson_dispersion,
            "poisson_dispersion_p": found.poisson_dispersion_p,
            "ln_poisson_all_once": found.ln_poisson_all_once,
        })
    }))
}

/// How the file's outputs are drawn, in its own words.
#[derive(Debug, Deserialize)]
pub(super) struct RecordedInputs {
    seed: u64,
    runs: usize,
    epochs: usize,
    steps: usize,
    b: f64,
    size: f64,
    zero: f64,
    sigma: f64,
    #[serde(default)]
    rho: f64,
    sampler: Option<String>,
    uses: Option<f64>,
}

impl RecordedInputs {
    /// Outputs of D and of D′, as the file's header says.
    pub(super) fn worlds(&self) -> [Vec<f64>; 2] {
        let mut uniforms = Uniforms(self.seed);
        let sampler = self.sampler.as_deref().unwrap_or("shuffle");
        let uses = self.uses.unwrap_or(1.0);
        let fixed = uniforms.below(self.steps);
        [self.size, self.zero].map(|mean| {
            let mut outputs = Vec::new();
            for _ in 0..self.runs {
                let kept = match sampler {
                    "persistent" => uniforms.below(self.steps),
                    _ => fixed,
                };
                for _ in 0..self.epochs {
                    let mut epoch = vec![self.b; self.steps];
                    match sampler {
                        "poisson" => epoch.iter_mut().for_each(|output| {
                            if uniforms.draw() < uses / self.steps as f64 {
                                *output = mean;
                            }
                        }),
                        "persistent" | "fixed" => epoch[kept] = mean,
                        _ => (0..uses as usize)
                            .for_each(|_| epoch[uniforms.below(self.steps)] = mean),
                    }
                    outputs.extend(epoch.into_iter().map(|output| {
                        let noise = normal_quantile(uniforms.draw()).expect("inside (0, 1)");
                        output + self.sigma * noise
                    }));
                }
            }
            outputs
        })
    }
}

fn samplers(inputs: &RecordedInputs, expected: &Case<'_>) -> Result<Option<Value>, GoldenError> {
    let names: Vec<&str> =
        expected.at("ln_likelihood")?.entries()?.into_iter().map(|(name, _)| name).collect();
    let placement = |name: &&str| match *name {
        "poisson" => Ok(Placement::Poisson),
        "shuffle" => Ok(Placement::Shuffle),
        "persistent" => Ok(Placement::PersistentShuffle),
        "fixed" => Ok(Placement::FixedStep),
        other => other
            .strip_prefix("first ")
            .and_then(|count| count.parse().ok())
            .map(|batches| Placement::FirstBatches { batches })
            .ok_or_else(|| expected.error(&format!("`{other}` is no sampler"))),
    };
    let placements = names.iter().map(placement).collect::<Result<Vec<_>, _>>()?;
    let model = OutputModel {
        other_mean: inputs.b,
        contrast: inputs.size - inputs.b,
        zero_out_share: inputs.rho,
        noise_multiplier: inputs.sigma,
        uses: 1.0,
    };
    let [target, zero_out] = inputs.worlds();
    let view = |values| RecordedRuns::new(values, inputs.epochs, inputs.steps).ok();
    let (Some(target), Some(zero_out)) = (view(&target), view(&zero_out)) else {
        return Err(expected.error("the inputs have no epochs or no steps"));
    };
    let rate = 1.0 / inputs.steps as f64;
    let candidates = PlacementCandidates { placements: &placements, rate, weights: &[] };
    let found = SamplerEvidence::of(target, zero_out, &model, candidates);
    Ok(found.map(|found| {
        let name = |of: Placement| {
            let at = placements.iter().position(|placement| *placement == of);
            at.map_or("", |at| names[at])
        };
        let likelihoods: Map<String, Value> = found
            .placements
            .iter()
            .map(|found| (name(found.placement).to_owned(), json!(found.ln_likelihood)))
            .collect();
        let mut refuted: Vec<&str> = found.placements(true, SIGNIFICANCE).map(name).collect();
        refuted.sort_unstable();
        json!({
            "ln_likelihood": likelihoods,
            "refuted": refuted,
            "epoch_sums": found.epoch_sums.map(|sums| json!({"ratio": sums.ratio, "p": sums.p_value})),
        })
    }))
}
