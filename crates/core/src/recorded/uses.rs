//! How often the target was used, where a training recorded it.

use std::collections::BTreeSet;

use super::independence::{RecordedRuns, binomial_at_least};
use super::placement::Placement;
use crate::math;
use crate::special::{chi_square, ln_binomial_pmf};

/// Fewest expected uses of a step for the test of places.
const LEAST_EXPECTED: f64 = 5.0;

/// The numbers of batches of an epoch that contain the target, compared with those of Poisson batches
/// at rate q.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UseCounts {
    /// n, the number of epochs.
    pub epochs: u64,
    /// Whether every number is 1.
    pub is_once: bool,
    /// K̄, the mean number.
    pub mean: f64,
    /// Chance under Poisson batches of a total as unlikely as this one, exact.
    pub poisson_total_p: f64,
    /// Dispersion Σ(K − K̄)²/(K̄(1 − K̄/T)) of the uses K over T steps.
    pub poisson_dispersion: f64,
    /// Two-sided p-value of the dispersion, by χ² with n − 1 degrees of freedom.
    pub poisson_dispersion_p: f64,
    /// ln of the chance under Poisson batches that every number is 1: n ln(Tq(1 − q)^{T−1}).
    pub ln_poisson_all_once: f64,
}

impl UseCounts {
    /// The comparison; none without epochs or steps, or with more uses than steps.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `counts` | K of each epoch | at most T each |
    /// | `steps` | T | positive |
    /// | `rate` | q | (0, 1) |
    ///
    /// # Example
    /// ```
    /// use dpscope_core::recorded::UseCounts;
    /// let once = UseCounts::of(&[1; 8], 10, 0.1).unwrap();
    /// assert_eq!(format!("{:.4}", once.ln_poisson_all_once), "-7.5860");
    /// ```
    #[must_use]
    pub fn of(counts: &[u64], steps: u64, rate: f64) -> Option<Self> {
        let epochs = counts.len() as u64;
        let total: u64 = counts.iter().sum();
        let (n, mean) = (epochs as f64, total as f64 / epochs as f64);
        let trials = epochs.checked_mul(steps).filter(|trials| *trials > 0 && total <= *trials)?;
        let squares: f64 = counts.iter().map(|k| (*k as f64 - mean) * (*k as f64 - mean)).sum();
        let spread = mean * (1.0 - mean / steps as f64);
        let poisson_dispersion = if spread > 0.0 { squares / spread } else { 0.0 };
        let ln_once = ln_binomial_pmf(1, steps, rate).ok()?;
        Some(UseCounts {
            epochs,
            is_once: counts.iter().all(|count| *count == 1),
            mean,
            poisson_total_p: two_sided_binomial(total, trials, rate),
            poisson_dispersion,
            poisson_dispersion_p: match epochs {
                1 => 1.0,
                _ => chi_square::two_sided(n - 1.0, poisson_dispersion),
            },
            ln_poisson_all_once: n * ln_once,
        })
    }

    /// p-value under Poisson batches: the smaller of both tests at half of the level each. Where all
    /// numbers are equal, χ² is no approximation, and the chance of the most likely of such lists
    /// bounds it: T·e^{n ln P(K)}.
    #[must_use]
    pub fn poisson_p_value(&self, steps: u64, rate: f64) -> f64 {
        let dispersion_p = if self.poisson_dispersion == 0.0 {
            let ln_of = |count| ln_binomial_pmf(count, steps, rate).unwrap_or(0.0);
            let ln_all = |count| math::exp(self.epochs as f64 * ln_of(count));
            (0..=steps).map(ln_all).sum()
        } else {
            self.poisson_dispersion_p
        };
        (2.0 * self.poisson_total_p.min(dispersion_p)).min(1.0)
    }
}

/// Where and how often the target was used.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedUses {
    /// Numbers of uses of each epoch.
    pub counts: UseCounts,
    /// p-value of equal numbers of uses of each step, by χ² with T − 1 degrees of freedom; none with too
    /// few uses.
    pub place_p: Option<f64>,
    /// Chance of as many uses in a step that the last epoch used, too, if epochs are independent; none
    /// with one epoch.
    pub repeats_p: Option<f64>,
    /// Whether each run used the same steps in all its epochs, several of them.
    pub is_same_in_run: bool,
    /// Whether all runs used the same steps in all epochs.
    pub is_same_in_all: bool,
    /// The last step that was used, counted from 1.
    pub last_step: u64,
    /// q that the numbers are compared with.
    pub rate: f64,
    /// Steps T in a run.
    pub steps: u64,
}

