//! Many epochs of the exact pair: whole runs by importance sampling, and the plug-in distribution.

use super::one_epoch::{largest_at_least, parts};
use super::source::PairDraws;
use super::tally::{Tally, bernstein};
use super::tilt::{FittedProposal, fitted};
use crate::accounting::Training;
use crate::accounting::{AccountingError, Given, PrivacyLossDistribution};
use crate::math;
use crate::special::normal_cdf;

/// Standard errors by which the tested ε is below the value expected of the main draws.
const CAUTION: f64 = 1.0;

/// Independent parts of the draws; their spread yields the standard error of a plug-in.
const PARTS: usize = 8;

/// Most candidates of one epoch.
const MOST_CANDIDATES: f64 = 64.0;

/// About the most error that the grid of a plug-in adds to ln δ.
const MOST_GRID_ERROR: f64 = 1e-3;

/// About the most that it adds to ε, nats.
const MOST_EPSILON_ERROR: f64 = 1e-4;

/// A run of all epochs.
#[derive(Debug, Clone, Copy)]
struct RunDraw {
    /// Privacy loss of the run, Σ_e L_e
    loss: f64,
    /// ln of the weight of the run, Σ_e ln w_e
    ln_weight: f64,
}

impl RunDraw {
    /// Weighted contribution of the run to δ(ε), w (1 − e^{ε−L})₊
    fn value(&self, epsilon: f64) -> f64 {
        if self.loss > epsilon {
            -math::exp_m1(epsilon - self.loss) * math::exp(self.ln_weight)
        } else {
            0.0
        }
    }
}

/// ε or δ from whole runs.
pub(super) struct RunsOutcome {
    /// A lower limit, unless the tested ε failed.
    pub(super) proven: Option<f64>,
    pub(super) estimate: f64,
    pub(super) standard_error: f64,
}

/// Runs that choose parameters, independent of those of the limit.
struct RunsPilot {
    draws: Vec<RunDraw>,
    main_draws: f64,
    significance: f64,
}

impl RunsPilot {
    fn tally(&self, epsilon: f64, most: f64) -> Tally {
        let mut tally = Tally::default();
        tally.extend(self.draws.iter().map(|draw| draw.value(epsilon).min(most)));
        tally
    }

    /// The δ that the main draws are expected to prove.
    fn provable(&self, epsilon: f64, most: f64) -> f64 {
        let values = self.tally(epsilon, most);
        let (variance, main) = (values.variance(), self.main_draws);
        let spread = (variance * (1.0 / values.count + 1.0 / main)).sqrt();
        values.mean - CAUTION * spread - bernstein(variance, most, self.significance, main)
    }

    /// Truncation τ of values with which the main draws are expected to prove the largest δ.
    fn best_truncation(&self, epsilon: f64) -> f64 {
        let values = self.draws.iter().map(|draw| draw.value(epsilon));
        let largest = values.fold(f64::MIN_POSITIVE, f64::max);
        let truncations = (0..24).map(|index| 2.0 * largest * math::powi(0.6, index));
        let provable = |most: &f64| self.provable(epsilon, *most);
        truncations.max_by(|a, b| provable(a).total_cmp(&provable(b))).unwrap_or(largest)
    }
}

/// The pilot of whole runs, each epoch drawn near P tilted towards the target.
fn runs_pilot<S: PairDraws>(
    run: &Training,
    given: Given,
    (draws, significance): (usize, f64),
    source: &mut S,
) -> Result<(FittedProposal, RunsPilot, usize), S::Error> {
    let fitted = fitted(run, given, source)?;
    let (pilot_size, main_size) = parts(draws);
    let mut draws = Vec::with_capacity(pilot_size);
    each_run(&fitted, run.epochs, pilot_size, source, |draw| draws.push(draw))?;
    Ok((fitted, RunsPilot { draws, main_draws: main_size as f64, significance }, main_size))
}

/// ε from whole runs.
pub(super) fn runs_epsilon<S: PairDraws>(
    run: &Training,
    delta: f64,
    (draws, significance): (usize, f64),
    source: &mut S,
) -> Result<RunsOutcome, S::Error> {
    let (fitted, pilot, main_size) =
        runs_pilot(run, Given::Delta(delta), (draws, significance), source)?;
    let highest = pilot.draws.iter().map(|draw| draw.loss).fold(0.0, f64::max);
    let near = largest_at_least(delta, 0.0, highest, |e| pilot.tally(e, f64::INFINITY).mean);
    let most = pilot.best_truncation(near);
    let tested = nearest_below(delta, near, |e| pilot.provable(e, most));

    let (mut limited, mut estimated) = (Tally::default(), Tally::default());
    let mut slope = Tally::default();
    each_run(&fitted, run.epochs, main_size, source, |draw| {
        let density = math::exp(draw.ln_weight);
        limited.add(draw.value(tested).min(most));
        estimated.add(draw.value(near));
        slope.add(if draw.loss > near { density * math::exp(near - draw.loss) } else { 0.0 });
    })?;
    let proven = proven_delta(&limited, most, significance) >= delta;
    // one step of Newton's method for ln δ, from the pilot's ε
    let steepness = slope.mean / estimated.mean;
    let moved = math::ln(estimated.mean / delta) / steepness;
    let relative_error = estimated.standard_error() / estimated.mean;
    let known = steepness > 0.0 && estimated.mean > 0.0;
    Ok(RunsOutcome {
        proven: proven.then_some(tested),
        estimate: if known { (near + moved.clamp(-1.0, 1.0)).max(0.0) } else { 0.0 },
        standard_error: if known { relative_error / steepness } else { 0.0 },
    })
}

