//! Tests of epochs that have each record at most once, against a fresh uniform order.

use super::batches::Epoch;
use super::excess::Excess;
use super::{DrawnBatches, LoaderFacts, LoaderTest, LoaderTestKind};
use crate::math;

/// No batch: fewer batches than this are in an epoch.
const ABSENT: u32 = u32::MAX;

/// The tests; one whose statistic is certain is left out.
pub(super) fn tests(drawn: &DrawnBatches<'_>, facts: &LoaderFacts) -> Vec<LoaderTest> {
    let n = drawn.dataset_size();
    let (mut places, mut last_places) = (vec![ABSENT; n], vec![ABSENT; n]);
    let (mut against_record, mut against_last) = (Correlations::default(), Correlations::default());
    let (mut neighbours, mut overlaps) = (Excess::default(), Excess::default());
    let mut last: Option<Epoch<'_>> = None;
    for epoch in drawn.epochs() {
        std::mem::swap(&mut places, &mut last_places);
        places.fill(ABSENT);
        for (place, batch) in (0..ABSENT).zip(epoch.batches()) {
            batch.iter().for_each(|record| places[*record as usize] = place);
        }
        let by_record = (0_u32..).zip(&places).filter(|(_, place)| **place != ABSENT);
        against_record.add(by_record.map(|(record, place)| [record, *place]));
        neighbours.add_neighbours(&places, epoch.sizes);
        if let Some(last) = last {
            let both = places.iter().zip(&last_places).map(|(place, last)| [*place, *last]);
            let both = both.filter(|both| !both.contains(&ABSENT));
            against_last.add(both.clone());
            let shared = both.filter(|[place, last]| place == last).count();
            overlaps.add_overlaps(shared, n, [last.sizes, epoch.sizes]);
        }
        last = Some(epoch);
    }
    let normal = LoaderTest::normal;
    let tests = [
        normal(LoaderTestKind::PositionAgainstRecord, against_record.score()),
        normal(LoaderTestKind::PositionAgainstLastEpoch, against_last.score()),
        normal(LoaderTestKind::NeighboursTogether, neighbours.score()),
        normal(LoaderTestKind::SamePlaceOverlap, overlaps.score()),
        facts.least_buffer.map(|least| within_buffer(drawn, least)),
        (!facts.equal_sizes).then(|| sizes(drawn)).flatten(),
    ];
    tests.into_iter().flatten().collect()
}

/// Correlations r of pairs, one per epoch: r has variance 1/(n − 1) in a uniform order of n records.
#[derive(Default)]
struct Correlations {
    /// Σ r √(n − 1)
    sum: f64,
    epochs: u32,
}

impl Correlations {
    fn add(&mut self, pairs: impl Iterator<Item = [u32; 2]> + Clone) {
        let (mut count, mut sums) = (0_u64, [0_u64; 2]);
        for [one, other] in pairs.clone() {
            count += 1;
            sums = [sums[0] + u64::from(one), sums[1] + u64::from(other)];
        }
        let means = sums.map(|sum| sum as f64 / count.max(1) as f64);
        let (mut squares, mut products) = ([0.0; 2], 0.0);
        for [one, other] in pairs {
            let (one, other) = (f64::from(one) - means[0], f64::from(other) - means[1]);
            squares = [squares[0] + one * one, squares[1] + other * other];
            products += one * other;
        }
        let scale = squares[0].sqrt() * squares[1].sqrt();
        if scale > 0.0 {
            self.sum += products / scale * (count as f64 - 1.0).sqrt();
            self.epochs += 1;
        }
    }

    fn score(&self) -> Option<f64> {
        (self.epochs > 0).then(|| self.sum / f64::from(self.epochs).sqrt())
    }
}

