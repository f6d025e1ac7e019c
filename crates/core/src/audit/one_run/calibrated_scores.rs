//! White-box scores that calibrate themselves: from projections of the releases of one training.

use std::ops::Range;

use crate::format::given;
use crate::math;
use crate::special::normal;

/// φ: what an outlier of one step can add to a score is at most ln(1 + 1/φ) = 11.5.
const FLOOR: f64 = 1e-5;
/// Projections whose variance is estimated together.
const WINDOW: usize = 100;
/// Canaries of a plan at most.
const MOST_CANARIES: usize = 1 << 27;
/// Squares of larger projections overflow.
const LARGEST: f64 = 1e150;

/// Projections that have no scores.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// Too few canaries for a median, or too many.
    #[error("canaries = {canaries}: must lie in 5 … {MOST_CANARIES}")]
    Canaries {
        /// Number of canaries.
        canaries: usize,
    },
    /// The sampling rate is outside (0, 1], or NaN.
    #[error("sampling rate = {}: must lie in (0, 1]", given(*.rate))]
    SamplingRate {
        /// Probability q that a step uses a record.
        rate: f64,
    },
    /// The stated noise multiplier is not positive and finite.
    #[error("noise multiplier = {}: must be positive and finite", given(*.noise_multiplier))]
    NoiseMultiplier {
        /// Standard deviation σ of the noise, in clip norms.
        noise_multiplier: f64,
    },
    /// A step with another number of projections than canaries.
    #[error("step {step} has {found} projections for {canaries} canaries: pass one for each")]
    Length {
        /// Number of the step, from 0.
        step: usize,
        /// Its projections.
        found: usize,
        /// Number of canaries.
        canaries: usize,
    },
    /// A projection that is NaN, infinite or beyond ±10¹⁵⁰.
    #[error(
        "the projection of step {step} at index {index} is {}: projections must be finite and within \
         ±1e150; check the recording of this step", given(*.value)
    )]
    NotFinite {
        /// Number of the step, from 0.
        step: usize,
        /// Number of the canary, from 0.
        index: usize,
        /// The projection.
        value: f64,
    },
    /// No step was observed.
    #[error("there are no projections: record at least one step")]
    NoSteps,
    /// More than half of the projections are equal in every step.
    #[error(
        "more than half of the projections are equal in each of the {steps} steps: there is no noise to \
         calibrate a score with; check that the noisy gradients were projected, or use the sum of \
         projections"
    )]
    NoNoise {
        /// Steps, all of them skipped.
        steps: usize,
    },
    /// Numbers that are no state of these scores.
    #[error("the state of the scores is damaged: {problem}; start again from an intact checkpoint")]
    State {
        /// What is wrong.
        problem: &'static str,
    },
}

/// Log-likelihood ratios of one run whose centre and noise are those of the projections themselves.
///
/// In step t, a_i is the projection of the release on the direction of canary i in clip norms, c the
/// median of all a_i, s_t = median |a_i − c| / Φ⁻¹(3/4), and s² the median of s_t² over the steps within
/// ⌊100/m⌋ of step t, for m canaries. The score of canary i is
///
/// Σ_t ln[((1 − q) f₀ + q f₁ + φ) / (f₀ + φ)], f₀ = e^{−(a−c)²/2s²}, f₁ = e^{−(a−c−1)²/2s²}, φ = 10⁻⁵.
///
/// A step with s_t = 0 has no noise to calibrate with: it is skipped and counted, and no other step uses its
/// s_t.
///
/// # Guarantee
/// The bound of an audit by these scores holds whatever the noise, its drift and its distribution: a score
/// is a function of releases, directions and q, since c and s use all canaries and no coin. The game of one
/// run allows any guess by what the attacker sees
/// (`unit::coins_that_nothing_depends_on_are_not_guessed`). Calibration on the canaries that were not
/// included would break it.
///
/// # Numerics
/// Scores have the same bits on every target. A step takes time in proportion to m; it is scored once the
/// ⌊100/m⌋ steps after it are known, so at most 100 projections wait.
///
/// # Reference
/// The game: Steinke, Nasr, Jagielski, "Privacy Auditing with One (1) Training Run" (2023), arXiv:2305.08846.
/// Centre, scale and floor are ours.
///
/// # Example
/// ```
/// use dpscope_core::audit::one_run::CalibratedScores;
/// let mut scores = CalibratedScores::new(5, 1.0)?;
/// scores.observe(&[0.1, 1.2, -0.1, 0.2, -0.3])?;
/// assert!(scores.scores()[1] > 4.0);
/// # Ok::<(), dpscope_core::audit::one_run::ProjectionError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CalibratedScores {
    rate: f64,
    /// Score of each canary over the steps that are scored.
    scores: Vec<f64>,
    centres: Vec<f64>,
    /// s_t² of each step; 0 if it is skipped.
    variances: Vec<f64>,
    /// Projections of the last steps, which are not scored yet.
    waiting: Vec<f64>,
}

