//! What canaries are expected to show.

use dpscope_core::audit::one_shot::{
    AnyMechanism, CanaryDesign, EpsilonEstimator, GaussianLeak, most_canaries,
};
use dpscope_core::gdp::gdp_mu_for;
use dpscope_report::record::input::OneShotQuestion;
use dpscope_report::record::page::OneShotSize;
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::input::read;
use crate::output::{JsResult, to_js};

/// Canaries of a page: their bands take a second or less.
const MOST_CANARIES: u64 = 20_000;

pub(crate) fn expected(asked: &OneShotQuestion) -> Result<OneShotSize, Failure> {
    let &OneShotQuestion { canaries, epsilon, delta, significance } = asked;
    if !(2..=MOST_CANARIES).contains(&canaries) {
        return Err(Failure::outside("canaries", canaries as f64, "in 2 to 20000"));
    }
    if !(delta > 0.0) {
        return Err(Failure::outside("delta", delta, "in (0, 1)"));
    }
    let mean = canaries as f64;
    let gdp_mu = gdp_mu_for(epsilon, delta)
        .map_err(|error| Failure { field: Some("epsilon"), ..Failure::rejected(&error) })?;
    let rule = AnyMechanism::new(CanaryDesign::Poisson { mean })?
        .simultaneous_rule(delta, significance)?;
    Ok(OneShotSize {
        gdp_mu,
        median_epsilon: GaussianLeak::new(gdp_mu)?.epsilon_shown(&rule, mean, 0.5, 1)?,
        null_range: EpsilonEstimator::Mean.null_range(canaries, delta, 0.1)?,
        most_canaries: most_canaries(delta, significance)?,
    })
}

/// What the canaries of a Gaussian leak of this ε are expected to show: `dpscope plan federated`.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "OneShotSize")]
pub fn one_shot_size(
    #[wasm_bindgen(unchecked_param_type = "OneShotQuestion")] asked: &JsValue,
) -> JsResult {
    to_js(&expected(&read(asked, "asked")?)?)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn asked(canaries: u64, epsilon: f64) -> OneShotQuestion {
        OneShotQuestion { canaries, epsilon, delta: 1e-6, significance: 0.05 }
    }

    pub(crate) fn example() -> OneShotSize {
        expected(&asked(100, 4.0)).unwrap()
    }

    #[test]
    fn more_canaries_show_more() {
        let [few, many] = [100, 1_000].map(|canaries| expected(&asked(canaries, 4.0)).unwrap());
        assert_eq!(few.gdp_mu, many.gdp_mu);
        assert!(few.median_epsilon < many.median_epsilon && many.median_epsilon < 4.0);
        assert!(many.null_range[1] < few.null_range[1], "{many:?}");
        assert!((many.most_canaries - 1e4).abs() < 1e-6);
    }

    #[test]
    fn arguments_outside_their_domain_are_refused() {
        for (asked, field) in [
            (asked(1, 1.0), "canaries"),
            (asked(1 << 40, 1.0), "canaries"),
            (asked(100, f64::NAN), "epsilon"),
            (OneShotQuestion { delta: 0.0, ..asked(100, 1.0) }, "delta"),
        ] {
            assert_eq!(expected(&asked).unwrap_err().field, Some(field));
        }
    }
}
