//! A proposal for one of many epochs: close to P tilted by e^{θL}, under which Σ L is typically
//! near ε.

use super::proposal::{Component, Draw, Proposal, Shift};
use super::source::PairDraws;
use crate::accounting::Given;
use crate::accounting::Training;
use crate::math;

/// Draws of each of the two stages.
const STAGE_DRAWS: usize = 2_000;

/// Most steps of expectation and maximisation.
const MOST_STEPS: usize = 60;

/// Least probability of a component.
const LEAST: f64 = 0.01;

/// Tilt beyond which no output decides L alone.
const MOST_ALONE: f64 = 27.0;

/// ln δ below which no tilt is aimed at.
const LEAST_LN_DELTA: f64 = -70.0;

/// A proposal and its tilt.
pub(super) struct FittedProposal {
    pub(super) proposal: Proposal,
    /// Tilt θ of the losses.
    pub(super) tilt: f64,
    /// Variance of w e^{θL} over the square of its mean.
    pub(super) relative_variance: f64,
}

/// The proposal fitted to the tilt θ at which Chernoff's bound is least: of the ε at δ,
/// (E K(θ) − ln δ)/θ, or of ln δ at ε, E K(θ) − θε, with K(θ) = ln E_P e^{θL}.
///
/// Weights are exact for every fit: a poor one only increases the variance.
pub(super) fn fitted<S: PairDraws>(
    run: &Training,
    given: Given,
    source: &mut S,
) -> Result<FittedProposal, S::Error> {
    let broad = Proposal::new(run, library(run, 2.0));
    let draws = stage(&broad, source)?;
    let tilt = best_tilt(&draws, run, given);
    let near = Proposal::new(run, library(run, tilt));
    let tilted = TiltedDraws::new(&near, &stage(&near, source)?, tilt);
    let probabilities = tilted.maximum_likelihood();
    let relative_variance = tilted.relative_variance(&probabilities);
    let components = near.components().iter().zip(probabilities);
    let refit =
        |(component, probability): (&Component, f64)| Component { probability, ..*component };
    let proposal = Proposal::new(run, components.map(refit).collect());
    Ok(FittedProposal { proposal, tilt, relative_variance })
}

fn stage<S: PairDraws>(proposal: &Proposal, source: &mut S) -> Result<Vec<Draw>, S::Error> {
    let mut draws = Vec::with_capacity(STAGE_DRAWS);
    source.rough_draws(proposal, STAGE_DRAWS, &mut |draw| draws.push(draw))?;
    Ok(draws)
}

/// Shifts up to that of a slot whose output alone decides L, where e^{θx/σ²} moves a normal mean by
/// θ, and to that of all slots where their sum does, where it moves each by θ/T.
fn library(run: &Training, tilt: f64) -> Vec<Component> {
    let steps = run.steps_per_epoch as f64;
    let spread = run.noise_multiplier / steps.sqrt();
    let alone = tilt.min(MOST_ALONE);
    let together = (spread * tilt.min(1.0)).max(0.5 * tilt / steps);
    let mut shifts = vec![Shift::None];
    shifts.extend([0.25, 0.5, 0.75, 1.0, 1.5].map(|share| Shift::Target(share * alone)));
    shifts.extend([0.5, 1.0, 2.0].map(|share| Shift::All(share * together)));
    shifts.push(Shift::Other((4.0 * tilt + 4.0).round().clamp(1.0, 400.0) as u32));
    let probability = 1.0 / shifts.len() as f64;
    shifts.into_iter().map(|shift| Component { probability, shift }).collect()
}

