//! Bounds and estimates from canary directions, as in `federated.json`.

use std::path::Path;

use dpscope_core::audit::one_shot::{
    AnyMechanism, CanaryDesign, CosineNull, CumulativeBand, EpsilonEstimator, GaussianLeak, Gdp,
    IndependentCanaries, NoiseNorm, NullTails, ReplyWeights, TwoGaussians,
};
use dpscope_core::gdp;
use dpscope_simulation::noisy_sum::PublishedRule;
use serde_json::{Value, json};

use super::document::{Case, GoldenError};
use super::estimators::array;
use super::one_run::Tolerance;
use super::{Finding, Outcome, federated_training};

type Refusal = Box<dyn std::error::Error>;
/// What the library computes, in the shape of `expected`; absent where it computes nothing.
type Seen = Result<Value, Refusal>;

const GROUPS: [&str; 20] = [
    "final_model_mu",
    "matched_filter_mu",
    "adaptive_clip",
    "noise_norm",
    "effective_noise",
    "null_log_tail",
    "normal_score",
    "max_over_rounds_p",
    "seen_cosine_law",
    "estimate_two_gaussians",
    "gdp_mean",
    "poisson_band",
    "order_statistic_band",
    "any_mechanism_bound",
    "any_mechanism_fixed_cut",
    "gdp_any_mechanism",
    "independent_fixed_cut",
    "fixed_count_factor",
    "planner",
    "cosine_array",
];

pub(super) fn is_group(name: &str) -> bool {
    GROUPS.contains(&name)
}

pub(super) fn evaluate(case: &Case<'_>, folder: &Path) -> Result<Vec<Finding>, GoldenError> {
    let group = case.at("group")?;
    let name = group.text()?;
    if !GROUPS.contains(&name) {
        return Err(group.error(&format!("`{name}` is not a group of this format")));
    }
    let (inputs, expected) = (Inputs(case.at("inputs")?), case.at("expected")?);
    let within = Tolerance::of(case)?;
    let mut found = Vec::new();
    let of_training = federated_training::seen(name, &inputs.0)?;
    match of_training.map_or_else(|| seen(name, &inputs, folder), |seen| Ok(Ok(seen)))? {
        Ok(seen) => compare(&expected, Some(&seen), &within, &mut found)?,
        Err(refusal) => {
            let how = format!("the library refuses: {refusal}");
            found.push(expected.finding(f64::INFINITY, Outcome::Failed(how)));
        }
    }
    Ok(found)
}

/// Compares each value under `expected` with the one at the same place.
pub(super) fn compare(
    expected: &Case<'_>,
    seen: Option<&Value>,
    within: &Tolerance,
    found: &mut Vec<Finding>,
) -> Result<(), GoldenError> {
    if expected.is_object() {
        for (key, value) in expected.entries()? {
            compare(&value, seen.and_then(|seen| seen.get(key)), within, found)?;
        }
    } else if let Some(seen) = seen {
        match (seen, expected.list()) {
            (Value::Null, Err(_)) if expected.is_no_number() => {
                found.push(expected.finding(0.0, Outcome::Passed));
            }
            (Value::Array(seen), Ok(list)) if seen.len() == list.len() => {
                for (value, seen) in list.iter().zip(seen) {
                    compare(value, Some(seen), within, found)?;
                }
            }
            (Value::Number(number), Err(_)) => {
                let slack = within.relative * expected.number()?.abs();
                let answer = number.as_f64().ok_or_else(|| "no number".to_owned());
                let (below, above) = (within.below + slack, within.above + slack);
                found.push(expected.compared_within(answer, below, above)?);
            }
            (Value::Bool(_) | Value::String(_), Err(_)) if expected.parsed::<Value>()? == *seen => {
                found.push(expected.finding(0.0, Outcome::Passed));
            }
            _ => {
                let how = format!("computed {seen}");
                found.push(expected.finding(f64::INFINITY, Outcome::Failed(how)));
            }
        }
    } else {
        found.push(expected.finding(f64::INFINITY, Outcome::Failed("not computed".into())));
    }
    Ok(())
}

/// The inputs of a case.
struct Inputs<'a>(Case<'a>);

impl Inputs<'_> {
    fn number(&self, name: &str) -> Result<f64, GoldenError> {
        self.0.at(name)?.number()
    }

    fn count(&self, name: &str) -> Result<u64, GoldenError> {
        self.0.at(name)?.count()
    }

    fn null(&self) -> Result<Result<CosineNull, Refusal>, GoldenError> {
        Ok(CosineNull::new(self.count("dimension")?).map_err(Refusal::from))
    }

    /// δ, if the group has one, and the significance.
    fn level(&self) -> Result<(f64, f64), GoldenError> {
        let delta = self.0.find("delta").map_or(Ok(0.0), |delta| delta.number())?;
        Ok((delta, self.number("significance")?))
    }
}

