//! The browser's door: a flat surface over the crates, as two bundles.
//!
//! | feature | bundle | holds |
//! |---|---|---|
//! | `calculators` | `dpscope_calculators` | accountants, calibration, bounds from counts, the exact pair; no GPU code |
//! | `audits` | `dpscope_audits` | simulations on WebGPU or in workers, audits of files |
//!
//! Records in and out are plain objects with the names of the command line's JSON, columns are typed
//! arrays, seeds are decimal strings, and what goes wrong is thrown as a [`failure::Failure`]. No
//! statistics live here.

#[cfg(feature = "audits")]
pub mod audits;
#[cfg(feature = "calculators")]
pub mod calculators;
pub mod failure;
pub mod record;
pub mod seed;
