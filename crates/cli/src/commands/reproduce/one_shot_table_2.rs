//! `dpscope reproduce one-shot-table-2`: published estimates for the Gaussian mechanism beside ours.

use dpscope_core::audit::one_shot::{CosineNull, EpsilonEstimator};
use dpscope_core::gdp::gdp_mu_for;
use dpscope_engine::{FloatMode, Progress};
use dpscope_report::record::OneShotEstimate;
use dpscope_simulation::Backend;
use dpscope_simulation::noisy_sum::{CoordinateDraws, CosineDraws};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::names::{Table, shown};
use super::page::Reproduced;
use super::{ReproduceArgs, data, discrepancies};
use crate::device::backend;
use crate::failure::Failure;
use crate::host;
use crate::progress::{RowProgress, Terminal, keep_going};

const DELTA: f64 = 1e-6;
const PUBLISHED_RUNS: u64 = 50;
const DEFAULT_RUNS: u64 = 1_000;
const FULL_LARGEST_DIMENSION: u64 = 100_000;

/// Runs that one thread draws in sequence.
const PART: usize = 50;

/// Estimates with a fitted and with a known standard deviation.
const ESTIMATORS: [EpsilonEstimator; 2] = [EpsilonEstimator::TwoGaussians, EpsilonEstimator::Mean];

/// A cell of the published table, and how it is repeated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Setting {
    epsilon: f64,
    dimension: u64,
    canaries: usize,
    /// As printed.
    mean: String,
    sd: f64,
    /// Its index in the table: a setting has draws of its own.
    #[serde(skip)]
    place: u64,
    #[serde(skip)]
    runs: u64,
    #[serde(skip)]
    seed: u64,
}

pub(super) fn run(args: &ReproduceArgs, seed: u64) -> Result<Reproduced, Failure> {
    let default = if args.full { PUBLISHED_RUNS } else { DEFAULT_RUNS };
    let runs = ReproduceArgs::in_range("--runs", args.runs, default, (2, 1_000_000), "")?;
    let settings = settings(args, runs, seed)?;
    let backend = match args.full {
        true => Some(backend(&args.device, FloatMode::Exact)?),
        false => None,
    };
    let pool = host::pool(args.threads())?;
    let rows = match &backend {
        Some(backend) => full_rows(&settings, backend, args.show.quiet)?,
        None => pool.install(|| rows(&settings, args.show.quiet))?,
    };
    // scores without any leak cost little in either case
    let null_runs = if args.full { DEFAULT_RUNS } else { runs };
    let names = ["null estimate", "emnist", "table 7", "canife"];
    let discrepancies = pool.install(|| discrepancies::named(&names, null_runs, seed))?;
    let device = backend.map(|backend| backend.device().name);
    let (all, draws) = match &device {
        Some(device) => (
            format!("every coordinate of directions, noise and sum drawn on {device}"),
            "every coordinate drawn",
        ),
        None => (
            "cosines drawn by their joint distribution (--full draws every coordinate)".to_owned(),
            "cosines drawn by their joint distribution",
        ),
    };
    let facts = json!({
        "delta": DELTA, "runs": runs, "published_runs": PUBLISHED_RUNS,
        "full_dimension_device": device, "drawn": all, "draws": draws,
        "means": rows.iter().map(sentence).collect::<Vec<_>>().join(" "),
    });
    let sizes = rows.iter().filter(|row| row["epsilon"] == rows[0]["epsilon"]);
    let nulls = sizes.map(|row| {
        json!({
            "dimension": row["dimension"], "canaries": row["canaries"],
            "fitted_sd": row["fitted_sd_null"], "known_sd": row["known_sd_null"],
        })
    });
    let nulls = Table::new("null_estimates", nulls);
    let tables = vec![Table::new("settings", rows.iter().cloned()), nulls];
    let page = include_str!("../../../papers/one_shot/table_2.toml");
    Ok(Reproduced::new(page, facts, tables, vec![("discrepancies", discrepancies)]))
}

