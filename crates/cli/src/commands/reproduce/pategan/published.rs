//! Published implementations of PATE-GAN, their faults, and the ε that an audit of them printed.
//!
//! G. Ganev, M. S. M. S. Annamalai and E. De Cristofaro, The Elusive Pursuit of Reproducing PATE-GAN:
//! Benchmarking, Auditing, Debugging, arXiv:2406.13985: worst case, 1,000 + 1,000 runs.

use dpscope_synth::Fault::{self, *};

pub(super) struct Implementation {
    pub(super) name: &'static str,
    pub(super) faults: &'static [Fault],
    pub(super) published: Option<f64>,
}

const fn of(name: &'static str, faults: &'static [Fault], published: f64) -> Implementation {
    Implementation { name, faults, published: Some(published) }
}

/// E2 to E4 were found here, in implementations of these names.
pub(super) const IMPLEMENTATIONS: [Implementation; 7] = [
    Implementation { name: "faithful", faults: &[], published: None },
    of("original", &[O1, O2, O3, O4, O5, O6], 4.68),
    of("updated", &[U1, U2, U3, U4, U5], 2.18),
    of("synthcity", &[S1, S2, S3, S4, E3, E4], 4.68),
    of("turing", &[T1, T2, T3, T4, T5], 4.68),
    of("borealis", &[B1, B2, B3, E2], 4.53),
    of("smartnoise", &[N1, E2], 4.68),
];
