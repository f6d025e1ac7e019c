//! The conclusion from bounds that a page has.

use dpscope_core::accounting::KnownBound;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::SamplerKind;
use dpscope_report::words::Conclusion;
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::input::{named, numbers};
use crate::output::{JsResult, to_js};

/// What the bounds of a sampler imply for the claim of Poisson accounting and for that of the reader,
/// both under add/remove adjacency.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Conclusion")]
pub fn conclusion(
    #[wasm_bindgen(unchecked_param_type = "SamplerKind")] sampler: &str,
    #[wasm_bindgen(unchecked_param_type = "{ [bound in KnownBound]?: number }")] epsilons: &JsValue,
    significance: f64,
    claim: Option<f64>,
) -> JsResult {
    let epsilons = numbers(epsilons, "epsilons")?;
    to_js(&concluded(named("sampler", sampler)?, epsilons, significance, checked(claim)?)?)
}

/// A claim is a finite number from 0.
pub(crate) fn checked(claim: Option<f64>) -> Result<Option<f64>, Failure> {
    match claim {
        Some(epsilon) if !(0.0..f64::INFINITY).contains(&epsilon) => {
            Err(Failure::outside("claim", epsilon, "a finite number from 0"))
        }
        _ => Ok(claim),
    }
}

pub(crate) fn concluded(
    sampler: SamplerKind,
    epsilons: Vec<(String, f64)>,
    significance: f64,
    claim: Option<f64>,
) -> Result<Conclusion, Failure> {
    let mut known: Vec<(KnownBound, f64)> = Vec::new();
    for (name, epsilon) in epsilons {
        known.push((named("epsilons", &name)?, epsilon));
    }
    let epsilon = |wanted| known.iter().find(|(bound, _)| *bound == wanted).map(|known| known.1);
    let claim = claim.map(|epsilon| (epsilon, Adjacency::AddRemove));
    Ok(Conclusion::new(sampler, significance, claim, epsilon))
}
