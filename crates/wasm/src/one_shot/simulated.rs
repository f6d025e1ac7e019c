//! Simulated noisy sums of canary directions, and how often each rule exceeds the truth.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use dpscope_core::audit::one_shot::{
    AnyMechanism, CanaryDesign, CosineNull, EpsilonEstimator, Gdp, IndependentCanaries, NullTails,
    OneShotError, SimultaneousRule,
};
use dpscope_core::gdp::gdp_epsilon;
use dpscope_core::math;
use dpscope_core::random::{Purpose, Words};
use dpscope_report::record::OneShotEstimate;
use dpscope_report::record::input::NoisySumSimulation;
use dpscope_report::record::page::{CosineBin, RuleValue, RunsAbove, RunsAboveTruth, SimulatedSum};
use dpscope_report::words::{OneShotRule, one_shot_rule};
use dpscope_simulation::noisy_sum::{CosineDraws, CosineMethod, NoisySumPlan, PublishedRule};
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::input::{integer, read};
use crate::output::{JsResult, to_js};
use crate::seed::seed_or_fresh;

/// Canaries of a picture: each number of them has its own bands.
const MOST_CANARIES: u64 = 3_000;
/// Sums to which a canary is added.
const MOST_PRESENTATIONS: u64 = 1_000;
/// Runs of one call.
const MOST_RUNS: u64 = 1_000;
/// Width of a bin in standard deviations of the null distribution, and the most bins.
const BIN_WIDTH: f64 = 0.25;
const MOST_BINS: f64 = 120.0;
/// The null distribution is drawn to this many standard deviations.
const SHOWN_SDS: f64 = 4.5;

/// Noisy sums of one mechanism, simulated and audited.
#[wasm_bindgen]
#[derive(Debug)]
pub struct NoisySums {
    plan: NoisySumPlan,
    mu: f64,
    truth: f64,
    null: CosineNull,
    rule: SimultaneousRule,
    draws: CosineDraws,
    /// By the number of canaries.
    solved: BTreeMap<u64, Solved>,
}

/// Rules for one number of canaries.
#[derive(Debug)]
struct Solved {
    independent: IndependentCanaries,
    published: PublishedRule,
}

impl Solved {
    fn new(canaries: u64, significance: f64) -> Result<Self, Failure> {
        let published = PublishedRule::new(canaries, significance);
        Ok(Self {
            independent: IndependentCanaries::new(canaries, significance)?,
            published: published.map_err(|error| Failure::rejected(&error))?,
        })
    }
}

/// What each rule shows of one run.
struct Shown {
    epsilon: f64,
    independent_epsilon: f64,
    independent_gdp_mu: f64,
    published: f64,
}

impl From<OneShotError> for Failure {
    fn from(error: OneShotError) -> Self {
        Failure::rejected(&error)
    }
}

impl NoisySums {
    /// # Errors
    /// A field outside its domain.
    pub(crate) fn of(asked: &NoisySumSimulation) -> Result<Self, Failure> {
        let &NoisySumSimulation { presentations, canaries, delta, significance, .. } = asked;
        if !(1..=MOST_CANARIES).contains(&canaries) {
            return Err(Failure::outside("canaries", canaries as f64, "in 1 to 3000"));
        }
        if !(1..=MOST_PRESENTATIONS).contains(&presentations) {
            let found = presentations as f64;
            return Err(Failure::outside("presentations", found, "in 1 to 1000"));
        }
        if !(asked.noise_multiplier > 0.0) {
            let found = asked.noise_multiplier;
            return Err(Failure::outside("noise_multiplier", found, "positive"));
        }
        if !(delta > 0.0) {
            return Err(Failure::outside("delta", delta, "in (0, 1)"));
        }
        let plan = NoisySumPlan {
            dimension: asked.dimension,
            noise_multiplier: asked.noise_multiplier / (presentations as f64).sqrt(),
            design: CanaryDesign::Poisson { mean: canaries as f64 },
            method: CosineMethod::Distribution,
            repeats: 1,
            delta,
            significance,
            seed: seed_or_fresh(&asked.seed)?,
        };
        plan.check_fields().map_err(|error| Failure::rejected(&error))?;
        let mu = plan.noise_multiplier.recip();
        Ok(Self {
            mu,
            truth: gdp_epsilon(mu, delta).map_err(|error| Failure::rejected(&error))?,
            null: CosineNull::new(plan.dimension)?,
            rule: AnyMechanism::new(plan.design)?.simultaneous_rule(delta, significance)?,
            draws: CosineDraws::new(plan.dimension, plan.noise_multiplier, plan.seed),
            solved: BTreeMap::new(),
            plan,
        })
    }

