//! Plans that the program executes.

use dpscope_engine::{Artefact, Plan};

/// A plan that the program executes.
pub(crate) trait RunPlan: Plan<Stage: Send, Evidence: Send> + Send {
    /// The work before the first unit, for the progress bar.
    const PREPARATION: &'static str;

    /// Seed of every random word.
    fn seed(&self) -> u64;

    /// The state of a run for the progress bar, from the number of results per second.
    fn progress(state: &Artefact<Self>, rate: &str) -> String;
}
