//! Utility of synthetic rows: classifiers trained on them and tested on real rows.

mod classifier;
mod figures;
mod task;

use std::ops::Range;

use dpscope_core::adjacency::World;
use dpscope_core::random::{Purpose, Words, stream_of};
use dpscope_core::ranking::RankingError;

use crate::mechanism::Mechanism;
use crate::table::{Rows, SchemaError, Table};
pub use classifier::Classifier;
pub use figures::{figures, generator_utility};
pub use task::UtilityTask;

/// The first run of a test of utility: no audit and no search for a target uses its streams.
const FIRST_RUN: u64 = 1 << 38;

/// Why utility cannot be tested.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UtilityError {
    /// The schema has no label.
    #[error("the schema has no label for classifiers to predict")]
    NoLabel,
    /// The label has no such category.
    #[error("the label has no category `{name}`")]
    NoCategory {
        /// The category.
        name: String,
    },
    /// Columns other than the label cannot be encoded.
    #[error("columns other than the label: {0}")]
    Features(#[from] SchemaError),
    /// The real rows are of one class.
    #[error("the real rows that classifiers are tested on cannot be ranked: {0}")]
    Test(#[from] RankingError),
    /// Too few real rows to divide.
    #[error("{rows} real rows are too few to divide; there must be at least 5")]
    TooFew {
        /// How many.
        rows: usize,
    },
}

/// Real rows for generators, and others for tests.
#[derive(Debug, Clone, PartialEq)]
pub struct RealRowsSplit {
    /// 80 % of the rows, with their identifiers.
    pub train: Table,
    /// The other rows, which no generator sees.
    pub test: Rows,
}

impl RealRowsSplit {
    /// Divides the rows of a table by a random permutation.
    ///
    /// # Errors
    /// Fewer than 5 rows.
    pub fn of(table: &Table, seed: u64) -> Result<Self, UtilityError> {
        let rows = table.ids().len();
        if rows < 5 {
            return Err(UtilityError::TooFew { rows });
        }
        let mut order: Vec<usize> = (0..rows).collect();
        Words::new(seed, Purpose::GeneratorUtility, 0).shuffle(&mut order);
        let (train, test) = order.split_at_mut(rows * 4 / 5);
        train.sort_unstable();
        test.sort_unstable();
        Ok(RealRowsSplit {
            train: table.selected(train),
            test: table.selected(test).rows().clone(),
        })
    }
}

/// Released rows of runs on all rows of a mechanism's table, for tests of utility alone.
#[must_use]
pub fn released_rows(mechanism: &Mechanism, runs: Range<u64>) -> Vec<Rows> {
    let units: Vec<u64> = runs.map(|run| stream_of(World::Target, FIRST_RUN + run)).collect();
    mechanism.run(&units).into_iter().map(|run| run.rows).collect()
}
