//! Expected bounds of audits by something that is drawn, as a table.

use dpscope_core::accounting::Kind;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::drawn::DrawnDesign;
use dpscope_core::format::{given, rounded};

use super::table::table;
use crate::document::Align;
use crate::number::{confidence, counted, delta, grouped, plain};
use crate::record::{DrawnSizes, DrawnTarget};
use crate::words::drawn_guesses_in_words;

/// Expected bounds, sizes for a wanted bound, and what was committed.
#[must_use]
pub fn drawn_sizes_text(sizes: &DrawnSizes) -> String {
    let mut out = String::new();
    if let Some(committed) = &sizes.committed {
        out.push_str(&format!(
            "commitment {}\n\nSecrets are in {}. Publish the commitment before the training. Give secrets.npy, or the first \
             column of values.npy, to the trainer, and never the decoys in its other columns; keep seed.secret to \
             yourself until the scores are final.\n\n",
            committed.commitment, committed.folder
        ));
    }
    out.push_str(&format!(
        "Expected bounds of an ideal attack on {} at δ = {}, with {} confidence (estimates):\n\n",
        subject(&sizes.design),
        delta(sizes.delta),
        confidence(sizes.significance)
    ));
    let row = |row: &crate::record::DrawnSize| {
        [
            rounded(row.gdp_mu, 3),
            plain(row.bounds.replace, Kind::Lower, 2),
            plain(row.bounds.add_remove, Kind::Lower, 2),
            plain(row.ceilings.replace, Kind::Lower, 2),
            plain(row.ceilings.add_remove, Kind::Lower, 2),
            drawn_guesses_in_words(&row.guesses).first().cloned().unwrap_or_default(),
        ]
    };
    let rows: Vec<[String; 6]> = sizes.rows.iter().map(row).collect();
    let columns = [
        ("μ", Align::Right),
        ("replace", Align::Right),
        ("add/remove", Align::Right),
        ("at most", Align::Right),
        ("at most", Align::Right),
        ("expected guesses", Align::Left),
    ];
    out.push_str(&table(&columns, &rows));
    let moved = match sizes.design {
        DrawnDesign::Secrets { .. } | DrawnDesign::Ranks { .. } => {
            "a true secret from those of other values"
        }
        DrawnDesign::Split { .. } | DrawnDesign::Sets { .. } => {
            "a member from those of non-members"
        }
    };
    out.push_str(&format!(
        "\nμ: how far training moves the score of {moved}, in standard deviations\n\
         at most: for replace and for add/remove, if all guesses are correct\n"
    ));
    if let Some(rule) = &sizes.rule {
        out.push_str(&format!("{rule}\n"));
    }
    if let Some(ceiling) = sizes.coins_ceiling {
        out.push_str(&format!(
            "As many canaries with coins could show at most ε = {}.\n",
            plain(ceiling, Kind::Lower, 2)
        ));
    }
    sizes.targets.iter().for_each(|target| out.push_str(&needed(&sizes.design, target)));
    out
}

/// The size for a wanted ε, a line after an empty one.
fn needed(design: &DrawnDesign, target: &DrawnTarget) -> String {
    let unit = match design {
        DrawnDesign::Secrets { .. } | DrawnDesign::Ranks { .. } => "record",
        DrawnDesign::Split { .. } | DrawnDesign::Sets { .. } => "row",
    };
    let needed = match target.size {
        Some(size) => format!("about {}", counted(size, unit)),
        None => format!("more than 10^9 {unit}s"),
    };
    let change = match target.adjacency {
        Adjacency::Replace => "replacing",
        Adjacency::AddRemove | Adjacency::ZeroOut => "adding or removing",
    };
    format!(
        "\nε ≥ {} for {change} one, at μ = {}, needs {needed}.\n",
        given(target.epsilon),
        rounded(target.gdp_mu, 3)
    )
}

fn subject(design: &DrawnDesign) -> String {
    match *design {
        DrawnDesign::Split { members, non_members, .. }
        | DrawnDesign::Sets { members, non_members, .. } => {
            format!("{} with {} held out", counted(members, "member"), grouped(non_members))
        }
        DrawnDesign::Secrets { records, values, decoys, .. }
        | DrawnDesign::Ranks { records, values, decoys } => {
            let values = match decoys {
                true => format!("among {} each", counted(values.saturating_sub(1), "decoy")),
                false => format!("of {}", counted(values, "value")),
            };
            format!("{} with secrets {values}", counted(records, "record"))
        }
    }
}
