//! `dpscope reproduce one-shot-table-2`: published estimates for the Gaussian mechanism beside ours.

mod discrepancies;
mod table;

use std::ops::Range;
use std::time::Instant;

use dpscope_core::audit::one_shot::{CosineNull, EpsilonEstimator};
use dpscope_core::gdp::gdp_mu_for;
use dpscope_report::record::{
    ComparedEstimate, EstimateSpread, OneShotTableReport, OneShotTableRow,
};
use dpscope_simulation::noisy_sum::CosineDraws;
use rayon::prelude::*;

use super::ReproduceArgs;
use crate::args::DeviceChoice;
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::output::{print_json, print_text};
use crate::progress::{RowProgress, is_interrupted};
use crate::seed::seed_or_fresh;

const DELTA: f64 = 1e-6;
const PUBLISHED_RUNS: u64 = 50;
const DEFAULT_RUNS: u64 = 1_000;

/// Runs that one thread draws in sequence.
const PART: usize = 50;

/// Dimension and canaries, ⌊√d⌋.
const SIZES: [(u64, usize); 4] =
    [(10_000, 100), (100_000, 316), (1_000_000, 1_000), (10_000_000, 3_162)];

/// Mean, standard deviation, and half a unit of the last digit of the mean.
type Printed = (f64, f64, f64);

/// Table 2 of G. Andrew et al. (2024), arXiv:2302.03098: ε, then its estimates by dimension.
const PUBLISHED: [(f64, [Printed; 4]); 3] = [
    (10.0, [(9.89, 0.71, 0.005), (10.1, 0.41, 0.05), (10.0, 0.23, 0.05), (10.0, 0.10, 0.05)]),
    (3.0, [(3.00, 0.46, 0.005), (3.00, 0.31, 0.005), (2.96, 0.15, 0.005), (3.00, 0.08, 0.005)]),
    (1.0, [(0.98, 0.41, 0.005), (1.05, 0.23, 0.005), (0.99, 0.14, 0.005), (1.00, 0.07, 0.005)]),
];

pub(super) fn run(args: &ReproduceArgs) -> CommandResult {
    let uses_gpu = !matches!(args.device.device, DeviceChoice::Auto | DeviceChoice::Cpu);
    reject_unused_options(
        &[
            ("--observations", args.observations.is_some()),
            ("--canaries", args.canaries.is_some()),
            ("--delta", args.delta.is_some()),
            ("--plot", args.plot.is_some()),
            ("--device", uses_gpu),
            ("--float-mode", args.device.float_mode.is_some()),
        ],
        "with one-shot-table-2, which simulates --runs audits per setting on the CPU",
    )?;
    let started = Instant::now();
    let runs = args.runs.unwrap_or(DEFAULT_RUNS);
    if !(2..=1_000_000).contains(&runs) {
        return Err(Failure::input(format!("--runs is {runs}; it must be from 2 to 1000000")));
    }
    let (seed, _) = seed_or_fresh(args.seed)?;
    let threads = args.device.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Failure::with(Exit::Internal, error))?;
    let progress = RowProgress::new(args.show.quiet, PUBLISHED.len() * SIZES.len());
    let mut rows = Vec::with_capacity(PUBLISHED.len() * SIZES.len());
    for (epsilon, published) in PUBLISHED {
        for (&(dimension, canaries), published) in SIZES.iter().zip(published) {
            if is_interrupted() {
                return Err(Failure::interrupted());
            }
            progress.next(&format!("ε = {epsilon}, d = {dimension}"));
            // a setting has draws of its own
            let first = (rows.len() as u64) << 32;
            let setting = Setting { epsilon, dimension, canaries, runs: first..first + runs, seed };
            rows.push(pool.install(|| setting.row(published))?);
        }
    }
    drop(progress);
    let discrepancies = pool.install(|| discrepancies::all(runs, seed))?;
    let report = OneShotTableReport {
        schema: "dpscope.one_shot_table/1",
        version: env!("CARGO_PKG_VERSION"),
        delta: DELTA,
        runs,
        published_runs: PUBLISHED_RUNS,
        seed: seed.to_string(),
        rows,
        discrepancies,
        elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
    };
    if args.show.json {
        print_json(&report)?;
    } else {
        print_text(&table::text(&report))?;
    }
    Ok(Exit::Done)
}

struct Setting {
    epsilon: f64,
    dimension: u64,
    canaries: usize,
    runs: Range<u64>,
    seed: u64,
}

impl Setting {
    fn row(&self, (mean, sd, half_a_unit): Printed) -> Result<OneShotTableRow, Failure> {
        let mu = gdp_mu_for(self.epsilon, DELTA).map_err(Failure::input)?;
        let drawn = self.estimates(mu.recip())?;
        let published = EstimateSpread { mean, sd };
        let compared = |values: Vec<f64>| {
            let runs = [values.len() as u64, PUBLISHED_RUNS];
            ComparedEstimate::new(spread(&values), published, half_a_unit, runs)
        };
        let (fitted, known) = drawn.into_iter().unzip();
        Ok(OneShotTableRow {
            epsilon: self.epsilon,
            noise_multiplier: mu.recip(),
            dimension: self.dimension,
            canaries: self.canaries as u64,
            published,
            fitted_sd: compared(fitted),
            known_sd: compared(known),
        })
    }

    /// Both estimates of each run.
    fn estimates(&self, noise_multiplier: f64) -> Result<Vec<(f64, f64)>, Failure> {
        let null = CosineNull::new(self.dimension).map_err(Failure::input)?;
        let runs: Vec<u64> = self.runs.clone().collect();
        let parts: Result<Vec<Vec<(f64, f64)>>, Failure> = runs
            .par_chunks(PART)
            .map(|part| {
                let mut draws = CosineDraws::new(self.dimension, noise_multiplier, self.seed);
                let mut cosines = Vec::new();
                let both = part.iter().map(|&run| {
                    draws.cosines(run, self.canaries, &mut cosines);
                    let estimate =
                        |method: EpsilonEstimator| method.epsilon(&null, &cosines, DELTA);
                    let fitted =
                        estimate(EpsilonEstimator::TwoGaussians).map_err(Failure::input)?;
                    Ok((fitted, estimate(EpsilonEstimator::Mean).map_err(Failure::input)?))
                });
                both.collect()
            })
            .collect();
        Ok(parts?.concat())
    }
}

/// Mean and standard deviation.
fn spread(values: &[f64]) -> EstimateSpread {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    EstimateSpread { mean, sd: (square / (count - 1.0)).sqrt() }
}
