//! How the steps that contain the target are drawn, and the likelihood of each way.

use super::ln_sum::LnSum;
use crate::math;
use crate::mechanism::poisson_step;

/// How the steps that contain the target are drawn, as far as one target shows it: batches of fixed
/// size are like Poisson batches, balls in bins like a shuffle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
pub enum Placement {
    /// Each step independently.
    Poisson,
    /// One step of each epoch, drawn anew in each epoch.
    Shuffle,
    /// One step, drawn once for all epochs of a run.
    PersistentShuffle,
    /// One step, the same in all epochs of all runs.
    FixedStep,
    /// One of the first steps of each epoch, drawn anew in each epoch.
    FirstBatches {
        /// Number of steps, from the first on.
        batches: u32,
    },
    /// One step of each epoch, drawn anew with the chances of a shuffle buffer.
    Buffer,
}

/// Log-likelihood ratios of the steps of a run, epoch-major: that the target's contribution is in a
/// step against that it is not.
#[derive(Clone, Copy)]
pub(super) struct StepRatios<'a> {
    /// l, of the run of one world.
    pub(super) ratios: &'a [f64],
    /// l′ of a run of the other world that shares the outputs, and the ln of the factor by which the
    /// density grows where both are in one step.
    pub(super) other: Option<(&'a [f64], f64)>,
}

/// Log-likelihoods of placements, added run by run.
pub(super) struct PlacementLikelihoods<'a> {
    placements: &'a [Placement],
    steps: usize,
    /// Chance of a step under Poisson batches.
    rate: f64,
    buffer: Slots,
    /// One for each placement; unused for the fixed step.
    sums: Vec<f64>,
    /// ln of the likelihood of each fixed step.
    at_step: Vec<f64>,
}

impl<'a> PlacementLikelihoods<'a> {
    /// Without runs yet.
    ///
    /// `rate` is the chance of a step under Poisson batches, `weights` are those of the first steps
    /// under a shuffle buffer, without which it cannot be compared.
    pub(super) fn new(
        placements: &'a [Placement],
        steps: usize,
        rate: f64,
        weights: &[f64],
    ) -> Self {
        let (sums, at_step) = (vec![0.0; placements.len()], vec![0.0; steps]);
        let buffer = Slots::weighted(weights);
        PlacementLikelihoods { placements, steps, rate, buffer, sums, at_step }
    }

    /// Adds a run.
    pub(super) fn add(&mut self, run: StepRatios<'_>) {
        for (sum, placement) in self.sums.iter_mut().zip(self.placements) {
            *sum += match placement {
                Placement::Poisson => of_independent_steps(run, self.rate),
                Placement::Shuffle => of_epochs(run, self.steps, &Slots::First(self.steps)),
                Placement::FirstBatches { batches } => {
                    of_epochs(run, self.steps, &Slots::First(*batches as usize))
                }
                Placement::Buffer => of_epochs(run, self.steps, &self.buffer),
                Placement::PersistentShuffle => of_one_step(run, self.steps),
                Placement::FixedStep => 0.0,
            };
        }
        let per_epoch = run.other.map_or(0.0, |(_, overlap)| overlap);
        for epoch in epochs(run, self.steps) {
            for (sum, (step, ratio)) in self.at_step.iter_mut().zip(epoch.ratios.iter().enumerate())
            {
                *sum += ratio + epoch.at_other(step) + per_epoch;
            }
        }
    }

    /// ln of each likelihood ratio against outputs without the target's contribution.
    pub(super) fn values(&self) -> Vec<f64> {
        let value = |(placement, sum): (&Placement, &f64)| match placement {
            Placement::FixedStep => {
                LnSum::of(self.at_step.iter().copied()).ln() - math::ln(self.steps as f64)
            }
            _ => *sum,
        };
        self.placements.iter().zip(&self.sums).map(value).collect()
    }
}

impl StepRatios<'_> {
    fn at_other(&self, step: usize) -> f64 {
        self.other.and_then(|(others, _)| others.get(step).copied()).unwrap_or(0.0)
    }
}

fn epochs<'a>(run: StepRatios<'a>, steps: usize) -> impl Iterator<Item = StepRatios<'a>> {
    run.ratios.chunks_exact(steps).enumerate().map(move |(index, ratios)| {
        let part = |(others, overlap): (&'a [f64], f64)| {
            (others.get(index * steps..(index + 1) * steps).unwrap_or_default(), overlap)
        };
        StepRatios { ratios, other: run.other.map(part) }
    })
}

/// Chances of the steps of an epoch of which one is drawn.
enum Slots {
    /// The first ones, uniformly.
    First(usize),
    /// ln of the chances of the first ones, and of a batch that is dropped.
    Weighted { ln_weights: Vec<f64>, ln_outside: Option<f64> },
}

