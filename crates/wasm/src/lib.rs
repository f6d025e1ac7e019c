//! The browser's door: a flat surface over the crates, as three bundles.
//!
//! | feature | bundle | holds |
//! |---|---|---|
//! | `calculators` | `dpscope_calculators` | accountants, calibration, bounds from counts: what a page needs at once, small |
//! | `studies` | `dpscope_studies` | curves, checks of a training, the exact pair, one epoch, scores |
//! | `audits` | `dpscope_audits` | simulations on WebGPU or in workers, audits of files |
//!
//! Records in and out are plain objects with the names of the command line's JSON, columns are typed
//! arrays, seeds are decimal strings, and what goes wrong is thrown as a [`failure::Failure`]. No
//! statistics live here.

#[cfg(feature = "audits")]
mod audits;
#[cfg(feature = "calculators")]
pub mod calculators;
pub mod failure;
#[cfg(all(feature = "calculators", not(any(feature = "studies", feature = "audits"))))]
mod memory;
pub mod plain;
pub mod question;
pub mod record;
pub mod seed;
#[cfg(feature = "studies")]
pub mod studies;
