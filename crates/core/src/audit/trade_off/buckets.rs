//! Counts of scores over equal steps of their range: which few can hold the best threshold.

use super::cut::{Cut, ErrorCounts, Trials};

/// Number of steps.
const BUCKETS: usize = 1 << 14;

/// Adding it rounds a smaller number to a whole one, in the lowest bits.
const WHOLE: f64 = (1_u64 << 52) as f64;

/// Scores of two worlds, counted over equal steps of the range of both.
#[derive(Debug, Clone)]
pub(super) struct Buckets {
    lowest: f64,
    per_unit: f64,
    /// Scores of D and of D′ in each step.
    counts: [Vec<u32>; 2],
}

impl Buckets {
    /// `None` where the range has no finite length above 0.
    pub(super) fn new(worlds: [&[f64]; 2], (lowest, highest): (f64, f64)) -> Option<Self> {
        let per_unit = (BUCKETS - 1) as f64 / (highest - lowest);
        let is_possible =
            per_unit.is_normal() && worlds.iter().all(|w| u32::try_from(w.len()).is_ok());
        if !is_possible {
            return None;
        }
        let counts = [vec![0; BUCKETS], vec![0; BUCKETS]];
        let mut buckets = Buckets { lowest, per_unit, counts };
        for (world, scores) in worlds.into_iter().enumerate() {
            let mut counts = std::mem::take(&mut buckets.counts[world]);
            for &score in scores {
                counts[buckets.of_score(score)] += 1;
            }
            buckets.counts[world] = counts;
        }
        Some(buckets)
    }

    /// Never falls as the score rises.
    fn of_score(&self, score: f64) -> usize {
        ((score - self.lowest) * self.per_unit + WHOLE).to_bits() as usize & (BUCKETS - 1)
    }

    /// Error counts below the first step and above each.
    pub(super) fn edges(&self, trials: Trials) -> Vec<Cut> {
        let finite =
            self.counts.each_ref().map(|counts| counts.iter().map(|&n| u64::from(n)).sum());
        let [target, _]: [u64; 2] = finite;
        let mut errors = ErrorCounts {
            false_positives: trials.zero_out,
            false_negatives: trials.target - target,
        };
        let first = Cut { threshold: f64::NEG_INFINITY, errors };
        let mut edges = Vec::with_capacity(BUCKETS + 1);
        edges.push(first);
        for (bucket, (&d, &d_prime)) in self.counts[0].iter().zip(&self.counts[1]).enumerate() {
            errors.false_negatives += u64::from(d);
            errors.false_positives -= u64::from(d_prime);
            let threshold = self.lowest + (bucket as f64 + 0.5) / self.per_unit;
            edges.push(Cut { threshold, errors });
        }
        edges
    }

    /// The cut below every score, and those at the scores of D′ in the steps to keep, by rising
    /// threshold; `None` if these steps hold more than an eighth of the scores.
    pub(super) fn cuts_within(
        &self,
        keep: &[bool],
        worlds: [&[f64]; 2],
        edges: &[Cut],
    ) -> Option<Vec<Cut>> {
        let kept = |counts: &Vec<u32>| -> usize {
            let pairs = counts.iter().zip(keep).filter(|(_, keep)| **keep);
            pairs.map(|(&count, _)| count as usize).sum()
        };
        let scores = self.counts.each_ref().map(kept);
        if scores[0] + scores[1] > (worlds[0].len() + worlds[1].len()) / 8 {
            return None;
        }
        let [target, zero_out] = [0, 1].map(|world| {
            let is_kept = |score: &&f64| keep[self.of_score(**score)];
            let mut found = Vec::with_capacity(scores[world]);
            found.extend(worlds[world].iter().filter(is_kept).map(|score| score + 0.0));
            found.sort_unstable_by(f64::total_cmp);
            found
        });
        let mut cuts = vec![*edges.first()?];
        let mut targets = target.as_slice();
        for group in zero_out.chunk_by(|a, b| self.of_score(*a) == self.of_score(*b)) {
            let bucket = self.of_score(*group.first()?);
            let below = edges.get(bucket)?.errors;
            targets = &targets[targets.partition_point(|&s| self.of_score(s) < bucket)..];
            let (mut d, mut d_prime) = (0, 0);
            for equal in group.chunk_by(|a, b| a == b) {
                let threshold = *equal.first()?;
                d_prime += equal.len();
                d += targets[d..].iter().take_while(|score| **score <= threshold).count();
                let errors = ErrorCounts {
                    false_positives: below.false_positives - d_prime as u64,
                    false_negatives: below.false_negatives + d as u64,
                };
                cuts.push(Cut { threshold, errors });
            }
        }
        Some(cuts)
    }
}
