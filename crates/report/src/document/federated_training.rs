//! Rows about federated trainings with canaries.

use dpscope_core::accounting::Kind;
use dpscope_core::format::rounded;
use serde_json::Value;

use super::{Document, Section};
use crate::number::{counted, grouped, plain};
use crate::record::{FederatedAccuracy, FederatedAttackRecord, FederatedTrainings, RoundByRound};
use crate::words::attacker_name;

pub(crate) fn add_federated_training(document: &mut Document, training: &FederatedTrainings) {
    document.open(Section::Subject);
    document.row("trained", &trained(training));
    document.open(Section::Evidence);
    for (place, attack) in training.attacks.iter().enumerate() {
        let label = if place == 0 { "attacks" } else { "" };
        document.row(label, &attack_in_words(attack));
    }
    if let Some(with) = &training.accuracy {
        let mut text = format!("{} of held-out data are correct", accuracy_in_words(with));
        if let Some(without) = &training.accuracy_without_canaries {
            text.push_str(&format!("; {} without canaries", accuracy_in_words(without)));
        }
        document.row("models", &text);
    }
    let accounted = match &training.accounted {
        Some(accounted) => {
            let value = plain(accounted.epsilon, Kind::Upper, 2);
            let why = match (accounted.gdp_mu, accounted.l2_sensitivity) {
                (Some(mu), None) => format!(
                    "μ = {} of {}",
                    rounded(mu, 3),
                    counted(accounted.most_rounds.into(), "Gaussian mechanism")
                ),
                (Some(mu), Some(sensitivity)) => format!(
                    "μ = {} of one Gaussian mechanism of sensitivity {}",
                    rounded(mu, 3),
                    rounded(sensitivity, 3),
                ),
                (None, _) => "Poisson sampling".to_owned(),
            };
            let given = match accounted.gdp_mu {
                // one more participant moves others to another round
                Some(_) => ", the rounds of other participants being fixed",
                None => "",
            };
            format!("ε ≤ {value} for an attacker who sees every update{given}: {why}")
        }
        None => "nothing is proven about this participation".to_owned(),
    };
    document.open(Section::Theory);
    document.row("accounted", &accounted);
    if let Some(estimate) = &training.round_by_round {
        document.row("by round", &round_by_round(estimate));
    }
    document.open(Section::Evidence);
    if training.failed > 0 {
        document.row("failed", &format!("{} diverged", counted(training.failed, "training")));
    }
    document.open(Section::Reproduction);
    document.row("seed", &training.seed);
    document.row("device", &training.device);
}

/// An estimate from single updates.
fn round_by_round(estimate: &RoundByRound) -> String {
    let [low, high] = estimate.range.map(|epsilon| rounded(epsilon, 2));
    let most = match estimate.ceiling {
        Some(ceiling) => format!("it cannot exceed {} with these canaries", rounded(ceiling, 2)),
        None => "with these canaries it has no finite limit".to_owned(),
    };
    format!(
        "ε ≈ {} ({low} to {high}), an estimate from the canaries in each of {}, μ ≈ {} a round, composed \
         as accounted; {most}",
        rounded(estimate.epsilon, 2),
        counted(estimate.server_rounds, "update"),
        rounded(estimate.gdp_mu, 3),
    )
}

/// Model, data and settings.
fn trained(training: &FederatedTrainings) -> String {
    let description = &training.description;
    let text = |pointer: &str| match description.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let number = |pointer: &str| description.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let records = counted(number("/settings/records_per_client"), "record");
    let records = match description.get("client_column") {
        Some(_) => format!("at most {records}"),
        None => records,
    };
    let noise = match text("/settings/noise_mechanism/kind").as_str() {
        "tree" => " (tree)".to_owned(),
        "banded" => {
            format!(" ({})", counted(number("/settings/noise_mechanism/bands"), "band"))
        }
        _ => String::new(),
    };
    format!(
        "{} of {} parameters by {} with {} each of {}, {} server rounds, σ = {}{noise}",
        counted(training.repeats, "model"),
        grouped(training.parameters),
        counted(number("/settings/clients"), "client"),
        records,
        text("/data/name"),
        grouped(number("/settings/rounds")),
        text("/settings/noise_multiplier"),
    )
}

fn attack_in_words(attack: &FederatedAttackRecord) -> String {
    let lower = |value: f64| plain(value, Kind::Lower, 4);
    let bounds = &attack.bounds;
    let mut text = format!(
        "{}: ε ≥ {}, {} for independent canaries; μ ≥ {}",
        attacker_name(attack.attacker),
        lower(bounds.epsilon),
        lower(bounds.independent_epsilon),
        lower(bounds.gdp_mu),
    );
    if let Some(mean) = attack.mean_score {
        text.push_str(&format!("; mean score {}", rounded(mean, 3)));
    }
    if attack.is_chosen {
        text.push_str(" (the verdict uses this one)");
    }
    text
}

fn accuracy_in_words(accuracy: &FederatedAccuracy) -> String {
    let percent = |share: f64| rounded(100.0 * share, 1);
    match accuracy.standard_error {
        Some(error) => format!("{} ± {} %", percent(accuracy.mean), percent(error)),
        None => format!("{} %", percent(accuracy.mean)),
    }
}