impl RecordedUses {
    /// Compares the uses of runs of both worlds, numbers of times that a step's batch contains the
    /// target, with Poisson batches at rate q in (0, 1); none without runs, or where an epoch has more
    /// uses than steps.
    #[must_use]
    pub fn of(worlds: [RecordedRuns<'_>; 2], rate: f64) -> Option<Self> {
        let steps = worlds[0].steps();
        let runs = || worlds.iter().flat_map(RecordedRuns::finite_runs);
        let (mut counts, mut at_step) = (Vec::new(), vec![0.0; steps]);
        let (mut repeats, mut guesses, mut chance) = (0, 0, 0.0);
        let mut sets = BTreeSet::new();
        let (mut is_same_in_run, mut has_epochs) = (true, false);
        for run in runs() {
            let mut last: Option<Vec<usize>> = None;
            for epoch in run.chunks_exact(steps) {
                let used: Vec<usize> = (0..steps).filter(|step| epoch[*step] > 0.0).collect();
                counts.push(epoch.iter().sum::<f64>() as u64);
                used.iter().for_each(|step| at_step[*step] += epoch[*step]);
                if let Some(last) = &last {
                    has_epochs = true;
                    is_same_in_run &= *last == used;
                    repeats += used.iter().filter(|step| last.contains(step)).count() as u64;
                    guesses += used.len() as u64;
                    chance += used.len() as f64 * last.len() as f64 / steps as f64;
                }
                sets.insert(used.clone());
                last = Some(used);
            }
        }
        let total: f64 = at_step.iter().sum();
        let expected = total / steps as f64;
        let squares: f64 = at_step.iter().map(|uses| (uses - expected) * (uses - expected)).sum();
        // a step's uses vary like Poisson numbers less what their sum fixes
        let place = (steps > 1 && expected >= LEAST_EXPECTED)
            .then(|| chi_square::tails(steps as f64 - 1.0, squares / expected)[1]);
        let last_step = at_step.iter().rposition(|uses| *uses > 0.0).map_or(0, |step| step + 1);
        Some(RecordedUses {
            counts: UseCounts::of(&counts, steps as u64, rate)?,
            place_p: place,
            repeats_p: (guesses > 0)
                .then(|| binomial_at_least(repeats, guesses, chance / guesses as f64)),
            is_same_in_run: is_same_in_run && has_epochs,
            is_same_in_all: sets.len() == 1 && counts.len() > 1,
            last_step: last_step as u64,
            rate,
            steps: steps as u64,
        })
    }

    /// p-value of the uses if the target's steps are drawn in this way: 0 where it excludes them.
    ///
    /// # Guarantee
    /// Below `p` with probability about p at most: each of up to three tests has a third of the level.
    /// The number of uses under a shuffle, and the total under Poisson batches, are exact
    /// (`unit::correct_uses_are_rarely_refuted`).
    #[must_use]
    pub fn p_value(&self, placement: Placement) -> f64 {
        let at_most = |is_possible: bool| if is_possible { 1.0_f64 } else { 0.0 };
        let once = at_most(self.counts.is_once);
        let [place, repeats] = [self.place_p, self.repeats_p].map(|p| p.unwrap_or(1.0));
        let of_both = |number: f64| (3.0 * number.min(place).min(repeats)).min(1.0);
        match placement {
            Placement::Poisson => of_both(self.counts.poisson_p_value(self.steps, self.rate)),
            Placement::Shuffle => once.min(of_both(1.0)),
            Placement::Buffer => once,
            Placement::PersistentShuffle => once.min(at_most(self.is_same_in_run)),
            Placement::FixedStep => once.min(at_most(self.is_same_in_all)),
            Placement::FirstBatches { batches } => {
                once.min(at_most(self.last_step <= u64::from(batches)))
            }
        }
    }

    /// The way of drawing that explains the uses: a fixed step, one step per run, a shuffle or Poisson
    /// batches, the first that is not refuted; else a shuffle of the first batches.
    #[must_use]
    pub fn shown(&self, significance: f64) -> Option<Placement> {
        let batches = u32::try_from(self.last_step).unwrap_or(u32::MAX);
        let candidates = [
            Placement::FixedStep,
            Placement::PersistentShuffle,
            Placement::Shuffle,
            Placement::Poisson,
            Placement::FirstBatches { batches },
        ];
        // a shuffle of the first batches includes one of all that is refuted
        let of = if self.last_step < self.steps { &candidates[..] } else { &candidates[..4] };
        of.iter().copied().find(|placement| self.p_value(*placement) >= significance)
    }
}

/// Chance of a number of events that is at most as likely as this one: the sum of both tails.
pub(crate) fn two_sided_binomial(events: u64, trials: u64, chance: f64) -> f64 {
    let ln_of = |events| ln_binomial_pmf(events, trials, chance).unwrap_or(f64::NEG_INFINITY);
    let at_least = |events| binomial_at_least(events, trials, chance);
    let at_most = |events: u64| binomial_at_least(trials - events, trials, 1.0 - chance);
    // numbers as likely as this one up to rounding
    let most = ln_of(events) + 1e-7;
    let mode = ((trials as f64 + 1.0) * chance) as u64;
    let is_unlikely = |events: u64| ln_of(events) <= most;
    if ln_of(mode.min(trials)) <= most {
        return 1.0;
    }
    if events > mode {
        // the largest number below the mode that is as unlikely
        let below = partition(mode, |count| is_unlikely(mode - count));
        at_least(events) + below.map_or(0.0, |count| at_most(mode - count))
    } else {
        let above = partition(trials - mode, |count| is_unlikely(mode + count));
        at_most(events) + above.map_or(0.0, |count| at_least(mode + count))
    }
}

/// The smallest number up to `most` from which on a condition holds; none if it does not for `most`.
fn partition(most: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if !holds(most) {
        return None;
    }
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Words};

