//! ε and δ of the exact pair of a shuffled run: the statistics are those of
//! [`dpscope_core::accounting::pair`], the draws come from a backend.

use dpscope_core::accounting::EpsilonEstimate;
use dpscope_core::accounting::pair::{
    PairDelta, PairDraws, PairEpsilon, Sampling, pair_delta, pair_epsilon, pair_plug_in_epsilon,
    pair_runs_epsilon,
};
use dpscope_core::accounting::shuffle::ShuffleRun;
use dpscope_shaders::random::{Purpose, WideNormals};

use crate::{Backend, Control, EngineError};

/// ε of one epoch; see [`pair_epsilon`].
///
/// # Errors
/// An argument outside its domain; stopped by the caller.
pub fn epsilon(
    run: &ShuffleRun,
    delta: f64,
    sampling: Sampling,
    seed: u64,
    _backend: &Backend,
    control: &dyn Control,
) -> Result<PairEpsilon, EngineError> {
    pair_epsilon(run, delta, sampling, &mut Normals::new(seed, control))
}

/// δ of one epoch at an ε; see [`pair_delta`].
///
/// # Errors
/// An argument outside its domain; stopped by the caller.
pub fn delta(
    run: &ShuffleRun,
    epsilon: f64,
    sampling: Sampling,
    seed: u64,
    _backend: &Backend,
    control: &dyn Control,
) -> Result<PairDelta, EngineError> {
    pair_delta(run, epsilon, sampling, &mut Normals::new(seed, control))
}

/// ε of many epochs from whole runs; see [`pair_runs_epsilon`].
///
/// # Errors
/// An argument outside its domain; stopped by the caller.
pub fn runs_epsilon(
    run: &ShuffleRun,
    delta: f64,
    sampling: Sampling,
    seed: u64,
    _backend: &Backend,
    control: &dyn Control,
) -> Result<PairEpsilon, EngineError> {
    pair_runs_epsilon(run, delta, sampling, &mut Normals::new(seed, control))
}

/// ε of many epochs from the drawn law of one; see [`pair_plug_in_epsilon`].
///
/// # Errors
/// An argument outside its domain; stopped by the caller.
pub fn plug_in_epsilon(
    run: &ShuffleRun,
    delta: f64,
    draws: usize,
    seed: u64,
    _backend: &Backend,
    control: &dyn Control,
) -> Result<EpsilonEstimate, EngineError> {
    pair_plug_in_epsilon(run, delta, draws, &mut Normals::new(seed, control))
}

/// Draws from f64 normals, until the caller stops them.
struct Normals<'a> {
    normals: WideNormals,
    control: &'a dyn Control,
}

impl<'a> Normals<'a> {
    fn new(seed: u64, control: &'a dyn Control) -> Self {
        Normals { normals: WideNormals::new(seed, Purpose::PairRuns, 0), control }
    }
}

impl PairDraws for Normals<'_> {
    type Error = EngineError;

    fn normals(&mut self, out: &mut [f64]) -> Result<(), EngineError> {
        if !self.control.keep_going() {
            return Err(EngineError::Stopped);
        }
        self.normals.fill(out);
        Ok(())
    }
}