/// Values of one group. The outer error is that of the file.
fn seen(group: &str, inputs: &Inputs<'_>, folder: &Path) -> Result<Seen, GoldenError> {
    let number = |name: &str| inputs.number(name);
    Ok(match group {
        "null_log_tail" | "normal_score" => {
            let (null, cosine) = (inputs.null()?, number("cosine")?);
            null.and_then(|null| of_cosine(&null, cosine))
        }
        "max_over_rounds_p" => {
            let (null, cosine) = (inputs.null()?, number("max_cosine")?);
            let rounds = inputs.count("rounds")?;
            null.and_then(|null| {
                Ok(json!({"ln_p_upper": (null.ln_tail_of_maximum(cosine, rounds)?)}))
            })
        }
        "seen_cosine_law" => {
            let (null, cosine) = (inputs.null()?, number("cosine")?);
            let norm = number("norm_of_rest")?;
            null.and_then(|null| {
                let unseen = null.equivalent_null_cosine(cosine, norm)?;
                Ok(json!({"equivalent_null_cosine": unseen, "ln_tpr": (null.ln_tail(unseen)?)}))
            })
        }
        "estimate_two_gaussians" => {
            let pair =
                TwoGaussians { mean: number("mean_times_sqrt_d")?, sd: number("sd_times_sqrt_d")? };
            let epsilon = pair.epsilon_at(number("delta")?);
            epsilon.map(|epsilon| json!({ "epsilon": epsilon })).map_err(Refusal::from)
        }
        "gdp_mean" => gdp_mean(inputs.count("canaries")?, number("mean_score")?, inputs.level()?),
        "poisson_band" => {
            let band = CumulativeBand::of_arrivals(number("mean_canaries")?, inputs.level()?.1);
            band.map_err(Refusal::from).map(|band| {
                json!({"grid": band.ranks(), "local_level": band.local_level(), "q": band.limits()})
            })
        }
        "order_statistic_band" => {
            let band = CumulativeBand::of_uniforms(inputs.count("canaries")?, inputs.level()?.1);
            band.map_err(Refusal::from).map(|band| {
                let limits = band.ranks().iter().zip(band.limits());
                let limits: serde_json::Map<String, Value> =
                    limits.map(|(rank, limit)| (rank.to_string(), json!(limit))).collect();
                json!({"local_level": band.local_level(), "b": limits})
            })
        }
        "any_mechanism_bound" => {
            let ln_p: Result<Vec<f64>, GoldenError> =
                inputs.0.at("ln_p_sorted")?.list()?.iter().map(Case::number).collect();
            any_mechanism(ln_p?, number("mean_canaries")?, inputs.level()?)
        }
        "fixed_count_factor" => {
            let canaries = inputs.count("canaries")?;
            Ok(json!({"poisson_pmf": CanaryDesign::Fixed { canaries }.significance_factor()}))
        }
        "noise_norm" | "effective_noise" => of_server(group, inputs)?,
        "planner" => planner(
            number("mu_expected")?,
            number("mu_to_refute")?,
            [number("significance")?, number("power")?],
        ),
        "cosine_array" => {
            let cosines = array(&inputs.0.at("array")?, folder)?;
            let level = inputs.level()?;
            inputs.null()?.and_then(|null| of_array(&null, &cosines, level))
        }
        _ => at_cut(group, inputs)?,
    })
}

/// What a server did to the noise.
fn of_server(group: &str, inputs: &Inputs<'_>) -> Result<Seen, GoldenError> {
    if group == "noise_norm" {
        return Ok(noise_norm(
            inputs.count("dimension")?,
            inputs.count("rounds")?,
            inputs.number("significance")?,
            inputs.number("norm_over_clip_squared")?,
        ));
    }
    let weights: Result<Vec<f64>, GoldenError> =
        inputs.0.at("weights")?.list()?.iter().map(Case::number).collect();
    let planned = inputs.count("planned_clients")?;
    Ok(effective_noise(&weights?, inputs.number("noise_multiplier")?, planned))
}

fn of_cosine(null: &CosineNull, cosine: f64) -> Seen {
    Ok(json!({"ln_p": (null.ln_tail(cosine)?), "z": (null.normal_score(cosine)?)}))
}

/// The mean is that of scores which are all equal.
fn gdp_mean(canaries: u64, mean: f64, (delta, significance): (f64, f64)) -> Seen {
    let ln_p = dpscope_core::special::normal_ln_cdf(-mean);
    let tails = NullTails::new(vec![ln_p; canaries as usize])?;
    let mu = Gdp::new(&IndependentCanaries::new(canaries, significance)?).mu_lower(&tails)?;
    Ok(json!({
        "mu_lower": mu,
        "epsilon_estimate": gdp::gdp_epsilon(mean.max(0.0), delta)?,
        "epsilon_lower_if_gdp": gdp::gdp_epsilon(mu, delta)?,
    }))
}

