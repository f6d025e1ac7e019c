//! `dpscope reproduce fedavg-…`: one-shot audits of DP-FedAvg by setting, beside published figures.

mod audits;
mod difference;
mod normality;
mod settings;

use dpscope_core::accounting::Kind;
use dpscope_core::format::rounded;
use dpscope_report::number::plain;
use dpscope_report::record::FederatedAccuracy;
use dpscope_train::federated::FederatedAttack::{
    self, FinalModel, KnownRounds, LargestUpdate, SumOfUpdates,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::args::Reproduction as What;
use super::discrepancies::{self, Discrepancy};
use super::mean::MeanEstimate;
use super::names::Table;
use super::reproduced::Reproduced;
use super::{ReproduceArgs, data};
use crate::failure::Failure;
use crate::progress::{RowProgress, is_interrupted};
use audits::Audits;
use difference::{MeanDifference, differences};
use settings::{CLIENTS, CLIP_NORM, Experiment, MOMENTUM, RECORDS, ROUNDS, SIGNIFICANCE};

/// Simulated audits of a published estimate.
const NULL_RUNS: u64 = 400;

/// Attacks in the order of what the attacker knows, most first, with their names in rows and tables.
const ATTACKS: [(FederatedAttack, &str, &str); 4] = [
    (KnownRounds, "known_server_rounds", "known rounds"),
    (LargestUpdate, "all_updates", "largest update"),
    (SumOfUpdates, "sum_of_updates", "sum of updates"),
    (FinalModel, "final_model", "final model"),
];

pub(super) fn run(args: &ReproduceArgs, seed: u64) -> Result<Reproduced, Failure> {
    let experiment = Experiment::new(args, seed)?;
    let Experiment { what, ref examples, ref network, runs, .. } = experiment;
    let settings = experiment.settings();
    let progress = RowProgress::new(args.show.quiet, settings.len()).with_estimate();
    let mut audited = Vec::with_capacity(settings.len());
    for (setting, index) in settings.iter().zip(0..) {
        if is_interrupted() {
            return Err(Failure::interrupted());
        }
        progress.next(&setting.name);
        audited.push(Audits::new(&experiment, setting, index)?);
    }
    drop(progress);
    let differences = differences(what, &audited);
    let rows: Result<Vec<Vec<Value>>, Failure> =
        audited.iter().map(|one| rows(what, one)).collect();
    let (mut published, mut accuracies) = (Vec::new(), None);
    match what {
        What::FedAvgFinalVsAll => {
            published = data::csv(include_str!("../../../../papers/one_shot/trainings.csv"))?;
        }
        What::FedAvgUtility => {
            let shares: Vec<[f64; 2]> =
                data::csv(include_str!("../../../../papers/one_shot/accuracies.csv"))?;
            let pairs = shares.iter().map(|pair| pair.map(|share| rounded(share, 1)).join(" and "));
            accuracies = Some(pairs.collect::<Vec<_>>().join(", "));
        }
        _ => {}
    }
    let discrepancies = discrepancies_of(what, seed)?;
    let title = title(what);
    let facts = json!({
        "data": examples.name(), "parameters": network.parameters(), "clients": CLIENTS,
        "records_per_client": RECORDS, "rounds": ROUNDS, "clip_norm": CLIP_NORM,
        "server_momentum": MOMENTUM, "delta": experiment.delta, "significance": SIGNIFICANCE,
        "runs": runs, "title": title, "has_bounds": title.is_some(), "published_accuracies": accuracies,
        "is_normality": what == What::FedAvgGaussianity,
        "is_of_ten": what == What::FedAvgOneOrTenRuns, "has_differences": !differences.is_empty(),
        "has_discrepancies": !discrepancies.is_empty(),
        "sentences": differences.iter().map(paragraph).collect::<Vec<_>>().join("\n"),
    });
    let settings = match what {
        What::FedAvgUtility => "accuracies",
        What::FedAvgGaussianity => "normality",
        _ => "bounds",
    };
    let tables = vec![
        Table::new("differences", differences.iter().map(MeanDifference::row)),
        Table::new(settings, rows?.into_iter().flatten()),
        Table::new("published", published.iter().map(PublishedTraining::row)),
    ];
    let tables = tables.into_iter().filter(|table| !table.rows.is_empty()).collect();
    let page = include_str!("../../../../papers/one_shot/fedavg.toml");
    let notes = vec![("discrepancies", discrepancies)];
    Ok(Reproduced::new(page, facts, tables, notes))
}

/// The title of the drawing; none where the result is a small table.
const fn title(what: What) -> Option<&'static str> {
    match what {
        What::FedAvgFinalVsAll => Some("What attackers see in DP-FedAvg, by what they know"),
        What::FedAvgPresentations => Some("Canaries that take part more than once"),
        What::FedAvgOneOrTenRuns => Some("Canaries of one training, or of ten"),
        _ => None,
    }
}