    fn cosines(&mut self, run: u64) -> Vec<f64> {
        let mut cosines = Vec::new();
        self.draws.cosines(run, self.plan.canaries(run) as usize, &mut cosines);
        cosines
    }

    fn shown(&mut self, tails: &NullTails) -> Result<Shown, Failure> {
        let NoisySumPlan { delta, significance, .. } = self.plan;
        let epsilon = self.rule.epsilon_lower(tails)?;
        let canaries = tails.len() as u64;
        if canaries == 0 {
            let nothing = (0.0, 0.0, 0.0);
            let (independent_epsilon, independent_gdp_mu, published) = nothing;
            return Ok(Shown { epsilon, independent_epsilon, independent_gdp_mu, published });
        }
        let Solved { independent, published } = match self.solved.entry(canaries) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Solved::new(canaries, significance)?),
        };
        Ok(Shown {
            epsilon,
            independent_epsilon: independent.epsilon_lower(tails, delta)?,
            independent_gdp_mu: Gdp::new(independent).mu_lower(tails)?,
            published: published.epsilon(tails, delta),
        })
    }

    /// The cosines of the canaries that were not in, by rising value.
    fn bins(&self, cosines: &[f64]) -> Result<Vec<CosineBin>, Failure> {
        let scale = (self.plan.dimension as f64).sqrt();
        let low = cosines.iter().fold(-SHOWN_SDS, |least, &cosine| least.min(scale * cosine));
        let high = cosines.iter().fold(SHOWN_SDS, |most, &cosine| most.max(scale * cosine));
        let width = BIN_WIDTH.max((high - low) / MOST_BINS);
        let (first, last) = ((low / width).floor(), (high / width).ceil());
        let edge = |place: f64| (place * width / scale).clamp(-1.0, 1.0);
        let tail = |cosine: f64| self.null.ln_tail(cosine).map(math::exp);
        let count = (last - first) as usize;
        let mut bins = Vec::with_capacity(count);
        for bin in 0..count {
            let place = first + bin as f64;
            let (from, to) = (edge(place), edge(place + 1.0));
            let expected = cosines.len() as f64 * (tail(from)? - tail(to)?);
            bins.push(CosineBin { from, to, canaries: 0, expected });
        }
        for cosine in cosines {
            let bin = (scale * cosine / width - first) as usize;
            if let Some(bin) = bins.get_mut(bin.min(count.saturating_sub(1))) {
                bin.canaries += 1;
            }
        }
        Ok(bins)
    }

    pub(crate) fn first(&mut self) -> Result<SimulatedSum, Failure> {
        let cosines = self.cosines(0);
        let tails = self.null.tails(&cosines)?;
        let shown = self.shown(&tails)?;
        let NoisySumPlan { delta, noise_multiplier, .. } = self.plan;
        let by_curve = gdp_epsilon(shown.independent_gdp_mu, delta);
        let by_curve = by_curve.map_err(|error| Failure::rejected(&error))?;
        let rule = |rule: OneShotRule, epsilon: f64| {
            let (name, assumption) = one_shot_rule(rule);
            RuleValue { rule, name, epsilon, gdp_mu: None, assumption }
        };
        let gaussian = RuleValue {
            gdp_mu: Some(shown.independent_gdp_mu),
            ..rule(OneShotRule::Gaussian, by_curve)
        };
        let canaries = cosines.len() as u64;
        let estimate = |method: EpsilonEstimator| -> Option<OneShotEstimate> {
            Some(OneShotEstimate {
                method,
                epsilon: method.epsilon(&self.null, &cosines, delta).ok()?,
                null_range: method.null_range(canaries, delta, 0.1).ok()?,
            })
        };
        Ok(SimulatedSum {
            truth: self.truth,
            gdp_mu: self.mu,
            noise_multiplier,
            canaries,
            rules: vec![
                rule(OneShotRule::AnyMechanism, shown.epsilon),
                rule(OneShotRule::Independent, shown.independent_epsilon),
                gaussian,
                rule(OneShotRule::Published, shown.published),
            ],
            estimate: estimate(EpsilonEstimator::Mean),
            canaries_lost_to_delta: self.rule.allowance().canaries(),
            bins: self.bins(&cosines)?,
        })
    }

    /// Counts bounds above the truth in runs `first` to `first + runs − 1`.
    pub(crate) fn above_truth(&mut self, first: u64, runs: u64) -> Result<RunsAboveTruth, Failure> {
        if !(1..=MOST_RUNS).contains(&runs) {
            return Err(Failure::outside("runs", runs as f64, "in 1 to 1000"));
        }
        let (mut with_leak, mut without_leak) = (RunsAbove::default(), RunsAbove::default());
        for run in first..first.saturating_add(runs) {
            let cosines = self.cosines(run);
            let shown = self.shown(&self.null.tails(&cosines)?)?;
            with_leak.count(&shown, self.truth, self.mu);
            // p-values of canaries that are not in are uniform
            let mut words = Words::new(self.plan.seed, Purpose::OneRunAudit, run);
            let uniform = cosines.iter().map(|_| math::ln(words.uniform())).collect();
            let shown = self.shown(&NullTails::new(uniform)?)?;
            without_leak.count(&shown, 0.0, 0.0);
        }
        Ok(RunsAboveTruth { runs, with_leak, without_leak })
    }
}

