//! Kernels of trainings with many canaries, whose streams are units.

mod consecutive;
mod descend;
mod losses;
mod noise;
mod row_products;
mod select_included;

pub use consecutive::EvaluatedRecords;
pub use descend::{descend, descend_at_own_rate};
pub use noise::add_noise;
pub use row_products::{Along, along_sum};
pub use select_included::IncludedSelection;