/// δ from whole runs.
pub(super) fn runs_delta<S: PairDraws>(
    run: &Training,
    epsilon: f64,
    (draws, significance): (usize, f64),
    source: &mut S,
) -> Result<RunsOutcome, S::Error> {
    let (fitted, pilot, main_size) =
        runs_pilot(run, Given::Epsilon(epsilon), (draws, significance), source)?;
    let most = pilot.best_truncation(epsilon);
    let (mut limited, mut estimated) = (Tally::default(), Tally::default());
    each_run(&fitted, run.epochs, main_size, source, |draw| {
        limited.add(draw.value(epsilon).min(most));
        estimated.add(draw.value(epsilon));
    })?;
    Ok(RunsOutcome {
        proven: Some(proven_delta(&limited, most, significance)),
        estimate: estimated.mean,
        standard_error: estimated.standard_error(),
    })
}

/// A limit of δ from below; the factor is for the rounding of weights.
fn proven_delta(limited: &Tally, most: f64, significance: f64) -> f64 {
    (1.0 - 1e-9) * limited.lower_limit(most, significance)
}

/// The first ε below `near` at which `value_at` reaches `target`, by growing steps; 0 if there is
/// none.
///
/// Far below, without draws, `value_at` is noise, so the search starts at `near`.
fn nearest_below(target: f64, near: f64, value_at: impl Fn(f64) -> f64) -> f64 {
    let (mut outside, mut step) = (near, 2e-3 * (1.0 + near));
    while outside > 0.0 {
        let inside = (outside - step).max(0.0);
        if value_at(inside) >= target {
            return largest_at_least(target, inside, outside, value_at);
        }
        (outside, step) = (inside, 1.3 * step);
    }
    0.0
}

/// Draws whole runs: an epoch is one of K candidates, selected with probability proportional to v =
/// w e^{θL}, and has the weight e^{−θL} mean v.
///
/// For any g, E[mean(v) e^{−θL} g(L)] over the pick is the mean of w g(L) over the candidates, so
/// weights are exact; their variance falls by the factor K.
fn each_run<S: PairDraws>(
    fitted: &FittedProposal,
    epochs: u64,
    runs: usize,
    source: &mut S,
    mut each: impl FnMut(RunDraw),
) -> Result<(), S::Error> {
    let FittedProposal { proposal, tilt, relative_variance } = fitted;
    let required = 2.0 * epochs as f64 * relative_variance;
    let candidates = required.ceil().clamp(1.0, MOST_CANDIDATES) as usize;
    let mut picks = vec![0.0; epochs as usize];
    let mut kept = Vec::with_capacity(candidates);
    for _ in 0..runs {
        source.normals(&mut picks)?;
        let mut run = RunDraw { loss: 0.0, ln_weight: 0.0 };
        let mut epoch = 0;
        source.draws(proposal, candidates * epochs as usize, &mut |draw| {
            kept.push((draw.loss, draw.weight));
            if kept.len() == candidates {
                let largest = kept.iter().map(|(loss, _)| *loss).fold(f64::NEG_INFINITY, f64::max);
                // v/e^{θ max L}, as e^{θL} may overflow
                kept.iter_mut().for_each(|(loss, v)| *v *= math::exp(tilt * (*loss - largest)));
                let loss = picked(&kept, normal_cdf(picks[epoch]));
                let mean = kept.iter().map(|(_, v)| v).sum::<f64>() / candidates as f64;
                run.loss += loss;
                run.ln_weight += math::ln(mean) + tilt * (largest - loss);
                kept.clear();
                epoch += 1;
            }
        })?;
        each(run);
    }
    Ok(())
}

/// The loss at a share of the cumulative values.
fn picked(candidates: &[(f64, f64)], share: f64) -> f64 {
    let mut left = share * candidates.iter().map(|(_, value)| value).sum::<f64>();
    for (loss, value) in candidates {
        left -= value;
        if left < 0.0 {
            return *loss;
        }
    }
    candidates.iter().rev().find(|(_, value)| *value > 0.0).map_or(f64::NEG_INFINITY, |c| c.0)
}

/// Grid of a plug-in.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlugInGrid {
    /// Nats.
    pub(super) step: f64,
    /// About the most error of ln δ.
    pub(super) error: f64,
    /// The larger of θ and one over the least standard deviation of Σ L.
    tilt: f64,
}

