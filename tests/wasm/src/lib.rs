//! Numbers that must have the same bits natively and in WebAssembly, from fixed seeds.
//!
//! The test target `wasm` and the module that node runs both compute the list of them.

#![deny(unsafe_code)]

mod audits;
mod batches;
mod directions;
mod elementary;
pub mod exports;
mod pair;
mod platform;
mod scores;
mod statistics;
mod streams;
mod theory;

use std::collections::BTreeMap;

/// (group, bits) of every number; the same groups in the same order on every target.
pub type List = Vec<(&'static str, u64)>;

/// The group computed with the platform's `exp`: expected to differ between targets.
pub const PLATFORM: &str = "platform exp";

/// Every number that must have the same bits everywhere.
#[must_use]
pub fn fingerprints() -> List {
    let mut found = Fingerprints::default();
    streams::collect(&mut found);
    elementary::collect(&mut found);
    scores::collect(&mut found);
    statistics::collect(&mut found);
    audits::collect(&mut found);
    batches::collect(&mut found);
    directions::collect(&mut found);
    pair::collect(&mut found);
    theory::collect(&mut found);
    found.0
}

/// The broken twin: the standard library's `exp` where [`dpscope_core::math::exp`] belongs.
#[must_use]
pub fn with_the_platforms_exp() -> List {
    let mut found = Fingerprints::default();
    platform::collect(&mut found);
    found.0
}

/// How many numbers each group has.
#[must_use]
pub fn groups(list: &List) -> BTreeMap<&'static str, usize> {
    let mut sizes = BTreeMap::new();
    for (group, _) in list {
        *sizes.entry(*group).or_default() += 1;
    }
    sizes
}

/// The numbers so far.
#[derive(Debug, Default)]
struct Fingerprints(List);

impl Fingerprints {
    fn float(&mut self, group: &'static str, value: f64) {
        self.0.push((group, bits(value)));
    }

    fn integer(&mut self, group: &'static str, value: u64) {
        self.0.push((group, value));
    }

    /// One number for a list too long to store.
    fn hashed(&mut self, group: &'static str, values: impl IntoIterator<Item = u64>) {
        self.0.push((group, hash(values)));
    }
}

/// Bits of a float; one pattern for all NaN, whose sign and payload no standard fixes.
#[must_use]
pub fn bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }
}

/// FNV-1a over the bytes of the values, in order.
#[must_use]
pub fn hash(values: impl IntoIterator<Item = u64>) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    let bytes = values.into_iter().flat_map(u64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// `count` points from `low` to `high`, both included.
fn grid(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> + Clone {
    let step = (high - low) / f64::from(count - 1);
    (0..count).map(move |i| low + step * f64::from(i))
}
