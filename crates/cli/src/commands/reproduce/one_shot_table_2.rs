//! `dpscope reproduce one-shot-table-2`: published estimates for the Gaussian mechanism beside ours.

use dpscope_core::audit::one_shot::{CosineNull, EpsilonEstimator};
use dpscope_core::format::{given, rounded};
use dpscope_core::gdp::gdp_mu_for;
use dpscope_engine::{FloatMode, Progress};
use dpscope_report::number::grouped;
use dpscope_simulation::Backend;
use dpscope_simulation::noisy_sum::{CoordinateDraws, CosineDraws};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::names::Table;
use super::reproduced::Reproduced;
use super::{ReproduceArgs, data, discrepancies};
use crate::device::backend;
use crate::failure::Failure;
use crate::host;
use crate::progress::{RowProgress, Terminal, keep_going};

const DELTA: f64 = 1e-6;
const PUBLISHED_RUNS: u64 = 50;
const DEFAULT_RUNS: u64 = 1_000;
const FULL_LARGEST_DIMENSION: u64 = 100_000;

/// Share of runs without any leak outside the range of their estimates.
const OUTSIDE: f64 = 0.1;

/// Runs that one thread draws in sequence.
const PART: usize = 50;

/// A cell of the published table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    epsilon: f64,
    dimension: u64,
    canaries: usize,
    /// As printed.
    mean: String,
    sd: f64,
}

/// A cell, and how it is repeated.
struct Setting {
    published: Published,
    /// Its index in the table.
    place: u64,
    runs: u64,
    seed: u64,
}

/// Estimates with a fitted and with a known standard deviation.
const ESTIMATORS: [EpsilonEstimator; 2] = [EpsilonEstimator::TwoGaussians, EpsilonEstimator::Mean];

/// A setting with the estimates of its runs.
struct Estimated<'a> {
    setting: &'a Setting,
    noise_multiplier: f64,
    printed: Spread,
    ours: [Compared; 2],
    /// 90 % of the estimates of runs without any leak.
    nulls: [[f64; 2]; 2],
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
    let estimated = match &backend {
        Some(backend) => full_rows(&settings, backend, args.show.quiet)?,
        None => pool.install(|| rows(&settings, args.show.quiet))?,
    };
    // scores without any leak cost little in either case
    let null_runs = if args.full { DEFAULT_RUNS } else { runs };
    let discrepancies = pool.install(|| discrepancies::all(null_runs, seed))?;
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
        "means": estimated.iter().map(Estimated::sentence).collect::<Vec<_>>().join(" "),
    });
    let first = settings.first().map(|setting| setting.published.epsilon);
    let sizes = estimated.iter().filter(|one| Some(one.setting.published.epsilon) == first);
    let tables = vec![
        Table::new("settings", estimated.iter().map(Estimated::row)),
        Table::new("null_estimates", sizes.map(Estimated::null_row)),
    ];
    let page = include_str!("../../../papers/one_shot/table_2.toml");
    let notes = vec![("discrepancies", discrepancies)];
    Ok(Reproduced::new(page, facts, tables, notes))
}

/// The settings of the table, in its order.
fn settings(args: &ReproduceArgs, runs: u64, seed: u64) -> Result<Vec<Setting>, Failure> {
    let all: Vec<Published> = data::csv(include_str!("../../../papers/one_shot/table_2.csv"))?;
    let largest = match args.full {
        true => args.largest_dimension.unwrap_or(FULL_LARGEST_DIMENSION),
        false => u64::MAX,
    };
    let smallest = all.iter().map(|published| published.dimension).min().unwrap_or(0);
    if largest < smallest {
        return Err(Failure::input(format!(
            "--largest-dimension is {largest}; the smallest dimension of the table is {smallest}"
        )));
    }
    // the draws of a setting do not depend on the largest dimension
    let settings =
        all.into_iter().zip(0..).map(|(published, place)| Setting { published, place, runs, seed });
    Ok(settings.filter(|setting| setting.published.dimension <= largest).collect())
}

impl Setting {
    fn noise_multiplier(&self) -> Result<f64, Failure> {
        Ok(gdp_mu_for(self.published.epsilon, DELTA).map_err(Failure::input)?.recip())
    }

    /// Number of coordinates of the directions of all runs.
    fn coordinates(&self) -> u64 {
        self.runs * self.published.canaries as u64 * self.published.dimension
    }

