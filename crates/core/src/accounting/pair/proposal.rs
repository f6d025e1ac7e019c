//! The sampling distribution of one epoch, with exact weights.

use super::power_sums::PowerSums;
use crate::accounting::Training;
use crate::math;
use crate::special::normal::quantile;

/// How a component shifts P₁ = N(2e₁, σ²I), the epoch whose target is in the first slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shift {
    /// Not at all.
    None,
    /// The target's slot.
    Target(f64),
    /// One other slot, the second, as all are exchangeable; in quarters, with one value per
    /// proposal.
    Other(u32),
    /// Every slot.
    All(f64),
}

/// One component of a proposal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Component {
    /// Its probability.
    pub probability: f64,
    /// Its shift.
    pub shift: Shift,
}

/// A mixture of shifted copies of P₁ = N(2e₁, σ²I), the epoch whose target is in the first slot.
/// The first component is P₁ itself.
#[derive(Debug, Clone)]
pub struct Proposal {
    noise_multiplier: f64,
    steps: usize,
    components: Vec<Component>,
    /// Normal quantiles of the components' cumulated probabilities.
    cuts: Vec<f64>,
    quarters: u32,
}

/// Statistics of one epoch's outputs, from [`Proposal::draw_of`].
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    /// Privacy loss L = ln P/Q, nats.
    pub loss: f64,
    /// P₁ over the proposal.
    pub weight: f64,
    /// Largest output, max_t x_t
    pub maximum: f64,
    /// Sum of the outputs, Σ_t x_t
    pub total: f64,
    /// Output x_1 of the target's slot.
    pub(super) target: f64,
    /// Σ_{t>1} e^{k(x_t − centre)/(4σ²)}, k the quarters of the proposal's other slot.
    pub(super) others: f64,
    pub(super) centre: f64,
    /// Whether the [errors](DrawError) that its source states apply to it.
    pub is_certain: bool,
}

/// Sums over one epoch's outputs from a source of draws: the target's output, and sums over the
/// others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpochSums {
    /// Output x_1 of the target's slot.
    pub target: f64,
    /// Largest output of the other slots, max_{t>1} x_t
    pub maximum: f64,
    /// Sum of the outputs of the other slots, Σ_{t>1} x_t
    pub total: f64,
    /// The output whose terms are 1 in the sums below.
    pub centre: f64,
    /// Σ_{t>1} e^{(x_t − centre)/σ²}
    pub first: f64,
    /// Σ_{t>1} e^{2(x_t − centre)/σ²}
    pub second: f64,
    /// Σ_{t>1} e^{b(x_t − centre)/σ²}, b the proposal's [`other_shift`](Proposal::other_shift).
    pub others: f64,
    /// Whether the [errors](DrawError) that the source states apply to this draw.
    pub is_certain: bool,
}

/// Maximum distance of draws from those of exact normals of the same random words.
///
/// | field | bounds the error of | unit |
/// |---|---|---|
/// | `loss` | L | nats |
/// | `weight` | 1/w, relative | – |
/// | `maximum` | max_t x_t | outputs |
/// | `total` | Σ_t x_t | outputs |
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DrawError {
    /// Error bound of the privacy loss L, nats.
    pub loss: f64,
    /// Relative error bound of one over the weight.
    pub weight: f64,
    /// Error bound of the largest output.
    pub maximum: f64,
    /// Error bound of the sum of the outputs.
    pub total: f64,
}

impl Proposal {
    /// `components` start with [`Shift::None`] and their probabilities sum to 1.
    pub(super) fn new(run: &Training, components: Vec<Component>) -> Self {
        let mut below = 0.0;
        let mut cuts = Vec::with_capacity(components.len());
        for component in &components {
            below += component.probability;
            cuts.push(if below < 1.0 { quantile(below) } else { f64::INFINITY });
        }
        if let Some(last) = cuts.last_mut() {
            *last = f64::INFINITY;
        }
        let others = components.iter().filter_map(|component| match component.shift {
            Shift::Other(quarters) => Some(quarters),
            _ => None,
        });
        let quarters = others.max().unwrap_or(1);
        let steps = run.steps_per_epoch as usize;
        Proposal { noise_multiplier: run.noise_multiplier, steps, components, cuts, quarters }
    }

    /// Normals that [`Proposal::draw`] takes.
    pub(super) fn normals(&self) -> usize {
        self.steps + 1
    }

    /// One draw from standard normals, the last of which selects the component; overwrites them.
    ///
    /// L = ln Σe^{2x/σ²} − ln Σe^{x/σ²} − 1.5/σ², and 1/w = Σ_c p_c × the density of c over P₁'s,
    /// over all components, not only the selected one. Other slots are exchangeable, so the second
    /// represents them.
    pub(super) fn draw(&self, normals: &mut [f64]) -> Draw {
        let (outputs, pick) = normals.split_at_mut(self.steps);
        let s = self.noise_multiplier;
        for x in outputs.iter_mut() {
            *x *= s;
        }
        outputs[0] += 2.0;
        let picked = self.cuts.iter().position(|cut| pick[0] < *cut).unwrap_or(0);
        match self.components[picked].shift {
            Shift::None => {}
            Shift::Target(shift) => outputs[0] += shift,
            Shift::Other(quarters) => outputs[1] += 0.25 * f64::from(quarters),
            Shift::All(shift) => outputs.iter_mut().for_each(|x| *x += shift),
        }
        let variance = s * s;
        let sums = PowerSums::of(outputs, 0.25 / variance, self.quarters);
        let loss = math::ln(sums.second / sums.first) + (sums.maximum - 1.5) / variance;
        let draw = Draw {
            loss,
            weight: 1.0,
            maximum: sums.maximum,
            total: sums.total,
            target: outputs[0],
            others: sums.others,
            centre: sums.maximum,
            is_certain: true,
        };
        self.weighted(draw)
    }

