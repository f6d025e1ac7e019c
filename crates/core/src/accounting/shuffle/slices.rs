//! The largest output of one epoch, in slices whose losses are exactly on a grid.

use super::TargetSlots;
use super::maximum::{Edge, Maximum, ln_sum};
use crate::math;
use crate::special::normal::quantile_from_ln;

/// Maximum number of slices of one epoch.
const MOST_SLICES: f64 = 16_384.0;

/// Masses under P on a grid of losses.
#[derive(Debug, Clone)]
pub(super) struct GridDistribution {
    /// Distance of two losses, nats.
    pub(super) step: f64,
    /// The loss of index 0, nats.
    pub(super) offset: f64,
    /// The lowest loss in steps.
    pub(super) lowest_index: i64,
    pub(super) masses: Vec<f64>,
    /// Mass outside the grid: dropped for lower bounds, infinite for upper bounds.
    pub(super) outside: f64,
    /// Number of slices behind the masses.
    pub(super) slices: usize,
}

impl GridDistribution {
    /// Σ masses + outside, which is 1 up to rounding.
    pub(super) fn total(&self) -> f64 {
        self.masses.iter().sum::<f64>() + self.outside
    }
}

/// A slice of the largest output: its mass under P and its loss ln(P/Q).
#[derive(Debug, Clone, Copy)]
struct Slice {
    mass: f64,
    loss: f64,
}

impl Slice {
    /// The union of both; the loss of a slice without mass may be NaN.
    fn joined(self, other: Slice) -> Slice {
        if !(other.mass > 0.0) {
            return self;
        }
        if !(self.mass > 0.0) {
            return other;
        }
        let mass = self.mass + other.mass;
        let ln_without = |slice: Slice| math::ln(slice.mass) - slice.loss;
        Slice { mass, loss: math::ln(mass) - ln_sum(ln_without(self), ln_without(other)) }
    }
}

/// The interval of the slices, with all but e^`ln_outside` of P on either side.
struct Span {
    distribution: Maximum,
    low: f64,
    high: f64,
}

impl Span {
    fn of(run: &TargetSlots, ln_outside: f64) -> Span {
        let slots = run.slots as f64;
        let s = run.noise_multiplier;
        let distribution = Maximum::new(*run);
        let all_low = s * quantile_from_ln(ln_outside / slots);
        let target_low = distribution.without + s * quantile_from_ln(ln_outside);
        Span {
            distribution,
            low: if run.presence < 1.0 { all_low } else { all_low.max(target_low) },
            high: distribution.with - s * quantile_from_ln(ln_outside - math::ln(slots)),
        }
    }