/// The settings of the table, in its order.
fn settings(args: &ReproduceArgs, runs: u64, seed: u64) -> Result<Vec<Setting>, Failure> {
    let all: Vec<Setting> = data::csv(include_str!("../../../papers/one_shot/table_2.csv"))?;
    let largest = match args.full {
        true => args.largest_dimension.unwrap_or(FULL_LARGEST_DIMENSION),
        false => u64::MAX,
    };
    let smallest = all.iter().map(|setting| setting.dimension).min().unwrap_or(0);
    if largest < smallest {
        return Err(Failure::input(format!(
            "--largest-dimension is {largest}; the smallest dimension of the table is {smallest}"
        )));
    }
    // the draws of a setting do not depend on the largest dimension
    let settings = all.into_iter().zip(0..);
    let settings = settings.map(|(setting, place)| Setting { place, runs, seed, ..setting });
    Ok(settings.filter(|setting| setting.dimension <= largest).collect())
}

impl Setting {
    fn noise_multiplier(&self) -> Result<f64, Failure> {
        Ok(gdp_mu_for(self.epsilon, DELTA).map_err(Failure::input)?.recip())
    }

    fn by_distribution(&self) -> Result<Vec<[f64; 2]>, Failure> {
        let null = CosineNull::new(self.dimension).map_err(Failure::input)?;
        let noise_multiplier = self.noise_multiplier()?;
        let first = self.place << 32;
        let runs: Vec<u64> = (first..first + self.runs).collect();
        let keep_going = keep_going();
        let drawn: Result<Vec<Vec<[f64; 2]>>, Failure> = runs
            .par_chunks(PART)
            .map(|part| {
                if !keep_going() {
                    return Err(Failure::interrupted());
                }
                let mut draws = CosineDraws::new(self.dimension, noise_multiplier, self.seed);
                let mut cosines = Vec::new();
                let both = part.iter().map(|&run| {
                    draws.cosines(run, self.canaries, &mut cosines);
                    estimates(&null, &cosines)
                });
                both.collect()
            })
            .collect();
        Ok(drawn?.concat())
    }

    fn in_full_dimension(
        &self,
        backend: &Backend,
        terminal: &Terminal,
        mut after_run: impl FnMut(),
    ) -> Result<Vec<[f64; 2]>, Failure> {
        let Self { dimension, seed, .. } = *self;
        let null = CosineNull::new(dimension).map_err(Failure::input)?;
        let noise_multiplier = self.noise_multiplier()?;
        let draws = CoordinateDraws { dimension, noise_multiplier, seed };
        let first = self.place << 24;
        let drawn = (first..first + self.runs).map(|run| {
            let cosines = draws.cosines(run, self.canaries, backend, terminal)?;
            after_run();
            estimates(&null, &cosines)
        });
        drawn.collect()
    }

    /// The estimates of all runs beside the printed one and beside 90 % of those without any leak.
    fn row(&self, drawn: &[[f64; 2]]) -> Result<Value, Failure> {
        let digits = self.mean.split_once('.').map_or(0, |(_, digits)| digits.len());
        let half_a_unit = 0.5 / (0..digits).fold(1.0, |unit, _| 10.0 * unit);
        let mean: f64 = self.mean.parse().map_err(Failure::input)?;
        let printed = Spread { mean, sd: self.sd };
        let mut row = json!({
            "epsilon": self.epsilon, "noise_multiplier": self.noise_multiplier()?,
            "dimension": self.dimension, "canaries": self.canaries, "published": printed,
        });
        for (at, name) in ["fitted_sd", "known_sd"].into_iter().enumerate() {
            let values: Vec<f64> = drawn.iter().map(|estimates| estimates[at]).collect();
            let ours = Spread::of(&values);
            let tolerance = tolerance([ours, printed], [self.runs, PUBLISHED_RUNS], half_a_unit);
            let is_mismatch = !((ours.mean - printed.mean).abs() <= tolerance);
            let canaries = self.canaries as u64;
            let null = ESTIMATORS[at].null_range(canaries, DELTA, OneShotEstimate::OUTSIDE);
            row[name] = json!({
                "mean": ours.mean, "sd": ours.sd, "tolerance": tolerance,
                "is_mismatch": is_mismatch,
            });
            row[format!("{name}_mark")] = if is_mismatch { "!" } else { "" }.into();
            row[format!("{name}_null")] = json!(null.map_err(Failure::input)?);
        }
        Ok(row)
    }
}

