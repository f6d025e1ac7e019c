//! Browser bindings: a flat API over the crates, as three bundles.
//!
//! | feature | bundle | holds |
//! |---|---|---|
//! | `calculators` | `dpscope_calculators` | accountants, calibration, bounds from counts: what a page needs at once, small |
//! | `studies` | `dpscope_studies` | curves, checks of a training, the exact pair, one epoch, audits of files |
//! | `audits` | `dpscope_audits` | simulations on WebGPU or in workers |
//!
//! Records in and out are plain objects with the names of the command line's JSON, columns are typed
//! arrays, seeds are decimal strings, and what goes wrong is thrown as a [`failure::Failure`]. No
//! statistics live here.
//!
//! The types that pages see are generated from the records of `dpscope-report`. `tsify` is not used: it
//! would be a second derive on records of crates that know no wasm.

#[cfg(feature = "audits")]
pub mod audits;
#[cfg(feature = "calculators")]
pub mod calculators;
#[cfg(any(feature = "calculators", feature = "studies"))]
pub mod conclusion;
pub mod failure;
#[cfg(any(feature = "audits", feature = "studies"))]
mod found;
#[cfg(any(feature = "studies", feature = "audits"))]
pub mod mechanism;
pub mod plain;
pub mod question;
pub mod record;
pub mod seed;
#[cfg(feature = "studies")]
pub mod studies;

/// Half of what Rust's own allocator weighs; a module has one thread.
#[cfg(all(target_arch = "wasm32", not(target_feature = "atomics")))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

#[cfg(all(test, feature = "calculators", feature = "studies"))]
mod types;
