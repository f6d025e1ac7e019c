//! What the runs of a plan showed.

use dpscope_core::audit::one_shot::OneShotBounds;
use dpscope_engine::{EngineError, Evidence, join_by_index};
use serde::{Deserialize, Serialize};

/// Bounds and estimates of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoisySumRun {
    /// Its index in the plan.
    pub run: u64,
    /// Canaries that were drawn.
    pub canaries: u64,
    /// Lower bounds.
    pub bounds: OneShotBounds,
    /// Estimate of ε by the mean score; none at δ = 0 or for fewer than two canaries.
    pub mean_estimate: Option<f64>,
    /// Estimate of ε by two fitted Gaussians; none in the same cases.
    pub two_gaussians_estimate: Option<f64>,
    /// The cosine of each canary, in the first run of the plan alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cosines: Vec<f64>,
}

impl NoisySumRun {
    fn is_whole(&self) -> bool {
        let OneShotBounds { epsilon, gdp_mu, independent_epsilon, independent_gdp_mu } =
            self.bounds;
        let numbers = [epsilon, gdp_mu, independent_epsilon].into_iter();
        let optional = [independent_gdp_mu, self.mean_estimate, self.two_gaussians_estimate];
        let cosines = if self.run == 0 { self.canaries } else { 0 };
        numbers.chain(optional.into_iter().flatten()).all(|number| number >= 0.0)
            && self.cosines.len() as u64 == cosines
            && self.cosines.iter().all(|cosine| cosine.abs() <= 1.0 + 1e-6)
    }
}

/// Some runs of a plan, in the order of their indices.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoisySumEvidence {
    /// The runs.
    pub runs: Vec<NoisySumRun>,
}

impl NoisySumEvidence {
    /// The first run of the plan, with its cosines; none if another shard has it.
    #[must_use]
    pub fn first(&self) -> Option<&NoisySumRun> {
        self.runs.first().filter(|first| first.run == 0)
    }

    /// Checks what was read from a file.
    pub(super) fn check(&self, repeats: u64, units: u64) -> Result<(), &'static str> {
        if !self.is_of(units) {
            return Err("its runs do not match its counted ranges");
        }
        let is_sorted = self.runs.windows(2).all(|pair| pair[0].run < pair[1].run);
        if !is_sorted || self.runs.last().is_some_and(|last| last.run >= repeats) {
            return Err("its runs are not in order");
        }
        if !self.runs.iter().all(NoisySumRun::is_whole) {
            return Err("its bounds or cosines are missing or not finite");
        }
        Ok(())
    }
}

impl Evidence for NoisySumEvidence {
    fn join(&mut self, other: &Self) -> Result<(), EngineError> {
        join_by_index(&mut self.runs, &other.runs, |run| run.run, "it contains a run twice")
    }

    fn is_of(&self, units: u64) -> bool {
        self.runs.len() as u64 == units
    }
}
