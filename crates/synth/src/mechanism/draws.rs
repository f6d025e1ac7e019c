//! Random streams of a run.

use dpscope_core::math;
use dpscope_core::random::{Purpose, Words};

use crate::lanes::Lanes;
use crate::settings::Latent;

/// The streams of one run; each is read in sequence.
#[derive(Debug, Clone)]
pub(super) struct Draws {
    pub(super) initial: Words,
    pub(super) rows: Words,
    pub(super) latent: Words,
    pub(super) votes: Words,
    pub(super) output: Words,
    pub(super) fault: Words,
}

impl Draws {
    pub(super) fn new(seed: u64, unit: u64) -> Self {
        let words = |purpose| Words::new(seed, purpose, unit);
        Draws {
            initial: words(Purpose::GeneratorInitial),
            rows: words(Purpose::GeneratorRows),
            latent: words(Purpose::GeneratorLatent),
            votes: words(Purpose::GeneratorVotes),
            output: words(Purpose::GeneratorOutput),
            fault: words(Purpose::GeneratorFault),
        }
    }
}

/// Uniform on (−1, 1).
#[inline]
pub(super) fn symmetric(words: &mut Words) -> f64 {
    2.0 * words.uniform() - 1.0
}

/// A Laplace variable by inversion of one word.
pub(super) fn laplace(words: &mut Words, scale: f64) -> f64 {
    let u = words.uniform() - 0.5;
    -scale * u.signum() * math::ln_1p(-2.0 * u.abs())
}

/// One coordinate of the generator's input.
#[inline]
fn coordinate(words: &mut Words, latent: Latent) -> f64 {
    match latent {
        Latent::Uniform => symmetric(words),
        Latent::Normal => words.normal(),
    }
}

/// Fills inputs of the generator, lane by lane.
pub(super) fn fill_latent<'a>(
    words: impl Iterator<Item = &'a mut Words>,
    latent: Latent,
    z: &mut [Lanes],
) {
    for (lane, words) in words.enumerate() {
        for z in &mut *z {
            z.0[lane] = coordinate(words, latent);
        }
    }
}
