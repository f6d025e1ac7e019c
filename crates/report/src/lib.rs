//! Results of audits and accountants as records, their sentences, and the text and drawings made of
//! them.
//!
//! | module | contents |
//! |---|---|
//! | [`number`] | numbers as a reader sees them, bounds rounded outward |
//! | [`words`] | sentences about single values: what an accountant proves, what a verdict means |
//! | [`record`] | the documents of the program: what `--json` prints and `--curves` writes |
//! | [`document`] | a report as sections of lines, rows and tables, for every format |
//! | [`summary`] | what was tested, found and measured, the same for all reports |
//! | [`text`] | a document for a person at a terminal |
//! | [`recompute`] | the bounds of a report again, from its counts |
//! | [`export`] | a report in the formats of other tools |
//! | [`html`] | a report as one page that prints |
//! | [`figure`] | trade-off curves as SVG, JSON and CSV |
//! | `schema` | JSON Schemas and TypeScript types of the records, generated (feature `schema`) |
//!
//! There are no files, flags or terminals here; everything compiles to wasm.

pub mod document;
pub mod export;
pub mod figure;
pub mod html;
pub mod number;
pub mod recompute;
pub mod record;
mod reported;
#[cfg(feature = "schema")]
pub mod schema;
pub mod summary;
pub mod text;
pub mod words;

pub use reported::{Reported, recomputed};

/// TypeScript declarations of the records, as pages see them: generated from the records.
pub const TYPES: &str = include_str!("../types.d.ts");

macro_rules! schemas {
    ($($name:literal),*) => {
        /// The JSON Schema of each document that the program prints, by name: generated from the
        /// records.
        pub const SCHEMAS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../schemas/", $name, ".json")))),*];
    };
}

schemas!(
    "bench",
    "bound",
    "calibrate",
    "canaries",
    "canary_optimisation",
    "check",
    "comparison",
    "completions",
    "curves",
    "devices",
    "direction",
    "error",
    "federated_sizes",
    "generator",
    "imported",
    "launch",
    "loaders",
    "matrix",
    "one_run",
    "one_run_sizes",
    "one_shot",
    "pate",
    "pategan",
    "plan",
    "recomputation",
    "report",
    "reproduction",
    "serve",
    "sweep",
    "utility"
);
