//! Estimates of the runs of a setting.

use dpscope_core::audit::one_shot::{CosineNull, EpsilonEstimator};
use dpscope_core::gdp::gdp_mu_for;
use dpscope_engine::{EngineError, Progress};
use dpscope_report::record::{ComparedEstimate, EstimateSpread, OneShotTableRow};
use dpscope_simulation::Backend;
use dpscope_simulation::noisy_sum::{CoordinateDraws, CosineDraws};
use rayon::prelude::*;

use super::published::{DELTA, PUBLISHED_RUNS, Printed};
use crate::failure::Failure;
use crate::progress::{RowProgress, Terminal, keep_going};

/// Runs that one thread draws in sequence.
const PART: usize = 50;

/// A cell of the published table.
pub(super) struct Setting {
    pub(super) epsilon: f64,
    pub(super) dimension: u64,
    pub(super) canaries: usize,
    pub(super) published: Printed,
    /// Its index in the table.
    pub(super) place: u64,
    pub(super) runs: u64,
    pub(super) seed: u64,
}

/// Estimates of a run with a fitted and with a known standard deviation.
type Estimates = (f64, f64);

impl Setting {
    fn noise_multiplier(&self) -> Result<f64, Failure> {
        Ok(gdp_mu_for(self.epsilon, DELTA).map_err(Failure::input)?.recip())
    }

    /// Number of coordinates of the directions of all runs.
    fn coordinates(&self) -> u64 {
        self.runs * self.canaries as u64 * self.dimension
    }

    fn row(&self, drawn: Vec<Estimates>) -> Result<OneShotTableRow, Failure> {
        let (mean, sd, half_a_unit) = self.published;
        let published = EstimateSpread { mean, sd };
        let compared = |values: Vec<f64>| {
            let runs = [values.len() as u64, PUBLISHED_RUNS];
            ComparedEstimate::new(spread(&values), published, half_a_unit, runs)
        };
        let (fitted, known) = drawn.into_iter().unzip();
        Ok(OneShotTableRow {
            epsilon: self.epsilon,
            noise_multiplier: self.noise_multiplier()?,
            dimension: self.dimension,
            canaries: self.canaries as u64,
            published,
            fitted_sd: compared(fitted),
            known_sd: compared(known),
        })
    }

    fn by_distribution(&self) -> Result<Vec<Estimates>, Failure> {
        let null = CosineNull::new(self.dimension).map_err(Failure::input)?;
        let noise_multiplier = self.noise_multiplier()?;
        // a setting has draws of its own
        let first = self.place << 32;
        let runs: Vec<u64> = (first..first + self.runs).collect();
        let keep_going = keep_going();
        let drawn: Result<Vec<Vec<Estimates>>, Failure> = runs
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
    ) -> Result<Vec<Estimates>, Failure> {
        let null = CosineNull::new(self.dimension).map_err(Failure::input)?;
        let draws = CoordinateDraws {
            dimension: self.dimension,
            noise_multiplier: self.noise_multiplier()?,
            seed: self.seed,
        };
        // a setting has directions and noise of its own
        let first = self.place << 24;
        let drawn = (first..first + self.runs).map(|run| {
            let cosines = draws.cosines(run, self.canaries, backend, terminal);
            let cosines = cosines.map_err(|error| match error {
                EngineError::Stopped => Failure::interrupted(),
                other => other.into(),
            })?;
            after_run();
            estimates(&null, &cosines)
        });
        drawn.collect()
    }
}

/// One row per setting, by the joint distribution of the cosines.
pub(super) fn rows(settings: &[Setting], quiet: bool) -> Result<Vec<OneShotTableRow>, Failure> {
    let progress = RowProgress::new(quiet, settings.len()).with_estimate();
    let row = |setting: &Setting| {
        progress.next(&format!("ε = {}, d = {}", setting.epsilon, setting.dimension));
        setting.row(setting.by_distribution()?)
    };
    settings.iter().map(row).collect()
}

/// One row per setting, from every coordinate of directions, noise and sum.
pub(super) fn full_rows(
    settings: &[Setting],
    backend: &Backend,
    quiet: bool,
) -> Result<Vec<OneShotTableRow>, Failure> {
    let terminal = Terminal::new(quiet, "drawing every coordinate");
    let total = settings.iter().map(Setting::coordinates).sum();
    let mut done = 0;
    let row = |setting: &Setting| {
        let drawn = setting.in_full_dimension(backend, &terminal, || {
            done += setting.coordinates() / setting.runs;
            let progress = Progress { done, total, resumed: 0 };
            terminal.show(&progress, |rate| format!("{rate} coordinates/s"));
        })?;
        setting.row(drawn)
    };
    settings.iter().map(row).collect()
}

fn estimates(null: &CosineNull, cosines: &[f64]) -> Result<Estimates, Failure> {
    let estimate =
        |method: EpsilonEstimator| method.epsilon(null, cosines, DELTA).map_err(Failure::input);
    Ok((estimate(EpsilonEstimator::TwoGaussians)?, estimate(EpsilonEstimator::Mean)?))
}

/// Mean and standard deviation.
fn spread(values: &[f64]) -> EstimateSpread {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    EstimateSpread { mean, sd: (square / (count - 1.0)).sqrt() }
}
