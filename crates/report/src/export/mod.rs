//! Reports in the formats of other tools: code scanning, test results, pull requests, model cards.

mod junit;
mod markdown;
mod model_card;
mod sarif;

pub use junit::junit;
pub use markdown::markdown;
pub use model_card::{cyclonedx, model_index};
pub use sarif::{SARIF_MARK, sarif};

use crate::number::{confidence, delta};
use crate::summary::ListedValue;

/// What a format says of the run.
#[derive(Debug, Clone, Copy)]
pub struct ExportContext<'a> {
    /// The command that was run.
    pub command: &'a str,
    /// The file that describes the training, if there is one.
    pub file: Option<&'a str>,
    /// Whether a finding fails the run, as `--fail-on-finding` does.
    pub fails_on_finding: bool,
}

const PROGRAM: &str = "dpscope";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A value with its δ and its confidence.
fn value_name(value: &ListedValue) -> String {
    let at = delta(value.delta);
    match value.significance {
        Some(significance) => {
            format!("{} at δ = {at}, with {} confidence", value.name, confidence(significance))
        }
        None => format!("{} at δ = {at}", value.name),
    }
}
