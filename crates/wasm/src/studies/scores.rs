//! Scores of simulated observations, for a picture.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::BatchedGaussian;
use dpscope_engine::EngineError;
use dpscope_report::record::input::Mechanism;
use dpscope_shaders::{Phase, ScoreKernel};
use js_sys::Object;
use wasm_bindgen::prelude::*;

use crate::failure::{Failure, FailureKind};
use crate::input::{integer, read};
use crate::output::object;
use crate::seed::seed_or_fresh;

/// Observations of each world.
const MAX_OBSERVATIONS: u64 = 20_000;

/// Normals of both worlds: a second or two of one core.
const MAX_NORMALS: u64 = 400_000_000;

/// Scores of the first observations of each world in nats: those of an audit with the same seed.
pub(crate) fn drawn(
    mechanism: &BatchedGaussian,
    observations: u64,
    seed: u64,
) -> Result<[Vec<f64>; 2], Failure> {
    if !(1..=MAX_OBSERVATIONS).contains(&observations) {
        return Err(Failure::outside("observations", observations as f64, "in 1 to 20000"));
    }
    let kernel = ScoreKernel::new(&mechanism.distribution()?, seed, Phase::Audit)
        .map_err(EngineError::from)?;
    let normals = kernel.entries_per_observation().saturating_mul(2 * observations);
    if normals > MAX_NORMALS {
        let message = "so many observations of so many steps take too long; use fewer of either";
        return Err(Failure::of(FailureKind::Limit, message));
    }
    let scores = |world| -> Result<Vec<f64>, Failure> {
        let mut units = vec![0; observations as usize];
        let drawn = kernel.scores(world, 0, &mut units, &|| true);
        drawn.map_err(|_| Failure::of(FailureKind::Stopped, "stopped"))?;
        Ok(units.into_iter().map(|score: i64| score as f64 * kernel.score_unit()).collect())
    };
    Ok([scores(World::Target)?, scores(World::ZeroOut)?])
}

/// Scores of `observations` of each world, nats: the first ones of an audit with the same seed.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Scores")]
pub fn scores(
    #[wasm_bindgen(unchecked_param_type = "Mechanism")] mechanism: &JsValue,
    observations: f64,
    seed: &str,
) -> Result<Object, Failure> {
    let mechanism = read::<Mechanism>(mechanism, "mechanism")?.try_into()?;
    let observations = integer("observations", observations, 1)?;
    let [target, zero_out] = drawn(&mechanism, observations, seed_or_fresh(seed)?)?;
    object([("target", target.into()), ("zero_out", zero_out.into())])
}
