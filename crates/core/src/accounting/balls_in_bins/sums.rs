//! Distributions of sums of W, by doubling.

use crate::accounting::pld::Rounding;
use crate::math;
use crate::special::normal;

/// Relative inflation of masses and values after each sum: more than the rounding error of sums of
/// at most 2¹⁴ terms.
pub(super) const INFLATION: f64 = 5e-11;

/// The factor on masses.
fn outward(rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Pessimistic => 1.0 + INFLATION,
        Rounding::Optimistic => 1.0 - INFLATION,
    }
}

/// The distribution of a sum of W under Q, on points in rising order.
#[derive(Debug, Clone)]
pub(super) struct SumDistribution {
    pub(super) points: Vec<(f64, f64)>,
    /// Number of summands W.
    count: f64,
    /// Mean that was moved to infinity.
    pub(super) lost: f64,
    /// What may be truncated at an end: mass at the lower one, mean at the upper one.
    tail: f64,
    width: f64,
    rounding: Rounding,
}

impl SumDistribution {
    /// One W, split into cells of width `width` times √(s² + (v − c)²).
    pub(super) fn of_one(sigma: f64, cut: f64, tail: f64, width: f64, rounding: Rounding) -> Self {
        let centre = math::exp(-0.5 / (sigma * sigma));
        let spread = centre * math::sinh(1.0 / sigma);
        let end = |x: f64| math::exp((x - 0.5) / (sigma * sigma));
        let lowest = end(-cut * sigma);
        let grid = grid(centre, spread, width, lowest, end(1.0 + cut * sigma));
        let tails = |value: f64| {
            let x = sigma * sigma * math::ln(value) + 0.5;
            let tail =
                |z: f64| if x < 0.5 { normal::normal_cdf(z) } else { normal::normal_cdf(-z) };
            (x < 0.5, tail(x / sigma), tail((x - 1.0) / sigma))
        };
        let mut cells = Cells::new(grid);
        let mut low = (true, 0.0, 0.0);
        for place in 0..cells.grid.len() - 1 {
            let high = tails(cells.grid[place + 1]);
            let between = |low_tail: f64, high_tail: f64| match (low.0, high.0) {
                (true, true) => high_tail - low_tail,
                (true, false) => 1.0 - low_tail - high_tail,
                _ => low_tail - high_tail,
            };
            let (mass, moment) = (between(low.1, high.1), between(low.2, high.2));
            if mass > 0.0 {
                // the mean of W in a cell is its mass under P over that under Q
                let value = math::clamp(moment / mass, cells.grid[place], cells.grid[place + 1]);
                cells.add(place, value, mass);
            }
            low = high;
        }
        let empty =
            SumDistribution { points: vec![], count: 1.0, lost: 0.0, tail, width, rounding };
        empty.with_points_of(cells)
    }

    /// The sum of independent copies.
    pub(super) fn of_many(&self, count: u64) -> Self {
        let (mut power, mut left) = (self.clone(), count);
        let mut sum: Option<SumDistribution> = None;
        loop {
            if left & 1 == 1 {
                sum = Some(match &sum {
                    Some(sum) => sum.plus(&power),
                    None => power.clone(),
                });
            }
            left >>= 1;
            if left == 0 {
                break;
            }
            power = power.doubled();
        }
        sum.unwrap_or(power)
    }

    fn plus(&self, other: &Self) -> Self {
        let mut cells = self.cells_of_sum(other);
        cells.add_sums(self, other, |v, w| w <= v, 1.0);
        cells.add_sums(other, self, |v, w| w < v, 1.0);
        self.with(other, cells)
    }

    /// The sum of two independent copies: pairs of different points come twice.
    fn doubled(&self) -> Self {
        let mut cells = self.cells_of_sum(self);
        cells.add_sums(self, self, |v, w| w < v, 2.0);
        let mut place = 0;
        for &(value, mass) in &self.points {
            place = cells.place_of(2.0 * value, place);
            cells.add(place, 2.0 * value, mass * mass);
        }
        self.with(self, cells)
    }

    fn cells_of_sum(&self, other: &Self) -> Cells {
        let (own, theirs) = (self.ends(), other.ends());
        let (centre, spread) = self.shape_with(other);
        Cells::new(grid(centre, spread, self.width, own.0 + theirs.0, own.1 + theirs.1))
    }

    /// The least value above 0, and the largest.
    fn ends(&self) -> (f64, f64) {
        let value = |point: &(f64, f64)| point.0;
        let mut values = self.points.iter().map(value).filter(|value| *value > 0.0);
        (values.next().unwrap_or(0.0), self.points.last().map_or(0.0, value))
    }

