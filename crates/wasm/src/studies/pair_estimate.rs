//! The exact pair without whole runs: a first answer, which more draws refine.

use dpscope_core::theory::{At, Cell, Setting};
use dpscope_engine::backend::CpuBackend;
use dpscope_engine::pair::PairSampler;
use dpscope_engine::{Backend, Unattended};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::plain::{Made, to_js};
use crate::question;
use crate::record::whole;
use crate::seed::seed_or_fresh;

#[derive(Debug, Serialize)]
pub(crate) struct PairEstimate {
    pub(crate) estimate: Cell,
    pub(crate) observations: u64,
    pub(crate) seed: String,
}

pub(crate) fn estimated(
    setting: Setting,
    at: At,
    draws: u64,
    seed: u64,
) -> Result<PairEstimate, Failure> {
    // An estimate has no significance, and the limit that comes with it is left out.
    let significance = 0.05;
    let sampler = PairSampler { seed, observations: Some(draws), significance, whole_runs: false };
    let backend = Backend::Cpu(CpuBackend::new(1)?);
    let found = sampler.rows(setting, at, &backend, &Unattended)?;
    Ok(PairEstimate { estimate: found.estimate, observations: draws, seed: seed.to_string() })
}

/// An estimate of the exact pair from so many draws of one epoch: that of `pair` where the draws are
/// as many.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "PairEstimate")]
pub fn pair_estimate(
    #[wasm_bindgen(unchecked_param_type = "Setting")] setting: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "At")] at: &JsValue,
    draws: f64,
    seed: &str,
) -> Made {
    let (setting, at) = (question::setting(setting)?, question::at(at)?);
    let (draws, seed) = (whole("draws", draws, 1)?, seed_or_fresh(seed)?);
    to_js(&estimated(setting, at, draws, seed)?)
}