fn best_tilt(draws: &[Draw], run: &Training, given: Given) -> f64 {
    let epochs = run.epochs as f64;
    let largest = draws.iter().map(|draw| draw.loss).fold(f64::NEG_INFINITY, f64::max);
    let chernoff = |tilt: f64| {
        let terms = draws.iter().map(|d| d.weight * math::exp(tilt * (d.loss - largest)));
        let cumulant = math::ln(terms.sum::<f64>() / draws.len() as f64) + tilt * largest;
        match given {
            Given::Delta(delta) => (epochs * cumulant - math::ln(delta)) / tilt,
            Given::Epsilon(epsilon) => epochs * cumulant - tilt * epsilon,
        }
    };
    // Both bounds are unimodal.
    let (mut low, mut high) = (0, index_of(most_tilt(run, given)));
    while low < high {
        let middle = (low + high) / 2;
        if chernoff(tilt_at(middle)) <= chernoff(tilt_at(middle + 1)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    tilt_at(low)
}

fn tilt_at(index: u32) -> f64 {
    0.05 * math::exp(0.1 * f64::from(index))
}

fn index_of(tilt: f64) -> u32 {
    (10.0 * math::ln(tilt / 0.05)).ceil() as u32
}

/// θ if L were normal with its least standard deviation, 1/(σ√T): the draws cannot tell that more is
/// too much.
fn most_tilt(run: &Training, given: Given) -> f64 {
    let ln_delta = match given {
        Given::Delta(delta) => math::ln(delta).max(LEAST_LN_DELTA),
        Given::Epsilon(_) => LEAST_LN_DELTA,
    };
    let precision = run.noise_multiplier * (run.steps_per_epoch as f64).sqrt();
    ((-2.0 * ln_delta / run.epochs as f64).sqrt() * precision).max(MOST_ALONE)
}

/// Draws of a proposal as draws of P tilted by e^{θL}.
struct TiltedDraws {
    /// Probabilities of the components.
    drawn: Vec<f64>,
    /// Densities of the components over P₁'s, one row per draw.
    ratios: Vec<Vec<f64>>,
    /// w e^{θL} of each, less a factor of all.
    weights: Vec<f64>,
}

impl TiltedDraws {
    fn new(proposal: &Proposal, draws: &[Draw], tilt: f64) -> Self {
        let components = proposal.components();
        let row = |draw| components.iter().map(|c| proposal.ratio(c.shift, draw)).collect();
        let largest = draws.iter().map(|draw| draw.loss).fold(f64::NEG_INFINITY, f64::max);
        let weight = |draw: &Draw| draw.weight * math::exp(tilt * (draw.loss - largest));
        TiltedDraws {
            drawn: components.iter().map(|c| c.probability).collect(),
            ratios: draws.iter().map(row).collect(),
            weights: draws.iter().map(weight).collect(),
        }
    }

    /// Probabilities of the components under which the tilted distribution is most likely, by
    /// expectation and maximisation, none below [`LEAST`].
    fn maximum_likelihood(&self) -> Vec<f64> {
        let mut probabilities = self.drawn.clone();
        for _ in 0..MOST_STEPS {
            let mut next = vec![0.0; probabilities.len()];
            for (row, weight) in self.ratios.iter().zip(&self.weights) {
                let share = weight / density(row, &probabilities);
                for ((slot, r), p) in next.iter_mut().zip(row).zip(&probabilities) {
                    *slot += share * r * p;
                }
            }
            let all: f64 = next.iter().sum();
            if !(all > 0.0 && all < f64::INFINITY) {
                break;
            }
            let kept = 1.0 - LEAST * next.len() as f64;
            next.iter_mut().for_each(|value| *value = LEAST + kept * *value / all);
            let change = probabilities.iter().zip(&next).map(|(p, q)| (p - q).abs());
            let is_still = change.fold(0.0, f64::max) < 1e-3;
            probabilities = next;
            if is_still {
                break;
            }
        }
        probabilities
    }

    /// Variance of w e^{θL} over the square of its mean, of draws with other probabilities p′.
    ///
    /// E_{p′}[v′²] = E_p[v v′], v′ = v × the density of p over that of p′.
    fn relative_variance(&self, probabilities: &[f64]) -> f64 {
        let (mut sum, mut squares) = (0.0, 0.0);
        for (row, weight) in self.ratios.iter().zip(&self.weights) {
            let ratio = density(row, &self.drawn) / density(row, probabilities);
            sum += weight;
            squares += weight * weight * ratio;
        }
        (squares * self.weights.len() as f64 / (sum * sum) - 1.0).max(0.0)
    }
}

/// Density of a mixture over P₁'s, from those of its components.
fn density(ratios: &[f64], probabilities: &[f64]) -> f64 {
    ratios.iter().zip(probabilities).map(|(r, p)| r * p).sum()
}
