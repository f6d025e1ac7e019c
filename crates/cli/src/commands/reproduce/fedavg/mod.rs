//! `dpscope reproduce fedavg-…`: one-shot audits of DP-FedAvg by setting, beside published figures.

mod audits;
mod difference;
mod normality;

use std::collections::BTreeMap;

use dpscope_core::accounting::Kind;
use dpscope_core::audit::one_shot::EpsilonEstimator;
use dpscope_core::format::rounded;
use dpscope_report::number::plain;
use dpscope_report::record::{FederatedAccuracy, OneShotEstimate};
use dpscope_train::BuiltInModel;
use serde::Deserialize;
use serde_json::{Value, json};

use super::mean::MeanEstimate;
use super::names::Table;
use super::page::Reproduced;
use super::{ReproduceArgs, data, discrepancies};
use crate::commands::audit::dpsgd::training::{Selection, examples};
use crate::commands::audit::fedavg::FedAvgArgs;
use crate::commands::audit::federated::DesignArg;
use crate::commands::canaries::optimise::model::network;
use crate::failure::{Exit, Failure};
use crate::progress::RowProgress;
use audits::{ATTACKS, Audits, Setting, Subject};
use difference::Difference;
use normality::share_below;

const DEFAULT_DELTA: f64 = 1e-6;
const DEFAULT_RUNS: u64 = 6;

/// Simulated audits of a published estimate.
const NULL_RUNS: u64 = 400;

/// The share of normal samples that the paper's test rejects.
const REJECTED: f64 = 0.15;

/// An experiment of `settings.toml`; `SOURCE.md` beside it explains the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Experiment {
    canaries: u64,
    table: String,
    title: Option<String>,
    settings: Vec<Setting>,
    #[serde(default)]
    differences: Vec<Difference>,
    #[serde(default)]
    discrepancies: Vec<String>,
}

/// All experiments, and the options that they share.
#[derive(Deserialize)]
struct Experiments {
    options: String,
    #[serde(flatten)]
    by_name: BTreeMap<String, Experiment>,
}

pub(super) fn run(args: &ReproduceArgs, seed: u64) -> Result<Reproduced, Failure> {
    let settings = include_str!("../../../../papers/one_shot/settings.toml");
    let Experiments { options, mut by_name } = data::toml(settings)?;
    let what = &args.what.name;
    let experiment = by_name.remove(what);
    let experiment = experiment
        .ok_or_else(|| Failure::with(Exit::Internal, format!("{what} has no settings")))?;
    let commands = experiment.commands(&options, args, seed)?;
    let first = &commands[0];
    let images = BuiltInModel::named("lenet");
    let records = Selection::of((first.clients * first.records_per_client) as usize);
    let examples = examples(&args.data, images, records)?;
    let (spec, network) = network("mlp", &examples)?;
    let parameters = network.parameters() as u64;
    let runs = first.repeats;
    let mut facts = json!({
        "data": examples.name(), "parameters": parameters, "clients": first.clients,
        "records_per_client": first.records_per_client, "rounds": first.rounds,
        "clip_norm": first.clip_norm, "server_momentum": first.server_momentum,
        "delta": first.run.statement.delta, "significance": first.run.statement.significance(),
        "runs": runs, "title": experiment.title, "has_bounds": experiment.title.is_some(),
        "is_normality": experiment.table == "normality",
        "is_of_ten": experiment.settings.iter().any(|setting| setting.trainings > 1),
        "has_differences": !experiment.differences.is_empty(),
        "has_discrepancies": !experiment.discrepancies.is_empty(), "published_accuracies": null,
    });
    let subject = Subject { examples, spec, parameters, threads: args.threads() };
    let settings = &experiment.settings;
    let progress = RowProgress::new(args.show.quiet, settings.len()).with_estimate();
    let settings = settings.iter().zip(commands);
    let name = |(setting, _): &(&Setting, FedAvgArgs)| setting.name.clone();
    let audited = progress
        .rows(settings, name, |(setting, command)| Audits::new(&subject, setting, command))?;
    let differences: Vec<_> =
        experiment.differences.iter().flat_map(|one| one.between(&audited, runs)).collect();
    let sentences: Vec<String> =
        differences.iter().map(|found| paragraph(&found.sentence)).collect();
    facts["sentences"] = sentences.join("\n").into();
    let rows: Result<Vec<Vec<Value>>, Failure> =
        audited.iter().map(|one| rows(&experiment.table, one)).collect();
    let mut published = Vec::new();
    match what.as_str() {
        "fedavg-final-vs-all" => {
            published = data::values(include_str!("../../../../papers/one_shot/trainings.csv"))?;
        }
        "fedavg-utility" => {
            let shares: Vec<[f64; 2]> =
                data::csv(include_str!("../../../../papers/one_shot/accuracies.csv"))?;
            let pairs = shares.iter().map(|pair| pair.map(|share| rounded(share, 1)).join(" and "));
            facts["published_accuracies"] = pairs.collect::<Vec<_>>().join(", ").into();
        }
        _ => {}
    }
    let tables = vec![
        Table::new("differences", differences.into_iter().map(|found| found.row)),
        Table::new(&experiment.table, rows?.into_iter().flatten()),
        Table::new("published", published),
    ];
    let tables = tables.into_iter().filter(|table| !table.rows.is_empty()).collect();
    let discrepancies = discrepancies::named(&experiment.discrepancies, NULL_RUNS, seed)?;
    let page = include_str!("../../../../papers/one_shot/fedavg.toml");
    Ok(Reproduced::new(page, facts, tables, vec![("discrepancies", discrepancies)]))
}