/// Counts of [`RunsAbove`].
trait Count {
    fn count(&mut self, shown: &Shown, truth: f64, mu: f64);
}

impl Count for RunsAbove {
    fn count(&mut self, shown: &Shown, truth: f64, mu: f64) {
        self.any_mechanism += u64::from(shown.epsilon > truth);
        self.independent += u64::from(shown.independent_epsilon > truth);
        self.gaussian += u64::from(shown.independent_gdp_mu > mu);
        self.published += u64::from(shown.published > truth);
    }
}

#[wasm_bindgen]
impl NoisySums {
    /// Noisy sums of this mechanism.
    ///
    /// # Errors
    /// A `Failure` that names the input.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "NoisySumSimulation")] asked: &JsValue,
    ) -> Result<NoisySums, Failure> {
        Self::of(&read(asked, "asked")?)
    }

    /// The first run: its cosines, and what each rule shows.
    ///
    /// # Errors
    /// A `Failure`.
    #[wasm_bindgen(unchecked_return_type = "SimulatedSum")]
    pub fn simulated(&mut self) -> JsResult {
        to_js(&self.first()?)
    }

    /// How often each rule exceeds the truth in runs `first` to `first + runs − 1`.
    ///
    /// # Errors
    /// A `Failure` that names the input.
    #[wasm_bindgen(unchecked_return_type = "RunsAboveTruth")]
    pub fn runs(&mut self, first: f64, runs: f64) -> JsResult {
        to_js(&self.above_truth(integer("first", first, 0)?, integer("runs", runs, 1)?)?)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn asked(noise_multiplier: f64, presentations: u64, canaries: u64) -> NoisySumSimulation {
        NoisySumSimulation {
            noise_multiplier,
            presentations,
            canaries,
            dimension: 1_000_000,
            delta: 1e-6,
            significance: 0.05,
            seed: "3".to_owned(),
        }
    }

    fn sums(asked: &NoisySumSimulation) -> NoisySums {
        NoisySums::of(asked).unwrap()
    }

    pub(crate) fn examples() -> (SimulatedSum, RunsAboveTruth) {
        let mut sums = sums(&asked(1.0, 1, 50));
        (sums.first().unwrap(), sums.above_truth(0, 1).unwrap())
    }

    #[test]
    fn bounds_stand_below_the_truth_and_bins_hold_every_canary() {
        let found = sums(&asked(1.0, 1, 400)).first().unwrap();
        assert!((found.truth - gdp_epsilon(1.0, 1e-6).unwrap()).abs() < 1e-12);
        let [any, independent, gaussian, _] = &found.rules[..] else { unreachable!() };
        assert!(any.epsilon > 0.3 && any.epsilon < found.truth, "{any:?}");
        assert!(independent.epsilon > 0.3 && independent.epsilon < found.truth);
        assert!(gaussian.gdp_mu > Some(0.8) && gaussian.gdp_mu < Some(1.0), "{gaussian:?}");
        let counted: u64 = found.bins.iter().map(|bin| bin.canaries).sum();
        let expected: f64 = found.bins.iter().map(|bin| bin.expected).sum();
        assert_eq!(counted, found.canaries);
        assert!((expected / found.canaries as f64 - 1.0).abs() < 1e-4, "{expected}");
    }

    #[test]
    fn presentations_are_sums_with_less_noise() {
        let (four, one) = (sums(&asked(2.0, 4, 100)).first(), sums(&asked(1.0, 1, 100)).first());
        assert_eq!(four.unwrap(), one.unwrap());
    }

    #[test]
    fn bounds_keep_their_level_and_the_published_rule_does_not() {
        // 200 runs at 5 %: at most 10 + 4 standard errors of 3.1
        let found = sums(&asked(1.0, 1, 200)).above_truth(0, 200).unwrap();
        for above in [found.with_leak, found.without_leak] {
            let RunsAbove { any_mechanism, independent, gaussian, .. } = above;
            assert!(any_mechanism.max(independent).max(gaussian) <= 22, "{found:?}");
        }
        assert!(found.without_leak.published > 100, "the mutant: {found:?}");
    }

    #[test]
    fn runs_in_parts_are_runs_at_once() {
        let asked = asked(1.0, 1, 60);
        let at_once = sums(&asked).above_truth(0, 40).unwrap();
        let mut parts = sums(&asked);
        let (one, other) = (parts.above_truth(0, 15).unwrap(), parts.above_truth(15, 25).unwrap());
        let published = one.without_leak.published + other.without_leak.published;
        assert_eq!(published, at_once.without_leak.published);
        let any = one.with_leak.any_mechanism + other.with_leak.any_mechanism;
        assert_eq!((one.runs + other.runs, any), (40, at_once.with_leak.any_mechanism));
    }

    #[test]
    fn arguments_outside_their_domain_are_refused() {
        for (asked, part) in [
            (asked(0.0, 1, 100), "noise_multiplier"),
            (asked(1e-3, 1, 100), "noise multiplier"),
            (asked(1.0, 0, 100), "presentations"),
            (asked(1.0, 1, 5_000), "canaries"),
            (NoisySumSimulation { dimension: 10, ..asked(1.0, 1, 100) }, "dimension"),
            (NoisySumSimulation { delta: 0.0, ..asked(1.0, 1, 100) }, "delta"),
        ] {
            let refused = NoisySums::of(&asked).unwrap_err().message;
            assert!(refused.contains(part), "{refused}");
        }
        assert!(sums(&asked(1.0, 1, 10)).above_truth(0, 100_000).is_err());
    }
}
