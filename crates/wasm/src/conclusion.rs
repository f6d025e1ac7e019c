//! The conclusion from bounds that a page has.

use dpscope_core::mechanism::SamplerKind;
use dpscope_report::words::{Conclusion, KnownBound};
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::plain::{JsResult, to_js};
use crate::question::named;
use crate::record::Record;

/// What the claim of Poisson accounting and the bounds of a sampler imply.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Conclusion")]
pub fn conclusion(
    #[wasm_bindgen(unchecked_param_type = "SamplerKind")] sampler: &str,
    #[wasm_bindgen(unchecked_param_type = "{ [bound in KnownBound]?: number }")] epsilons: &JsValue,
    significance: f64,
) -> JsResult {
    let epsilons = Record::read(epsilons, "epsilons", &KnownBound::NAMES.map(|(name, _)| name))?;
    to_js(&concluded(sampler, &epsilons, significance)?)
}

pub(crate) fn concluded(
    sampler: &str,
    epsilons: &Record,
    significance: f64,
) -> Result<Conclusion, Failure> {
    let sampler = named("sampler", &SamplerKind::ALL.map(|kind| (kind.name(), kind)), sampler)?;
    let mut known = Vec::new();
    for (name, bound) in KnownBound::NAMES {
        if let Some(epsilon) = epsilons.number(name)? {
            known.push((bound, epsilon));
        }
    }
    let epsilon = |wanted| known.iter().find(|(bound, _)| *bound == wanted).map(|known| known.1);
    Ok(Conclusion::new(sampler, significance, epsilon))
}
