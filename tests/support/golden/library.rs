//! Every call of the library that a golden value is compared with, in one place.
//!
//! Tests replace single methods to show that a broken library is rejected.

use std::collections::BTreeMap;

use dpscope_core::accounting::pair::{ExactPair, PairMethod};
use dpscope_core::accounting::{
    Accountant, BallsInBins, Deterministic, Directions, Given, Kind, Parameter, Poisson,
    PrivacyTarget, Query, Shuffle, ShuffleMethod, Training, calibrate,
};
use dpscope_core::audit::bayesian::{ConfusionCounts, JointBetaPosterior};
use dpscope_core::audit::bound::{at_fixed_cut, epsilon_from_rates, max_uncorrected};
use dpscope_core::audit::one_run::{
    CanaryGame, FixedSize, GaussianGuesses, GuessRecord, Guesses, IdealAttack, KnownSides, Ranking,
    independent_canaries_mu,
};
use dpscope_core::audit::trade_off::{Cut, ErrorCounts, TradeOff, Trials};
use dpscope_core::{gdp, interval};
use dpscope_formats::{CanariesDigest, CoinSeed};

use dpscope_train::metagradient::Metagradient;

use super::metagradient::MetagradientProblem;
use crate::Draws;

/// A number, or why the library refuses.
pub type Answer<T = f64> = Result<T, String>;

/// Decisions of an attack by world.
#[derive(Debug, Clone, Copy)]
pub struct Counts {
    /// Runs with the target, recognised.
    pub true_positives: u64,
    /// Runs with the target, missed.
    pub false_negatives: u64,
    /// Runs without it, taken for runs with it.
    pub false_positives: u64,
    /// Runs without it, recognised.
    pub true_negatives: u64,
}

/// A training run.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Noise multiplier σ.
    pub noise_multiplier: f64,
    /// Steps per epoch, T.
    pub steps_per_epoch: u64,
    /// Number of epochs, E.
    pub epochs: u64,
    /// q, for Poisson sampling.
    pub sampling_rate: f64,
    /// δ of the query.
    pub delta: f64,
}

/// Whose ε: remove, add, or the larger of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OneSide {
    /// With the record against without.
    Remove,
    /// Without the record against with.
    Add,
    /// The larger.
    Max,
}

/// A proven lower and a proven upper value.
#[derive(Debug, Clone, Copy)]
pub struct Bracket {
    /// At most the truth.
    pub lower: f64,
    /// At least the truth.
    pub upper: f64,
}

/// ε of the exact pair, drawn.
#[derive(Debug, Clone, Copy)]
pub struct PairValue {
    /// Lower bound.
    pub lower: f64,
    /// Estimate.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// Guesses of the coins of one run.
#[derive(Debug, Clone, Copy)]
pub struct GuessInput {
    /// m, canaries or sets.
    pub canaries: u64,
    /// s, canaries of a set.
    pub set_size: u32,
    /// Number of guesses, k.
    pub guesses: u64,
    /// Number of correct guesses, v.
    pub correct: u64,
    /// Whether one side was fixed beforehand.
    pub is_one_sided: bool,
}

impl Default for GuessInput {
    fn default() -> Self {
        Self { canaries: 0, set_size: 2, guesses: 0, correct: 0, is_one_sided: false }
    }
}

impl GuessInput {
    /// These guesses, of one side that was fixed beforehand.
    #[must_use]
    pub fn one_side(self) -> Self {
        Self { is_one_sided: true, ..self }
    }

    fn counts(self) -> Answer<Guesses> {
        let game = CanaryGame::sets(self.canaries, self.set_size).map_err(text)?;
        let counts = Guesses::new(game, self.guesses, self.correct).map_err(text)?;
        let sides = if self.is_one_sided { KnownSides::One } else { KnownSides::Both };
        Ok(counts.with_sides(sides))
    }
}

/// What coins and commitments are made from.
#[derive(Debug, Clone)]
pub struct CoinInput {
    /// 32 bytes.
    pub seed: Vec<u8>,
    /// Number of canaries.
    pub canaries: u64,
    /// Bytes of the plan.
    pub plan: Vec<u8>,
}

/// Whether a number of included canaries may have been fixed.
#[derive(Debug, Clone, Copy)]
pub struct FixedSizeValues {
    /// Whether the number is close enough to its mean.
    pub is_suspected: bool,
    /// Probability that independent coins are as close.
    pub chance_with_coins: f64,
    /// Share of the significance that remains.
    pub significance_factor: f64,
}

/// What golden values are compared with.
pub trait Library {
    /// One-sided Clopper–Pearson limits (lower, upper).
    fn clopper_pearson(&self, events: u64, trials: u64, tail: f64) -> Answer<(f64, f64)> {
        let lower = interval::clopper_pearson_lower(events, trials, tail).map_err(text)?;
        Ok((lower, interval::clopper_pearson_upper(events, trials, tail).map_err(text)?))
    }