impl Excess {
    /// Records i and i + 1 in one batch. With batch sizes b and falling factorials (x)ₖ, the chances
    /// are P₂ = Σ(b)₂/(n)₂ for a pair, P₃ = Σ(b)₃/(n)₃ for two pairs that share a record, and
    /// P₂₂ = \[Σ(b)₄ + (Σ(b)₂)² − Σ((b)₂)²\]/(n)₄ for two others: mean (n − 1)P₂, variance
    /// (n − 1)P₂ + 2(n − 2)P₃ + (n − 2)(n − 3)P₂₂ − mean².
    fn add_neighbours(&mut self, places: &[u32], sizes: &[u32]) {
        let together = |pair: &&[u32]| pair[0] == pair[1] && pair[0] != ABSENT;
        let count = places.windows(2).filter(together).count();
        let n = places.len() as f64;
        let sum = |of: &dyn Fn(f64) -> f64| sizes.iter().map(|b| of(f64::from(*b))).sum::<f64>();
        let pairs = sum(&|b| falling(b, 2));
        let apart = if n > 3.0 {
            let squares = sum(&|b| falling(b, 2) * falling(b, 2));
            (sum(&|b| falling(b, 4)) + pairs * pairs - squares) / falling(n, 4)
        } else {
            0.0
        };
        let chained = if n > 2.0 { sum(&|b| falling(b, 3)) / falling(n, 3) } else { 0.0 };
        let mean = (n - 1.0) * (pairs / falling(n, 2));
        let second = mean + 2.0 * (n - 2.0) * chained + (n - 2.0) * (n - 3.0) * apart;
        self.add(count, mean, second - mean * mean);
    }

    /// Records at the same place of two epochs, with batch sizes b and b′: mean m = Σbb′/n, variance
    /// m + \[Σb(b − 1)b′(b′ − 1) + (Σbb′)² − Σ(bb′)²\]/(n(n − 1)) − m². The batches of one order depend
    /// on each other: the variances of single batches do not add.
    fn add_overlaps(&mut self, shared: usize, records: usize, sizes: [&[u32]; 2]) {
        let n = records as f64;
        let (mut products, mut pairs, mut squares) = (0.0, 0.0, 0.0);
        for (one, other) in sizes[0].iter().zip(sizes[1]) {
            let (one, other) = (f64::from(*one), f64::from(*other));
            products += one * other;
            pairs += falling(one, 2) * falling(other, 2);
            squares += one * other * one * other;
        }
        let mean = products / n;
        let second = mean + (pairs + products * products - squares) / (n * (n - 1.0));
        self.add(shared, mean, second - mean * mean);
    }
}

/// x(x − 1)…(x − k + 1)
fn falling(x: f64, k: u32) -> f64 {
    (0..k).map(|below| x - f64::from(below)).product()
}

/// The chance that no epoch needs a larger buffer than K: for each, the first s = min(m, n − K) of its
/// m records have K choices each of n, n − 1, …: K^s (n − s)!/n!, which is K^{n−K} K!/n! for m = n.
/// Exact for slots of records; an upper bound for those of sorted batches, which need larger buffers.
fn within_buffer(drawn: &DrawnBatches<'_>, least: u64) -> LoaderTest {
    let (n, buffer) = (drawn.dataset_size() as u64, least as f64);
    let ln_factorial = |count: u64| math::lgamma(count as f64 + 1.0);
    let ln_chance = |epoch: Epoch<'_>| {
        let slots = n.saturating_sub(least).min(epoch.records.len() as u64);
        slots as f64 * math::ln(buffer) + ln_factorial(n - slots) - ln_factorial(n)
    };
    LoaderTest {
        kind: LoaderTestKind::OrderWithinBuffer,
        statistic: buffer,
        p_value: math::exp(drawn.epochs().map(ln_chance).sum::<f64>()).min(1.0),
        is_above: false,
    }
}

