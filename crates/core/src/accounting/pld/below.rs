//! A distribution on the points of a grid whose privacy profile lies below that of cells.
//!
//! As functions of y = e^ε, let D be the profile of the masses split to the ends of their cells,
//! and M that of cells which are one outcome each: M ≤ δ ≤ D, equal at the ends of cells. Both are
//! convex polygons; the corners of M are the cells' means, where it is a gap G below D. The result
//! is a convex polygon f ≤ M with corners at ends of cells alone. It begins with the first line of
//! M. From each corner it follows the line of sight that touches M, up to the next end of a cell
//! beyond the point of contact.
//!
//! With f = D − c, and ρ the slope of D minus that of f: f ≤ M in a cell from y to ry means c ≥ 0
//! and c + wρ(r − 1)y ≥ G, with w the share of its mass under Q that is split to ry. Each end adds
//! its mass under Q to ρ. A last pass compares heights, which are sums of positive terms: where f
//! were above M, nothing would remain of it.

use super::RELATIVE;
use crate::math;

/// Relative excess of heights that is taken for rounding, and removed.
const SLACK: f64 = 1e-12;

/// Masses under P at the ends of a cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Halves {
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// Width in steps.
    pub(super) steps: u32,
}

/// A corner of the polygon, with c there.
#[derive(Debug, Clone, Copy)]
struct Corner {
    place: usize,
    lowered: f64,
}

/// Sums over the cells behind a corner, in units of its y.
#[derive(Debug, Clone, Copy)]
struct Ahead {
    /// y relative to that of the corner.
    ratio: f64,
    /// Relative distance y − 1 from the corner.
    distance: f64,
    /// ρ and c, if both are 0 at the corner.
    slope: f64,
    lowered: f64,
    /// Bound of the relative errors of these sums.
    error: f64,
}

impl Ahead {
    const START: Self =
        Ahead { ratio: 1.0, distance: 0.0, slope: 0.0, lowered: 0.0, error: RELATIVE };
}

/// The polygon below M.
struct Polygon<'a> {
    cells: &'a [Halves],
    /// Per cell: r − 1.
    rises: Vec<f64>,
    /// Per end: masses of D under P, and D.
    split: Vec<f64>,
    deltas: Vec<f64>,
    /// Per end: the slope of −D just below it, times its y.
    tails: Vec<f64>,
    /// Per end: steps from the first.
    indices: Vec<i64>,
    step: f64,
}

/// Masses under P at the ends of the cells.
pub(super) fn masses(step: f64, cells: &[Halves]) -> Vec<f64> {
    let polygon = Polygon::new(step, cells);
    let mut masses = vec![0.0; cells.len() + 1];
    if let Some(corners) = polygon.corners() {
        polygon.fill(&corners, &mut masses);
    }
    if polygon.is_above(&masses) {
        return vec![0.0; cells.len() + 1];
    }
    masses.iter_mut().for_each(|mass| *mass *= 1.0 - 2.0 * SLACK);
    masses
}

impl<'a> Polygon<'a> {
    fn new(step: f64, cells: &'a [Halves]) -> Self {
        let mut split = vec![0.0; cells.len() + 1];
        let mut rises: Vec<f64> = Vec::with_capacity(cells.len());
        for (place, cell) in cells.iter().enumerate() {
            split[place] += cell.lower;
            split[place + 1] += cell.upper;
            let known = place.checked_sub(1).filter(|before| cells[*before].steps == cell.steps);
            rises.push(match known {
                Some(before) => rises[before],
                None => math::exp_m1(f64::from(cell.steps) * step),
            });
        }
        let mut indices = vec![0_i64; cells.len() + 1];
        for (place, cell) in cells.iter().enumerate() {
            indices[place + 1] = indices[place] + i64::from(cell.steps);
        }
        let mut deltas = vec![0.0; cells.len() + 1];
        let mut tails = split.clone();
        for (place, rise) in rises.iter().enumerate().rev() {
            let ratio = 1.0 + rise;
            deltas[place] = deltas[place + 1] + rise / ratio * tails[place + 1];
            tails[place] += tails[place + 1] / ratio;
        }
        Polygon { cells, rises, split, deltas, tails, indices, step }
    }

    /// 1 − y/y′ of two ends y ≤ y′.
    fn fall(&self, from: usize, to: usize) -> f64 {
        -math::exp_m1((self.indices[from] - self.indices[to]) as f64 * self.step)
    }

    /// The first line of M ends at the corner; its −slope, times the corner's y.
    fn first_slope(&self, corner: Corner) -> f64 {
        self.tails[corner.place] + self.first_step(corner)
    }

