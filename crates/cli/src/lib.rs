//! `dpscope`: shows how much privacy a differentially private training run really leaks.
//!
//! The commands of the program. [`main`] is the program itself; a binding to another language runs a
//! command in its own process with a [`Call`], and so gets the documents of `--json` to the last bit.
//! Rust code that needs statistics alone uses `dpscope-core`.

#![cfg_attr(
    not(feature = "native"),
    allow(
        dead_code,
        unused_imports,
        reason = "a page links the commands that it runs, and nothing else"
    )
)]

mod args;
mod ascii;
mod call;
mod canary_plan;
mod commands;
mod committed;
mod device;
mod disk;
mod drawn_batches;
mod estimate;
mod failure;
mod federated_plan;
mod file_id;
mod files;
mod generator_folder;
mod generator_function;
mod given;
mod host;
mod inputs;
mod job;
mod memory;
mod new_files;
mod option_table;
mod output;
mod program;
mod progress;
mod secret_plan;
mod seed;
mod shell;
mod step_check;
mod temporary;

pub use call::{Call, CallResult};
pub use dpscope_core::audit::one_run::{CalibratedScores, ProjectionError};
pub use dpscope_report::record::{ErrorCode, ErrorReport};
pub use drawn_batches::check_loader;
pub use generator_function::{GeneratorColumn, GeneratorError, GeneratorFunction, GeneratorRun};
pub use host::{Rendered, Steps, Supervisor};
pub use memory::readable_bytes;
pub use option_table::option_table;
pub use program::main;
pub use step_check::check_step;