fn paragraph(one: &MeanDifference) -> String {
    let lines = textwrap::Options::new(96).initial_indent("  ").subsequent_indent("    ");
    textwrap::fill(&one.sentence(), lines)
}

/// The rows of a setting: one, or one for each attack.
fn rows(what: What, one: &Audits<'_>) -> Result<Vec<Value>, Failure> {
    let setting = one.setting;
    let accounted = setting.settings.accounted(one.experiment.delta);
    let bound = accounted.map(|accounted| plain(accounted.epsilon, Kind::Upper, 2));
    let mut row = json!({
        "setting": setting.name, "canaries": setting.canaries * f64::from(setting.parts),
        "noise_multiplier": setting.settings.noise_multiplier,
        "trainings_per_audit": setting.parts, "accounted": accounted,
        "accounted_text": bound.as_deref().unwrap_or("∞"),
    });
    match what {
        What::FedAvgUtility => {
            for (name, has_canaries) in [("with_canaries", true), ("without_canaries", false)] {
                let accuracy = FederatedAccuracy::of(&one.accuracies(has_canaries));
                row[name] = json!(accuracy.map(|accuracy| MeanEstimate {
                    value: 100.0 * accuracy.mean,
                    standard_error: 100.0 * accuracy.standard_error.unwrap_or(0.0),
                }));
            }
            Ok(vec![row])
        }
        What::FedAvgGaussianity => {
            // of a largest cosine, only limits of null probabilities are known
            let attacks = ATTACKS.into_iter().filter(|(attack, ..)| *attack != LargestUpdate);
            let rows = attacks.map(|(attack, name, words)| {
                let test = one.normality(attack);
                let mut row = json!({
                    "setting": setting.name, "attacker": name, "attacker_text": words,
                    "statistic": test.statistic, "rejected": test.rejected, "audits": test.audits,
                    "rejected_text": format!("{} of {}", test.rejected, test.audits),
                    "p_value": test.p_value,
                });
                if test.p_value < 0.001 {
                    row["p_value_text"] = "< 0.001".into();
                }
                row
            });
            Ok(rows.collect())
        }
        _ => {
            // fewer digits of larger numbers
            let mut mean = |name: &str, values: Vec<f64>| {
                let mean = MeanEstimate::of(&values);
                row[name] = json!(mean);
                row[format!("{name}_text")] =
                    mean.text(if mean.value < 10.0 { 2 } else { 1 }).into();
            };
            for (attack, name, _) in ATTACKS {
                mean(name, one.bounds(attack));
            }
            mean("estimate", one.estimates(FinalModel));
            row["null_range"] = json!(one.null_range()?);
            Ok(vec![row])
        }
    }
}

/// A row of the paper's tables; `SOURCE.md` explains the fields.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct PublishedTraining {
    data: String,
    noise_multiplier: f64,
    analytic: Option<f64>,
    estimate_all: f64,
    estimate_final: f64,
    lower_all: f64,
    lower_final: f64,
}

impl PublishedTraining {
    fn row(&self) -> Value {
        let mut row = json!(self);
        if self.noise_multiplier == 0.0 {
            row["analytic_text"] = "∞".into();
        }
        row
    }
}

fn discrepancies_of(what: What, seed: u64) -> Result<Vec<Discrepancy>, Failure> {
    Ok(match what {
        What::FedAvgFinalVsAll => vec![
            discrepancies::null_estimate(NULL_RUNS, seed)?,
            discrepancies::emnist()?,
            discrepancies::canife()?,
        ],
        What::FedAvgGaussianity => vec![discrepancies::table_7()],
        _ => Vec::new(),
    })
}
