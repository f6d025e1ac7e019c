//! Loops compiled for several instruction sets.

/// A loop that is compiled for each instruction set.
///
/// `run` and every function it calls must be `#[inline(always)]`; other functions are compiled for
/// the baseline.
pub(super) trait Kernel {
    /// `WIDTH`: floats per vector; `COLUMNS`: tiles of 4 × `COLUMNS` vectors fit in the registers;
    /// `FUSED`: fused multiply-add is available.
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(self);
}

/// Defines a [`Kernel`] from its fields and a loop body.
macro_rules! kernel {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? } => $body:block) => {
        $(#[$meta])*
        pub(super) struct $name<'a> {
            $(pub(super) $field: $type),*
        }

        impl $crate::gradient::instruction_set::Kernel for $name<'_> {
            #[inline(always)]
            fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(self) {
                let Self { $($field),* } = self;
                $body
            }
        }
    };
}
pub(super) use kernel;

/// An instruction set supported by this machine; a value proves the support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InstructionSet(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl InstructionSet {
    /// The supported instruction sets, the widest last.
    pub(super) fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "grows on x86-64 only")]
        let mut sets = vec![Self(Kind::Portable)];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            sets.push(Self(Kind::Avx2));
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                sets.push(Self(Kind::Avx512));
            }
        }
        sets
    }

    /// The widest supported instruction set.
    pub(crate) fn detect() -> Self {
        if cfg!(feature = "portable") {
            return Self(Kind::Portable);
        }
        Self::available().last().copied().unwrap_or(Self(Kind::Portable))
    }

    pub(super) fn run(self, kernel: impl Kernel) {
        match self.0 {
            // All aarch64 machines have 32 vector registers and fused multiply-add.
            #[cfg(target_arch = "aarch64")]
            Kind::Portable => kernel.run::<4, 4, true>(),
            #[cfg(not(target_arch = "aarch64"))]
            Kind::Portable => kernel.run::<4, 3, false>(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `InstructionSet` exists only if the machine supports its features.
            Kind::Avx2 => unsafe { avx2(kernel) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kind::Avx512 => unsafe { avx512(kernel) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2(kernel: impl Kernel) {
    kernel.run::<8, 3, true>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn avx512(kernel: impl Kernel) {
    kernel.run::<16, 4, true>();
}