    /// One-sided upper Jeffreys limit.
    fn jeffreys_upper(&self, events: u64, trials: u64, tail: f64) -> Answer {
        interval::jeffreys_upper(events, trials, tail).map_err(text)
    }

    /// ε from upper limits of both rates, the better direction.
    fn epsilon_from_rates(&self, fpr_upper: f64, fnr_upper: f64, delta: f64) -> Answer {
        Ok(epsilon_from_rates(fpr_upper, fnr_upper, delta).epsilon)
    }

    /// Lower bound of ε at one fixed threshold.
    fn epsilon_at_fixed_cut(&self, counts: Counts, delta: f64, significance: f64) -> Answer {
        let trials = Trials {
            target: counts.true_positives + counts.false_negatives,
            zero_out: counts.false_positives + counts.true_negatives,
        };
        let errors = ErrorCounts {
            false_positives: counts.false_positives,
            false_negatives: counts.false_negatives,
        };
        let cut = Cut { threshold: f64::NAN, errors };
        Ok(at_fixed_cut(cut, trials, delta, significance).map_err(text)?.value())
    }

    /// The largest ε over all thresholds, without correction.
    fn max_uncorrected(&self, scores: [&[f64]; 2], delta: f64, significance: f64) -> Answer {
        let [target, zero_out] = scores;
        let trade_off = TradeOff::from_scores(target, zero_out).map_err(text)?;
        Ok(max_uncorrected(&trade_off, delta, significance).map_err(text)?.value())
    }

    /// Lower end of the one-sided credible interval.
    fn credible_lower(&self, counts: Counts, delta: f64, significance: f64) -> Answer {
        let posterior = posterior(counts, delta)?;
        Ok(posterior.credible_lower(significance).map_err(text)?.lower)
    }

    /// Ends of the equal-tailed credible interval.
    fn credible_interval(&self, counts: Counts, delta: f64, significance: f64) -> Answer<[f64; 2]> {
        let both = posterior(counts, delta)?.credible_interval(significance).map_err(text)?;
        Ok([both.lower, both.upper])
    }

    /// Posterior probability that the rates are (ε, δ)-indistinguishable.
    fn probability_within(&self, counts: Counts, delta: f64, epsilon: f64) -> Answer {
        posterior(counts, delta)?.probability_within(epsilon).map_err(text)
    }

    /// ε of μ-GDP at δ.
    fn gdp_epsilon(&self, gdp_mu: f64, delta: f64) -> Answer {
        gdp::gdp_epsilon(gdp_mu, delta).map_err(text)
    }

    /// μ whose ε at δ this is.
    fn gdp_mu_for(&self, epsilon: f64, delta: f64) -> Answer {
        gdp::gdp_mu_for(epsilon, delta).map_err(text)
    }

    /// Lower bound of μ from upper limits of both rates.
    fn gdp_mu_lower_bound(&self, fpr_upper: f64, fnr_upper: f64) -> Answer {
        gdp::gdp_mu_lower_bound(fpr_upper, fnr_upper).map_err(text)
    }

    /// Poisson sampling; `error` is the requested width.
    fn poisson(&self, run: Run, side: OneSide, error: f64) -> Answer<Bracket> {
        bracket(&Poisson, run, directions(side), Some(error))
    }

    /// Deterministic batches.
    fn deterministic(&self, run: Run) -> Answer<Bracket> {
        bracket(&Deterministic, run, Directions::Both, None)
    }

    /// Balls in bins; `error` is the requested width.
    fn balls_in_bins(&self, run: Run, error: f64) -> Answer<Bracket> {
        bracket(&BallsInBins, run, Directions::Both, Some(error))
    }

    /// Lower bound of shuffled batches by the largest output of each epoch.
    fn shuffle_max_slice(&self, run: Run) -> Answer {
        let query = Query::lower(training(run), Given::Delta(run.delta));
        Ok(Shuffle(ShuffleMethod::MaxSlice).account(&query).map_err(text)?.epsilon)
    }

    /// The noise multiplier of Poisson sampling for an ε, which is met within `error`.
    fn poisson_noise(&self, run: Run, epsilon: f64, error: f64) -> Answer {
        let target = PrivacyTarget { epsilon, delta: run.delta, error: Some(error) };
        let noise = calibrate(&Poisson, Parameter::Noise, &target, &training(run));
        Ok(noise.map_err(text)?.value)
    }

