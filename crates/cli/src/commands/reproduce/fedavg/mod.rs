//! `dpscope reproduce fedavg-…`: one-shot audits of DP-FedAvg by setting, beside published figures.

mod audits;
mod differences;
mod normality;
mod published;
mod settings;
mod table;

use std::time::Instant;

use dpscope_report::figure::fedavg_comparison_svg;
use dpscope_report::record::{
    FedAvgComparisonReport, FedAvgExperiment, PaperDiscrepancy, PublishedFedAvgRow,
};
use dpscope_train::data::Examples;
use dpscope_train::{ModelSpec, Network};

use super::{ReproduceArgs, discrepancies};
use crate::args::{DeviceChoice, check_drawing, write_drawing};
use crate::commands::audit::dpsgd::training::{Selection, examples, model};
use crate::commands::canaries::optimise::model::network;
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::output::{print_json, print_text};
use crate::progress::{RowProgress, is_interrupted};
use crate::seed::seed_or_fresh;
use audits::Audits;
use settings::{CLIENTS, CLIP_NORM, MOMENTUM, RECORDS, ROUNDS, Setting};

const SIGNIFICANCE: f64 = 0.05;
const DEFAULT_DELTA: f64 = 1e-6;
const DEFAULT_RUNS: u64 = 6;
const DEFAULT_CANARIES: u64 = 200;
/// Of one training and of ten, as in the paper.
const DEFAULT_CANARIES_OF_TEN: u64 = 1_000;
/// Simulated audits of a published estimate.
const NULL_RUNS: u64 = 400;

pub(super) fn run(args: &ReproduceArgs, what: FedAvgExperiment) -> CommandResult {
    let uses_gpu = !matches!(args.device.device, DeviceChoice::Auto | DeviceChoice::Cpu);
    reject_unused_options(
        &[
            ("--observations", args.observations.is_some()),
            ("--device", uses_gpu),
            ("--float-mode", args.device.float_mode.is_some()),
        ],
        &format!("with {}, which trains --runs models per setting on the CPU", what.name()),
    )?;
    let is_drawn = !matches!(what, FedAvgExperiment::Utility | FedAvgExperiment::Gaussianity);
    reject_unused_options(
        &[("--plot", args.plot.is_some() && !is_drawn)],
        &format!("with {}, whose result is a small table", what.name()),
    )?;
    args.plot.as_deref().map_or(Ok(()), check_drawing)?;
    let experiment = Experiment::new(args, what)?;
    let report = experiment.report(args.show.quiet)?;
    if args.show.json {
        print_json(&report)?;
    } else {
        print_text(&table::text(&report))?;
    }
    if let Some(path) = &args.plot {
        write_drawing(path, &fedavg_comparison_svg(&report))?;
    }
    Ok(Exit::Done)
}

struct Experiment {
    what: FedAvgExperiment,
    examples: Examples,
    spec: ModelSpec,
    network: Network,
    runs: u32,
    canaries: u64,
    delta: f64,
    seed: u64,
    threads: usize,
}

impl Experiment {
    fn new(args: &ReproduceArgs, what: FedAvgExperiment) -> Result<Self, Failure> {
        let in_range = |option: &str, value: u64, least: u64, most: u64| {
            if (least..=most).contains(&value) {
                return Ok(value);
            }
            let range = format!("from {least} to {most}");
            Err(Failure::input(format!("{option} is {value}; it must be {range}")))
        };
        let runs = in_range("--runs", args.runs.unwrap_or(DEFAULT_RUNS), 2, 1_000)?;
        let canaries = args.canaries.unwrap_or(match what {
            FedAvgExperiment::OneOrTenRuns => DEFAULT_CANARIES_OF_TEN,
            _ => DEFAULT_CANARIES,
        });
        let canaries = in_range("--canaries", canaries, 20, 10_000)?;
        let (seed, _) = seed_or_fresh(args.seed)?;
        let (_, images) = model("lenet")?;
        let records = Selection::of((CLIENTS * RECORDS) as usize);
        let examples = examples(&args.data, images, records)?;
        let (spec, network) = network("mlp", &examples)?;
        Ok(Self {
            what,
            examples,
            spec,
            network,
            runs: u32::try_from(runs).unwrap_or(u32::MAX),
            canaries,
            delta: args.delta.unwrap_or(DEFAULT_DELTA),
            seed,
            threads: args.device.threads.map_or(0, usize::from),
        })
    }

    fn report(&self, quiet: bool) -> Result<FedAvgComparisonReport, Failure> {
        let started = Instant::now();
        let settings = Setting::of(self.what, self.canaries);
        let progress = RowProgress::new(quiet, settings.len());
        let mut audited = Vec::with_capacity(settings.len());
        for (setting, index) in settings.iter().zip(0..) {
            if is_interrupted() {
                return Err(Failure::interrupted());
            }
            progress.next(&setting.name);
            audited.push(Audits::new(self, setting, index)?);
        }
        drop(progress);
        let rows: Vec<_> = audited.iter().map(Audits::row).collect::<Result<_, _>>()?;
        let differences = differences::of(self.what, &audited)?;
        Ok(FedAvgComparisonReport {
            schema: "dpscope.fedavg_comparison/1",
            version: env!("CARGO_PKG_VERSION"),
            what: self.what,
            data: self.examples.name().to_owned(),
            parameters: self.network.parameters() as u64,
            clients: CLIENTS,
            records_per_client: RECORDS,
            rounds: ROUNDS,
            clip_norm: CLIP_NORM,
            server_momentum: MOMENTUM,
            delta: self.delta,
            significance: SIGNIFICANCE,
            runs: self.runs,
            seed: self.seed.to_string(),
            rows,
            differences,
            published: self.published(),
            published_accuracies: match self.what {
                FedAvgExperiment::Utility => published::ACCURACIES.to_vec(),
                _ => Vec::new(),
            },
            discrepancies: self.discrepancies()?,
            elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
        })
    }

    fn published(&self) -> Vec<PublishedFedAvgRow> {
        match self.what {
            FedAvgExperiment::FinalVsAll => published::all(),
            _ => Vec::new(),
        }
    }

    fn discrepancies(&self) -> Result<Vec<PaperDiscrepancy>, Failure> {
        Ok(match self.what {
            FedAvgExperiment::FinalVsAll => vec![
                discrepancies::null_estimate(NULL_RUNS, self.seed)?,
                discrepancies::emnist()?,
                discrepancies::canife()?,
            ],
            FedAvgExperiment::Gaussianity => vec![discrepancies::table_7()],
            _ => Vec::new(),
        })
    }
}