/// Σ(b − b̄)²/b̄ of each epoch, χ² with one degree less than batches.
fn sizes(drawn: &DrawnBatches<'_>) -> Option<LoaderTest> {
    let (mut dispersion, mut degrees) = (0.0, 0.0);
    for epoch in drawn.epochs().filter(|epoch| !epoch.records.is_empty()) {
        let mean = epoch.records.len() as f64 / epoch.sizes.len() as f64;
        let squares = epoch.sizes.iter().map(|size| f64::from(*size) - mean).map(|x| x * x);
        dispersion += squares.sum::<f64>() / mean;
        degrees += epoch.sizes.len() as f64 - 1.0;
    }
    LoaderTest::chi_square(LoaderTestKind::SizesAsBallsInBins, dispersion, 1.0, degrees)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All orders of `n` records.
    fn orders(n: u32) -> Vec<Vec<u32>> {
        if n == 0 {
            return vec![Vec::new()];
        }
        let longer = |order: Vec<u32>| {
            (0..n as usize).map(move |place| {
                let mut order = order.clone();
                order.insert(place, n - 1);
                order
            })
        };
        orders(n - 1).into_iter().flat_map(longer).collect()
    }

    fn places(order: &[u32], sizes: &[u32]) -> Vec<u32> {
        let mut places = vec![ABSENT; order.len()];
        for (place, batch) in (0..).zip(Epoch { records: order, sizes }.batches()) {
            batch.iter().for_each(|record| places[*record as usize] = place);
        }
        places
    }

    /// Mean and variance of the sum of squares of the excess over all orders: 0 and the variance.
    fn moments(n: u32, excess: impl Fn(&[u32]) -> Excess) -> [f64; 3] {
        let all: Vec<Excess> = orders(n).iter().map(|order| excess(order)).collect();
        let mean = |of: &dyn Fn(&Excess) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        [mean(&|e| e.excess), mean(&|e| e.excess * e.excess), mean(&|e| e.variance)]
    }

    #[test]
    fn moments_equal_those_of_all_orders() {
        for sizes in [&[3, 3][..], &[2, 2, 2], &[1, 5], &[6], &[4, 1], &[2, 0, 1]] {
            let [excess, squares, variance] = moments(6, |order| {
                let mut found = Excess::default();
                found.add_neighbours(&places(order, sizes), sizes);
                found
            });
            assert!(excess.abs() < 1e-12 && (squares - variance).abs() < 1e-12, "{sizes:?}");
            for before in [&[3, 3][..], &[1, 2, 3], &[2, 2]] {
                let first = places(&[5, 2, 0, 1, 4, 3], before);
                let shared = |order: &[u32]| {
                    let both = places(order, sizes).into_iter().zip(&first);
                    both.filter(|(one, other)| one == *other && *one != ABSENT).count()
                };
                let [excess, squares, variance] = moments(6, |order| {
                    let mut found = Excess::default();
                    found.add_overlaps(shared(order), 6, [before, sizes]);
                    found
                });
                assert!(excess.abs() < 1e-12, "{before:?} {sizes:?}");
                assert!((squares - variance).abs() < 1e-12, "{before:?} {sizes:?}");
            }
        }
    }

    #[test]
    fn buffer_chances_equal_shares_of_all_orders() {
        for (drawn, least) in [(5_usize, 3), (5, 1), (5, 5), (3, 2), (2, 1), (1, 2)] {
            let needed = |order: &Vec<u32>| {
                (0..).zip(&order[..drawn]).all(|(slot, record)| *record < slot + least)
            };
            let share = orders(5).iter().filter(|order| needed(order)).count() as f64 / 120.0;
            let (records, size) = (vec![0; 2 * drawn], [drawn as u32; 2]);
            let lists = DrawnBatches::new(&records, &size, &[1, 1], 5, None).unwrap();
            let chance = within_buffer(&lists, u64::from(least)).p_value;
            assert!((chance / (share * share) - 1.0).abs() < 1e-12, "{drawn} {least}");
        }
    }
}