    fn by_distribution(&self) -> Result<Vec<[f64; 2]>, Failure> {
        let Published { dimension, canaries, .. } = self.published;
        let null = CosineNull::new(dimension).map_err(Failure::input)?;
        let noise_multiplier = self.noise_multiplier()?;
        // a setting has draws of its own
        let first = self.place << 32;
        let runs: Vec<u64> = (first..first + self.runs).collect();
        let keep_going = keep_going();
        let drawn: Result<Vec<Vec<[f64; 2]>>, Failure> = runs
            .par_chunks(PART)
            .map(|part| {
                if !keep_going() {
                    return Err(Failure::interrupted());
                }
                let mut draws = CosineDraws::new(dimension, noise_multiplier, self.seed);
                let mut cosines = Vec::new();
                let both = part.iter().map(|&run| {
                    draws.cosines(run, canaries, &mut cosines);
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
        let Published { dimension, canaries, .. } = self.published;
        let null = CosineNull::new(dimension).map_err(Failure::input)?;
        let noise_multiplier = self.noise_multiplier()?;
        let draws = CoordinateDraws { dimension, noise_multiplier, seed: self.seed };
        // a setting has directions and noise of its own
        let first = self.place << 24;
        let drawn = (first..first + self.runs).map(|run| {
            let cosines = draws.cosines(run, canaries, backend, terminal)?;
            after_run();
            estimates(&null, &cosines)
        });
        drawn.collect()
    }

    fn estimated(&self, drawn: Vec<[f64; 2]>) -> Result<Estimated<'_>, Failure> {
        let Published { mean, sd, canaries, .. } = &self.published;
        let digits = mean.split_once('.').map_or(0, |(_, digits)| digits.len());
        let half_a_unit = 0.5 / (0..digits).fold(1.0, |unit, _| 10.0 * unit);
        let printed = Spread { mean: mean.parse().map_err(Failure::input)?, sd: *sd };
        let compared = |at: usize| {
            let values: Vec<f64> = drawn.iter().map(|estimates| estimates[at]).collect();
            Compared::new(Spread::of(&values), printed, half_a_unit, [self.runs, PUBLISHED_RUNS])
        };
        let range = |at: usize| ESTIMATORS[at].null_range(*canaries as u64, DELTA, OUTSIDE);
        Ok(Estimated {
            setting: self,
            noise_multiplier: self.noise_multiplier()?,
            printed,
            ours: [compared(0), compared(1)],
            nulls: [range(0).map_err(Failure::input)?, range(1).map_err(Failure::input)?],
        })
    }
}

/// One row per setting, by the joint distribution of the cosines.
fn rows(settings: &[Setting], quiet: bool) -> Result<Vec<Estimated<'_>>, Failure> {
    let progress = RowProgress::new(quiet, settings.len()).with_estimate();
    let row = |setting: &'_ Setting| {
        let Published { epsilon, dimension, .. } = setting.published;
        progress.next(&format!("ε = {epsilon}, d = {dimension}"));
        setting.by_distribution()
    };
    settings.iter().map(|setting| setting.estimated(row(setting)?)).collect()
}

/// One row per setting, from every coordinate of directions, noise and sum.
fn full_rows<'a>(
    settings: &'a [Setting],
    backend: &Backend,
    quiet: bool,
) -> Result<Vec<Estimated<'a>>, Failure> {
    let terminal = Terminal::new(quiet, "drawing every coordinate");
    let total = settings.iter().map(Setting::coordinates).sum();
    let mut done = 0;
    let row = |setting: &'a Setting| {
        let drawn = setting.in_full_dimension(backend, &terminal, || {
            done += setting.coordinates() / setting.runs;
            let progress = Progress { done, total, resumed: 0 };
            terminal.show(&progress, |rate| format!("{rate} coordinates/s"));
        })?;
        setting.estimated(drawn)
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

/// Our estimates beside the printed mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Compared {
    #[serde(flatten)]
    ours: Spread,
    /// The largest difference of the means that rounding and three standard errors of both explain.
    tolerance: f64,
    is_mismatch: bool,
}

impl Compared {
    /// Compares means of so many runs with a printed one, rounded to `half_a_unit`.
    fn new(
        ours: Spread,
        published: Spread,
        half_a_unit: f64,
        [our_runs, published_runs]: [u64; 2],
    ) -> Self {
        let square = ours.sd * ours.sd / our_runs as f64
            + published.sd * published.sd / published_runs as f64;
        let tolerance = half_a_unit + 3.0 * square.sqrt();
        let is_mismatch = !((ours.mean - published.mean).abs() <= tolerance);
        Self { ours, tolerance, is_mismatch }
    }

    const fn mark(&self) -> &'static str {
        if self.is_mismatch { "!" } else { "" }
    }
}

impl Estimated<'_> {
    fn row(&self) -> Value {
        let Published { epsilon, dimension, canaries, .. } = self.setting.published;
        let [fitted, known] = &self.ours;
        json!({
            "epsilon": epsilon, "noise_multiplier": self.noise_multiplier, "dimension": dimension,
            "canaries": canaries, "published": self.printed, "fitted_sd": fitted,
            "fitted_sd_mark": fitted.mark(), "known_sd": known, "known_sd_mark": known.mark(),
            "fitted_sd_null": self.nulls[0], "known_sd_null": self.nulls[1],
        })
    }

    /// Its means, for readers who do not see the drawing.
    fn sentence(&self) -> String {
        let Published { epsilon, dimension, .. } = self.setting.published;
        let means = [self.printed, self.ours[0].ours, self.ours[1].ours];
        let [published, fitted, known] = means.map(|of| rounded(of.mean, 2));
        format!(
            "ε = {}, dimension {}: published {published}, fitted {fitted}, known {known}.",
            given(epsilon),
            grouped(dimension)
        )
    }

    /// What would be estimated if nothing leaked.
    fn null_row(&self) -> Value {
        let Published { dimension, canaries, .. } = self.setting.published;
        let [fitted, known] = self.nulls;
        json!({
            "dimension": dimension, "canaries": canaries, "fitted_sd": fitted, "known_sd": known,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_agree_within_rounding_and_three_standard_errors() {
        let spread = |mean| Spread { mean, sd: 0.71 };
        let compare = |mean| Compared::new(spread(mean), spread(9.89), 0.005, [1_000, 50]);
        assert!(!compare(9.82).is_mismatch && !compare(10.1).is_mismatch);
        assert!(compare(12.2).is_mismatch && compare(f64::NAN).is_mismatch);
    }
}
