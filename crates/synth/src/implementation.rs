//! Published implementations of PATE-GAN, their faults, and the ε that an audit of them printed.

use crate::fault::Fault::{self, *};
use crate::fault::FaultSet;

/// An implementation with its faults.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Implementation {
    /// Its name, as "turing".
    pub name: &'static str,
    /// Faults of the published lists, and E2 to E4 where they were found here.
    pub faults: &'static [Fault],
    /// ε that the published audit printed for its worst case; none for the faithful mechanism.
    pub published: Option<f64>,
    /// ε that the published audit printed for its average case; none for the faithful mechanism.
    pub published_average: Option<f64>,
}

impl Implementation {
    /// Its faults as switches.
    #[must_use]
    pub fn switches(&self) -> FaultSet {
        self.faults.iter().copied().fold(FaultSet::NONE, FaultSet::with)
    }
}

const fn of(
    name: &'static str,
    faults: &'static [Fault],
    [worst, average]: [f64; 2],
) -> Implementation {
    Implementation { name, faults, published: Some(worst), published_average: Some(average) }
}

/// The faithful mechanism, then the implementations that were audited.
///
/// # Reference
/// G. Ganev, M. S. M. S. Annamalai and E. De Cristofaro, The Elusive Pursuit of Reproducing PATE-GAN:
/// Benchmarking, Auditing, Debugging, arXiv:2406.13985: worst and average case, 1,000 + 1,000 runs.
pub const IMPLEMENTATIONS: [Implementation; 7] = [
    Implementation { name: "faithful", faults: &[], published: None, published_average: None },
    of("original", &[O1, O2, O3, O4, O5, O6], [4.68, 3.43]),
    of("updated", &[U1, U2, U3, U4, U5], [2.18, 4.68]),
    of("synthcity", &[S1, S2, S3, S4, E3, E4], [4.68, 3.90]),
    of("turing", &[T1, T2, T3, T4, T5], [4.68, 2.05]),
    of("borealis", &[B1, B2, B3, E2], [4.53, 4.63]),
    of("smartnoise", &[N1, E2], [4.68, 4.68]),
];