impl CalibratedScores {
    /// Scores before the first step.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `canaries` | number m of canaries | 5 … 2²⁷ |
    /// | `sampling_rate` | probability q that a step uses a record | (0, 1] |
    ///
    /// # Errors
    /// [`ProjectionError::Canaries`], [`ProjectionError::SamplingRate`].
    pub fn new(canaries: usize, sampling_rate: f64) -> Result<Self, ProjectionError> {
        if !(5..=MOST_CANARIES).contains(&canaries) {
            return Err(ProjectionError::Canaries { canaries });
        }
        if !(sampling_rate > 0.0 && sampling_rate <= 1.0) {
            return Err(ProjectionError::SamplingRate { rate: sampling_rate });
        }
        Ok(Self {
            rate: sampling_rate,
            scores: vec![0.0; canaries],
            centres: Vec::new(),
            variances: Vec::new(),
            waiting: Vec::new(),
        })
    }

    /// Adds a step: the projection of its release on the direction of each canary, in clip norms.
    ///
    /// # Errors
    /// [`ProjectionError::Length`], [`ProjectionError::NotFinite`]; the step then does not count.
    pub fn observe(&mut self, projections: &[f64]) -> Result<(), ProjectionError> {
        let (step, canaries) = (self.steps(), self.scores.len());
        if projections.len() != canaries {
            return Err(ProjectionError::Length { step, found: projections.len(), canaries });
        }
        // NaN is outside, too
        let outside = |(_, value): &(usize, &f64)| !(value.abs() <= LARGEST);
        if let Some((index, &value)) = projections.iter().enumerate().find(outside) {
            return Err(ProjectionError::NotFinite { step, index, value });
        }
        let calibration = Calibration::of(projections, self.rate);
        self.centres.push(calibration.centre);
        self.variances.push(calibration.variance);
        self.waiting.extend_from_slice(projections);
        if let Some(step) = self.steps().checked_sub(half_window(canaries) + 1) {
            let projections: Vec<f64> = self.waiting.drain(..canaries).collect();
            self.calibration(step).add(&projections, &mut self.scores);
        }
        Ok(())
    }

    /// The score of each canary if no further step follows.
    #[must_use]
    pub fn scores(&self) -> Vec<f64> {
        let mut scores = self.scores.clone();
        let canaries = scores.len();
        let first = self.steps() - self.waiting.len() / canaries;
        for (place, projections) in self.waiting.chunks(canaries).enumerate() {
            self.calibration(first + place).add(projections, &mut scores);
        }
        scores
    }