/// One row per setting, by the joint distribution of the cosines.
fn rows(settings: &[Setting], quiet: bool) -> Result<Vec<Value>, Failure> {
    let progress = RowProgress::new(quiet, settings.len()).with_estimate();
    let name = |one: &&Setting| format!("ε = {}, d = {}", one.epsilon, one.dimension);
    progress.rows(settings, name, |setting| setting.row(&setting.by_distribution()?))
}

/// One row per setting, from every coordinate of directions, noise and sum.
fn full_rows(settings: &[Setting], backend: &Backend, quiet: bool) -> Result<Vec<Value>, Failure> {
    let terminal = Terminal::new(quiet, "drawing every coordinate");
    let coordinates = |setting: &Setting| setting.canaries as u64 * setting.dimension;
    let total = settings.iter().map(|setting| setting.runs * coordinates(setting)).sum();
    let mut done = 0;
    let row = |setting: &Setting| {
        let drawn = setting.in_full_dimension(backend, &terminal, || {
            done += coordinates(setting);
            let progress = Progress { done, total, resumed: 0 };
            terminal.show(&progress, |rate| format!("{rate} coordinates/s"));
        })?;
        setting.row(&drawn)
    };
    settings.iter().map(row).collect()
}

fn estimates(null: &CosineNull, cosines: &[f64]) -> Result<[f64; 2], Failure> {
    let [fitted, known] = ESTIMATORS.map(|method| method.epsilon(null, cosines, DELTA));
    Ok([fitted.map_err(Failure::input)?, known.map_err(Failure::input)?])
}

/// Mean and standard deviation over runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Spread {
    mean: f64,
    sd: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let square = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
        Self { mean, sd: (square / (count - 1.0)).sqrt() }
    }
}

/// The largest difference of two means, of so many runs, that rounding of one to `half_a_unit` and three
/// standard errors of both explain.
fn tolerance(spreads: [Spread; 2], runs: [u64; 2], half_a_unit: f64) -> f64 {
    let [ours, published] = [0, 1].map(|at| spreads[at].sd * spreads[at].sd / runs[at] as f64);
    half_a_unit + 3.0 * (ours + published).sqrt()
}

/// The means of a row, for readers who do not see the drawing.
fn sentence(row: &Value) -> String {
    let mean = |name: &str| shown(&row[name]["mean"], "0.00");
    format!(
        "ε = {}, dimension {}: published {}, fitted {}, known {}.",
        shown(&row["epsilon"], ""),
        shown(&row["dimension"], "0,0"),
        mean("published"),
        mean("fitted_sd"),
        mean("known_sd")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_agree_within_rounding_and_three_standard_errors() {
        let setting = Setting {
            epsilon: 10.0,
            dimension: 10_000,
            canaries: 100,
            mean: "9.89".to_owned(),
            sd: 0.71,
            place: 0,
            runs: 2,
            seed: 1,
        };
        for (mean, is_mismatch) in [(9.82, false), (10.1, false), (12.2, true), (f64::NAN, true)] {
            let row = setting.row(&[[mean - 0.01; 2], [mean + 0.01; 2]]).unwrap();
            assert_eq!(row["known_sd"]["is_mismatch"], is_mismatch, "{mean}");
        }
    }
}