fn any_mechanism(ln_p: Vec<f64>, mean: f64, (delta, significance): (f64, f64)) -> Seen {
    let canaries = ln_p.len() as u64;
    let tails = NullTails::new(ln_p)?;
    let of_design = |design: CanaryDesign| -> Seen {
        let rule = AnyMechanism::new(design)?.simultaneous_rule(delta, significance)?;
        Ok(json!({
            "allowance": rule.allowance().canaries(),
            "significance_left": rule.allowance().significance(),
            "epsilon_lower": rule.epsilon_lower(&tails)?,
            "factor": design.significance_factor(),
            "mean": design.mean(),
        }))
    };
    let mut seen = of_design(CanaryDesign::Poisson { mean })?;
    seen["if_count_was_fixed"] = of_design(CanaryDesign::Fixed { canaries })?;
    let independent = IndependentCanaries::new(canaries, significance)?;
    seen["independent_canaries_epsilon_lower"] = independent.epsilon_lower(&tails, delta)?.into();
    let published = PublishedRule::new(canaries, significance)?;
    seen["paper_jeffreys_max"] = published.epsilon(&tails, delta).into();
    Ok(seen)
}

fn noise_norm(dimension: u64, rounds: u64, significance: f64, square_norm: f64) -> Seen {
    let test = NoiseNorm::new(dimension, rounds, significance)?;
    Ok(json!({
        "chi2_quantile": test.chi_square_quantile(),
        "noise_multiplier_upper": test.noise_multiplier_upper(square_norm)?,
    }))
}

fn effective_noise(weights: &[f64], noise_multiplier: f64, planned: u64) -> Seen {
    let weights = ReplyWeights::new(weights)?;
    Ok(json!({
        "replied": weights.replies(),
        "sigma_eff_of_heaviest": weights.noise_multiplier_of_heaviest(noise_multiplier, planned),
        "sigma_eff_uniform":
            weights.noise_multiplier_at_equal_weights(noise_multiplier, planned),
    }))
}

fn planner(mu: f64, refuted: f64, [significance, power]: [f64; 2]) -> Seen {
    let leak = GaussianLeak::new(mu)?;
    Ok(json!({"canaries": leak.canaries_to_refute(refuted, significance, power)?}))
}

/// Groups with a number of hits at a cut.
fn at_cut(group: &str, inputs: &Inputs<'_>) -> Result<Seen, GoldenError> {
    let hits = inputs.count("hits")? as usize;
    let (p_cut, (delta, significance)) = (inputs.number("p_cut")?, inputs.level()?);
    let count = match group {
        "independent_fixed_cut" => inputs.number("canaries")?,
        _ => inputs.number("mean_canaries")?,
    };
    let group = group.to_owned();
    let seen = move || -> Seen {
        let tails = NullTails::new(vec![f64::NEG_INFINITY; hits])?;
        if group == "independent_fixed_cut" {
            let canaries = IndependentCanaries::new(count as u64, significance)?;
            let bound = canaries.at_cut(&tails, p_cut, delta)?;
            return Ok(json!({
                "tpr_lower": bound.tpr_lower,
                "forward": bound.forward,
                "backward": bound.backward,
            }));
        }
        let canaries = AnyMechanism::new(CanaryDesign::Poisson { mean: count })?;
        if group == "gdp_any_mechanism" {
            return Ok(json!({"mu_lower": canaries.mu_lower_at_cut(&tails, p_cut, significance)?}));
        }
        let epsilon = canaries.epsilon_lower_at_cut(&tails, p_cut, delta, significance)?;
        Ok(json!({ "epsilon_lower": epsilon }))
    };
    Ok(seen())
}

fn of_array(null: &CosineNull, cosines: &[f64], (delta, significance): (f64, f64)) -> Seen {
    let canaries = cosines.len() as u64;
    let (count, scale) = (cosines.len() as f64, (null.dimension() as f64).sqrt());
    let tails = null.tails(cosines)?;
    let mean = cosines.iter().sum::<f64>() / count;
    let variance = cosines.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / count;
    let scores: Result<Vec<f64>, _> = cosines.iter().map(|&c| null.normal_score(c)).collect();
    let bound = |design: CanaryDesign| -> Result<f64, Refusal> {
        Ok(AnyMechanism::new(design)?.epsilon_lower(&tails, delta, significance)?)
    };
    let independent = IndependentCanaries::new(canaries, significance)?;
    let gdp = Gdp::new(&independent);
    Ok(json!({
        "mean_times_sqrt_d": scale * mean,
        "sd_times_sqrt_d": scale * variance.sqrt(),
        "epsilon_two_gaussians": EpsilonEstimator::TwoGaussians.epsilon(null, cosines, delta)?,
        "mean_score": scores?.iter().sum::<f64>() / count,
        "epsilon_mean": EpsilonEstimator::Mean.epsilon(null, cosines, delta)?,
        "gdp_mean_mu_lower": gdp.mu_lower(&tails)?,
        "gdp_band_mu_lower": gdp.mu_lower_by_band(&tails)?,
        "independent_band_epsilon_lower": independent.epsilon_lower(&tails, delta)?,
        "any_mechanism_epsilon_lower_if_poisson_mean_is_count":
            bound(CanaryDesign::Poisson { mean: count })?,
        "any_mechanism_epsilon_lower_if_count_fixed": bound(CanaryDesign::Fixed { canaries })?,
        "paper_jeffreys_max_exact_null":
            PublishedRule::new(canaries, significance)?.epsilon(&tails, delta),
    }))
}
