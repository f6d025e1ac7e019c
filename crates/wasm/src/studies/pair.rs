//! The exact pair of a shuffled run, drawn on this thread.

use dpscope_core::accounting::{Given, Training};
use dpscope_engine::Unattended;
use dpscope_report::record::page::{Pair, PairEstimate};
use dpscope_simulation::Backend;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::pair::{PairRows, PairSampler};
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::input::{given, integer, read};
use crate::output::{JsResult, to_js};
use crate::seed::seed_or_fresh;

fn rows(training: Training, at: Given, sampler: PairSampler) -> Result<PairRows, Failure> {
    let backend = Backend::Cpu(CpuBackend::new(1)?);
    Ok(sampler.rows(training, at, &backend, &Unattended)?)
}

/// The pair from this many draws; 0 for as many as take about a second.
pub(crate) fn drawn(
    training: Training,
    at: Given,
    draws: u64,
    seed: u64,
    significance: f64,
) -> Result<Pair, Failure> {
    let observations = (draws > 0).then_some(draws);
    let sampler = PairSampler { seed, observations, significance, whole_runs: true };
    let PairRows { lower, estimate, observations } = rows(training, at, sampler)?;
    Ok(Pair { lower, estimate, observations, seed: seed.to_string() })
}

pub(crate) fn estimated(
    training: Training,
    at: Given,
    draws: u64,
    seed: u64,
) -> Result<PairEstimate, Failure> {
    // The estimate does not depend on the significance.
    let significance = 0.05;
    let sampler = PairSampler { seed, observations: Some(draws), significance, whole_runs: false };
    let estimate = rows(training, at, sampler)?.estimate;
    Ok(PairEstimate { estimate, observations: draws, seed: seed.to_string() })
}

/// A lower bound of the exact pair, and an estimate of it, from this many draws; 0 for as many as take
/// about a second. `pair_estimate` is faster.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Pair")]
pub fn pair(
    #[wasm_bindgen(unchecked_param_type = "Training")] training: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "Given")] at: &JsValue,
    draws: f64,
    seed: &str,
    significance: f64,
) -> JsResult {
    let (training, at) = (read(training, "training")?, given(at)?);
    let (draws, seed) = (integer("draws", draws, 0)?, seed_or_fresh(seed)?);
    to_js(&drawn(training, at, draws, seed, significance)?)
}

/// An estimate of the exact pair from draws of one epoch: that of `pair` with as many draws.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "PairEstimate")]
pub fn pair_estimate(
    #[wasm_bindgen(unchecked_param_type = "Training")] training: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "Given")] at: &JsValue,
    draws: f64,
    seed: &str,
) -> JsResult {
    let (training, at) = (read(training, "training")?, given(at)?);
    let (draws, seed) = (integer("draws", draws, 1)?, seed_or_fresh(seed)?);
    to_js(&estimated(training, at, draws, seed)?)
}