    /// The threshold whose loss is that of all outputs below it: the lower end unless the target may
    /// be absent; none if rounding hides it.
    fn start(&self, run: &TargetSlots) -> Option<f64> {
        let Maximum { with, without, .. } = self.distribution;
        let below = |cut, mean| self.distribution.ln_below(cut, mean);
        let exceeds = |cut: f64| {
            let loss = below(cut, with) - below(cut, without);
            self.distribution.ln_density_ratio(cut) - loss > 1e-10
        };
        let (mut low, mut high) = (self.low, self.high);
        if run.presence == 1.0 {
            return Some(low);
        }
        if !exceeds(high) {
            return None;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if exceeds(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    }

    /// Mass of P outside.
    fn outside(&self) -> f64 {
        math::exp(self.distribution.ln_below(self.low, self.distribution.with))
            + math::exp(self.distribution.ln_above(self.high, self.distribution.with).value)
    }

    /// The slice between two thresholds.
    ///
    /// Its loss is limited to the larger one of its ends: in a narrow slice the difference of two
    /// masses under Q may cancel to 0.
    fn slice(&self, low: &Edge, high: &Edge) -> Slice {
        let [ln_mass, ln_without] = self.distribution.ln_between(low, high);
        let most = low.ln_density_ratio.max(high.ln_density_ratio);
        Slice { mass: math::exp(ln_mass), loss: (ln_mass - ln_without).min(most) }
    }
}

/// A distribution that one epoch's pair dominates, with the error O(step²) of one epoch.
///
/// Thresholds are at losses of (k + ½) steps of the largest output, so that the loss of slice k is
/// k steps up to O(step³). To be exact, a slice with a larger loss is mixed with a little of its
/// lower neighbour, one with a smaller loss with a little of its upper one. Merging slices, whole
/// or in part, is post-processing: only the two outermost slices are rounded, downwards.
///
/// Where the target may be absent, the loss falls before it rises. All that is below the
/// [start](Span::start) is one slice, on the grid, so that losses rise: then every test of the slices
/// is one of a threshold, or is made one by adding what is above the grid, and the bound also holds
/// for any D′ whose largest output is stochastically smaller.
pub(super) fn dominated(
    run: &TargetSlots,
    ln_outside: f64,
    required_step: f64,
) -> GridDistribution {
    let span = Span::of(run, ln_outside);
    let Some(start) = span.start(run) else {
        // a leak that rounding hides counts as none
        let (step, offset, masses) = (required_step, 0.0, vec![1.0]);
        return GridDistribution { step, offset, lowest_index: 0, masses, outside: 0.0, slices: 1 };
    };
    let (lowest, highest) =
        (span.distribution.ln_density_ratio(start), span.distribution.ln_density_ratio(span.high));
    let range = highest - lowest;
    let step = required_step.min(range / 400.0).max(range / MOST_SLICES);
    let lowest_index = (lowest / step).round() as i64;
    let offset = if start > span.low { lowest - lowest_index as f64 * step } else { 0.0 };
    let grid = Grid { step, offset, lowest_index };
    let slices = rising_slices(&span, start, grid);
    let outside = span.outside();
    let masses = merged(&slices, grid);
    // the first place is one step below the first slice
    let lowest_index = lowest_index - 1;
    GridDistribution { step, offset, lowest_index, masses, outside, slices: slices.len() }
}

/// Losses of slices: index·step + offset, from the lowest index on.
#[derive(Debug, Clone, Copy)]
struct Grid {
    step: f64,
    offset: f64,
    lowest_index: i64,
}

impl Grid {
    /// The loss of a slice, or between two.
    fn loss_at(&self, place: f64) -> f64 {
        (self.lowest_index as f64 + place) * self.step + self.offset
    }
}

/// The slices, the first with all that is below the start.
fn rising_slices(span: &Span, start: f64, grid: Grid) -> Vec<Slice> {
    let mut slices = grid_slices(span, start, grid);
    if let Some(first) = slices.first_mut().filter(|_| start > span.low) {
        let [low, high] = [span.low, start].map(|cut| span.distribution.edge(cut));
        *first = first.joined(span.slice(&low, &high));
    }
    slices
}

/// Slices above the start, between thresholds at losses of (k + ½) steps.
fn grid_slices(span: &Span, start: f64, grid: Grid) -> Vec<Slice> {
    let mut slices = Vec::new();
    let mut from = span.distribution.edge(start);
    let mut width = (span.high - start) / 400.0;
    while from.cut < span.high {
        let place = slices.len() as f64;
        let to = cut_at(span, grid.loss_at(place + 0.5), &from, width, 0.01 * grid.step);
        let least = 1e-9 * (span.high - start);
        if to - from.cut < least {
            slices.push(Slice { mass: 0.0, loss: grid.loss_at(place) });
            continue;
        }
        width = to - from.cut;
        let to = span.distribution.edge(to);
        slices.push(span.slice(&from, &to));
        from = to;
    }
    slices
}

/// The threshold above `from` where the loss passes `target`, at most the end of the span.
fn cut_at(span: &Span, target: f64, from: &Edge, width: f64, allowed: f64) -> f64 {
    let missing = |cut: f64| target - span.distribution.ln_density_ratio(cut);
    let (mut low, mut high) = (from.cut, (from.cut + width).min(span.high));
    let mut low_missing = target - from.ln_density_ratio;
    if low_missing <= 0.0 {
        return from.cut;
    }
    let mut high_missing = missing(high);
    while high_missing > 0.0 {
        if high >= span.high || high_missing < allowed {
            return high;
        }
        (low, low_missing) = (high, high_missing);
        high = (high + width).min(span.high);
        high_missing = missing(high);
    }
    for _ in 0..60 {
        if -high_missing < allowed {
            return high;
        }
        let share = low_missing / (low_missing - high_missing);
        let middle = low + share.clamp(0.02, 0.98) * (high - low);
        let seen = missing(middle);
        if seen.abs() < allowed {
            return middle;
        }
        if seen > 0.0 {
            (low, low_missing) = (middle, seen);
        } else {
            (high, high_missing) = (middle, seen);
        }
    }
    high
}

/// Masses after mixing; the first place is one step below the first slice. A slice is rounded down
/// instead if its neighbour has too little mass.
fn merged(slices: &[Slice], grid: Grid) -> Vec<f64> {
    let mut rounds_down = vec![false; slices.len()];
    loop {
        let masses = mixed(slices, grid, &rounds_down);
        let mut changed = false;
        for place in (0..slices.len()).filter(|place| masses[place + 1] < 0.0) {
            // one of the two took from it, unless both are rounded already
            for taker in [place.wrapping_sub(1), place + 1] {
                if let Some(rounds) = rounds_down.get_mut(taker) {
                    changed |= !*rounds;
                    *rounds = true;
                }
            }
        }
        if !changed {
            return masses;
        }
    }
}

fn mixed(slices: &[Slice], grid: Grid, rounds_down: &[bool]) -> Vec<f64> {
    let step = grid.step;
    let mut masses = vec![0.0; slices.len() + 1];
    let (up, down) = (math::exp_m1(step), -math::exp_m1(-step));
    for (place, slice) in slices.iter().enumerate() {
        let excess = slice.loss - grid.loss_at(place as f64);
        if !excess.is_finite() {
            continue; // no mass, or dropped, which is down
        }
        // p + p_m has the loss of the grid point, with p_m of the neighbour's mass
        let (from, moved) = if excess > 0.0 {
            (place.wrapping_sub(1), slice.mass * -math::exp_m1(-excess) / up)
        } else {
            (place + 1, slice.mass * math::exp_m1(-excess) / down)
        };
        if !rounds_down[place] && excess.abs() < step && from < slices.len() {
            masses[place + 1] += slice.mass + moved;
            masses[from + 1] -= moved;
            continue;
        }
        let lower = (excess / step).floor() + (place + 1) as f64;
        // below the first place the mass is dropped, which is down as well
        if lower >= 0.0 {
            masses[(lower as usize).min(slices.len())] += slice.mass;
        }
    }
    masses
}

/// A distribution that dominates one epoch's pair, remove direction, with the error O(step²) of one
/// epoch.
///
/// L ≤ U = (max_t x_t − 1.5)/σ². δ is convex in e^{−U} of each epoch, so spreading U's mass to the
/// two neighbouring grid points such that E e^{−U} is preserved never decreases δ.
pub(super) fn dominating(
    run: &TargetSlots,
    ln_outside: f64,
    required_step: f64,
) -> GridDistribution {
    let span = Span::of(run, ln_outside);
    let variance = run.noise_multiplier * run.noise_multiplier;
    let bound = |cut: f64| (cut - 1.5) / variance;
    let range = bound(span.high) - bound(span.low);
    let step = required_step.min(range / 400.0).max(range / MOST_SLICES);
    let lowest_index = (bound(span.low) / step).floor() as i64;
    let highest_index = (bound(span.high) / step).floor() as i64;
    let cut = |index: i64| 1.5 + index as f64 * step * variance;
    let mut masses = vec![0.0; (highest_index - lowest_index + 1) as usize];
    masses[0] = math::exp(span.distribution.ln_below(cut(lowest_index), span.distribution.with));
    let mut low = span.distribution.edge(cut(lowest_index));
    for index in lowest_index..highest_index {
        let high = span.distribution.edge(cut(index + 1));
        let middle = span.distribution.edge(0.5 * (low.cut + high.cut));
        let mass = math::exp(span.distribution.ln_between(&low, &high)[0]);
        let lower_half = math::exp(span.distribution.ln_between(&low, &middle)[0]).min(mass);
        let width = (high.cut - low.cut) / run.noise_multiplier;
        low = high;
        let share = upper_share(lower_half / mass.max(f64::MIN_POSITIVE), step, width);
        let place = (index - lowest_index) as usize;
        masses[place] += mass * (1.0 - share);
        masses[place + 1] += mass * share;
    }
    let outside =
        math::exp(span.distribution.ln_above(cut(highest_index), span.distribution.with).value);
    let slices = masses.len();
    GridDistribution { step, offset: 0.0, lowest_index, masses, outside, slices }
}

/// The share of a cell's mass for its upper end that preserves E e^{−U}, rounded up.
///
/// With t in [0, 1] across the cell, (1 − e^{−ht})/(1 − e^{−h}) ≤ t + h/8. E t follows from the
/// mass of the lower half as if the density were linear; its cubic part and its curvature, which
/// for the normal distribution are bounded by the square of the width in σ, are added with a
/// margin.
fn upper_share(lower_half: f64, step: f64, width: f64) -> f64 {
    let tilt = 4.0 * (0.5 - lower_half);
    let mean = 0.5 + tilt / 6.0;
    let rest = tilt.abs() * (0.02 * tilt * tilt + width * width);
    (mean + 0.125 * step + rest + 1e-12).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::max_slice;
    use super::*;
    use crate::accounting::Given;

    fn delta(distribution: &GridDistribution, epsilon: f64) -> f64 {
        let gain = |(place, mass): (usize, &f64)| {
            let place = distribution.lowest_index + place as i64;
            let loss = place as f64 * distribution.step + distribution.offset;
            mass * (-math::exp_m1(epsilon - loss)).max(0.0)
        };
        distribution.masses.iter().enumerate().map(gain).sum()
    }

    const UNIT_GRID: Grid = Grid { step: 1.0, offset: 0.0, lowest_index: 0 };

    fn shuffled(noise_multiplier: f64, slots: u64) -> TargetSlots {
        TargetSlots { noise_multiplier, slots, presence: 1.0, gap: 2.0, epochs: 1 }
    }

    const RUNS: [(f64, u64); 6] =
        [(0.1, 100), (0.5, 1000), (1.0, 100), (1.5, 1), (2.0, 10), (10.0, 10_000)];

    #[test]
    fn one_epoch_is_between_its_distributions() {
        for (noise_multiplier, steps_per_epoch) in RUNS {
            let run = shuffled(noise_multiplier, steps_per_epoch);
            let (below, above) = (dominated(&run, -41.0, 2e-3), dominating(&run, -41.0, 2e-3));
            for distribution in [&below, &above] {
                assert!(
                    (distribution.total() - 1.0).abs() < 1e-10,
                    "{run:?}: {}",
                    distribution.total()
                );
            }
            for epsilon in [0.0, 0.1, 1.0, 4.0, 60.0] {
                let exact = max_slice::lower(&run, Given::Epsilon(epsilon)).unwrap().delta;
                let seen = delta(&below, epsilon);
                assert!(
                    seen <= exact * (1.0 + 1e-10) + 1e-17,
                    "{run:?} {epsilon}: {seen:e} {exact:e}"
                );
                assert!(
                    seen > exact * (1.0 - 1e-2) - 1e-15,
                    "{run:?} {epsilon}: {seen:e} {exact:e}"
                );
                let high = delta(&above, epsilon) + above.outside;
                assert!(high >= exact, "{run:?} {epsilon}: {high:e} {exact:e}");
            }
        }
    }

    #[test]
    fn mass_is_preserved_if_the_target_may_be_absent() {
        for noise_multiplier in [0.01, 0.03, 0.1, 0.5, 2.0, 100.0] {
            for (slots, presence) in [(1, 0.5), (234, 0.998), (1000, 0.01)] {
                let run = TargetSlots { presence, ..shuffled(noise_multiplier, slots) };
                let distribution = dominated(&run, -41.0, 2e-3);
                assert!(
                    (distribution.total() - 1.0).abs() < 1e-9,
                    "{run:?}: {}",
                    distribution.total()
                );
                for epsilon in [0.0, 0.1, 1.0, 8.0] {
                    let exact = max_slice::lower(&run, Given::Epsilon(epsilon)).unwrap().delta;
                    let seen = delta(&distribution, epsilon);
                    assert!(seen <= exact * (1.0 + 1e-9) + 1e-16, "{run:?}: {seen:e} {exact:e}");
                }
            }
        }
    }

    #[test]
    fn losses_of_slices_rise() {
        let rises = |slices: &[Slice]| {
            let losses = slices.iter().filter(|slice| slice.mass > 0.0).map(|slice| slice.loss);
            losses.is_sorted_by(|a, b| *a < b + 1e-9)
        };
        let mut fallen = 0;
        for noise_multiplier in [0.1, 0.5, 1.0, 4.0] {
            for (slots, presence) in [(1, 0.5), (2, 0.9), (234, 0.998), (1000, 0.01), (50, 1.0)] {
                let run = TargetSlots { presence, ..shuffled(noise_multiplier, slots) };
                let span = Span::of(&run, -41.0);
                let from = |start: f64| {
                    let offset = span.distribution.ln_density_ratio(start);
                    rising_slices(&span, start, Grid { step: 1e-3, offset, lowest_index: 0 })
                };
                let start = span.start(&run).unwrap();
                assert!(rises(&from(start)), "{run:?}");
                // below the start the loss falls
                fallen += usize::from(start > span.low && !rises(&from(start - noise_multiplier)));
            }
        }
        assert!(fallen > 4, "{fallen}");
    }

    #[test]
    fn mixing_beats_rounding_by_an_order() {
        let run = shuffled(1.0, 100);
        let span = Span::of(&run, -41.0);
        let step = 5e-3;
        let lowest_index = (span.distribution.ln_density_ratio(span.low) / step).round() as i64;
        let grid = Grid { step, offset: 0.0, lowest_index };
        let slices = grid_slices(&span, span.low, grid);
        let distribution = |masses| GridDistribution {
            step,
            offset: 0.0,
            lowest_index: lowest_index - 1,
            masses,
            outside: 0.0,
            slices: 0,
        };
        let close = distribution(merged(&slices, grid));
        let all = vec![true; slices.len()];
        let rounded = distribution(mixed(&slices, grid, &all));
        let exact = max_slice::lower(&run, Given::Epsilon(4.0)).unwrap().delta;
        let (near, far) = (exact - delta(&close, 4.0), exact - delta(&rounded, 4.0));
        assert!(near > 0.0 && far > 20.0 * near, "{near:e} {far:e}");
    }

    #[test]
    fn no_slice_has_a_larger_loss_than_its_ends() {
        let mut cancelled = 0;
        for noise_multiplier in [0.01, 0.03, 0.3] {
            let span = Span::of(&shuffled(noise_multiplier, 10), -41.0);
            for place in 0..400 {
                let low = 1.0 + 1.1 * f64::from(place) / 400.0;
                for width in [4e-16, 1e-15, 1e-14, 1e-10] {
                    let [from, to] = [low, low + width].map(|cut| span.distribution.edge(cut));
                    let Slice { mass, loss } = span.slice(&from, &to);
                    let most = to.ln_density_ratio;
                    assert!(
                        !(mass > 0.0) || loss <= most + 1e-9,
                        "{noise_multiplier} {low}: {loss}"
                    );
                    let [with, without] = span.distribution.ln_between(&from, &to);
                    let plain = with - without;
                    cancelled += u32::from(mass > 0.0 && plain > most + 1e-3);
                }
            }
        }
        assert!(cancelled > 0, "no difference cancels");
    }

    #[test]
    fn an_infinite_loss_is_dropped() {
        let slice = |mass, loss| Slice { mass, loss };
        let seen = merged(&[slice(0.5, 0.0), slice(0.5, f64::INFINITY)], UNIT_GRID);
        assert_eq!(seen, [0.0, 0.5, 0.0]);
        let kept = merged(&[slice(0.5, 0.0), slice(0.5, 1.0)], UNIT_GRID);
        assert_eq!(kept, [0.0, 0.5, 0.5]);
    }

    #[test]
    fn a_slice_without_a_neighbour_is_rounded() {
        let slice = |mass, loss| Slice { mass, loss };
        // its lower neighbour has no mass
        assert_eq!(merged(&[slice(0.0, 0.0), slice(0.5, 1.3)], UNIT_GRID), [0.0, 0.0, 0.5]);
        // the outermost are rounded down
        assert_eq!(merged(&[slice(0.5, 0.4)], UNIT_GRID), [0.0, 0.5]);
        assert_eq!(merged(&[slice(0.5, -0.4)], UNIT_GRID), [0.5, 0.0]);
        // a mixture has the loss of the grid point
        let seen = merged(&[slice(0.4, 0.0), slice(0.5, 1.2)], UNIT_GRID);
        let without = |mass: f64, loss: f64| mass * math::exp(-loss);
        let taken = 0.4 - seen[1];
        let loss = math::ln((0.5 + taken) / (without(0.5, 1.2) + without(taken, 0.0)));
        assert!((loss - 1.0).abs() < 1e-14 && (seen[2] - 0.5 - taken).abs() < 1e-15, "{loss}");
    }
}
