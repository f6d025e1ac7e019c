//! Tests of epochs that have records several times, against batches drawn independently of each other.

use super::excess::Excess;
use super::marks::Marks;
use super::{DrawnBatches, LoaderFacts, LoaderTest, LoaderTestKind};

/// The tests; one whose statistic is certain is left out.
pub(super) fn tests(drawn: &DrawnBatches<'_>, facts: &LoaderFacts) -> Vec<LoaderTest> {
    let mut marks = Marks::new(drawn.dataset_size());
    let (mut consecutive, mut same_place) = (Excess::default(), Excess::default());
    let n = drawn.dataset_size() as f64;
    let add = |excess: &mut Excess, [one, other, shared]: [usize; 3]| {
        let (b, c) = (one as f64, other as f64);
        // hypergeometric
        let variance = b * c * (n - b) * (n - c) / (n * n * (n - 1.0));
        excess.add(shared, b * c / n, variance);
    };
    for epoch in drawn.epochs() {
        for (one, next) in epoch.batches().zip(epoch.batches().skip(1)) {
            add(&mut consecutive, marks.overlap(one, next));
        }
    }
    for (epoch, next) in drawn.epochs().zip(drawn.epochs().skip(1)) {
        for (one, other) in epoch.batches().zip(next.batches()) {
            add(&mut same_place, marks.overlap(one, other));
        }
    }
    let tests = [
        LoaderTest::normal(LoaderTestKind::ConsecutiveOverlap, consecutive.score()),
        LoaderTest::normal(LoaderTestKind::SamePlaceOverlap, same_place.score()),
        (!facts.equal_sizes).then(|| sizes(drawn, drawn.rate())).flatten(),
        uses(drawn, mean_rate(drawn)),
    ];
    tests.into_iter().flatten().collect()
}

/// Batch sizes b of M batches against nq(1 − q): Σ(b − nq)²/(nq(1 − q)), χ² with M degrees of freedom,
/// one less if q is estimated.
pub(super) fn sizes(drawn: &DrawnBatches<'_>, rate: Option<f64>) -> Option<LoaderTest> {
    let (n, batches) = (drawn.dataset_size() as f64, drawn.sizes().len() as f64);
    let rate_or_estimate = rate.unwrap_or_else(|| mean_rate(drawn));
    let mean = n * rate_or_estimate;
    let squares = drawn.sizes().iter().map(|size| f64::from(*size) - mean).map(|x| x * x);
    let variance = mean * (1.0 - rate_or_estimate);
    let degrees = if rate.is_some() { batches } else { batches - 1.0 };
    LoaderTest::chi_square(LoaderTestKind::SizesAsPoisson, squares.sum(), variance, degrees)
}

/// Records of all batches over records and batches: the estimate of q.
pub(super) fn mean_rate(drawn: &DrawnBatches<'_>) -> f64 {
    drawn.records().len() as f64 / drawn.sizes().len() as f64 / drawn.dataset_size() as f64
}

/// Uses K of the records: Σ(K − K̄)²/(K̄(1 − q)), χ² with n − 1 degrees of freedom; q is K̄/M for M
/// batches that have a record once.
pub(super) fn uses(drawn: &DrawnBatches<'_>, rate: f64) -> Option<LoaderTest> {
    let mut uses = vec![0_u64; drawn.dataset_size()];
    drawn.records().iter().for_each(|record| uses[*record as usize] += 1);
    let mean = drawn.records().len() as f64 / uses.len() as f64;
    let squares: f64 = uses.iter().map(|k| *k as f64 - mean).map(|x| x * x).sum();
    let variance = mean * (1.0 - rate);
    let degrees = uses.len() as f64 - 1.0;
    LoaderTest::chi_square(LoaderTestKind::UsesOfRecords, squares, variance, degrees)
}
