//! What node calls: flat, because a module without glue code passes numbers only.
//!
//! The list is [`fingerprints`](crate::fingerprints) followed by
//! [`with_the_platforms_exp`](crate::with_the_platforms_exp). An index past its end returns 0.

#![allow(unsafe_code, reason = "`no_mangle` counts as unsafe; these names are nobody else's")]

use std::sync::LazyLock;

use crate::List;

/// The list that is exported.
pub static LIST: LazyLock<List> =
    LazyLock::new(|| [crate::fingerprints(), crate::with_the_platforms_exp()].concat());

fn at(index: u32) -> (&'static str, u64) {
    LIST.get(index as usize).copied().unwrap_or_default()
}

/// How many numbers there are.
#[unsafe(no_mangle)]
pub extern "C" fn dpscope_fingerprint_count() -> u32 {
    LIST.len() as u32
}

/// Bits of a number.
#[unsafe(no_mangle)]
pub extern "C" fn dpscope_fingerprint_bits(index: u32) -> u64 {
    at(index).1
}

/// Where the name of a number's group lies in memory.
#[unsafe(no_mangle)]
pub extern "C" fn dpscope_fingerprint_group(index: u32) -> *const u8 {
    at(index).0.as_ptr()
}

/// Bytes of that name.
#[unsafe(no_mangle)]
pub extern "C" fn dpscope_fingerprint_group_length(index: u32) -> u32 {
    at(index).0.len() as u32
}

/// 1 where the kernels were compiled with `simd128`, else 0.
#[unsafe(no_mangle)]
pub extern "C" fn dpscope_compiled_with_simd() -> u32 {
    u32::from(dpscope_shaders::instruction_set() == "simd128")
}

/// The mean cosine between the directions of so many canaries and a change of a model of this
/// dimension, for timing.
#[unsafe(no_mangle)]
pub extern "C" fn dpscope_mean_cosine(dimension: u32, canaries: u32) -> f64 {
    crate::directions::mean_cosine(dimension as usize, canaries)
}