    /// What the cell below adds to it.
    fn first_step(&self, corner: Corner) -> f64 {
        let below = corner.place.checked_sub(1);
        below.map_or(0.0, |place| self.cells[place].lower * (1.0 + self.rises[place]))
    }

    /// w and G of a cell with mass.
    fn share_and_gap(&self, place: usize) -> Option<(f64, f64)> {
        let Halves { lower, upper, .. } = self.cells[place];
        let scaled = lower * (1.0 + self.rises[place]) + upper;
        (scaled > 0.0).then(|| (upper / scaled, self.rises[place] * lower * (upper / scaled)))
    }

    /// f at a corner, rounded down.
    fn height(&self, corner: Corner) -> f64 {
        let delta = self.deltas[corner.place];
        (delta - corner.lowered - RELATIVE * delta).max(0.0)
    }

    /// At the next end, if no corner is between.
    fn next(&self, place: usize, ahead: Ahead) -> Ahead {
        let width = ahead.ratio * self.rises[place];
        let ratio = ahead.ratio * (1.0 + self.rises[place]);
        Ahead {
            ratio,
            distance: ahead.distance + width,
            slope: ahead.slope + self.split[place + 1] / ratio,
            lowered: ahead.lowered + ahead.slope * width,
            error: ahead.error + 8.0 * f64::EPSILON,
        }
    }

    /// All corners, the last with f = 0; none if f is 0.
    fn corners(&self) -> Option<Vec<Corner>> {
        let first = (0..self.cells.len()).find(|place| self.share_and_gap(*place).is_some())?;
        let Halves { lower, upper, .. } = self.cells[first];
        let place = if upper > 0.0 { first + 1 } else { first };
        let lowered = if upper > 0.0 { lower * self.rises[first] * (1.0 + RELATIVE) } else { 0.0 };
        let mut corners = Vec::with_capacity(self.cells.len() + 1);
        let mut corner = Corner { place, lowered };
        loop {
            let delta = self.deltas[corner.place];
            if delta == 0.0 && corner.lowered == 0.0 {
                corners.push(corner);
                return Some(corners);
            }
            if self.height(corner) == 0.0 {
                return self.ended(corners, corner.place);
            }
            corners.push(corner);
            let Some(next) = self.line_of_sight(corner) else {
                return self.ended(corners, corner.place);
            };
            corner = next;
        }
    }

    /// The end of the line from a corner that touches M.
    fn line_of_sight(&self, corner: Corner) -> Option<Corner> {
        let mut best: Option<(f64, Corner)> = None;
        let mut ahead = Ahead::START;
        for place in corner.place..self.cells.len() {
            let next = self.next(place, ahead);
            if let Some((share, gap)) = self.share_and_gap(place) {
                let width = share * (next.distance - ahead.distance);
                let reach = ahead.distance + width;
                if reach > 0.0 {
                    let known = corner.lowered + ahead.lowered + width * ahead.slope;
                    let slope = (gap + ahead.error * (gap + known) - known) / reach;
                    if best.is_some_and(|best| slope < best.0) {
                        break;
                    }
                    let (place, at) = if share > 0.0 { (place + 1, next) } else { (place, ahead) };
                    let turned = slope * at.distance;
                    let sum = corner.lowered + turned + at.lowered;
                    let error = at.error * (corner.lowered + turned.abs() + at.lowered);
                    let is_at_end = share == 0.0 || share == 1.0;
                    let lowered = if is_at_end { 0.0 } else { (sum + error).max(0.0) };
                    best = Some((slope, Corner { place, lowered }));
                }
            }
            ahead = next;
        }
        best.map(|best| best.1)
    }

    /// Ends the polygon with f = 0 at the last end of a cell before `beyond` to which a line from
    /// the last corner is below M.
    fn ended(&self, mut corners: Vec<Corner>, beyond: usize) -> Option<Vec<Corner>> {
        let corner = *corners.last()?;
        let last = corner.place;
        // a line to a farther end is higher and passes above more means
        let (mut zero, mut above) = (last, beyond.max(last + 1));
        while above - zero > 1 {
            let middle = zero + (above - zero) / 2;
            if self.is_line_below(corner, middle) { zero = middle } else { above = middle }
        }
        if zero == last {
            corners.pop();
        }
        // no corner lies above the line from the one before to the last
        while let [.., before, corner] = corners[..] {
            let share = self.fall(corner.place, zero) / self.fall(before.place, zero);
            if self.height(corner) <= self.height(before) * share * (1.0 - RELATIVE) {
                break;
            }
            corners.pop();
        }
        if let [first] = corners[..]
            && self.height(first) * (1.0 - self.fall(first.place, zero))
                > self.first_slope(first) * self.fall(first.place, zero) * (1.0 - RELATIVE)
        {
            return None;
        }
        corners.push(Corner { place: zero, lowered: self.deltas[zero] });
        (corners.len() > 1).then_some(corners)
    }
    /// M at the mean of a cell, and the mean's distance to the upper end, in units of its y.
    fn at_mean(&self, place: usize) -> Option<(f64, f64)> {
        let Halves { lower, upper, .. } = self.cells[place];
        let scaled = lower * (1.0 + self.rises[place]) + upper;
        let distance = lower * self.rises[place] / scaled;
        let slope = match self.cells.get(place + 1) {
            Some(next) => next.lower + self.tails[place + 2] / (1.0 + self.rises[place + 1]),
            None => 0.0,
        };
        (scaled > 0.0).then(|| (self.deltas[place + 1] + distance * slope, distance))
    }