    /// The distribution of the cells' contents, except at its ends.
    ///
    /// Pessimistic: cells at the lower end are spread to 0 and their upper end, those at the upper
    /// end to their lower end and infinity, which has no mass under Q. Optimistic: the lower end is
    /// merged, the upper one dropped.
    fn with_points_of(mut self, mut cells: Cells) -> Self {
        let (mut mass, mut moment, mut low) = (0.0, 0.0, 0);
        while low + 2 < cells.grid.len() && mass + cells.masses[low] <= self.tail {
            mass += std::mem::take(&mut cells.masses[low]);
            moment += std::mem::take(&mut cells.moments[low]);
            low += 1;
        }
        let (mut high_mass, mut high_moment, mut high) = (0.0, 0.0, cells.grid.len() - 1);
        while high > low + 1 && high_moment + cells.moments[high - 1] <= self.tail * self.count {
            high -= 1;
            high_mass += std::mem::take(&mut cells.masses[high]);
            high_moment += std::mem::take(&mut cells.moments[high]);
        }
        let outward = outward(self.rounding);
        let mut low_end = (moment / mass, mass * outward);
        if self.rounding == Rounding::Pessimistic {
            let upper = math::clamp(moment / cells.grid[low].max(f64::MIN_POSITIVE), 0.0, mass);
            low_end = (0.0, (mass - upper) * outward);
            cells.add(low, cells.grid[low], upper);
            cells.add(high - 1, cells.grid[high], high_mass);
            let lost = high_moment - high_mass * cells.grid[high];
            self.lost += lost.max(0.0) + INFLATION * high_moment;
        }
        if low_end.1 > 0.0 {
            self.points.push(low_end);
        }
        self.points.extend(cells.points(self.rounding));
        self
    }

    /// Centre and width of the bulk of the sum.
    fn shape_with(&self, other: &Self) -> (f64, f64) {
        let (own, theirs) = (self.bulk(), other.bulk());
        (own.0 + theirs.0, (own.1 * own.1 + theirs.1 * theirs.1).sqrt())
    }

    /// Mean and standard deviation of all but the highest and the lowest hundredth.
    fn bulk(&self) -> (f64, f64) {
        let total: f64 = self.points.iter().map(|point| point.1).sum();
        let (mut below, mut mass, mut mean, mut square) = (0.0, 0.0, 0.0, 0.0);
        for &(value, more) in &self.points {
            let inner = (below + more).min(0.99 * total) - below.max(0.01 * total);
            below += more;
            if inner > 0.0 {
                mass += inner;
                let change = value - mean;
                mean += change * inner / mass;
                square += inner * change * (value - mean);
            }
        }
        (mean, (square / mass).sqrt().max(1e-9 * mean))
    }

    fn with(&self, other: &Self, cells: Cells) -> Self {
        let (count, lost) = (self.count + other.count, self.lost + other.lost);
        SumDistribution { points: vec![], count, lost, ..*self }.with_points_of(cells)
    }
}

/// Values from 0 to the highest, dense near the centre; geometric towards 0, down to `lowest`.
fn grid(centre: f64, spread: f64, width: f64, lowest: f64, highest: f64) -> Vec<f64> {
    let dense = |value: f64| {
        let off = value - centre;
        width * (spread * spread + off * off).sqrt()
    };
    let mut grid = vec![];
    let mut value = centre;
    while value > lowest {
        grid.push(value);
        value -= dense(value).min(4.0 * width * value);
    }
    grid.push(0.0);
    grid.reverse();
    let mut value = centre;
    while value < highest {
        value += dense(value);
        grid.push(value);
    }
    grid
}

/// Masses and means of the contents of each cell.
struct Cells {
    grid: Vec<f64>,
    masses: Vec<f64>,
    moments: Vec<f64>,
}

impl Cells {
    fn new(grid: Vec<f64>) -> Self {
        let zeros = vec![0.0; grid.len()];
        Cells { grid, masses: zeros.clone(), moments: zeros }
    }

    /// The cell of a value, searched upwards from a lower one.
    fn place_of(&self, value: f64, from: usize) -> usize {
        let ends = self.grid.iter().skip(from + 1).take(self.grid.len().saturating_sub(from + 2));
        from + ends.take_while(|end| **end <= value).count()
    }

    fn add(&mut self, place: usize, value: f64, mass: f64) {
        self.masses[place] += mass;
        self.moments[place] += mass * value;
    }

