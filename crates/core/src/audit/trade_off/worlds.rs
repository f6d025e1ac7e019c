//! Finite scores of two worlds, put in order once a question needs their order.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(not(target_arch = "wasm32"))]
use super::ascending;
use super::buckets::Buckets;

/// Fewer scores are ordered at once.
const FEWEST: usize = if IS_LAZY { 1 << 16 } else { usize::MAX };

/// A page orders all at once: it has no millions of scores, and waits for every byte of code.
const IS_LAZY: bool = cfg!(not(target_arch = "wasm32"));

/// Passes over all scores, one a threshold, after which they are put in order: their time together
/// is about that of sorting.
const MOST_PASSES: u32 = 20;

/// Finite scores of D and of D′.
///
/// | 10⁷ scores to the bound of two halves, one core of Zen 5 | CPU ms |
/// |---|---|
/// | all four quarters sorted by `ascending` | 76 |
/// | one half counted over steps, then near the best threshold alone; the other counted at it | 12 |
/// | numpy 2.3.5 with AVX-512, one half sorted, the other counted | 48 |
#[derive(Debug)]
pub(super) struct Worlds {
    /// In the order given; empty where they were ordered at once.
    given: [Vec<f64>; 2],
    lengths: [usize; 2],
    range: Option<(f64, f64)>,
    buckets: OnceLock<Option<Buckets>>,
    ordered: OnceLock<[Vec<f64>; 2]>,
    passes: AtomicU32,
}

impl Clone for Worlds {
    fn clone(&self) -> Self {
        Worlds {
            given: self.given.clone(),
            lengths: self.lengths,
            range: self.range,
            buckets: self.buckets.clone(),
            ordered: self.ordered.clone(),
            passes: AtomicU32::new(self.passes.load(Ordering::Relaxed)),
        }
    }
}

impl PartialEq for Worlds {
    fn eq(&self, other: &Self) -> bool {
        self.ordered() == other.ordered()
    }
}

impl Worlds {
    /// Leaves out scores that are not finite.
    pub(super) fn new(mut scores: [Vec<f64>; 2]) -> Self {
        let mut range: Option<(f64, f64)> = None;
        for world in &mut scores {
            let found = finite_range(world).or_else(|| {
                world.retain(|score| score.is_finite());
                finite_range(world)
            });
            range = match (range, found.filter(|_| !world.is_empty())) {
                (Some((low, high)), Some((lowest, highest))) => {
                    Some((low.min(lowest), high.max(highest)))
                }
                (one, other) => one.or(other),
            };
        }
        let lengths = scores.each_ref().map(Vec::len);
        let worlds = Worlds {
            given: scores,
            lengths,
            range: range.map(|(low, high)| (low + 0.0, high + 0.0)),
            buckets: OnceLock::new(),
            ordered: OnceLock::new(),
            passes: AtomicU32::new(0),
        };
        if lengths[0] + lengths[1] < FEWEST { worlds.into_ordered() } else { worlds }
    }

    /// Worlds of scores in ascending order.
    pub(super) fn of_ordered(ordered: [Vec<f64>; 2]) -> Self {
        let low = ordered.iter().filter_map(|world| world.first().copied()).reduce(f64::min);
        let high = ordered.iter().filter_map(|world| world.last().copied()).reduce(f64::max);
        Worlds {
            given: [Vec::new(), Vec::new()],
            lengths: ordered.each_ref().map(Vec::len),
            range: low.zip(high),
            buckets: OnceLock::new(),
            ordered: ordered.into(),
            passes: AtomicU32::new(0),
        }
    }

    /// The scores of both.
    pub(super) fn joined(&self, other: &Worlds) -> Self {
        if let (Some(a), Some(b)) = (self.ordered.get(), other.ordered.get()) {
            return Worlds::of_ordered([merged(&a[0], &b[0]), merged(&a[1], &b[1])]);
        }
        let of = |world: usize| [self.any_order()[world], other.any_order()[world]].concat();
        Worlds::new([of(0), of(1)])
    }

