//! One epoch of the exact pair: the remainder beyond known events, by importance sampling.

use super::event::Event;
use super::proposal::{Component, Draw, DrawError, Proposal, Shift};
use super::source::PairDraws;
use super::tally::{Tally, bernstein};
use crate::accounting::Training;
use crate::math;

/// Standard errors by which the pilot's ε is below the value expected of the main draws.
const CAUTION: f64 = 2.0;

/// The share of draws that choose; the rest decide.
const PILOT_SHARE: usize = 5;

/// Maximum number of draws of a pilot, which are stored.
const MOST_PILOT: usize = 20_000;

/// The proposal for losses around the threshold of an event, as weights times shifts.
pub(super) fn proposal(run: &Training, maximum: Option<f64>, total: Option<f64>) -> Proposal {
    let mut shifts = Vec::new();
    if let Some(cut) = maximum {
        let quarters = nearest_quarters(cut);
        shifts.push((0.65, Shift::Target(cut - 2.0)));
        shifts.push((0.25, Shift::Other(quarters)));
    }
    if let Some(cut) = total {
        let shift = (cut - 2.0) / run.steps_per_epoch as f64;
        shifts.push((0.45, Shift::All(shift)));
    }
    let all: f64 = shifts.iter().map(|(part, _)| part).sum();
    let first = if shifts.is_empty() { 1.0 } else { 0.1 };
    let mut components = vec![Component { probability: first, shift: Shift::None }];
    components.extend(
        shifts
            .into_iter()
            .map(|(part, shift)| Component { probability: (1.0 - first) * part / all, shift }),
    );
    Proposal::new(run, components)
}

/// The nearest number of quarters, at least one.
fn nearest_quarters(cut: f64) -> u32 {
    (4.0 * cut).round().clamp(1.0, 4e6) as u32
}

/// (1 − e^{ε−L})₊ less its part that the event accounts for, 1_A (1 − e^{ε−L}); never negative.
pub(super) fn remainder(event: Event, draw: &Draw, epsilon: f64) -> f64 {
    let gain = -math::exp_m1(epsilon - draw.loss);
    if event.contains(draw) { (-gain).max(0.0) } else { gain.max(0.0) }
}

/// The least value of w times the [`remainder`] for exact normals; 0 if in doubt.
///
/// The remainder is never negative; in A it falls in L, elsewhere it grows.
pub(super) fn least_value(event: Event, draw: &Draw, epsilon: f64, error: &DrawError) -> f64 {
    if !draw.is_certain || event.is_doubtful(draw, error) {
        return 0.0;
    }
    let outward = if event.contains(draw) { error.loss } else { -error.loss };
    let moved = Draw { loss: draw.loss + outward, ..*draw };
    draw.weight / (1.0 + error.weight) * remainder(event, &moved, epsilon)
}

/// Parameters that the pilot fixes for the main draws.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// The tested ε, and its event.
    pub(super) tested: (f64, Event),
    /// τ: larger values count as τ.
    pub(super) most: f64,
    /// The ε at which δ is estimated, and its event.
    pub(super) estimated: (f64, Event),
}

/// Tallies of the main draws at the plan's ε.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    /// min(w r, τ) at the tested ε, rounded down.
    pub(super) limited: Tally,
    /// w r at the estimated ε.
    pub(super) estimated: Tally,
    /// w e^{ε−L} 1{L > ε} at the estimated ε: −dδ/dε.
    pub(super) slope: Tally,
    /// w, whose expectation is 1.
    pub(super) weight: Tally,
}

/// Draws of a pilot and of the main part.
pub(super) fn parts(draws: usize) -> (usize, usize) {
    let pilot = (draws / PILOT_SHARE).min(MOST_PILOT);
    (pilot, draws - pilot)
}

pub(super) fn pilot_draws<S: PairDraws>(
    proposal: &Proposal,
    draws: usize,
    source: &mut S,
) -> Result<Vec<Draw>, S::Error> {
    let mut kept = Vec::with_capacity(draws);
    source.draws(proposal, draws, &mut |draw| kept.push(draw))?;
    Ok(kept)
}

pub(super) fn main_draws<S: PairDraws>(
    proposal: &Proposal,
    plan: &Plan,
    draws: usize,
    source: &mut S,
) -> Result<Outcome, S::Error> {
    let mut outcome = Outcome::default();
    let error = source.error(proposal);
    source.draws(proposal, draws, &mut |draw| {
        let (epsilon, event) = plan.tested;
        outcome.limited.add(least_value(event, &draw, epsilon, &error).min(plan.most));
        let (epsilon, event) = plan.estimated;
        outcome.estimated.add(draw.weight * remainder(event, &draw, epsilon));
        let slope = if draw.loss > epsilon { math::exp(epsilon - draw.loss) } else { 0.0 };
        outcome.slope.add(draw.weight * slope);
        outcome.weight.add(draw.weight);
    })?;
    Ok(outcome)
}

/// The pilot with the parameters of its statistics.
pub(super) struct Pilot<'a> {
    pub(super) run: &'a Training,
    pub(super) draws: &'a [Draw],
    pub(super) error: DrawError,
    pub(super) main_draws: usize,
    pub(super) significance: f64,
}