    /// The draw of an epoch's sums: its privacy loss and weight.
    ///
    /// # Guarantee
    /// Equal to the draw from the outputs (`unit::sums_and_outputs_have_the_same_draw`).
    #[must_use]
    pub fn draw_of(&self, epoch: &EpochSums) -> Draw {
        let variance = self.noise_multiplier * self.noise_multiplier;
        let above = (epoch.target - epoch.centre) / variance;
        let smaller = math::exp(-above.abs());
        let square = smaller * smaller;
        let (first, second) = if above > 0.0 {
            (1.0 + epoch.first * smaller, 1.0 + epoch.second * square)
        } else {
            (epoch.first + smaller, epoch.second + square)
        };
        let centre = if above > 0.0 { epoch.target } else { epoch.centre };
        self.weighted(Draw {
            loss: math::ln(second / first) + (centre - 1.5) / variance,
            weight: 1.0,
            maximum: epoch.maximum.max(epoch.target),
            total: epoch.total + epoch.target,
            target: epoch.target,
            others: epoch.others,
            centre: epoch.centre,
            is_certain: epoch.is_certain,
        })
    }

    fn weighted(&self, draw: Draw) -> Draw {
        let term = |c: &Component| c.probability * self.ratio(c.shift, &draw);
        let weight = 1.0 / self.components.iter().map(term).sum::<f64>();
        debug_assert!(weight <= (1.0 + 1e-12) / self.components[0].probability);
        Draw { weight, ..draw }
    }

    /// Noise multiplier σ.
    #[must_use]
    pub fn noise_multiplier(&self) -> f64 {
        self.noise_multiplier
    }

    /// T, at least 2.
    #[must_use]
    pub fn steps_per_epoch(&self) -> usize {
        self.steps
    }

    /// b, the shift of a slot other than the target's.
    #[must_use]
    pub fn other_shift(&self) -> f64 {
        0.25 * f64::from(self.quarters)
    }

    /// The components; their probabilities sum to 1.
    #[must_use]
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Density of a component over P₁'s.
    pub(super) fn ratio(&self, shift: Shift, draw: &Draw) -> f64 {
        let variance = self.noise_multiplier * self.noise_multiplier;
        let steps = self.steps as f64;
        match shift {
            Shift::None => 1.0,
            Shift::Target(a) => math::exp(a * (draw.target - 2.0 - 0.5 * a) / variance),
            Shift::Other(quarters) => {
                let b = 0.25 * f64::from(quarters);
                let largest = b * (draw.centre - 0.5 * b) / variance;
                math::exp(largest + math::ln(draw.others / (steps - 1.0)))
            }
            Shift::All(c) => math::exp(c * (draw.total - 2.0 - 0.5 * steps * c) / variance),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(steps_per_epoch: u64) -> Proposal {
        let run =
            Training { noise_multiplier: 0.7, steps_per_epoch, epochs: 1, sampling_rate: None };
        let shifts = [Shift::None, Shift::Target(2.0), Shift::Other(9), Shift::All(0.1)];
        Proposal::new(&run, shifts.map(|shift| Component { probability: 0.25, shift }).to_vec())
    }

    /// The largest relative difference of loss and weight between both ways.
    fn difference(broken: impl Fn(&mut EpochSums)) -> f64 {
        let mut worst = 0.0_f64;
        for steps in [2_usize, 3, 40] {
            for case in 0..40 {
                let proposal = proposal(steps as u64);
                let normal = |t: usize| 3.0 * math::sin((17 * case + 5 * t) as f64);
                let mut normals: Vec<f64> = (0..=steps).map(normal).collect();
                let drawn = proposal.draw(&mut normals);
                let (target, others) = (normals[0], &normals[1..steps]);
                let centre = others[0];
                let sum = |power: f64| -> f64 {
                    others.iter().map(|x| math::exp(power * (x - centre) / 0.49)).sum()
                };
                let mut sums = EpochSums {
                    target,
                    maximum: others.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                    total: others.iter().sum(),
                    centre,
                    first: sum(1.0),
                    second: sum(2.0),
                    others: sum(2.25),
                    is_certain: true,
                };
                broken(&mut sums);
                let seen = proposal.draw_of(&sums);
                assert_eq!(seen.maximum, drawn.maximum);
                worst = worst.max((seen.loss - drawn.loss).abs());
                worst = worst.max((seen.weight / drawn.weight - 1.0).abs());
            }
        }
        worst
    }

    #[test]
    fn sums_and_outputs_have_the_same_draw() {
        assert!(difference(|_| ()) < 1e-11, "{:e}", difference(|_| ()));
        assert!(difference(|sums| sums.others *= 1.001) > 1e-5);
        assert!(difference(|sums| sums.second *= 1.001) > 1e-5);
    }
}