impl Experiment {
    /// The command of each setting, with draws that no other setting has.
    fn commands(
        &self,
        options: &str,
        args: &ReproduceArgs,
        seed: u64,
    ) -> Result<Vec<FedAvgArgs>, Failure> {
        let runs = ReproduceArgs::in_range("--runs", args.runs, DEFAULT_RUNS, (2, 1_000), "")?;
        let (range, default) = ((20, 10_000), self.canaries);
        let canaries = ReproduceArgs::in_range("--canaries", args.canaries, default, range, "")?;
        let command = |(setting, index): (&Setting, u64)| {
            let mut command: FedAvgArgs =
                data::arguments(&format!("{options} {}", setting.options))?;
            command.repeats = runs * u64::from(setting.trainings);
            let trainings = if command.final_model_only { command.repeats } else { 0 };
            command.without_canaries = u32::try_from(trainings).unwrap_or(u32::MAX);
            let mean = canaries as f64 / f64::from(setting.trainings);
            command.design = DesignArg::Poisson(mean);
            command.run.statement.delta = args.delta.unwrap_or(DEFAULT_DELTA);
            command.run.seed = Some((seed + (index << 40)) % (1 << 53));
            Ok(command)
        };
        self.settings.iter().zip(0..).map(command).collect()
    }
}

fn paragraph(sentence: &str) -> String {
    let lines = textwrap::Options::new(96).initial_indent("  ").subsequent_indent("    ");
    textwrap::fill(sentence, lines)
}

/// The rows of a setting: one, or one for each attack.
fn rows(table: &str, one: &Audits<'_>) -> Result<Vec<Value>, Failure> {
    let Audits { setting, command, .. } = one;
    let delta = command.run.statement.delta;
    let accounted = command.settings().accounted(delta);
    let bound = accounted.map(|accounted| plain(accounted.epsilon, Kind::Upper, 2));
    let mut row = json!({
        "setting": setting.name, "canaries": one.canaries(),
        "noise_multiplier": command.noise_multiplier, "trainings_per_audit": setting.trainings,
        "accounted": accounted, "accounted_text": bound.as_deref().unwrap_or("∞"),
    });
    match table {
        "accuracies" => {
            for name in ["with_canaries", "without_canaries"] {
                let accuracy = FederatedAccuracy::of(one.values(name));
                row[name] = json!(accuracy.map(|accuracy| MeanEstimate {
                    value: 100.0 * accuracy.mean,
                    standard_error: 100.0 * accuracy.standard_error.unwrap_or(0.0),
                }));
            }
            Ok(vec![row])
        }
        "normality" => {
            let rows = ATTACKS.into_iter();
            Ok(rows.filter_map(|(_, name, words)| normality_row(one, name, words)).collect())
        }
        _ => {
            for name in ATTACKS.map(|(_, name, _)| name).into_iter().chain(["estimate"]) {
                let mean = MeanEstimate::of(one.values(name));
                row[name] = json!(mean);
                // fewer digits of larger numbers
                row[format!("{name}_text")] =
                    mean.text(if mean.value < 10.0 { 2 } else { 1 }).into();
            }
            let canaries = one.canaries() as u64;
            let range =
                EpsilonEstimator::Mean.null_range(canaries, delta, OneShotEstimate::OUTSIDE);
            row["null_range"] = json!(range.map_err(Failure::input)?);
            Ok(vec![row])
        }
    }
}

/// Tests of Anderson and Darling, one per audit; `p_value` is the chance of as many rejections or more if
/// scores are normal.
fn normality_row(one: &Audits<'_>, name: &str, words: &str) -> Option<Value> {
    let tests = one.normality.get(name)?;
    let rejected = tests.iter().filter(|test| test.p_value < REJECTED).count();
    let statistic = tests.iter().map(|test| test.statistic).sum::<f64>() / tests.len() as f64;
    let p_value = share_below(tests.len(), rejected, REJECTED);
    let mut row = json!({
        "setting": one.setting.name, "attacker": name, "attacker_text": words,
        "statistic": statistic, "rejected": rejected, "audits": tests.len(),
        "rejected_text": format!("{rejected} of {}", tests.len()), "p_value": p_value,
    });
    if p_value < 0.001 {
        row["p_value_text"] = "< 0.001".into();
    }
    Some(row)
}
