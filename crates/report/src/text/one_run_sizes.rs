//! Sizes of an audit of one run as a table.

use dpscope_core::format::{given, rounded};

use super::table::table;
use crate::document::Align;
use crate::number::{confidence, delta, grouped};
use crate::record::OneRunSizes;

/// What the first column of tables of sizes has.
pub(super) const GDP_MU_LEGEND: &str =
    "μ: how far a canary moves its score, in standard deviations of the noise\n";

/// A bound in percent of the true ε, if there is any.
pub(super) fn share(bound: f64, true_epsilon: f64) -> String {
    if true_epsilon > 0.0 {
        format!("{} %", rounded(100.0 * bound / true_epsilon, 0))
    } else {
        "–".to_owned()
    }
}

/// Expected bounds, sizes for a wanted bound, and what was committed.
#[must_use]
pub fn one_run_sizes_text(sizes: &OneRunSizes) -> String {
    let mut out = String::new();
    if let Some(committed) = &sizes.committed {
        let runs = match committed.runs {
            1 => String::new(),
            runs => format!(" Row r of coins.npy is for run r of {}.", grouped(runs)),
        };
        out.push_str(&format!(
            "commitment {}\n\n{} canaries with digest {}, in {}. Publish the commitment before the \
             training. Pass coins.npy to the trainer and never to the scorer; keep seed.secret to \
             yourself until the scores are final.{runs}\n\n",
            committed.commitment,
            grouped(committed.canaries),
            committed.canaries_digest,
            committed.folder
        ));
    }
    out.push_str(&format!(
        "Expected bounds for an ideal attack on a Gaussian mechanism at δ = {}, with {} confidence \
         (estimates):\n\n",
        delta(sizes.delta),
        confidence(sizes.significance)
    ));
    let row = |row: &crate::record::OneRunSize| {
        [
            rounded(row.gdp_mu, 3),
            rounded(row.true_epsilon, 2),
            grouped(row.canaries),
            grouped(row.guesses),
            rounded(row.expected_epsilon, 2),
            share(row.expected_epsilon, row.true_epsilon),
            rounded(row.ceiling, 2),
        ]
    };
    let rows: Vec<[String; 7]> = sizes.rows.iter().map(row).collect();
    let columns = ["μ", "true ε", "canaries", "guesses", "expected bound", "share", "all correct"];
    out.push_str(&table(&columns.map(|name| (name, Align::Right)), &rows));
    out.push_str(&format!(
        "\n{GDP_MU_LEGEND}share: expected bound over true ε; all correct: the bound \
         without a wrong guess.\n"
    ));
    for target in &sizes.targets {
        let needed = match target.canaries {
            Some(canaries) => format!("about {} canaries", grouped(canaries)),
            None => "more than 10^9 canaries".to_owned(),
        };
        out.push_str(&format!(
            "\nε ≥ {} at μ = {} needs {needed}.\n",
            given(target.epsilon),
            rounded(target.gdp_mu, 3)
        ));
    }
    out
}
