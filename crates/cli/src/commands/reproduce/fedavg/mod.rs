//! `dpscope reproduce fedavg-…`: one-shot audits of DP-FedAvg by setting, beside published figures.

mod audits;
mod differences;
mod experiment;
mod normality;
mod published;
mod settings;
mod table;

use std::time::Instant;

use dpscope_report::figure::fedavg_comparison_svg;
use dpscope_report::record::{
    FedAvgComparisonReport, FedAvgExperiment, PaperDiscrepancy, PublishedFedAvgRow,
};

use super::{ReproduceArgs, discrepancies};
use crate::args::{DeviceChoice, check_drawing, write_drawing};
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::output::{print_json, print_text};
use crate::progress::{RowProgress, is_interrupted};
use audits::Audits;
use experiment::{Experiment, SIGNIFICANCE};
use settings::{CLIENTS, CLIP_NORM, MOMENTUM, RECORDS, ROUNDS, Setting};

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

impl Experiment {
    fn report(&self, quiet: bool) -> Result<FedAvgComparisonReport, Failure> {
        let started = Instant::now();
        let settings = Setting::of(self.what, self.canaries);
        let progress = RowProgress::new(quiet, settings.len()).with_estimate();
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
