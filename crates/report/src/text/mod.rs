//! Documents as text, for a person at a terminal.

mod metrics;
mod report;
mod row;
mod table;
mod theory;
mod training;

pub use metrics::metrics_text;
pub use report::{Hints, brief_text, report_text};
pub use row::row;
pub use table::{Align, table};