    const STEPS: usize = 10;
    const RATE: f64 = 0.1;
    const LEVEL: f64 = 1e-3;

    /// Uses of two worlds of `runs` runs of two epochs each.
    fn uses(placement: Placement, runs: usize, seed: u64) -> RecordedUses {
        let mut words = Words::new(15, Purpose::Test, seed);
        let mut below = |bound: usize| (words.next_word() as usize) % bound;
        let fixed = below(STEPS);
        let worlds = [(); 2].map(|()| {
            let mut uses = Vec::new();
            for _ in 0..runs {
                let of_run = below(STEPS);
                for _ in 0..2 {
                    let place = match placement {
                        Placement::FixedStep => fixed,
                        Placement::PersistentShuffle => of_run,
                        Placement::FirstBatches { batches } => below(batches as usize),
                        _ => below(STEPS),
                    };
                    uses.extend((0..STEPS).map(|step| match placement {
                        Placement::Poisson => f64::from(u8::from(below(STEPS) == 0)),
                        _ => f64::from(u8::from(step == place)),
                    }));
                }
            }
            uses
        });
        let view = |values| RecordedRuns::new(values, 2, STEPS).unwrap();
        RecordedUses::of([view(&worlds[0]), view(&worlds[1])], RATE).unwrap()
    }

    #[test]
    fn the_sampler_is_recognised() {
        for placement in [
            Placement::Poisson,
            Placement::Shuffle,
            Placement::PersistentShuffle,
            Placement::FixedStep,
            Placement::FirstBatches { batches: 4 },
        ] {
            assert_eq!(uses(placement, 60, 1).shown(LEVEL), Some(placement));
        }
        // each record twice per epoch
        let twice = [vec![0.0; STEPS], vec![0.0; STEPS]].map(|mut epoch| {
            (epoch[0], epoch[1]) = (1.0, 1.0);
            epoch.repeat(40)
        });
        let view = |values| RecordedRuns::new(values, 1, STEPS).unwrap();
        let twice = RecordedUses::of([view(&twice[0]), view(&twice[1])], RATE).unwrap();
        assert_eq!((twice.counts.mean, twice.shown(LEVEL)), (2.0, None));
    }

    #[test]
    fn correct_uses_are_rarely_refuted() {
        for placement in [Placement::Poisson, Placement::Shuffle] {
            let (mut refuted, mut refuted_by_mutant) = (0, 0);
            for seed in 0..1_000 {
                let found = uses(placement, 15, seed);
                refuted += u32::from(found.p_value(placement) < 0.02);
                // broken twin: the variance of Poisson batches is that of one use in one step
                let n = found.counts.epochs as f64;
                let dispersion = found.counts.poisson_dispersion * 0.9 / 0.6;
                let mutant = chi_square::two_sided(n - 1.0, dispersion);
                refuted_by_mutant += u32::from(3.0 * mutant < 0.02);
            }
            // 20 expected at most, 40 or more with a chance of 5e-5
            assert!(refuted < 40, "{placement:?}: {refuted}");
            assert!(refuted_by_mutant >= 40, "{placement:?}: {refuted_by_mutant}");
        }
    }

    #[test]
    fn two_sided_binomials_are_sums_over_unlikely_numbers() {
        for (trials, chance) in [(12, 0.3), (80, 0.1), (25, 0.97)] {
            let of = |events| math::exp(ln_binomial_pmf(events, trials, chance).unwrap());
            for events in 0..=trials {
                let limit = of(events) * (1.0 + 1e-7);
                let expected: f64 = (0..=trials).map(of).filter(|p| *p <= limit).sum();
                let found = two_sided_binomial(events, trials, chance);
                assert!((found - expected).abs() < 1e-12, "{events} of {trials}: {found}");
            }
        }
    }

    #[test]
    fn bad_counts_are_refused() {
        assert_eq!(UseCounts::of(&[], 10, 0.1), None);
        assert_eq!(UseCounts::of(&[1], 0, 0.1), None);
        assert_eq!(UseCounts::of(&[3, 3], 2, 0.5), None);
        assert_eq!(UseCounts::of(&[1, 2], 10, f64::NAN), None);
    }
}
