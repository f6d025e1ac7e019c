//! The published tables, as printed.

use crate::failure::{Exit, Failure};

const FIGURE_3: &str = include_str!("../../../data/shuffle_or_not/figure_3.csv");
const TABLE_1: &str = include_str!("../../../data/shuffle_or_not/table_1.csv");

/// A row of a published table.
pub(super) struct Published {
    pub(super) name: String,
    pub(super) noise_multiplier: f64,
    pub(super) steps: u32,
    pub(super) epochs: u32,
    pub(super) claimed_epsilon: Option<f64>,
    pub(super) empirical_epsilon: Option<f64>,
}

pub(super) fn figure_3() -> Result<Vec<Published>, Failure> {
    let row = |cells: &[&str]| -> Option<Published> {
        let &[noise_multiplier, steps, claimed, empirical] = cells else { return None };
        Some(Published {
            name: format!("σ={noise_multiplier} T={steps}"),
            noise_multiplier: noise_multiplier.parse().ok()?,
            steps: steps.parse().ok()?,
            epochs: 1,
            claimed_epsilon: claimed.parse().ok(),
            empirical_epsilon: empirical.parse().ok(),
        })
    };
    parsed(FIGURE_3, row)
}

pub(super) fn table_1() -> Result<Vec<Published>, Failure> {
    let row = |cells: &[&str]| -> Option<Published> {
        let &[name, noise_multiplier, steps, epochs, claimed, empirical] = cells else {
            return None;
        };
        Some(Published {
            name: name.to_owned(),
            noise_multiplier: noise_multiplier.parse().ok()?,
            steps: steps.parse().ok()?,
            epochs: epochs.parse().ok()?,
            claimed_epsilon: claimed.parse().ok(),
            empirical_epsilon: empirical.parse().ok(),
        })
    };
    parsed(TABLE_1, row)
}

fn parsed(
    csv: &str,
    row: impl Fn(&[&str]) -> Option<Published>,
) -> Result<Vec<Published>, Failure> {
    let cells = |line: &str| row(&line.split(',').collect::<Vec<_>>());
    let rows: Option<Vec<Published>> = csv.lines().skip(1).map(cells).collect();
    rows.ok_or_else(|| Failure::with(Exit::Internal, "the published table cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_tables_can_be_read() {
        assert_eq!(figure_3().unwrap().len(), 6);
        assert_eq!(table_1().unwrap().len(), 6);
    }
}
