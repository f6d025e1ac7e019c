//! One number per run, for several runs at once.
//!
//! Lanes do not interact, and Rust neither contracts nor reassociates floats: a run has the same bits
//! in any company and for any instruction set.

/// Runs that are trained at once.
pub(crate) const LANES: usize = 8;

/// One number per run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [f64; LANES]);

impl Lanes {
    pub(crate) const ZERO: Lanes = Lanes([0.0; LANES]);

    #[inline(always)]
    pub(crate) fn from_fn(f: impl FnMut(usize) -> f64) -> Self {
        Lanes(std::array::from_fn(f))
    }

    #[inline(always)]
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Lanes::from_fn(|lane| f(self.0[lane]))
    }

    #[inline(always)]
    pub(crate) fn zip(self, other: Lanes, f: impl Fn(f64, f64) -> f64) -> Self {
        Lanes::from_fn(|lane| f(self.0[lane], other.0[lane]))
    }

    /// self + x y
    #[inline(always)]
    pub(crate) fn plus_product(self, x: Lanes, y: Lanes) -> Self {
        Lanes::from_fn(|lane| self.0[lane] + x.0[lane] * y.0[lane])
    }
}

/// e^x for x clamped to ±700, without a branch: core's exponential is not vectorised.
///
/// # Numerics
/// Relative error below 4e-16.
#[inline(always)]
fn exp(x: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0; // 1.5·2^52: the sum's last bits are an integer
    const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
    const INVERSE_FACTORIALS: [f64; 14] = {
        let mut terms = [1.0; 14];
        let mut n = 1;
        while n < 14 {
            terms[n] = terms[n - 1] / n as f64;
            n += 1;
        }
        terms
    };
    let x = x.clamp(-700.0, 700.0);
    let shifted = x * std::f64::consts::LOG2_E + SHIFT;
    let n = shifted - SHIFT;
    let r = (x - n * LN_2[0]) - n * LN_2[1];
    let mut sum = INVERSE_FACTORIALS[13];
    for term in INVERSE_FACTORIALS[..13].iter().rev() {
        sum = sum * r + term;
    }
    sum * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// Logistic function, 1/(1 + e^−x)
#[inline(always)]
pub(crate) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

/// Hyperbolic tangent, (e^2x − 1)/(e^2x + 1)
///
/// # Numerics
/// Absolute error below 6e-16.
#[inline(always)]
pub(crate) fn tanh(x: f64) -> f64 {
    1.0 - 2.0 / (exp(2.0 * x) + 1.0)
}

/// Defines a function with one clone per instruction set; with none but the target's own by the feature
/// `portable`.
macro_rules! vector_fn {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        pub(crate) fn $name($($arg: $ty),*) {
            #[inline(always)]
            fn portable($($arg: $ty),*) $body

            #[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
            {
                #[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512($($arg: $ty),*) {
                    portable($($arg),*);
                }
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $ty),*) {
                    portable($($arg),*);
                }
                if is_x86_feature_detected!("avx2") {
                    if is_x86_feature_detected!("avx512f")
                        && is_x86_feature_detected!("avx512bw")
                        && is_x86_feature_detected!("avx512dq")
                        && is_x86_feature_detected!("avx512vl")
                    {
                        // SAFETY: the machine supports the instructions.
                        return unsafe { avx512($($arg),*) };
                    }
                    // SAFETY: the machine supports the instructions.
                    return unsafe { avx2($($arg),*) };
                }
            }
            portable($($arg),*);
        }
    };
}
pub(crate) use vector_fn;

#[cfg(test)]
mod tests {
    use dpscope_core::math;

    use super::*;

    #[test]
    fn functions_equal_those_of_core() {
        for i in -70_000..=70_000 {
            let x = f64::from(i) * 0.01;
            let error = (exp(x) / math::exp(x) - 1.0).abs();
            assert!(error < 4e-16, "{x}: {error}");
            assert!((tanh(x) - math::tanh(x)).abs() < 6e-16);
        }
        assert_eq!((exp(1e9), exp(-1e9)), (exp(700.0), exp(-700.0)));
        assert_eq!((logistic(0.0), tanh(0.0)), (0.5, 0.0));
    }
}
