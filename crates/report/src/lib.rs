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
//! | [`answer`] | the part of a document of `--json` that is the same for all reports |
//! | [`text`] | a document for a person at a terminal |
//! | [`recompute`] | the bounds of a report again, from its counts |
//! | [`export`] | a report in the formats of other tools |
//! | [`html`] | a report as one page that prints |
//! | [`figure`] | trade-off curves as SVG, JSON and CSV |
//! | [`schema`] | JSON Schemas of the documents; feature `schema` generates them, and TypeScript types |
//!
//! There are no files, flags or terminals here; everything compiles to wasm.

pub mod answer;
pub mod document;
pub mod export;
pub mod figure;
pub mod html;
pub mod number;
pub mod recompute;
pub mod record;
mod reported;
pub mod schema;
pub mod summary;
pub mod text;
pub mod words;

pub use reported::{Reported, recomputed};
pub use schema::{DOCUMENTS, schema_of};

/// TypeScript declarations of the records, as pages see them: generated from the records.
pub const TYPES: &str = include_str!("../types.d.ts");
