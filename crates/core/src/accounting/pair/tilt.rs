//! A proposal for one of many epochs: close to P tilted by e^{θL}, which makes Σ L near ε usual.

use super::proposal::{Component, Draw, Proposal, Shift};
use super::source::PairDraws;
use super::tally::Tally;
use crate::accounting::Target;
use crate::accounting::shuffle::ShuffleRun;
use crate::math;

/// Draws of each of the two stages.
const STAGE_DRAWS: usize = 4_000;

/// Least probability of a component.
const LEAST: f64 = 0.01;

/// A proposal and the tilt that it was fitted to.
pub(super) struct Fitted {
    pub(super) proposal: Proposal,
    /// θ
    pub(super) tilt: f64,
    /// Variance of w e^{θL} over the square of its mean.
    pub(super) relative_variance: f64,
}

/// The proposal fitted to the tilt θ at which Chernoff's bound is least: of the ε at δ,
/// (E K(θ) − ln δ)/θ, or of ln δ at ε, E K(θ) − θε, with K(θ) = ln E_P e^{θL}.
///
/// Whatever is fitted, weights are exact: a poor fit costs variance alone.
pub(super) fn fitted<S: PairDraws>(
    run: &ShuffleRun,
    target: Target,
    source: &mut S,
) -> Result<Fitted, S::Error> {
    let broad = Proposal::new(run, library(run, 2.0));
    let draws = stage(&broad, source)?;
    let tilt = best_tilt(&draws, run.epochs as f64, target);
    let near = Proposal::new(run, library(run, tilt));
    let draws = stage(&near, source)?;
    let probabilities = maximum_likelihood(&near, &draws, tilt);
    let components = near.components().iter().zip(probabilities);
    let refit =
        |(component, probability): (&Component, f64)| Component { probability, ..*component };
    let proposal = Proposal::new(run, components.map(refit).collect());
    let draws = stage(&proposal, source)?;
    let centre = draws.iter().map(|draw| draw.loss).fold(f64::NEG_INFINITY, f64::max);
    let mut values = Tally::default();
    values.extend(draws.iter().map(|draw| draw.weight * math::exp(tilt * (draw.loss - centre))));
    let relative_variance = values.variance() / (values.mean * values.mean);
    Ok(Fitted { proposal, tilt, relative_variance })
}

fn stage<S: PairDraws>(proposal: &Proposal, source: &mut S) -> Result<Vec<Draw>, S::Error> {
    let mut draws = Vec::with_capacity(STAGE_DRAWS);
    source.draws(proposal, STAGE_DRAWS, &mut |draw| draws.push(draw))?;
    Ok(draws)
}

/// Shifts up to that of a slot whose output alone decides L: e^{θx/σ²} moves a normal mean by θ.
fn library(run: &ShuffleRun, tilt: f64) -> Vec<Component> {
    let spread = run.noise_multiplier / (run.steps_per_epoch as f64).sqrt();
    let mut shifts = vec![Shift::None];
    shifts.extend([0.25, 0.5, 0.75, 1.0, 1.5].map(|share| Shift::Target(share * tilt)));
    shifts.extend([0.5, 1.0, 2.0].map(|share| Shift::All(share * spread * tilt.min(1.0))));
    shifts.push(Shift::Other((4.0 * tilt + 4.0).round().clamp(1.0, 400.0) as u32));
    let probability = 1.0 / shifts.len() as f64;
    shifts.into_iter().map(|shift| Component { probability, shift }).collect()
}

fn best_tilt(draws: &[Draw], epochs: f64, target: Target) -> f64 {
    let largest = draws.iter().map(|draw| draw.loss).fold(f64::NEG_INFINITY, f64::max);
    let chernoff = |tilt: f64| {
        let terms = draws.iter().map(|d| d.weight * math::exp(tilt * (d.loss - largest)));
        let cumulant = math::ln(terms.sum::<f64>() / draws.len() as f64) + tilt * largest;
        match target {
            Target::Delta(delta) => (epochs * cumulant - math::ln(delta)) / tilt,
            Target::Epsilon(epsilon) => epochs * cumulant - tilt * epsilon,
        }
    };
    let tilts = (0..64).map(|index| 0.05 * math::exp(0.1 * f64::from(index)));
    tilts.min_by(|a, b| chernoff(*a).total_cmp(&chernoff(*b))).unwrap_or(1.0)
}

/// Probabilities of the components under which the tilted law is most likely, by expectation and
/// maximisation, none below [`LEAST`].
fn maximum_likelihood(proposal: &Proposal, draws: &[Draw], tilt: f64) -> Vec<f64> {
    let components = proposal.components();
    let ratios: Vec<Vec<f64>> = draws
        .iter()
        .map(|draw| components.iter().map(|c| proposal.ratio(c.shift, draw)).collect())
        .collect();
    let largest = draws.iter().map(|draw| draw.loss).fold(f64::NEG_INFINITY, f64::max);
    let tilted: Vec<f64> =
        draws.iter().map(|d| d.weight * math::exp(tilt * (d.loss - largest))).collect();
    let mut probabilities: Vec<f64> = components.iter().map(|c| c.probability).collect();
    for _ in 0..60 {
        let mut next = vec![0.0; probabilities.len()];
        for (row, weight) in ratios.iter().zip(&tilted) {
            let density: f64 = row.iter().zip(&probabilities).map(|(r, p)| r * p).sum();
            for ((slot, r), p) in next.iter_mut().zip(row).zip(&probabilities) {
                *slot += weight * r * p / density;
            }
        }
        let all: f64 = next.iter().sum();
        if !(all > 0.0 && all < f64::INFINITY) {
            break;
        }
        let kept = 1.0 - LEAST * next.len() as f64;
        probabilities = next.into_iter().map(|value| LEAST + kept * value / all).collect();
    }
    probabilities
}