    /// Puts the scores in order where they lie.
    pub(super) fn into_ordered(mut self) -> Self {
        if self.ordered.get().is_none() {
            let given = std::mem::take(&mut self.given);
            self.ordered = sorted(given).into();
        }
        self
    }

    /// Number of scores of each world.
    pub(super) fn lengths(&self) -> [usize; 2] {
        self.lengths
    }

    /// Lowest and highest score.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        self.range
    }

    /// Each world in ascending order.
    pub(super) fn ordered(&self) -> &[Vec<f64>; 2] {
        self.ordered.get_or_init(|| sorted(self.given.clone()))
    }

    /// Each world in some order.
    pub(super) fn any_order(&self) -> [&[f64]; 2] {
        self.ordered.get().unwrap_or(&self.given).each_ref().map(Vec::as_slice)
    }

    /// Scores of each world at or below a threshold.
    pub(super) fn at_most(&self, threshold: f64) -> [u64; 2] {
        if self.ordered.get().is_none() && self.passes.fetch_add(1, Ordering::Relaxed) < MOST_PASSES
        {
            return self.given.each_ref().map(|world| count_at_most(world, threshold));
        }
        let below = |world: &Vec<f64>| world.partition_point(|&score| score <= threshold) as u64;
        self.ordered().each_ref().map(below)
    }

    /// Counts over equal steps of the range; `None` for scores that are in order, or that have no
    /// finite range.
    pub(super) fn buckets(&self) -> Option<&Buckets> {
        if !IS_LAZY || self.ordered.get().is_some() {
            return None;
        }
        self.buckets.get_or_init(|| Buckets::new(self.any_order(), self.range?)).as_ref()
    }
}

fn sorted(mut worlds: [Vec<f64>; 2]) -> [Vec<f64>; 2] {
    #[cfg(not(target_arch = "wasm32"))]
    let mut buffer = Vec::new();
    for scores in &mut worlds {
        scores.iter_mut().for_each(|score| *score += 0.0); // −0 and 0 are a tie
        #[cfg(not(target_arch = "wasm32"))]
        ascending::sort(scores, &mut buffer);
        // a page does not sort millions
        #[cfg(target_arch = "wasm32")]
        scores.sort_unstable_by(f64::total_cmp);
    }
    worlds
}

/// Lowest and highest score; `None` if one is not finite.
fn finite_range(scores: &[f64]) -> Option<(f64, f64)> {
    // eight at a time, for vector instructions
    let (mut low, mut high) = ([f64::INFINITY; 8], [f64::NEG_INFINITY; 8]);
    let mut zeros = [0.0; 8];
    let (eights, rest) = scores.as_chunks::<8>();
    for eight in eights {
        for (at, &score) in eight.iter().enumerate() {
            low[at] = if score < low[at] { score } else { low[at] };
            high[at] = if score > high[at] { score } else { high[at] };
            zeros[at] += score * 0.0; // NaN unless finite
        }
    }
    let is_finite = zeros.iter().all(|zero| *zero == 0.0) && rest.iter().all(|s| s.is_finite());
    let lowest = low.iter().chain(rest).copied().fold(f64::INFINITY, f64::min);
    let highest = high.iter().chain(rest).copied().fold(f64::NEG_INFINITY, f64::max);
    is_finite.then_some((lowest, highest))
}

fn count_at_most(scores: &[f64], threshold: f64) -> u64 {
    let mut counts = [0_u64; 8];
    let (eights, rest) = scores.as_chunks::<8>();
    for eight in eights {
        for (count, &score) in counts.iter_mut().zip(eight) {
            *count += u64::from(score <= threshold);
        }
    }
    counts.iter().sum::<u64>() + rest.iter().filter(|score| **score <= threshold).count() as u64
}

/// Merges two ascending lists.
pub(super) fn merged(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let first = a[i] <= b[j];
        out.push(if first { a[i] } else { b[j] });
        i += usize::from(first);
        j += usize::from(!first);
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
    out
}