impl Pilot<'_> {
    /// δ as the pilot estimates it.
    pub(super) fn delta(&self, epsilon: f64, event: Event) -> f64 {
        let mut tally = Tally::default();
        let value = |draw: &Draw| draw.weight * remainder(event, draw, epsilon);
        tally.extend(self.draws.iter().map(value));
        event.advantage(self.run, epsilon) + tally.mean
    }

    /// The δ that the main draws are expected to prove, with caution.
    pub(super) fn provable_delta(&self, epsilon: f64, event: Event, most: f64) -> f64 {
        let mut values = Tally::default();
        let value = |draw: &Draw| least_value(event, draw, epsilon, &self.error).min(most);
        values.extend(self.draws.iter().map(value));
        let main = self.main_draws as f64;
        let spread = (values.variance() * (1.0 / values.count + 1.0 / main)).sqrt();
        event.advantage(self.run, epsilon) + values.mean
            - CAUTION * spread
            - bernstein(values.variance(), most, self.significance, main)
    }

    /// The τ with the largest expected bound at ε.
    pub(super) fn best_truncation(&self, epsilon: f64, event: Event) -> f64 {
        let value = |draw: &Draw| draw.weight * remainder(event, draw, epsilon);
        let largest = self.draws.iter().map(value).fold(0.0, f64::max);
        if !(largest > 0.0 && largest < f64::INFINITY) {
            return 1.0;
        }
        let mut best = (f64::NEG_INFINITY, largest);
        for halvings in 0..24 {
            let most = 2.0 * largest * math::powi(0.6, halvings);
            let provable = self.provable_delta(epsilon, event, most);
            if provable > best.0 {
                best = (provable, most);
            }
        }
        best.1
    }
}

/// The largest ε in [low, high] at which a falling function is at least `target`; `low` if none is.
pub(super) fn largest_at_least(
    target: f64,
    low: f64,
    high: f64,
    value_at: impl Fn(f64) -> f64,
) -> f64 {
    let (mut inside, mut outside) = (low, low);
    let mut step = (0.05 * (high - low)).min(0.01 * (1.0 + low));
    loop {
        outside += step;
        if outside >= high || value_at(outside) < target {
            break;
        }
        inside = outside;
        step *= 2.0;
    }
    outside = outside.min(high);
    for _ in 0..22 {
        let middle = 0.5 * (inside + outside);
        if value_at(middle) >= target {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Training =
        Training { noise_multiplier: 1.0, steps_per_epoch: 5, epochs: 1, sampling_rate: None };

    fn draws() -> impl Iterator<Item = Draw> {
        let proposal = proposal(&RUN, Some(4.0), None);
        (0..400).map(move |case| {
            let normal = |t: usize| 3.0 * math::sin((19 * case + 5 * t) as f64);
            proposal.draw(&mut [0, 1, 2, 3, 4, 5].map(normal))
        })
    }

    /// Draws nearby whose value is below the least one; `least` may be a broken twin.
    fn values_below(least: impl Fn(Event, &Draw, f64, &DrawError) -> f64) -> usize {
        let error = DrawError { loss: 0.02, weight: 0.01, maximum: 0.05, total: 0.3 };
        let mut below = 0;
        for draw in draws() {
            for (event, epsilon) in [
                (Event::Maximum { cut: 4.0 }, draw.loss + 0.01),
                (Event::Maximum { cut: 4.0 }, draw.loss - 0.01),
                (Event::Maximum { cut: draw.maximum - 1.0 }, draw.loss + 1.0),
                (Event::Maximum { cut: draw.maximum + 1.0 }, draw.loss - 1.0),
                (Event::Total { cut: draw.total - 0.1 }, draw.loss + 1.0),
                (Event::Total { cut: draw.total + 0.1 }, draw.loss - 1.0),
            ] {
                let bound = least(event, &draw, epsilon, &error);
                for (a, b, c) in (0..27).map(|i| (i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1)) {
                    let [a, b, c] = [a, b, c].map(|sign| 0.999 * f64::from(sign));
                    let near = Draw {
                        loss: draw.loss + a * error.loss,
                        weight: draw.weight / (1.0 + b * error.weight),
                        maximum: draw.maximum + c * error.maximum,
                        total: draw.total + c * error.total,
                        ..draw
                    };
                    let value = near.weight * remainder(event, &near, epsilon);
                    below += usize::from(value < bound * (1.0 - 1e-12));
                }
            }
        }
        below
    }

    #[test]
    fn least_values_are_below_those_of_all_draws_nearby() {
        assert_eq!(values_below(least_value), 0);
        let plain =
            |event, draw: &Draw, epsilon, _: &_| draw.weight * remainder(event, draw, epsilon);
        assert!(values_below(plain) > 100, "not rounded");
        let heavy = |event, draw: &Draw, epsilon, error: &DrawError| {
            least_value(event, draw, epsilon, &DrawError { weight: 0.0, ..*error })
        };
        assert!(values_below(heavy) > 100, "weights not rounded");
        let sure = |event, draw: &Draw, epsilon, error: &DrawError| {
            let certain = DrawError { maximum: 0.0, total: 0.0, ..*error };
            least_value(event, draw, epsilon, &certain)
        };
        assert!(values_below(sure) > 0, "doubt of the event not heeded");
        let uncertain = draws().map(|draw| Draw { is_certain: false, ..draw });
        let event = Event::Maximum { cut: 4.0 };
        assert!(
            uncertain
                .into_iter()
                .all(|d| least_value(event, &d, 0.1, &DrawError::default()) == 0.0)
        );
    }

    #[test]
    fn without_error_the_least_value_is_the_value() {
        let event = Event::Maximum { cut: 4.0 };
        for draw in draws() {
            let value = draw.weight * remainder(event, &draw, 1.0);
            assert_eq!(least_value(event, &draw, 1.0, &DrawError::default()), value);
        }
    }
}
