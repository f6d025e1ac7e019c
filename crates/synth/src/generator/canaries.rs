//! Scores of canary rows.

use dpscope_core::math;
use dpscope_core::random::{Purpose, Words};
use dpscope_formats::table::{Rows, Schema};

use super::manifest::Scoring;
use super::public_domain::similar_row;
use crate::attack::RowDistance;

/// Radius of the score that counts, in diameters.
const RADIUS: f64 = 0.1;

/// Decoys of a canary: rows like it that were never in the data.
const DECOYS: usize = 32;

/// Streams of [`Purpose::GeneratorCanaries`] for decoys; others are below.
const DECOY_STREAMS: u64 = 1 << 63;

/// A score of each canary from the released rows, higher for canaries that were in the data.
///
/// d(y, x) is the distance of [`RowDistance`], xⱼ are the N′ released rows, and c₁ … c₃₂ the decoys of the
/// canary c: c with one cell, and each other cell with probability ½, drawn again from the public domain.
///
/// | score | formula |
/// |---|---|
/// | [`Scoring::Nearest`] | −minⱼ d(c, xⱼ) |
/// | [`Scoring::Count`] | number of j with d(c, xⱼ) ≤ √m/10, m columns |
/// | [`Scoring::Density`] | ln f(c) − ln (Σₖ f(cₖ)/32), f(y) = Σⱼ exp(−d(y, xⱼ)²/(2h²)), h = N′^(−1/(m+4))/√12 |
/// | [`Scoring::Decoys`] | number of k with minⱼ d(cₖ, xⱼ) > minⱼ d(c, xⱼ), equal ones by the smaller minⱼ d(c, xⱼ) |
///
/// Density and rank compare a canary with its decoys, so that a canary in a region that the generator
/// fills anyway has no advantage. h is Scott's rule for N′ rows that are uniform on the public ranges;
/// with few columns it is wide, and copies of rows show better in distances.
///
/// | argument | meaning | shape |
/// |---|---|---|
/// | `scoring` | the rule, fixed before the run | – |
/// | `seed` | of the manifest; draws the decoys | – |
/// | `schema` | public description of the columns | m columns |
/// | `canaries` | rows that may have been in the data | n × m |
/// | `synthetic` | released rows | N′ × m |
///
/// # Guarantee
/// The score of a row is a function of that row, the released rows and what was public before the run, the
/// same for rows that were in the data and others: with a generator that ignores the canaries, scores do not
/// depend on coins (`unit::scores_of_blind_rows_do_not_depend_on_the_data`).
///
/// # Reference
/// D. W. Scott, Multivariate Density Estimation, 1992, section 6.3.
#[must_use]
pub fn canary_scores(
    (scoring, seed): (Scoring, u64),
    schema: &Schema,
    canaries: &Rows,
    synthetic: &Rows,
) -> Vec<f64> {
    let distance = RowDistance::new(schema);
    let radius = RADIUS * distance.diameter();
    let density = LogDensity::new(&distance, synthetic);
    let score = |row: &[f64]| match scoring {
        Scoring::Count => distance.within(row, synthetic, radius) as f64,
        Scoring::Nearest => -distance.nearest(row, synthetic),
        Scoring::Density => {
            let decoys = decoys(row, schema, seed).map(|decoy| density.at(&decoy));
            density.at(row) - log_sum(&decoys.collect::<Vec<_>>()) + math::ln(DECOYS as f64)
        }
        Scoring::Decoys => {
            let own = distance.nearest(row, synthetic);
            let is_farther = |decoy: &Vec<f64>| distance.nearest(decoy, synthetic) > own;
            decoys(row, schema, seed).filter(is_farther).count() as f64 + 1.0 / (2.0 + own)
        }
    };
    canaries.iter().map(score).collect()
}

/// Drawn by a seed and the row itself, whatever its place: a function of the row.
fn decoys(row: &[f64], schema: &Schema, seed: u64) -> impl Iterator<Item = Vec<f64>> {
    let mixed = row.iter().fold(0_u64, |mixed, value| {
        (mixed ^ (value + 0.0).to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)
    });
    let mut words = Words::new(seed, Purpose::GeneratorCanaries, DECOY_STREAMS | mixed);
    (0..DECOYS).map(move |_| similar_row(row, schema, &mut words))
}

/// Logarithm of a kernel density, up to a constant.
struct LogDensity<'a> {
    distance: &'a RowDistance,
    rows: &'a Rows,
    /// 2h², the divisor of squared distances, with h the bandwidth.
    width: f64,
}

impl<'a> LogDensity<'a> {
    fn new(distance: &'a RowDistance, rows: &'a Rows) -> Self {
        let order = rows.columns as f64 + 4.0;
        let squared = math::exp(-2.0 * math::ln(rows.len().max(1) as f64) / order) / 12.0;
        LogDensity { distance, rows, width: 2.0 * squared }
    }

    fn at(&self, row: &[f64]) -> f64 {
        let exponents = self.rows.iter().map(|x| -self.distance.squared(row, x) / self.width);
        log_sum(&exponents.collect::<Vec<_>>())
    }
}

