//! Expected scores and clipping of federated trainings, as in `federated.json`.

use dpscope_train::federated::{FederatedSettings, NoiseMechanism, Participation, UpdateClipping};
use serde_json::{Value, json};

use super::document::{Case, GoldenError};

/// Entries of a column that the file lists.
const LISTED: usize = 6;

/// What the library computes for a group, if it is one of a training.
pub(super) fn seen(group: &str, inputs: &Case<'_>) -> Result<Option<Value>, GoldenError> {
    Ok(Some(match group {
        "final_model_mu" => final_model(inputs)?,
        "matched_filter_mu" => known_rounds(inputs)?,
        "adaptive_clip" => adaptive_clip(inputs)?,
        _ => return Ok(None),
    }))
}

fn number(inputs: &Case<'_>, name: &str) -> Result<f64, GoldenError> {
    inputs.at(name)?.number()
}

fn count(inputs: &Case<'_>, name: &str) -> Result<u32, GoldenError> {
    let field = inputs.at(name)?;
    u32::try_from(field.count()?).map_err(|_| field.error("exceeds 2^32"))
}

fn settings(inputs: &Case<'_>) -> Result<FederatedSettings, GoldenError> {
    Ok(FederatedSettings {
        clients: 1,
        records_per_client: 1,
        concentration: None,
        rounds: count(inputs, "rounds")?,
        participation: Participation::Shuffled { epochs: 1 },
        presentations: None,
        local_epochs: 1,
        local_batch_size: 1,
        local_learning_rate: 0.0,
        clipping: UpdateClipping::Fixed { norm: 1.0 },
        noise_multiplier: number(inputs, "noise_multiplier")?,
        noise_mechanism: NoiseMechanism::Gaussian,
        server_learning_rate: 1.0,
        server_momentum: 0.0,
        sees_updates: true,
    })
}

fn rounds(inputs: &Case<'_>) -> Result<Vec<u32>, GoldenError> {
    inputs.at("participated_rounds_from_0")?.parsed()
}

fn final_model(inputs: &Case<'_>) -> Result<Value, GoldenError> {
    let server_momentum = number(inputs, "server_momentum")?;
    let settings = FederatedSettings { server_momentum, ..settings(inputs)? };
    let rest = number(inputs, "rest_norm_squared_over_clip_squared_d")?;
    let ends = [0, settings.rounds - 1].map(|round| settings.weight_of_round(round));
    let mu = settings.expected_score_in_final_model(&rounds(inputs)?, rest);
    Ok(json!({"weights_first_last": ends, "mu": mu}))
}

fn known_rounds(inputs: &Case<'_>) -> Result<Value, GoldenError> {
    let strategy = inputs.at("strategy")?;
    let (settings, rounds) = (settings(inputs)?, rounds(inputs)?);
    match strategy.text()? {
        "banded square root" => {
            let bands = count(inputs, "bands")?;
            let noise_mechanism = NoiseMechanism::Banded { bands };
            let settings = FederatedSettings { noise_mechanism, ..settings };
            // the file's first column begins with 1, the library's has norm 1
            let next = |last: &f64, at: u32| last * (1.0 - 0.5 / f64::from(at));
            let mut column = vec![1.0];
            for at in 1..bands {
                column.extend(column.last().map(|last| next(last, at)));
            }
            let norm = column.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
            let mut entries = [0.0; LISTED];
            for &round in &rounds {
                let later = entries.iter_mut().skip(round as usize);
                later.zip(&column).for_each(|(entry, band)| *entry += band);
            }
            let mu = norm * settings.expected_score_of_known_rounds(&rounds);
            Ok(json!({"column": entries, "mu": mu}))
        }
        "binary tree, prefix sums released" => {
            let settings = FederatedSettings { noise_mechanism: NoiseMechanism::Tree, ..settings };
            Ok(json!({
                "mu": settings.expected_score_of_known_rounds(&rounds),
                "mu_accounted": settings.l2_sensitivity() / settings.noise_multiplier,
            }))
        }
        _ => Err(strategy.error("is no strategy of this format")),
    }
}

fn adaptive_clip(inputs: &Case<'_>) -> Result<Value, GoldenError> {
    let norm = number(inputs, "clip_norm")?;
    let clipping = UpdateClipping::Adaptive {
        initial: norm,
        quantile: number(inputs, "target_quantile")?,
        learning_rate: number(inputs, "clip_rate")?,
    };
    // the noise of the count is a twentieth of the clients
    let clients = 20.0 * number(inputs, "count_noise")?;
    let share = number(inputs, "canary_fraction")?;
    Ok(json!({
        "update_noise_multiplier": clipping.sum_noise(number(inputs, "noise_multiplier")?, clients),
        "next_clip_norm": clipping.next(norm, number(inputs, "unclipped_fraction")?),
        "real_quantile_at_rest": clipping.quantile_with_canaries(share),
    }))
}