    /// ε of the exact pair: importance sampling of one epoch, the plug-in value of many.
    fn pair(&self, run: Run) -> Answer<PairValue> {
        let (method, draws, seed) = if run.epochs == 1 {
            let draws = (4_000_000 / run.steps_per_epoch.max(1)).clamp(1_000, 40_000);
            (PairMethod::OneEpoch, draws, 5)
        } else {
            let draws = (9_600_000 / run.steps_per_epoch.max(1)).clamp(12_000, 48_000);
            (PairMethod::PlugIn, draws, 41)
        };
        let pair = ExactPair { method, draws: draws as usize, significance: 0.025 };
        let given = Given::Delta(run.delta);
        let values = pair.evaluate(&training(run), given, &mut normals(seed)).map_err(text)?;
        Ok(PairValue {
            lower: values.lower.epsilon,
            estimate: values.estimate.epsilon,
            standard_error: values.estimate.standard_error.unwrap_or(0.0),
        })
    }

    /// Whether a number of included canaries may have been fixed.
    fn fixed_size(&self, canaries: u64, included: u64, inclusion: f64) -> Answer<FixedSizeValues> {
        let is_suspected = FixedSize::is_suspected(canaries, included, inclusion);
        let size = FixedSize::new(canaries, included).map_err(text)?;
        let chance_with_coins = FixedSize::chance_with_coins(canaries, inclusion).map_err(text)?;
        let significance_factor = if is_suspected { size.chance_at(size.share()) } else { 1.0 };
        Ok(FixedSizeValues { is_suspected, chance_with_coins, significance_factor })
    }

    /// p of a fixed number of guesses.
    fn one_run_p_value(&self, guesses: GuessInput, epsilon: f64, delta: f64) -> Answer {
        guesses.counts()?.p_value(epsilon, delta).map_err(text)
    }

    /// ε of a fixed number of guesses.
    fn one_run_epsilon(&self, guesses: GuessInput, delta: f64, significance: f64) -> Answer {
        guesses.counts()?.epsilon_lower(delta, significance).map_err(text)
    }

    /// p of Steinke et al.
    fn steinke_p_value(&self, guesses: GuessInput, epsilon: f64, delta: f64) -> Answer {
        if guesses.guesses == 0 {
            return Ok(1.0); // no guess, no evidence: the library has no such guesses
        }
        guesses.counts()?.steinke_p_value(epsilon, delta).map_err(text)
    }

    /// ε of Steinke et al.
    fn steinke_epsilon(&self, guesses: GuessInput, delta: f64, significance: f64) -> Answer {
        guesses.counts()?.steinke_epsilon_lower(delta, significance).map_err(text)
    }

    /// ε by the recursion over the count.
    fn recursion_epsilon(&self, guesses: GuessInput, delta: f64, significance: f64) -> Answer {
        guesses.counts()?.epsilon_lower_by_recursion(delta, significance).map_err(text)
    }

    /// μ by the recursion over the count.
    fn recursion_mu(&self, guesses: GuessInput, significance: f64) -> Answer {
        GaussianGuesses::new(guesses.counts()?).mu_lower_by_recursion(significance).map_err(text)
    }

    /// p of a claimed curve.
    fn p_value_of_curve(&self, guesses: GuessInput, curve: &[(f64, f64)]) -> Answer {
        guesses.counts()?.p_value_of_curve(curve).map_err(text)
    }

    /// μ if canaries were independent.
    fn independent_canaries_mu(&self, guesses: GuessInput, significance: f64) -> Answer {
        independent_canaries_mu(&guesses.counts()?, significance).map_err(text)
    }

    /// ε of a ranking.
    fn walk_epsilon(
        &self,
        canaries: u64,
        sizes: &[u64],
        correct: &[u64],
        delta: f64,
        significance: f64,
    ) -> Answer {
        ranking(canaries, sizes, correct)?.epsilon_lower(delta, significance).map_err(text)
    }

    /// The smallest p, the joint p and the p of (ε, δ) of a ranking.
    fn walk_p_values(
        &self,
        canaries: u64,
        sizes: &[u64],
        correct: &[u64],
        epsilon: f64,
        delta: f64,
    ) -> Answer<[f64; 3]> {
        let ranking = ranking(canaries, sizes, correct)?;
        Ok([
            ranking.smallest_p_value(epsilon).map_err(text)?,
            ranking.joint_p_value(epsilon).map_err(text)?,
            ranking.p_value(epsilon, delta).map_err(text)?,
        ])
    }

    /// The p-value of a monotone test with a level at δ = 0; `budget` is mδ.
    fn monotone_p_value(&self, level: f64, epsilon: f64, budget: f64) -> Answer {
        let game = CanaryGame::coins(1_000).map_err(text)?;
        game.monotone_p_value(level, epsilon, budget / 1_000.0).map_err(text)
    }