/// ln Σ exp(xᵢ), also where every term underflows.
fn log_sum(exponents: &[f64]) -> f64 {
    let largest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + math::ln(exponents.iter().map(|x| math::exp(x - largest)).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use dpscope_formats::table::{Column, ColumnKind};

    use super::super::public_domain::uniform_row;
    use super::*;

    fn schema(columns: usize) -> Schema {
        let kind = ColumnKind::Number { low: 0.0, high: 10.0 };
        let column = |at| Column { name: format!("x{at}"), kind: kind.clone() };
        Schema::new((0..columns).map(column).collect()).unwrap()
    }

    #[test]
    fn a_canary_that_was_released_has_the_highest_score() {
        let schema = schema(2);
        let canaries = Rows { columns: 2, values: vec![1.0, 1.0, 1.0, 1.5, 9.0, 9.0] };
        let synthetic = Rows { columns: 2, values: vec![1.0, 1.0, 1.0, 1.2, 5.0, 5.0] };
        let scores = |scoring| canary_scores((scoring, 3), &schema, &canaries, &synthetic);
        let nearest = scores(Scoring::Nearest);
        assert_eq!(nearest[0], 0.0);
        assert!(nearest[0] > nearest[1] && nearest[1] > nearest[2], "{nearest:?}");
        assert_eq!(scores(Scoring::Count), [2.0, 2.0, 0.0]);
        // no decoy is as near as a row that was released
        assert_eq!(scores(Scoring::Decoys)[0], DECOYS as f64 + 0.5);
        let density = scores(Scoring::Density);
        assert!(density[0] > density[2], "{density:?}");
    }

    #[test]
    fn densities_are_those_by_hand() {
        let schema = schema(1);
        let distance = RowDistance::new(&schema);
        let rows = Rows { columns: 1, values: vec![2.0, 3.0] };
        // h² = 2^(−2/5)/12
        let density = LogDensity::new(&distance, &rows);
        assert!((density.width - 0.126_309_4).abs() < 1e-6, "{}", density.width);
        let expected = math::ln(1.0 + math::exp(-0.01 / density.width));
        assert!((density.at(&[2.0]) - expected).abs() < 1e-12);
        let far = Rows { columns: 1, values: vec![1e6] };
        let far = LogDensity::new(&distance, &far).at(&[0.0]);
        assert!(far.is_finite() && far < -1e9, "{far}");
    }

    fn rows(schema: &Schema, stream: u64, count: usize) -> Rows {
        let mut words = Words::new(5, Purpose::Test, stream);
        let values = (0..count).flat_map(|_| uniform_row(schema, &mut words)).collect();
        Rows { columns: schema.columns().len(), values }
    }

    /// Share of pairs in which the row of the data has the higher score; equal ones count half.
    fn area(included: &[f64], absent: &[f64]) -> f64 {
        let pairs = included.iter().flat_map(|one| absent.iter().map(move |other| (one, other)));
        let sum: f64 = pairs.map(|(one, other)| f64::from(one.total_cmp(other) as i8)).sum();
        0.5 + 0.5 * sum / (included.len() * absent.len()) as f64
    }

    const CANARIES: usize = 150;
    const RULES: [Scoring; 4] =
        [Scoring::Nearest, Scoring::Count, Scoring::Density, Scoring::Decoys];

    #[test]
    fn scores_of_blind_rows_do_not_depend_on_the_data() {
        let schema = schema(4);
        let [included, absent, released] =
            [(1, CANARIES), (2, CANARIES), (3, 200)].map(|(at, n)| rows(&schema, at, n));
        for rule in RULES {
            let scores = |rows| canary_scores((rule, 7), &schema, rows, &released);
            let area = area(&scores(&included), &scores(&absent));
            assert!((area - 0.5).abs() < 0.1, "{rule:?} {area}");
            // a row has one score, wherever it stands
            let alone = Rows { columns: 4, values: included.values[4..8].to_vec() };
            assert_eq!(scores(&included)[1], scores(&alone)[0], "{rule:?}");
        }
        // a reference with the canaries of the data
        let distance = RowDistance::new(&schema);
        let data = Rows {
            columns: 4,
            values: [&included, &rows(&schema, 4, 20)].map(|r| r.values.clone()).concat(),
        };
        let [density, reference] = [&released, &data].map(|rows| LogDensity::new(&distance, rows));
        let scores = |rows: &Rows| -> Vec<f64> {
            rows.iter().map(|row| density.at(row) - reference.at(row)).collect()
        };
        let area = area(&scores(&included), &scores(&absent));
        assert!(area < 0.35, "a reference that saw the coins passed: {area}");
    }

    #[test]
    fn copies_of_the_data_are_seen_by_every_score() {
        let schema = schema(4);
        let [included, absent] = [1, 2].map(|at| rows(&schema, at, CANARIES));
        for rule in RULES {
            let scores = |rows| canary_scores((rule, 7), &schema, rows, &included);
            let area = area(&scores(&included), &scores(&absent));
            // count and density are of a neighbourhood, in which a copy is one row of several
            let is_wide = matches!(rule, Scoring::Count | Scoring::Density);
            let least = if is_wide { 0.65 } else { 0.9 };
            assert!(area > least, "{rule:?} {area}");
        }
    }
}