    /// Steps so far.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.centres.len()
    }

    /// Steps without noise, which no score counts.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.variances.iter().filter(|&&variance| variance == 0.0).count()
    }

    /// The centre c of each step, in clip norms.
    #[must_use]
    pub fn centres(&self) -> &[f64] {
        &self.centres
    }

    /// The scale s of each step, in clip norms; 0 if it is skipped.
    #[must_use]
    pub fn scales(&self) -> Vec<f64> {
        (0..self.steps()).map(|step| self.calibration(step).variance.sqrt()).collect()
    }

    /// Estimate of the standard deviation of the noise, in clip norms: the median of s_t over the steps
    /// that are not skipped; none without such a step.
    #[must_use]
    pub fn noise(&self) -> Option<f64> {
        let variances = self.variances.iter().copied().filter(|&variance| variance > 0.0);
        let mut scales: Vec<f64> = variances.map(f64::sqrt).collect();
        (!scales.is_empty()).then(|| median(&mut scales))
    }

    /// All that is known, for a checkpoint: plain numbers that [`CalibratedScores::from_state`] reads.
    ///
    /// For m canaries and T steps: m, q, T, m scores, T centres, T variances, and the projections that wait.
    #[must_use]
    pub fn state(&self) -> Vec<f64> {
        let sizes = [self.scores.len() as f64, self.rate, self.steps() as f64];
        [&sizes[..], &self.scores, &self.centres, &self.variances, &self.waiting].concat()
    }

    /// The scores with a state that [`CalibratedScores::state`] returned.
    ///
    /// # Errors
    /// [`ProjectionError::State`] for other numbers, and the errors of [`CalibratedScores::new`].
    pub fn from_state(state: &[f64]) -> Result<Self, ProjectionError> {
        let damaged = |problem| ProjectionError::State { problem };
        let Some((&[canaries, rate, steps], rest)) = state.split_first_chunk() else {
            return Err(damaged("it has fewer than 3 numbers"));
        };
        let is_size = |size: f64| size.fract() == 0.0 && (0.0..9e15).contains(&size);
        if !is_size(canaries) || !is_size(steps) {
            return Err(damaged("its sizes are no whole numbers"));
        }
        let (canaries, steps) = (canaries as usize, steps as usize);
        let empty = Self::new(canaries, rate)?;
        let waiting = canaries * half_window(canaries).min(steps);
        let length = steps.checked_mul(2).and_then(|twice| twice.checked_add(canaries + waiting));
        if length != Some(rest.len()) {
            return Err(damaged("its length does not follow from canaries and steps"));
        }
        let (scores, rest) = rest.split_at(canaries);
        let (centres, rest) = rest.split_at(steps);
        let (variances, waiting) = rest.split_at(steps);
        let is_projection = |value: &f64| value.abs() <= LARGEST;
        let is_variance = |value: &f64| *value >= 0.0 && value.is_finite();
        if !(scores.iter().all(|score| score.is_finite())
            && centres.iter().chain(waiting).all(is_projection)
            && variances.iter().all(is_variance))
        {
            return Err(damaged("it has a number outside its domain"));
        }
        Ok(Self {
            scores: scores.to_vec(),
            centres: centres.to_vec(),
            variances: variances.to_vec(),
            waiting: waiting.to_vec(),
            ..empty
        })
    }

    /// Centre and variance by which a step is scored, as far as the steps after it are known.
    fn calibration(&self, step: usize) -> Calibration {
        let (centre, rate) = (self.centres[step], self.rate);
        let calibration = Calibration { centre, variance: self.variances[step], rate };
        if calibration.variance == 0.0 {
            return calibration;
        }
        let half = half_window(self.scores.len());
        let window: Range<usize> = step.saturating_sub(half)..self.steps().min(step + half + 1);
        let variances = self.variances[window].iter().copied();
        let mut noisy: Vec<f64> = variances.filter(|&variance| variance > 0.0).collect();
        Calibration { variance: median(&mut noisy), ..calibration }
    }
}

/// Steps on each side of a step whose variance is estimated with its own.
fn half_window(canaries: usize) -> usize {
    WINDOW / canaries
}

/// By what a step is scored.
#[derive(Debug, Clone, Copy)]
struct Calibration {
    /// Centre c of the step.
    centre: f64,
    /// Variance s²; 0 without noise.
    variance: f64,
    /// Sampling rate q.
    rate: f64,
}

impl Calibration {
    /// Centre and variance of the projections of one step.
    fn of(projections: &[f64], rate: f64) -> Self {
        let mut values = projections.to_vec();
        let centre = median(&mut values);
        values.iter_mut().for_each(|value| *value = (*value - centre).abs());
        let scale = median(&mut values) / normal::quantile(0.75);
        Self { centre, variance: scale * scale, rate }
    }

