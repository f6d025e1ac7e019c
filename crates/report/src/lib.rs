//! Results of audits and accountants as records, their sentences, and the text and drawings made of
//! them.
//!
//! | module | contents |
//! |---|---|
//! | [`number`] | numbers as a reader sees them, bounds rounded outward |
//! | [`words`] | sentences about single values: what an accountant proves, what a verdict means |
//! | [`record`] | the documents of the program: what `--json` prints |
//! | [`text`] | a document for a person at a terminal |
//! | [`figure`] | trade-off curves as SVG, JSON and CSV |
//!
//! Each module uses only those above it. There are no files, flags or terminals here; everything
//! compiles to wasm.

pub mod figure;
pub mod number;
pub mod record;
pub mod text;
pub mod words;