    /// Adds the sums of each point v of a distribution and the points w of another that go with it,
    /// the lowest of them: a cell takes a whole range of them, so that few steps suffice where v is
    /// large.
    fn add_sums(
        &mut self,
        distribution: &SumDistribution,
        other: &SumDistribution,
        goes: impl Fn(f64, f64) -> bool,
        times: f64,
    ) {
        let Some(&(least, _)) = other.points.first() else { return };
        // most of the mean may be far above most of the mass: each has its own middle
        let masses = RangeSums::of(other.points.iter().map(|point| point.1));
        let moments = RangeSums::of(other.points.iter().map(|point| point.0 * point.1));
        // where the range below each end of a cell ends: it falls as v rises
        let mut ends_of_ranges = vec![other.points.len(); self.grid.len()];
        let (mut count, mut first) = (0, 0);
        for &(value, mass) in &distribution.points {
            while other.points.get(count).is_some_and(|point| goes(value, point.0)) {
                count += 1;
            }
            first = self.place_of(value + least, first);
            let (mut place, mut start) = (first, 0);
            while start < count {
                let mut end = count;
                if place + 2 < self.grid.len() {
                    let high = self.grid[place + 1];
                    end = ends_of_ranges[place].min(count);
                    while end > start && value + other.points[end - 1].0 >= high {
                        end -= 1;
                    }
                    if end < count {
                        ends_of_ranges[place] = end;
                    }
                }
                if end > start {
                    let (range, moment) = (masses.between(start, end), moments.between(start, end));
                    self.masses[place] += times * mass * range;
                    self.moments[place] += times * mass * (value * range + moment);
                }
                (start, place) = (end, place + 1);
            }
        }
    }

    /// Points with more mass than rounding may have added.
    fn points(&self, rounding: Rounding) -> Vec<(f64, f64)> {
        let outward = outward(rounding);
        let mut masses = vec![0.0; self.grid.len()];
        let mut points = Vec::with_capacity(self.grid.len());
        for (place, ends) in self.grid.windows(2).enumerate() {
            let (mass, moment) = (self.masses[place], self.moments[place]);
            if !(mass > 0.0) {
                continue;
            }
            let mean = math::clamp(moment / mass, ends[0], ends[1]);
            match rounding {
                Rounding::Pessimistic => {
                    let upper = mass * ((mean - ends[0]) / (ends[1] - ends[0]));
                    masses[place] += mass - upper;
                    masses[place + 1] += upper;
                }
                Rounding::Optimistic => points.push((mean, mass * outward)),
            }
        }
        if rounding == Rounding::Pessimistic {
            let filled = self.grid.iter().zip(masses).filter(|(_, mass)| *mass > 0.0);
            points.extend(filled.map(|(value, mass)| (*value, mass * outward)));
        }
        points
    }
}

/// Sums of terms over ranges of points, as differences of sums from the nearer end: their error is
/// relative to the tail.
struct RangeSums {
    middle: usize,
    /// Up to the middle, the sum of all below; above it, minus the sum of all above.
    sums: Vec<f64>,
    whole: f64,
}

impl RangeSums {
    fn of(terms: impl DoubleEndedIterator<Item = f64> + ExactSizeIterator + Clone) -> Self {
        let half = 0.5 * terms.clone().sum::<f64>();
        let mut sums = vec![0.0; terms.len() + 1];
        let (mut middle, mut below) = (0, 0.0);
        for (place, term) in terms.clone().enumerate() {
            if below + term >= half {
                break;
            }
            sums[place] = below;
            below += term;
            middle = place + 1;
        }
        let mut above = 0.0;
        for (place, term) in terms.enumerate().skip(middle).rev() {
            above += term;
            sums[place] = -above;
        }
        RangeSums { middle, sums, whole: below + above }
    }

    /// Sum of the terms of points `start..end`.
    fn between(&self, start: usize, end: usize) -> f64 {
        let sum = self.sums[end] - self.sums[start];
        if start < self.middle && end >= self.middle { sum + self.whole } else { sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest relative change of the masses and moments of sums v + w, w < v, by ranges.
    fn worst(distribution: &SumDistribution, by_ranges: impl Fn(&mut Cells)) -> f64 {
        let (mut cells, mut pairs) =
            (distribution.cells_of_sum(distribution), distribution.cells_of_sum(distribution));
        by_ranges(&mut cells);
        for (index, &(value, mass)) in distribution.points.iter().enumerate() {
            for &(other, other_mass) in &distribution.points[..index] {
                let place = pairs.place_of(value + other, 0);
                pairs.add(place, value + other, mass * other_mass);
            }
        }
        let change = |(seen, plain): (&f64, &f64)| ((seen - plain) / plain.max(1e-300)).abs();
        let masses = cells.masses.iter().zip(&pairs.masses).map(change);
        masses.chain(cells.moments.iter().zip(&pairs.moments).map(change)).fold(0.0, f64::max)
    }

    #[test]
    fn sums_of_ranges_are_those_of_pairs() {
        for (sigma, width) in [(0.2, 0.048), (0.2, 0.02), (0.5, 0.02), (3.0, 0.048), (20.0, 0.048)]
        {
            let distribution =
                SumDistribution::of_one(sigma, 9.0, 1e-12, width, Rounding::Optimistic);
            let seen = worst(&distribution, |cells| {
                cells.add_sums(&distribution, &distribution, |v, w| w < v, 1.0);
            });
            assert!(seen < 0.1 * INFLATION, "{sigma} {width}: {seen:e}");
            let twin = worst(&distribution, |cells| {
                cells.add_sums(&distribution, &distribution, |v, w| w <= v, 1.0);
            });
            assert!(twin > INFLATION, "{sigma} {width}: {twin:e}");
        }
    }
}
