//! The releases ρₜ of all server rounds, read in blocks.

use std::path::{Path, PathBuf};

use dpscope_engine::Control;
use dpscope_recorded::ReleaseSummary;
use rayon::prelude::*;

use super::files::{MOST_ROUNDS, Release, releases_of, too_many};
use crate::failure::Failure;

/// ρₜ = Δₜ − β Δₜ₋₁, where Δₜ is an update, or the change of the model in a server round.
pub(super) struct UpdateSeries {
    /// The files of each server round.
    releases: Vec<Release>,
    /// The model before the first server round, where files are models.
    initial: Option<Release>,
    momentum: f64,
    dimension: u64,
}

impl UpdateSeries {
    /// Opens the updates, or the models if there is an initial one, and checks their arrays.
    pub(super) fn open(
        paths: &[PathBuf],
        initial: Option<&Path>,
        momentum: f64,
        dimension: u64,
    ) -> Result<Self, Failure> {
        let releases = releases_of(paths, dimension)?;
        if releases.len() as u64 > MOST_ROUNDS {
            return Err(too_many(releases.len() as u64));
        }
        let initial = initial.map(Release::open).transpose()?;
        if let Some(first) = initial.as_ref().or(releases.first()) {
            for release in initial.iter().chain(&releases) {
                release.check(first, dimension)?;
            }
        }
        Ok(Self { releases, initial, momentum, dimension })
    }

    /// The change between two models.
    pub(super) fn of_models(
        initial: &Path,
        last: &[PathBuf],
        dimension: u64,
    ) -> Result<Self, Failure> {
        let (initial, last) = (Release::open(initial)?, Release::of_paths(last)?);
        last.check_same(&initial)?;
        last.check_dimension(dimension)?;
        Ok(Self { releases: vec![last], initial: Some(initial), momentum: 0.0, dimension })
    }

    /// Number of server rounds T.
    pub(super) const fn len(&self) -> usize {
        self.releases.len()
    }

    /// Number of parameters d.
    pub(super) const fn dimension(&self) -> u64 {
        self.dimension
    }

    /// Some coordinates of ρₜ.
    pub(super) fn read(&self, round: usize, first: u64, count: usize) -> Result<Vec<f64>, Failure> {
        let mut change = self.change(round, first, count)?;
        if self.momentum != 0.0 && round > 0 {
            let before = self.change(round - 1, first, count)?;
            change.iter_mut().zip(before).for_each(|(now, before)| *now -= self.momentum * before);
        }
        Ok(change)
    }

    /// Some coordinates of Δₜ.
    fn change(&self, round: usize, first: u64, count: usize) -> Result<Vec<f64>, Failure> {
        let mut change = self.releases[round].read(first, count)?;
        let before = match round {
            0 => self.initial.as_ref(),
            _ if self.initial.is_some() => Some(&self.releases[round - 1]),
            _ => None,
        };
        if let Some(before) = before {
            let before = before.read(first, count)?;
            change.iter_mut().zip(before).for_each(|(now, before)| *now -= before);
        }
        Ok(change)
    }

    /// Scale and digest of every ρₜ.
    pub(super) fn summaries(&self, control: &dyn Control) -> Result<Vec<ReleaseSummary>, Failure> {
        (0..self.len()).into_par_iter().map(|round| self.summary(round, control)).collect()
    }

    fn summary(&self, round: usize, control: &dyn Control) -> Result<ReleaseSummary, Failure> {
        let read = |first, count| match control.keep_going() {
            true => self.read(round, first, count),
            false => Err(Failure::interrupted()),
        };
        let summary = ReleaseSummary::of(self.dimension, read)?;
        if summary.has_direction() {
            return Ok(summary);
        }
        let problem = match (summary.unit == 0.0, self.initial.is_some()) {
            (true, true) if round == 0 => {
                "has the same parameters as --initial: pass the model after the training"
            }
            (true, true) => {
                "has the parameters of the server round before it; pass only models that the server \
                 released"
            }
            (true, false) => "is 0 everywhere; pass only updates that the server released",
            _ => "has changes beyond the range of f64; pass models that did not diverge",
        };
        Err(Failure::input(problem).about(&self.releases[round].path))
    }
}