impl Slots {
    fn weighted(weights: &[f64]) -> Self {
        let outside = 1.0 - weights.iter().sum::<f64>();
        Slots::Weighted {
            ln_weights: weights.iter().map(|weight| math::ln(*weight)).collect(),
            // beyond the rounding of the sum
            ln_outside: (outside > 1e-9).then(|| math::ln(outside)),
        }
    }

    /// ln Σ_t w_t^p e^{x_t}.
    fn ln_sum(&self, power: f64, values: impl Iterator<Item = f64>) -> f64 {
        match self {
            Slots::First(count) => {
                LnSum::of(values.take(*count)).ln() - power * math::ln(*count as f64)
            }
            Slots::Weighted { ln_weights, ln_outside } => {
                let weighted = values.zip(ln_weights).map(|(value, weight)| value + power * weight);
                // outputs of a dropped batch are not recorded: those of two worlds cannot overlap
                let outside = ln_outside.filter(|_| power == 1.0);
                LnSum::of(weighted.chain(outside)).ln()
            }
        }
    }
}

/// One step of each epoch, drawn anew.
fn of_epochs(run: StepRatios<'_>, steps: usize, slots: &Slots) -> f64 {
    epochs(run, steps).map(|epoch| of_one_slot(epoch, slots)).sum()
}

/// ln Σ_t w_t e^{l_t}, and with a second world
/// ln (Σ_t w_t e^{l_t} · Σ_t w_t e^{l′_t} + (e^c − 1) Σ_t w_t² e^{l_t + l′_t}), c the overlap.
fn of_one_slot(run: StepRatios<'_>, slots: &Slots) -> f64 {
    let own = slots.ln_sum(1.0, run.ratios.iter().copied());
    let Some((others, overlap)) = run.other else { return own };
    let other = slots.ln_sum(1.0, others.iter().copied());
    let sums = run.ratios.iter().zip(others).map(|(ratio, other)| ratio + other);
    let equal_slots = slots.ln_sum(2.0, sums);
    if overlap > 0.0 {
        let ln_growth = math::ln(math::exp_m1(overlap));
        return LnSum::of([own + other, ln_growth + equal_slots]).ln();
    }
    LnSum::of([of_different_slots(run.ratios, others, slots), overlap + equal_slots]).ln()
}

/// ln Σ w_s w_t e^{l_s + l′_t} over all s ≠ t, where the difference of the sums above would cancel.
fn of_different_slots(ratios: &[f64], others: &[f64], slots: &Slots) -> f64 {
    let (mut own, mut other, mut pairs) = (LnSum::NONE, LnSum::NONE, LnSum::NONE);
    let mut add = |ratio: f64, other_ratio: f64| {
        pairs.add(ratio + other.ln());
        pairs.add(other_ratio + own.ln());
        own.add(ratio);
        other.add(other_ratio);
    };
    match slots {
        Slots::First(count) => {
            let ln_weight = -math::ln(*count as f64);
            let slots = ratios.iter().zip(others).take(*count);
            slots.for_each(|(ratio, other)| add(ratio + ln_weight, other + ln_weight));
        }
        Slots::Weighted { ln_weights, ln_outside } => {
            let slots = ratios.iter().zip(others).zip(ln_weights);
            slots.for_each(|((ratio, other), weight)| add(ratio + weight, other + weight));
            // a dropped batch has no outputs that overlap
            if let Some(outside) = ln_outside {
                add(*outside, *outside);
                pairs.add(2.0 * outside);
            }
        }
    }
    pairs.ln()
}

/// One step for all epochs of the run: the same of the sums over epochs.
fn of_one_step(run: StepRatios<'_>, steps: usize) -> f64 {
    let (mut ratios, mut others, mut count) = (vec![0.0; steps], vec![0.0; steps], 0.0);
    for epoch in epochs(run, steps) {
        count += 1.0;
        for (step, ratio) in epoch.ratios.iter().enumerate() {
            ratios[step] += ratio;
            others[step] += epoch.at_other(step);
        }
    }
    let other = run.other.map(|(_, overlap)| (&others[..], count * overlap));
    of_one_slot(StepRatios { ratios: &ratios, other }, &Slots::First(steps))
}

