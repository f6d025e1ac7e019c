//! Tests of drawn batches.

use crate::special::{chi_square, normal_survival};

/// What a test compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum LoaderTestKind {
    /// Correlation of a record's batch with its number.
    PositionAgainstRecord,
    /// Correlation of a record's batch with its batch in the epoch before.
    PositionAgainstLastEpoch,
    /// Pairs of consecutive record numbers in one batch.
    NeighboursTogether,
    /// Records that batches at the same place of consecutive epochs share.
    SamePlaceOverlap,
    /// The least buffer that explains the order.
    OrderWithinBuffer,
    /// Variance of batch sizes if each record chooses its batch.
    SizesAsBallsInBins,
    /// Records that consecutive batches of an epoch share.
    ConsecutiveOverlap,
    /// Variance of batch sizes if each record is drawn independently.
    SizesAsPoisson,
    /// Variance of the uses of records if all have the same rate.
    UsesOfRecords,
}

impl LoaderTestKind {
    /// Every kind.
    pub const ALL: [LoaderTestKind; 9] = [
        LoaderTestKind::PositionAgainstRecord,
        LoaderTestKind::PositionAgainstLastEpoch,
        LoaderTestKind::NeighboursTogether,
        LoaderTestKind::SamePlaceOverlap,
        LoaderTestKind::OrderWithinBuffer,
        LoaderTestKind::SizesAsBallsInBins,
        LoaderTestKind::ConsecutiveOverlap,
        LoaderTestKind::SizesAsPoisson,
        LoaderTestKind::UsesOfRecords,
    ];

    /// The name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            LoaderTestKind::PositionAgainstRecord => "position-against-record",
            LoaderTestKind::PositionAgainstLastEpoch => "position-against-last-epoch",
            LoaderTestKind::NeighboursTogether => "neighbours-together",
            LoaderTestKind::SamePlaceOverlap => "same-place-overlap",
            LoaderTestKind::OrderWithinBuffer => "order-within-buffer",
            LoaderTestKind::SizesAsBallsInBins => "sizes-as-balls-in-bins",
            LoaderTestKind::ConsecutiveOverlap => "consecutive-overlap",
            LoaderTestKind::SizesAsPoisson => "sizes-as-poisson",
            LoaderTestKind::UsesOfRecords => "uses-of-records",
        }
    }
}

/// A test with its result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoaderTest {
    /// What it compares.
    pub kind: LoaderTestKind,
    /// Standard deviations from the mean, χ², or the least buffer in records; finite.
    pub statistic: f64,
    /// Two-sided p-value; that of a buffer bounds the chance of one as small.
    pub p_value: f64,
    /// Whether the statistic is above its mean.
    pub is_above: bool,
}

impl LoaderTest {
    /// A test by a score that is standard normal; none without a score.
    pub(super) fn normal(kind: LoaderTestKind, score: Option<f64>) -> Option<Self> {
        let statistic = score.filter(|score| score.is_finite())?;
        let p_value = 2.0 * normal_survival(statistic.abs());
        Some(LoaderTest { kind, statistic, p_value, is_above: statistic > 0.0 })
    }

    /// A test by χ² = squares ÷ variance; none without degrees of freedom or variance.
    pub(super) fn chi_square(
        kind: LoaderTestKind,
        squares: f64,
        variance: f64,
        degrees: f64,
    ) -> Option<Self> {
        (degrees > 0.0 && variance > 0.0).then(|| {
            let statistic = squares / variance;
            let p_value = chi_square::two_sided(degrees, statistic);
            LoaderTest { kind, statistic, p_value, is_above: statistic > degrees }
        })
    }
}

/// The tests of one check, which share a level.
#[derive(Debug, Clone, PartialEq)]
pub struct LoaderTests(pub(super) Vec<LoaderTest>);

impl LoaderTests {
    /// Chance with which a correct sampler of the class that is tested fails any test.
    pub const SIGNIFICANCE: f64 = 1e-3;

    /// The level of each test: [`LoaderTests::SIGNIFICANCE`] over their number.
    #[must_use]
    pub fn significance(&self) -> f64 {
        Self::SIGNIFICANCE / self.0.len().max(1) as f64
    }

    /// The tests in the order in which they were made.
    pub fn iter(&self) -> impl Iterator<Item = &LoaderTest> {
        self.0.iter()
    }

    /// The test of this kind, if it was made.
    #[must_use]
    pub fn of(&self, kind: LoaderTestKind) -> Option<&LoaderTest> {
        self.iter().find(|test| test.kind == kind)
    }

    /// The test of this kind, if it rejects.
    #[must_use]
    pub fn rejected(&self, kind: LoaderTestKind) -> Option<&LoaderTest> {
        self.of(kind).filter(|test| test.p_value < self.significance())
    }
}
