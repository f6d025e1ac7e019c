//! Noisy labels from the votes of the teachers.

use dpscope_core::random::Words;

use crate::fault::{Fault, FaultSet};
use crate::mechanism::draws::laplace;
use crate::settings::Settings;
use crate::trace::VoteCounts;

/// The channel from votes to noisy labels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Channel {
    teachers: f64,
    noise: Noise,
    /// Whether fault E4 is on: labels of a step, half of them 1, all become 0.
    drops_halves: bool,
}

#[derive(Debug, Clone, Copy)]
enum Noise {
    None,
    OneCount { scale: f64 },
    BothCounts { scale: f64 },
}

impl Channel {
    pub(super) fn new(settings: &Settings, faults: FaultSet) -> Self {
        let gamma = settings.inverse_scale;
        let scale = if faults.has(Fault::U3) { gamma } else { 1.0 / gamma };
        let noise = match () {
            () if [Fault::O4, Fault::O5, Fault::T4].iter().any(|f| faults.has(*f)) => Noise::None,
            () if faults.has(Fault::E5) => Noise::OneCount { scale },
            () => Noise::BothCounts { scale },
        };
        let teachers = f64::from(settings.teachers);
        Channel { teachers, noise, drops_halves: faults.has(Fault::E4) }
    }

    /// Noisy labels of the rows of a step, in place of n₁.
    pub(super) fn label(&self, words: &mut Words, counts: &mut VoteCounts, votes: &mut [f64]) {
        let asked: Vec<usize> = votes.iter().map(|ones| *ones as usize).collect();
        for ones in &mut *votes {
            let zeros = self.teachers - *ones;
            let is_one = match self.noise {
                Noise::None => *ones > zeros,
                Noise::OneCount { scale } => *ones + laplace(words, scale) > self.teachers / 2.0,
                Noise::BothCounts { scale } => {
                    let first = laplace(words, scale);
                    *ones + first > zeros + laplace(words, scale)
                }
            };
            *ones = f64::from(u8::from(is_one));
        }
        let ones: f64 = votes.iter().sum();
        let is_dropped = self.drops_halves && 2.0 * ones == votes.len() as f64;
        if is_dropped {
            votes.fill(0.0);
        }
        for (asked, label) in asked.into_iter().zip(votes) {
            counts.votes[asked] += 1;
            counts.ones[asked] += *label as u64;
            counts.accounted[asked] += u64::from(!is_dropped);
        }
    }
}