/// Each step independently: Σ_t ln(1 − q + q e^{l_t}), and with a second world the sum over its four
/// cases.
fn of_independent_steps(run: StepRatios<'_>, rate: f64) -> f64 {
    let of_step = |(step, &ratio): (usize, &f64)| match run.other {
        None => poisson_step(rate, ratio),
        Some((_, overlap)) => {
            let other = run.at_other(step);
            let (with, without) = (math::ln(rate), math::ln_1p(-rate));
            let one = with + without;
            LnSum::of([
                2.0 * without,
                one + ratio,
                one + other,
                2.0 * with + ratio + other + overlap,
            ])
            .ln()
        }
    };
    run.ratios.iter().enumerate().map(of_step).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATIOS: [f64; 6] = [0.3, -1.2, 2.0, -0.4, 0.9, -2.5];
    const OTHERS: [f64; 6] = [-0.7, 0.6, 0.1, 1.5, -0.2, 0.4];
    const STEPS: usize = 3;
    const WEIGHTS: [f64; 2] = [0.5, 0.25];

    /// All ways to place a target in two epochs of three steps, each with its chance: bit t is step t.
    fn places(placement: Placement) -> Vec<(f64, u32)> {
        let one_of = |chances: [f64; 4]| -> Vec<(f64, u32)> {
            // the fourth is a batch that is dropped
            let of = |step: usize| if step < STEPS { 1 << step } else { 0 };
            let two = (0..16).map(|pair| (pair / 4, pair % 4));
            two.map(|(a, b)| (chances[a] * chances[b], of(a) | of(b) << STEPS)).collect()
        };
        let third = 1.0 / 3.0;
        match placement {
            Placement::Shuffle => one_of([third, third, third, 0.0]),
            Placement::FirstBatches { .. } => one_of([0.5, 0.5, 0.0, 0.0]),
            Placement::Buffer => one_of([0.5, 0.25, 0.0, 0.25]),
            Placement::PersistentShuffle | Placement::FixedStep => {
                (0..STEPS).map(|step| (third, (1 << step) | (1 << (step + STEPS)))).collect()
            }
            Placement::Poisson => (0..1 << 6)
                .map(|steps: u32| {
                    let uses = steps.count_ones() as i32;
                    (math::powi(0.3, uses) * math::powi(0.7, 6 - uses), steps)
                })
                .collect(),
        }
    }

    const ALL: [Placement; 6] = [
        Placement::Poisson,
        Placement::Shuffle,
        Placement::PersistentShuffle,
        Placement::FixedStep,
        Placement::FirstBatches { batches: 2 },
        Placement::Buffer,
    ];

    fn sum_at(ratios: &[f64], steps: u32) -> f64 {
        ratios.iter().enumerate().filter(|(step, _)| steps >> step & 1 == 1).map(|(_, l)| l).sum()
    }

    #[test]
    fn likelihoods_are_means_over_all_placements() {
        let mut one = PlacementLikelihoods::new(&ALL, STEPS, 0.3, &WEIGHTS);
        one.add(StepRatios { ratios: &RATIOS, other: None });
        for (placement, one) in ALL.into_iter().zip(one.values()) {
            let places = places(placement);
            let expected: f64 =
                places.iter().map(|(chance, at)| chance * math::exp(sum_at(&RATIOS, *at))).sum();
            assert!((one - math::ln(expected)).abs() < 1e-12, "{placement:?}");
        }
    }

    /// One step decides both worlds: a difference of sums would leave nothing of the mean.
    #[test]
    fn a_pair_that_one_step_decides_has_a_likelihood() {
        for overlap in [-1.0, -36.0, -100.0] {
            let mut pair = PlacementLikelihoods::new(&[Placement::Shuffle], 3, 0.3, &WEIGHTS);
            let decided = [40.0, 0.0, 0.0];
            pair.add(StepRatios { ratios: &decided, other: Some((&decided, overlap)) });
            let both = LnSum::of([80.0 + overlap, 40.0 + math::ln(4.0)]).ln();
            assert!((pair.values()[0] - both + math::ln(9.0)).abs() < 1e-12, "{overlap}");
        }
    }

    #[test]
    fn likelihoods_of_pairs_are_means_over_all_placements() {
        // what the target adds in D′ may have the other sign
        for overlap in [0.8, 0.0, -0.8] {
            let mut pair = PlacementLikelihoods::new(&ALL, STEPS, 0.3, &WEIGHTS);
            pair.add(StepRatios { ratios: &RATIOS, other: Some((&OTHERS, overlap)) });
            for (placement, pair) in ALL.into_iter().zip(pair.values()) {
                let places = places(placement);
                // the other world's target is placed independently, or at the same fixed step
                let both = places.iter().flat_map(|a| places.iter().map(move |b| (a, b)));
                let expected: f64 = both
                    .map(|((chance, at), (other_chance, other_at))| {
                        let chance = match placement {
                            Placement::FixedStep if at == other_at => *chance,
                            Placement::FixedStep => 0.0,
                            _ => chance * other_chance,
                        };
                        let overlaps = f64::from((at & other_at).count_ones());
                        let ln = sum_at(&RATIOS, *at) + sum_at(&OTHERS, *other_at);
                        chance * math::exp(ln + overlap * overlaps)
                    })
                    .sum();
                assert!((pair - math::ln(expected)).abs() < 1e-12, "{placement:?}: {pair}");
            }
        }
    }
}
