//! Lanes: a kernel body over 64 observations, compiled for several instruction sets.
//!
//! A body is a plain function whose innermost loops run over the lanes of a row and are vectorised
//! by the compiler. Lanes do not interact, and Rust never contracts or reassociates floats, so all
//! instruction sets give the same bits.

use std::fmt;

/// Number of observations processed at a time.
pub const LANES: usize = 64;

/// Rows of a tile: the words of one ChaCha block.
pub(crate) const ROWS: usize = 16;

/// One value per lane.
pub(crate) type Row<T> = [T; LANES];

/// 16 rows of 64 lanes: 4 KiB of words or floats, which fit in the first-level cache.
#[repr(C, align(64))]
#[derive(Clone, Debug)]
pub(crate) struct Tile<T>(pub(crate) [Row<T>; ROWS]);

impl<T: Copy + Default> Tile<T> {
    pub(crate) fn new() -> Self {
        Tile([[T::default(); LANES]; ROWS])
    }
}

/// An instruction set supported by this machine; a value proves the support.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InstructionSet(Kind);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl InstructionSet {
    /// The baseline for which the crate was compiled.
    pub const PORTABLE: InstructionSet = InstructionSet(Kind::Portable);

    /// The supported instruction sets, the widest last.
    #[must_use]
    pub fn available() -> Vec<InstructionSet> {
        #[allow(unused_mut, reason = "grows on x86-64 only")]
        let mut sets = vec![InstructionSet::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                sets.push(InstructionSet(Kind::Avx2));
            }
            if is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                sets.push(InstructionSet(Kind::Avx512));
            }
        }
        sets
    }

    /// The widest supported instruction set.
    #[must_use]
    pub fn detect() -> InstructionSet {
        InstructionSet::available().last().copied().unwrap_or(InstructionSet::PORTABLE)
    }

    /// The instruction set with the given name, if supported.
    #[must_use]
    pub fn by_name(name: &str) -> Option<InstructionSet> {
        InstructionSet::available().into_iter().find(|set| set.name() == name)
    }

    /// "avx512", "avx2", "simd128" (wasm compiled with it) or "portable".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            Kind::Portable if cfg!(target_feature = "simd128") => "simd128",
            Kind::Portable => "portable",
        }
    }

    #[cfg(target_arch = "x86_64")]
    pub(crate) const fn kind(self) -> Kind {
        self.0
    }
}

impl fmt::Debug for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Name of the widest supported instruction set.
#[must_use]
pub fn instruction_set() -> &'static str {
    InstructionSet::detect().name()
}

/// Defines `fn name(isa, args)` from an `#[inline(always)]` body, with one clone per instruction
/// set.
macro_rules! lane_fn {
    ($(#[$meta:meta])* $vis:vis fn $name:ident $(<const $n:ident: usize>)? ($($arg:ident: $ty:ty),* $(,)?) = $body:expr) => {
        $(#[$meta])*
        #[inline]
        $vis fn $name $(<const $n: usize>)? (isa: $crate::lanes::InstructionSet, $($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512 $(<const $n: usize>)? ($($arg: $ty),*) {
                    $body($($arg),*);
                }
                #[target_feature(enable = "avx2")]
                fn avx2 $(<const $n: usize>)? ($($arg: $ty),*) {
                    $body($($arg),*);
                }
                match isa.kind() {
                    // SAFETY: an `InstructionSet` exists only if the machine supports its features.
                    $crate::lanes::Kind::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::lanes::Kind::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::lanes::Kind::Portable => {}
                }
            }
            let _ = isa;
            $body($($arg),*);
        }
    };
}
pub(crate) use lane_fn;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_sets_are_found_by_name() {
        for set in InstructionSet::available() {
            assert_eq!(InstructionSet::by_name(set.name()), Some(set));
        }
        assert_eq!(InstructionSet::by_name("avx1024"), None);
        assert_eq!(instruction_set(), InstructionSet::detect().name());
    }
}
