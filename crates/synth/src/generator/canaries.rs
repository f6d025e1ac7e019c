//! Scores of canary rows.

use dpscope_formats::table::{Rows, Schema};

use super::manifest::Scoring;
use crate::attack::RowDistance;

/// Radius of the score that counts, in diameters.
const RADIUS: f64 = 0.1;

/// A score of each canary from the released rows, higher for canaries that were in the data.
///
/// | argument | meaning | shape |
/// |---|---|---|
/// | `scoring` | the rule, fixed before the run | – |
/// | `schema` | public description of the columns | d columns |
/// | `canaries` | rows that may have been in the data | n × d |
/// | `synthetic` | released rows | N′ × d |
#[must_use]
pub fn canary_scores(
    scoring: Scoring,
    schema: &Schema,
    canaries: &Rows,
    synthetic: &Rows,
) -> Vec<f64> {
    let distance = RowDistance::new(schema);
    let radius = RADIUS * distance.diameter();
    let score = |row: &[f64]| match scoring {
        Scoring::Count => distance.within(row, synthetic, radius) as f64,
        Scoring::Nearest => -distance.nearest(row, synthetic),
    };
    canaries.iter().map(score).collect()
}

#[cfg(test)]
mod tests {
    use dpscope_formats::table::{Column, ColumnKind};

    use super::*;

    #[test]
    fn a_canary_that_was_released_has_the_highest_score() {
        let kind = ColumnKind::Number { low: 0.0, high: 10.0 };
        let columns = ["a", "b"].map(|name| Column { name: name.to_string(), kind: kind.clone() });
        let schema = Schema::new(columns.to_vec()).unwrap();
        let canaries = Rows { columns: 2, values: vec![1.0, 1.0, 1.0, 1.5, 9.0, 9.0] };
        let synthetic = Rows { columns: 2, values: vec![1.0, 1.0, 1.0, 1.2, 5.0, 5.0] };
        let scores = |scoring| canary_scores(scoring, &schema, &canaries, &synthetic);
        let nearest = scores(Scoring::Nearest);
        assert_eq!(nearest[0], 0.0);
        assert!(nearest[0] > nearest[1] && nearest[1] > nearest[2], "{nearest:?}");
        assert_eq!(scores(Scoring::Count), [2.0, 2.0, 0.0]);
    }
}
