//! Browser bindings: a flat API over the crates, as ten bundles.
//!
//! | feature | bundle | contents |
//! |---|---|---|
//! | `calculators` | `dpscope_calculators` | accountants, calibration, bounds from counts: small, since a page needs it at once |
//! | `accounting` | `dpscope_accounting` | accountants of uniform subsets and of correlated noise |
//! | `studies` | `dpscope_studies` | curves, checks of a training, the exact pair, one epoch, simulated runs with canaries |
//! | `files` | `dpscope_files` | the audits of files of the program itself: scores, outputs, counts, canaries, cosines |
//! | `one_shot` | `dpscope_one_shot` | canaries of one training run without its files: bounds from guesses, simulated noisy sums, what canaries are expected to show |
//! | `pate` | `dpscope_pate` | ε of noisy votes of teachers |
//! | `synth` | `dpscope_synth` | PATE-GAN with faults as switches, in workers; audits of runs of any generator |
//! | `audits` | `dpscope_audits` | simulations on WebGPU or in workers |
//! | `training` | `dpscope_training` | models trained with DP-SGD on WebGPU or in workers, and their audit |
//! | `training_canaries` | `dpscope_training_canaries` | the same with many canaries in each training |
//!
//! Records in and out are plain objects with the names of the command line's JSON, columns are typed
//! arrays, seeds are decimal strings, and errors are thrown as a [`failure::Failure`]. No statistics
//! live here.
//!
//! The types that pages see are generated from the records of `dpscope-report`. `tsify` is not used: it
//! would be a second derive on records of crates that know no wasm.

#[cfg(feature = "accounting")]
pub mod accounting;
#[cfg(any(feature = "audits", feature = "training", feature = "training_canaries"))]
mod adapter;
#[cfg(feature = "audits")]
pub mod audits;
#[cfg(feature = "calculators")]
pub mod calculators;
#[cfg(any(feature = "training", feature = "training_canaries"))]
mod claim;
#[cfg(any(feature = "accounting", feature = "calculators"))]
mod columns;
#[cfg(any(feature = "files", feature = "training", feature = "training_canaries"))]
pub mod command;
#[cfg(any(feature = "calculators", feature = "studies"))]
pub mod conclusion;
#[cfg(any(feature = "audits", feature = "training", feature = "training_canaries"))]
mod control;
#[cfg(any(
    feature = "audits",
    feature = "synth",
    feature = "training",
    feature = "training_canaries"
))]
mod coordinator;
#[cfg(any(feature = "training", feature = "training_canaries"))]
mod counting;
pub mod failure;
#[cfg(feature = "files")]
pub mod files;
pub mod input;
#[cfg(feature = "one_shot")]
pub mod one_shot;
pub mod output;
#[cfg(feature = "pate")]
pub mod pate;
#[cfg(any(
    feature = "audits",
    feature = "synth",
    feature = "training",
    feature = "training_canaries"
))]
mod ranges;
#[cfg(any(
    feature = "audits",
    feature = "synth",
    feature = "training",
    feature = "training_canaries"
))]
mod ready;
#[cfg(any(feature = "synth", feature = "training", feature = "training_canaries",))]
mod reported;
pub mod seed;
#[cfg(feature = "studies")]
pub mod studies;
#[cfg(feature = "synth")]
pub mod synth;
#[cfg(feature = "training")]
pub mod training;
#[cfg(feature = "training_canaries")]
pub mod training_canaries;
#[cfg(any(feature = "training", feature = "training_canaries"))]
mod training_facts;
#[cfg(any(feature = "audits", feature = "training"))]
pub mod two_worlds;

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = dpscope_report::TYPES;

/// Half the size of Rust's own allocator; a module has one thread.
#[cfg(all(target_arch = "wasm32", not(target_feature = "atomics")))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

#[cfg(all(
    test,
    feature = "accounting",
    feature = "audits",
    feature = "calculators",
    feature = "files",
    feature = "one_shot",
    feature = "pate",
    feature = "studies",
    feature = "synth",
    feature = "training",
    feature = "training_canaries",
))]
mod types;
