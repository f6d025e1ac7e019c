//! Sizes of an audit with canary clients as a table.

use dpscope_core::format::rounded;

use super::one_run_sizes::{GDP_MU_LEGEND, share};
use super::table::table;
use crate::document::Align;
use crate::number::{confidence, delta, grouped};
use crate::record::FederatedSizes;

/// Expected bounds, limits, and what was committed.
#[must_use]
pub fn federated_sizes_text(sizes: &FederatedSizes) -> String {
    let mut out = String::new();
    if let Some(committed) = &sizes.committed {
        out.push_str(&format!(
            "commitment {}\n\n{} canary clients, numbered from 0, to be added in one training; plan in \
             {}. Publish the commitment before the training. `dpscope canaries direction` writes the \
             update of each canary. The folder contains the secret seed.\n\n",
            committed.commitment,
            grouped(committed.inserted),
            committed.folder
        ));
        if let Some(classes) = &committed.classes {
            out.push_str(&format!(
                "{classes} has the number of examples that each canary reports, or the norm that it \
                 sends in units of the clipping norm.\n\n"
            ));
        }
    }
    if let Some(pool) = &sizes.pool {
        out.push_str(&format!(
            "commitment {}\n\nCanaries to be inserted: {}, drawn from a pool of {} with digest {}; plan in {}. \
             Publish the commitment before the training. coins.npy has the number of copies of each \
             canary: pass it to the trainer and never to the scorer, which scores the whole pool. Keep \
             seed.secret to yourself until the scores are final.\n\n",
            pool.commitment,
            grouped(pool.inserted),
            grouped(pool.members),
            pool.canaries_digest,
            pool.folder
        ));
    }
    out.push_str(&format!(
        "Expected bounds for {} canaries on average and a Gaussian leak at δ = {}, with {} \
         confidence (estimates):\n\n",
        rounded(sizes.canaries, 1),
        delta(sizes.delta),
        confidence(sizes.significance)
    ));
    let row = |row: &crate::record::FederatedSize| {
        [
            rounded(row.gdp_mu, 3),
            rounded(row.true_epsilon, 2),
            rounded(row.median_epsilon, 2),
            share(row.median_epsilon, row.true_epsilon),
        ]
    };
    let rows: Vec<[String; 4]> = sizes.rows.iter().map(row).collect();
    let columns = ["μ", "true ε", "median bound", "share"];
    out.push_str(&table(&columns.map(|name| (name, Align::Right)), &rows));
    out.push_str(&format!("\n{GDP_MU_LEGEND}share: median bound over true ε.\n"));
    if let Some(most) = sizes.most_canaries.filter(|most| *most < sizes.canaries) {
        out.push_str(&format!(
            "\nAt this δ, more than {} canaries reduce power: the smallest p-values are ignored.\n",
            grouped(most as u64)
        ));
    }
    out
}