    /// Adds the log-likelihood ratios of a step to the scores.
    fn add(&self, projections: &[f64], scores: &mut [f64]) {
        let Self { centre, variance, rate } = *self;
        if variance == 0.0 {
            return;
        }
        let density = |from_mean: f64| math::exp(-0.5 * from_mean * from_mean / variance);
        for (score, projection) in scores.iter_mut().zip(projections) {
            let from_centre = projection - centre;
            let (without, with) = (density(from_centre), density(from_centre - 1.0));
            let mixture = (1.0 - rate) * without + rate * with;
            *score += math::ln((mixture + FLOOR) / (without + FLOOR));
        }
    }
}

/// The median, the mean of both middle values of an even number; reorders the values, at least one.
fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    let is_even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(lower) if is_even => 0.5 * (lower + upper),
        _ => upper,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::one_run::{CanaryScores, GuessRule, OneRunQuestion};
    use crate::random::{Purpose, Words};

    /// A reference run: 50 canaries and 20 steps with a rate of 0.1 and noise 0.3, or 20 canaries and 5
    /// steps of all records with noise 3 and a drift of 0.5 per step.
    fn reference_run(canaries: usize) -> (f64, Vec<Vec<f64>>) {
        let (mut state, rate, noise, steps, drift) = match canaries {
            50 => (41_u64, 0.1, 0.3, 20, 0.0),
            _ => (43, 1.0, 3.0, 5, 0.5),
        };
        let mut uniform = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
        };
        let included: Vec<bool> = (0..canaries).map(|_| uniform() < 0.5).collect();
        let step = |step| {
            let used: Vec<bool> = included.iter().map(|coin| uniform() < rate && *coin).collect();
            let noisy =
                |used: &bool| f64::from(u8::from(*used)) + noise * normal::quantile(uniform());
            let projections: Vec<f64> = used.iter().map(noisy).collect();
            projections.iter().map(|projection| projection + drift * f64::from(step)).collect()
        };
        (rate, (0..steps).map(step).collect())
    }

    fn observed(rate: f64, rows: &[Vec<f64>]) -> CalibratedScores {
        let mut scores = CalibratedScores::new(rows[0].len(), rate).unwrap();
        rows.iter().for_each(|row| scores.observe(row).unwrap());
        scores
    }

    /// Scores by another calibration of each step.
    fn scored_by(rows: &[Vec<f64>], calibration: impl Fn(&[f64]) -> Calibration) -> Vec<f64> {
        let mut scores = vec![0.0; rows[0].len()];
        rows.iter().for_each(|row| calibration(row).add(row, &mut scores));
        scores
    }

    fn distance(scores: &[f64], expected: &[f64]) -> f64 {
        scores.iter().zip(expected).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn scores_are_those_of_another_implementation() {
        let (rate, rows) = reference_run(50);
        let found = observed(rate, &rows);
        let expected = [2.943167695065023, -1.2429773117092255, 4.226685499958406];
        assert!(distance(&found.scores(), &expected) < 1e-12, "{:?}", found.scores());
        let sum: f64 = found.scores().iter().sum();
        assert!((sum - 110.19328461935697).abs() < 1e-11, "{sum}");
        let scales = [0.34174186333419665, 0.327891658604556, 0.34174186333419665];
        assert!(distance(&found.scales(), &scales) < 1e-14, "{:?}", found.scales());

        let (rate, rows) = reference_run(20);
        let found = observed(rate, &rows);
        let expected = [-1.038606687934589, -1.1706782914818699, 0.3800404960607412];
        assert!(distance(&found.scores(), &expected) < 1e-12, "{:?}", found.scores());
        let centres = [0.5521838446148165, 1.0195965891506624, 0.39570821754153435];
        assert!(distance(found.centres(), &centres) < 1e-14, "{:?}", found.centres());
        let by_step = scored_by(&rows, |row| Calibration::of(row, rate));
        assert!(distance(&by_step, &expected) > 0.1, "each step by its own scale: {by_step:?}");
    }

    #[test]
    fn a_state_continues_with_the_same_bits() {
        for canaries in [50, 20] {
            let (rate, rows) = reference_run(canaries);
            let whole = observed(rate, &rows);
            for steps in 1..rows.len() {
                let state = observed(rate, &rows[..steps]).state();
                let mut continued = CalibratedScores::from_state(&state).unwrap();
                rows[steps..].iter().for_each(|row| continued.observe(row).unwrap());
                assert_eq!(continued, whole, "{canaries} canaries, {steps} steps");
                assert!(CalibratedScores::from_state(&state[1..]).is_err());
                assert!(CalibratedScores::from_state(&state[..state.len() - 1]).is_err());
            }
            assert_eq!(whole.skipped(), 0);
        }
        let state = observed(1.0, &reference_run(20).1).state();
        for (place, wrong) in [(0, 4.0), (0, 1e300), (1, 0.0), (2, -1.0), (2, 9e14), (3, f64::NAN)]
        {
            let mut damaged = state.clone();
            damaged[place] = wrong;
            let error = CalibratedScores::from_state(&damaged);
            assert!(error.is_err(), "{place}: {wrong}: {error:?}");
        }
    }

    /// How many of 100 audits show ε > 0 with coins of which the projections know nothing, by these scores.
    fn false_leaks(scores: impl Fn(&[Vec<f64>], &[bool]) -> Vec<f64>) -> usize {
        let (canaries, steps) = (24, 150);
        let mut words = Words::new(1, Purpose::Test, 0);
        let question = OneRunQuestion {
            deltas: &[0.0],
            significance: 0.05,
            rule: GuessRule::Most(12),
            is_committed: true,
        };
        let shows_a_leak = |_: &usize| {
            let coins: Vec<bool> = (0..canaries).map(|_| words.next_word() >> 31 == 1).collect();
            // noise with heavy tails and a scale that drifts
            let mut step = |step: usize| -> Vec<f64> {
                let scale = 0.3 + step as f64 / 300.0;
                (0..canaries).map(|_| scale * words.normal() / words.uniform().sqrt()).collect()
            };
            let rows: Vec<Vec<f64>> = (0..steps).map(&mut step).collect();
            let scores = scores(&rows, &coins);
            let found = CanaryScores::coins(&scores, &coins).unwrap();
            let bounds = found.bounds(&question, &[], |index| index);
            bounds.is_ok_and(|bounds| bounds[0].epsilon > 0.0)
        };
        (0..100).filter(shows_a_leak).count()
    }

    #[test]
    fn coins_that_nothing_depends_on_are_not_guessed() {
        let most = 5 + 9; // 5 % of 100, and 4 standard errors
        let found = false_leaks(|rows, _| observed(0.1, rows).scores());
        assert!(found <= most, "{found}");
        let found = false_leaks(|rows, coins| {
            let excluded = |row: &[f64]| -> Vec<f64> {
                row.iter().zip(coins).filter(|(_, coin)| !**coin).map(|(value, _)| *value).collect()
            };
            scored_by(rows, |row| Calibration::of(&excluded(row), 0.1))
        });
        assert!(found > 2 * most, "calibrated on the canaries that are not included: {found}");
    }

    #[test]
    fn steps_without_noise_are_skipped() {
        let (rate, mut rows) = reference_run(50);
        rows.push(vec![0.25; 50]);
        let found = observed(rate, &rows);
        assert_eq!((found.steps(), found.skipped(), found.scales()[20]), (21, 1, 0.0));
        assert_eq!(found.scores(), observed(rate, &rows[..20]).scores());
    }

    #[test]
    fn arguments_outside_their_domain_are_refused() {
        for (canaries, rate) in [(4, 0.5), (usize::MAX, 0.5), (5, 0.0), (5, 1.5), (5, f64::NAN)] {
            let refused = CalibratedScores::new(canaries, rate);
            assert!(refused.is_err(), "{canaries} canaries, rate {rate}");
        }
        let mut scores = CalibratedScores::new(5, 0.5).unwrap();
        scores.observe(&[0.0, 1.0, 2.0, 3.0, 1e150]).unwrap();
        assert!(scores.scores().iter().all(|score| score.is_finite()), "{scores:?}");
        for value in [f64::NAN, f64::NEG_INFINITY, 1e151] {
            let error = scores.observe(&[0.0, 1.0, value, 3.0, 4.0]).unwrap_err();
            assert!(error.to_string().contains("step 1 at index 2"), "{error}");
        }
        let error = scores.observe(&[0.0; 4]).unwrap_err();
        assert_eq!(error, ProjectionError::Length { step: 1, found: 4, canaries: 5 });
        assert_eq!(scores.steps(), 1);
    }
}
