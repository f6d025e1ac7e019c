//! Where observations of one epoch are drawn, and their exact weights.

use super::power_sums::PowerSums;
use crate::accounting::shuffle::ShuffleRun;
use crate::math;
use crate::special::normal::quantile;

/// How a component shifts P₁ = N(2e₁, σ²I), the epoch whose target is in the first slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shift {
    /// Not at all.
    None,
    /// The target's slot.
    Target(f64),
    /// One other slot, each as likely; in quarters, of which a proposal may have one value.
    Other(u32),
    /// Every slot.
    All(f64),
}

/// One component of a proposal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Component {
    pub(super) probability: f64,
    pub(super) shift: Shift,
}

/// A mixture of shifted copies of P₁. The first component is P₁ itself.
#[derive(Debug, Clone)]
pub struct Proposal {
    noise_multiplier: f64,
    steps: usize,
    components: Vec<Component>,
    /// Normal quantiles of the components' cumulated probabilities.
    cuts: Vec<f64>,
    quarters: u32,
}

/// What is kept of one epoch's outputs.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    /// L = ln P/Q, nats.
    pub(super) loss: f64,
    /// P₁ over the proposal.
    pub(super) weight: f64,
    /// max_t x_t
    pub(super) maximum: f64,
    /// Σ_t x_t
    pub(super) total: f64,
    /// x_1
    target: f64,
    /// Σ_{t>1} e^{k(x_t − max)/(4σ²)}, k the quarters of the proposal's other slot.
    others: f64,
}

impl Proposal {
    /// `components` start with [`Shift::None`] and their probabilities sum to 1.
    pub(super) fn new(run: &ShuffleRun, components: Vec<Component>) -> Self {
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

    /// One draw from standard normals, the last of which picks the component; they are used up.
    ///
    /// L = ln Σe^{2x/σ²} − ln Σe^{x/σ²} − 1.5/σ², and 1/w = Σ_c p_c × the density of c over P₁'s, over
    /// all components, whichever was picked. Other slots are alike, so the second stands for them.
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
        };
        let term = |c: &Component| c.probability * self.ratio(c.shift, &draw);
        let weight = 1.0 / self.components.iter().map(term).sum::<f64>();
        debug_assert!(weight <= (1.0 + 1e-12) / self.components[0].probability);
        Draw { weight, ..draw }
    }

    pub(super) fn components(&self) -> &[Component] {
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
                let largest = b * (draw.maximum - 0.5 * b) / variance;
                math::exp(largest + math::ln(draw.others / (steps - 1.0)))
            }
            Shift::All(c) => math::exp(c * (draw.total - 2.0 - 0.5 * steps * c) / variance),
        }
    }
}