    /// Whether the line from a corner to f = 0 at an end is below M at the means between.
    fn is_line_below(&self, corner: Corner, zero: usize) -> bool {
        let span = self.fall(corner.place, zero);
        let height = self.height(corner);
        (corner.place..zero).all(|place| {
            let Some((most, distance)) = self.at_mean(place) else { return true };
            // y of the mean beside that of the end with f = 0
            let mean = (1.0 - self.fall(place + 1, zero)) * (1.0 - distance);
            height * ((1.0 - mean) / span) <= most * (1.0 - RELATIVE)
        })
    }

    /// Whether these masses have a profile above M at a corner of either.
    fn is_above(&self, masses: &[f64]) -> bool {
        let (mut delta, mut tail) = (0.0, masses[self.cells.len()]);
        for (place, rise) in self.rises.iter().enumerate().rev() {
            if let Some((most, distance)) = self.at_mean(place)
                && delta + distance * tail > most * (1.0 + SLACK)
            {
                return true;
            }
            delta += rise / (1.0 + rise) * tail;
            tail = masses[place] + tail / (1.0 + rise);
            if !(delta <= self.deltas[place] * (1.0 + SLACK)) {
                return true;
            }
        }
        false
    }

    /// Masses of the corners: differences of slopes, rounded down.
    fn fill(&self, corners: &[Corner], masses: &mut [f64]) {
        let Some(&first) = corners.first() else { return };
        // ρy below the corner, with its own mass under D
        let mut before = self.first_step(first) + self.split[first.place];
        let mut error = RELATIVE * before;
        // negative mass, to be taken from the next corner
        let mut missing = 0.0;
        for pair in corners.windows(2) {
            let [start, end] = [pair[0], pair[1]];
            let ahead =
                (start.place..end.place).fold(Ahead::START, |ahead, place| self.next(place, ahead));
            let slope = (end.lowered - start.lowered - ahead.lowered) / ahead.distance;
            let of_slope =
                ahead.error * (end.lowered + start.lowered + ahead.lowered) / ahead.distance;
            let mass = before - slope - error - of_slope - missing;
            masses[start.place] = mass.max(0.0) * (1.0 - RELATIVE);
            missing = (-mass).max(0.0);
            before = (slope + ahead.slope) * ahead.ratio;
            error = (ahead.error * (slope.abs() + ahead.slope) + of_slope) * ahead.ratio;
        }
        let last = match corners[..] {
            // beyond the last corner f is 0
            [.., before, last] => self.height(before) / self.fall(before.place, last.place),
            _ => before,
        };
        let place = corners[corners.len() - 1].place;
        masses[place] = (last * (1.0 - RELATIVE) - missing).max(0.0) * (1.0 - RELATIVE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Outcomes (P, Q), one per cell with mass.
    fn merged(step: f64, cells: &[Halves]) -> Vec<(f64, f64)> {
        let mut index = 0_i64;
        let mut outcomes = Vec::new();
        for cell in cells {
            let low = math::exp(-(index as f64) * step);
            index += i64::from(cell.steps);
            let high = math::exp(-(index as f64) * step);
            outcomes.push((cell.lower + cell.upper, cell.lower * low + cell.upper * high));
        }
        outcomes.into_iter().filter(|outcome| outcome.0 > 0.0).collect()
    }

    /// Outcomes (P, Q) of masses at the ends of cells.
    fn at_ends(step: f64, cells: &[Halves], masses: &[f64]) -> Vec<(f64, f64)> {
        let mut index = 0_i64;
        let mut outcomes = Vec::new();
        for (place, mass) in masses.iter().enumerate() {
            outcomes.push((*mass, mass * math::exp(-(index as f64) * step)));
            index += cells.get(place).map_or(0, |cell| i64::from(cell.steps));
        }
        outcomes
    }

    fn profile(outcomes: &[(f64, f64)], y: f64) -> f64 {
        outcomes.iter().map(|(p, q)| (p - y * q).max(0.0)).sum()
    }

    /// Largest relative excess of the polygon over M, at all corners of both.
    fn excess(step: f64, cells: &[Halves], masses: &[f64]) -> f64 {
        let (seen, most) = (at_ends(step, cells, masses), merged(step, cells));
        // each term of a profile is a difference of these
        let above = |y: f64| {
            let near = seen.iter().filter(|(p, q)| *p > y * q * (1.0 - 1e-12));
            near.map(|outcome| outcome.0).sum::<f64>()
        };
        let corners = seen.iter().chain(&most).filter(|outcome| outcome.0 > 0.0);
        let over = corners.map(|(p, q)| {
            let y = p / q;
            let (seen, most) = (profile(&seen, y), profile(&most, y));
            if seen > most { (seen - most) / (most + 1e-2 * above(y)) } else { 0.0 }
        });
        over.fold(0.0, f64::max)
    }

    fn random(seed: u64) -> (f64, Vec<Halves>) {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        let step = math::exp(-source.random_range(0.0..9.0));
        let range = source.random_range(0.5..60.0);
        let widest = if seed.is_multiple_of(3) { 80 } else { 3 };
        let count = source.random_range(1..60);
        let mut mass = |_: usize| {
            if source.random_range(0.0..1.0) < 0.15 {
                0.0
            } else {
                math::exp(-range * source.random_range(0.0..1.0))
            }
        };
        let halves: Vec<(f64, f64)> = (0..count).map(|place| (mass(place), mass(place))).collect();
        let total: f64 = halves.iter().map(|half| half.0 + half.1).sum::<f64>().max(1e-300);
        let cells = halves.into_iter().map(|(lower, upper)| Halves {
            lower: lower / total,
            upper: upper / total,
            steps: 1 + (upper.to_bits() % widest) as u32,
        });
        (step, cells.collect())
    }

    #[test]
    fn no_polygon_is_above_the_merged_cells() {
        let (mut filled, mut detected) = (0, 0);
        for seed in 0..2000 {
            let (step, cells) = random(seed);
            let mut masses = masses(step, &cells);
            let seen = excess(step, &cells, &masses);
            assert!(seen < 1e-13, "{seed}: {seen:e}");
            let largest = masses.iter_mut().max_by(|a, b| a.total_cmp(b));
            if let Some(largest) = largest.filter(|mass| **mass > 0.0) {
                filled += 1;
                *largest *= 1.001;
                detected += usize::from(excess(step, &cells, &masses) > 1e-13);
            }
        }
        assert!(filled > 1000 && detected > filled * 9 / 10, "{detected} of {filled}");
    }

    /// Differences from D have no correct digit behind a wide gap, and its far side counts for little.
    #[test]
    fn outcomes_far_apart_are_not_overrated() {
        let cell = |lower: f64, upper: f64, steps: u32| Halves { lower, upper, steps };
        let cells = [
            cell(0.005_74, 0.004_06, 1),
            cell(0.0, 0.0, 20),
            cell(0.001_89, 0.007_91, 1),
            cell(0.0, 0.0, 40),
            cell(0.0646, 0.9158, 1),
            cell(0.0, 0.0, 40),
            cell(5.6e-20, 4.2e-20, 1),
        ];
        let seen = masses(1.0, &cells);
        assert!(excess(1.0, &cells, &seen) < 1e-13, "{seen:?}");
        assert!(seen.iter().sum::<f64>() > 0.5, "{seen:?}");
    }

    /// Every line touches M, so that f is on average as far below D as the gaps are.
    #[test]
    fn smooth_cells_lose_no_more_than_their_gaps() {
        let bell = |x: f64| math::exp(-0.5 * x * x);
        let halves = |place: i32| {
            let x = 0.1 * f64::from(place);
            Halves { lower: 0.02 * bell(x), upper: 0.02 * bell(x + 0.1), steps: 1 }
        };
        let cells: Vec<Halves> = (-70..70).map(halves).collect();
        let step = 1e-3;
        let polygon = Polygon::new(step, &cells);
        let seen = at_ends(step, &cells, &masses(step, &cells));
        let (mut lowered, mut gaps) = (0.0, 0.0);
        for (place, delta) in polygon.deltas.iter().enumerate().take(cells.len()) {
            lowered += delta - profile(&seen, math::exp(place as f64 * step));
            gaps += polygon.share_and_gap(place).map_or(0.0, |(_, gap)| gap);
        }
        assert!(lowered > 0.9 * gaps && lowered < 1.1 * gaps, "{lowered:e} {gaps:e}");
    }
}
