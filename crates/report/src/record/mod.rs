//! The documents of the program: what `--json` prints.

mod claim;
mod independence;
mod plan;
mod report;
mod shuffle_window;
mod theory;
mod training;

pub use claim::{ClaimRecord, ClaimTest};
pub use independence::{IndependenceRecord, IndependenceTest};
pub use plan::PlanRecord;
pub use report::{Credible, Observations, Report, SeedSource};
pub use shuffle_window::ShuffleWindowRecord;
pub use theory::TheoryComparison;
pub use training::{Idealised, TrainingFacts};
