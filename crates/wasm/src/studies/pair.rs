//! The exact pair of a shuffled run, drawn on this thread.

use dpscope_core::accounting::{Given, Training};
use dpscope_engine::backend::CpuBackend;
use dpscope_engine::pair::{PairRows, PairSampler};
use dpscope_engine::{Backend, Unattended};
use dpscope_report::record::page::{Pair, PairEstimate};
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::plain::{JsResult, to_js};
use crate::question;
use crate::record::whole;
use crate::seed::seed_or_fresh;

fn rows(setting: Training, at: Given, sampler: PairSampler) -> Result<PairRows, Failure> {
    let backend = Backend::Cpu(CpuBackend::new(1)?);
    Ok(sampler.rows(setting, at, &backend, &Unattended)?)
}

/// Draws; 0 for as many as take about a second.
pub(crate) fn drawn(
    setting: Training,
    at: Given,
    draws: u64,
    seed: u64,
    significance: f64,
) -> Result<Pair, Failure> {
    let observations = (draws > 0).then_some(draws);
    let sampler = PairSampler { seed, observations, significance, whole_runs: true };
    let PairRows { lower, estimate, observations } = rows(setting, at, sampler)?;
    Ok(Pair { lower, estimate, observations, seed: seed.to_string() })
}

pub(crate) fn estimated(
    setting: Training,
    at: Given,
    draws: u64,
    seed: u64,
) -> Result<PairEstimate, Failure> {
    // An estimate has no significance, and the limit that comes with it is left out.
    let significance = 0.05;
    let sampler = PairSampler { seed, observations: Some(draws), significance, whole_runs: false };
    let estimate = rows(setting, at, sampler)?.estimate;
    Ok(PairEstimate { estimate, observations: draws, seed: seed.to_string() })
}

/// A limit of the exact pair that holds with confidence, and an estimate of it. `draws` is 0 for as
/// many as take about a second. `pair_estimate` is the quicker first answer.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Pair")]
pub fn pair(
    #[wasm_bindgen(unchecked_param_type = "Setting")] setting: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "At")] at: &JsValue,
    draws: f64,
    seed: &str,
    significance: f64,
) -> JsResult {
    let (setting, at) = (question::setting(setting)?, question::at(at)?);
    let (draws, seed) = (whole("draws", draws, 0)?, seed_or_fresh(seed)?);
    to_js(&drawn(setting, at, draws, seed, significance)?)
}

/// An estimate of the exact pair from so many draws of one epoch, without whole runs: that of `pair`
/// where the draws are as many.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "PairEstimate")]
pub fn pair_estimate(
    #[wasm_bindgen(unchecked_param_type = "Setting")] setting: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "At")] at: &JsValue,
    draws: f64,
    seed: &str,
) -> JsResult {
    let (setting, at) = (question::setting(setting)?, question::at(at)?);
    let (draws, seed) = (whole("draws", draws, 1)?, seed_or_fresh(seed)?);
    to_js(&estimated(setting, at, draws, seed)?)
}