impl PlugInGrid {
    /// Fine, but so wide that the losses of P lie on it.
    ///
    /// A loss spread over two neighbours gains at most step²/4 of variance. As E 1 and E e^{−L} are
    /// preserved, ln E e^{θL} of E epochs gains at most θ (θ + 1) E step²/8. Near ε = 0, where θ is
    /// small, δ is the mean of Σ L above ε, and depends on its variance v as 1/v does.
    pub(super) fn new(run: &Training, tilt: f64) -> Self {
        let s = run.noise_multiplier;
        let least_deviation = (run.epochs as f64 / run.steps_per_epoch as f64).sqrt() / s;
        let tilt = tilt.max(1.0 / least_deviation);
        // L ≤ (max_t x_t − 1.5)/σ²
        let largest = s * (10.0 + (2.0 * math::ln(run.steps_per_epoch as f64)).sqrt());
        let highest = (0.5 + largest) / (s * s);
        let gain = tilt * (tilt + 1.0) * run.epochs as f64 / 8.0;
        let fine = (MOST_GRID_ERROR.min(MOST_EPSILON_ERROR * tilt) / gain).sqrt();
        let step = fine.max(highest / (0.25 * FURTHEST));
        PlugInGrid { step, error: gain * step * step, tilt }
    }

    /// About the most error of ε.
    pub(super) fn epsilon_error(&self) -> f64 {
        self.error / self.tilt
    }
}

/// An estimate and its errors.
pub(super) struct PlugInOutcome {
    pub(super) value: f64,
    pub(super) standard_error: f64,
    pub(super) grid: PlugInGrid,
}

/// ε or δ of E epochs from the empirical distribution of one epoch's L, and its standard error.
pub(super) fn plug_in<S: PairDraws>(
    run: &Training,
    given: Given,
    draws: usize,
    source: &mut S,
) -> Result<PlugInOutcome, S::Error> {
    let FittedProposal { proposal, tilt, .. } = fitted(run, given, source)?;
    let grid = PlugInGrid::new(run, tilt);
    let step = grid.step;
    let mut distributions = Vec::with_capacity(PARTS);
    for _ in 0..PARTS {
        let mut distribution = SampledDistribution::new(step);
        source.draws(&proposal, draws / PARTS, &mut |draw| {
            distribution.add(draw.loss, draw.weight);
        })?;
        distributions.push(distribution);
    }
    let value_of = |distributions: &[SampledDistribution]| {
        let distribution = SampledDistribution::pooled(distributions, step)?
            .self_composed_near(run.epochs, given)?;
        match given {
            Given::Delta(delta) => distribution.epsilon_at(delta),
            Given::Epsilon(epsilon) => distribution.delta_at(epsilon),
        }
    };
    let mut parts = Tally::default();
    for distribution in &distributions {
        parts.add(value_of(std::slice::from_ref(distribution))?);
    }
    Ok(PlugInOutcome {
        value: value_of(&distributions)?,
        standard_error: parts.standard_error(),
        grid,
    })
}

/// Weights of drawn losses on a grid, each spread over its two neighbours such that E e^{−L} is
/// preserved.
struct SampledDistribution {
    step: f64,
    lowest: i64,
    masses: Vec<f64>,
}

/// Furthest grid point; losses beyond are moved there.
const FURTHEST: f64 = 2e6;

impl SampledDistribution {
    fn new(step: f64) -> Self {
        SampledDistribution { step, lowest: 0, masses: Vec::new() }
    }

    fn add(&mut self, loss: f64, weight: f64) {
        let place = (loss / self.step).clamp(-FURTHEST, FURTHEST);
        let below = place.floor();
        let share = math::exp_m1((below - place) * self.step) / math::exp_m1(-self.step);
        self.put(below as i64, weight * (1.0 - share));
        self.put(below as i64 + 1, weight * share);
    }

    fn put(&mut self, index: i64, weight: f64) {
        if self.masses.is_empty() {
            self.lowest = index;
        }
        if index < self.lowest {
            // doubled, so that growing is rare
            let more = (self.lowest - index) as usize + self.masses.len();
            self.masses.splice(0..0, std::iter::repeat_n(0.0, more));
            self.lowest -= more as i64;
        }
        let place = (index - self.lowest) as usize;
        if place >= self.masses.len() {
            self.masses.resize(place + 1, 0.0);
        }
        self.masses[place] += weight;
    }

    /// The distribution of all draws, with mass 1.
    fn pooled(
        distributions: &[SampledDistribution],
        step: f64,
    ) -> Result<PrivacyLossDistribution, AccountingError> {
        let mut all = SampledDistribution::new(step);
        for distribution in distributions {
            for (place, mass) in
                distribution.masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0)
            {
                all.put(distribution.lowest + place as i64, *mass);
            }
        }
        let total: f64 = all.masses.iter().sum();
        let masses = all.masses.into_iter().map(|mass| mass / total).collect();
        PrivacyLossDistribution::from_masses(step, all.lowest, masses, 0.0)
    }
}