    /// The e-value of a ranking.
    fn e_value(&self, canaries: u64, sizes: &[u64], correct: &[u64], epsilon: f64) -> Answer {
        let game = CanaryGame::coins(canaries).map_err(text)?;
        let record = GuessRecord::new(game, sizes.to_vec(), correct.to_vec()).map_err(text)?;
        Ok(dpscope_core::math::exp(record.ln_e_value(epsilon).map_err(text)?))
    }

    /// Accuracy, expected correct guesses and their bound, for an ideal attack.
    fn ideal_attack(
        &self,
        canaries: u64,
        mu: f64,
        guesses: u64,
        delta: f64,
        significance: f64,
    ) -> Answer<[f64; 3]> {
        let game = CanaryGame::coins(canaries).map_err(text)?;
        let attack = IdealAttack::new(game, mu).map_err(text)?;
        let expected = attack.expected(guesses).map_err(text)?;
        Ok([
            attack.accuracy(guesses).map_err(text)?,
            expected.correct() as f64,
            expected.epsilon_lower(delta, significance).map_err(text)?,
        ])
    }

    /// Coins, digest of canaries (three values i/7 each) and commitment, as text.
    fn coins(&self, input: &CoinInput) -> BTreeMap<&'static str, String> {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(&input.seed);
        let (seed, count) = (CoinSeed::new(bytes), input.canaries);
        let coins = seed.coins(count as usize, &[]);
        let inputs: Vec<u8> = (0..3 * count).flat_map(|i| (i as f32 / 7.0).to_le_bytes()).collect();
        let labels: Vec<u8> = (0..count).flat_map(|i: u64| (i % 2).to_le_bytes()).collect();
        let digest = CanariesDigest::default()
            .with_array("inputs", "<f4", &[count, 3], &inputs)
            .with_array("labels", "<i8", &[count], &labels)
            .finish();
        let hex = |bytes: [u8; 32]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        BTreeMap::from([
            ("coins", coins.iter().map(|&coin| if coin { '1' } else { '0' }).collect()),
            ("canaries_sha256", hex(digest)),
            ("commitment", hex(seed.commitment(&digest, &input.plan))),
        ])
    }

    /// Objective and derivatives of a training.
    fn metagradient(&self, problem: &MetagradientProblem) -> Answer<Metagradient<f64>> {
        let mut derivatives = problem.reference();
        problem.solve(&mut derivatives, &problem.optimizer)
    }
}

/// The library, unmodified.
#[derive(Debug, Clone, Copy)]
pub struct Real;

impl Library for Real {}

fn text(error: impl std::fmt::Display) -> String {
    format!("the library refuses: {error}")
}

fn ranking(canaries: u64, sizes: &[u64], correct: &[u64]) -> Answer<Ranking> {
    let game = CanaryGame::coins(canaries).map_err(text)?;
    Ranking::new(game, sizes.to_vec(), correct.to_vec()).map_err(text)
}

fn posterior(counts: Counts, delta: f64) -> Answer<JointBetaPosterior> {
    let counts = ConfusionCounts {
        true_positives: counts.true_positives,
        false_negatives: counts.false_negatives,
        false_positives: counts.false_positives,
        true_negatives: counts.true_negatives,
    };
    JointBetaPosterior::new(counts, delta).map_err(text)
}

fn directions(side: OneSide) -> Directions {
    match side {
        OneSide::Remove => Directions::Remove,
        OneSide::Add => Directions::Add,
        OneSide::Max => Directions::Both,
    }
}

fn training(run: Run) -> Training {
    Training {
        noise_multiplier: run.noise_multiplier,
        steps_per_epoch: run.steps_per_epoch,
        epochs: run.epochs,
        sampling_rate: Some(run.sampling_rate),
    }
}

fn bracket(
    accountant: &dyn Accountant,
    run: Run,
    directions: Directions,
    error: Option<f64>,
) -> Answer<Bracket> {
    let query = Query::upper(training(run), Given::Delta(run.delta));
    let epsilon = |kind| -> Answer {
        let query = Query { kind, directions, error, ..query };
        Ok(accountant.account(&query).map_err(text)?.epsilon)
    };
    Ok(Bracket { upper: epsilon(Kind::Upper)?, lower: epsilon(Kind::Lower)? })
}

fn normals(seed: u64) -> impl FnMut(&mut [f64]) {
    let mut draws = Draws::new(seed);
    move |out: &mut [f64]| out.iter_mut().for_each(|z| *z = draws.normal())
}
