//! Identities of a log-likelihood ratio, on the scores that audits count.
//!
//! P_D(L ≤ c) = E_D′[e^L; L ≤ c] for every c, and the log of the worlds' bin counts follows the
//! score along a line of slope 1 through 0. Both are exact for an idealised distribution and fail where the
//! noise is not the σ of the score, or where the score has a wrong offset.

use dpscope_core::adjacency::World;
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_core::audit::{AuditHistograms, ScoreSlope};
use dpscope_core::math::exp;
use dpscope_core::mechanism::{BatchedGaussian, ScoreDistribution};
use dpscope_shaders::Phase;
use dpscope_tests::simulate::{Spread, counted, planned, rescored, scores};

use crate::samplers::every_pair;

/// Standard errors that an honest score may be off by, and that a broken twin must be.
const HONEST: f64 = 4.5;
const BROKEN: f64 = 6.0;

/// Standard errors of the slope, on both sides.
const SLOPE: f64 = 4.0;

/// Noise of the first broken twin.
const LESS_NOISE: f64 = 0.9;

/// Scores of both worlds.
struct Scores {
    target: Vec<f64>,
    zero_out: Vec<f64>,
}

impl Scores {
    fn of(draw: impl Fn(World) -> Vec<f64>) -> Self {
        Scores { target: draw(World::Target), zero_out: draw(World::ZeroOut) }
    }

    /// As if the score had the offset −1.4 in the place of −1.5.
    fn with_offset(&self, distribution: &ScoreDistribution) -> Self {
        let offset = 0.1 * f64::from(distribution.epochs)
            / (distribution.noise_multiplier * distribution.noise_multiplier);
        let shifted = |scores: &[f64]| scores.iter().map(|l| l + offset).collect();
        Scores { target: shifted(&self.target), zero_out: shifted(&self.zero_out) }
    }

    /// Standard errors between P_D(L ≤ c) and E_D′[e^L; L ≤ c]; 0 where neither has any.
    fn z_at(&self, cut: f64) -> f64 {
        let below: Vec<f64> = self.target.iter().map(|&l| f64::from(u8::from(l <= cut))).collect();
        let ((p, p_error), (e, e_error)) =
            (mean_and_error(&below), mean_and_error(&weights(&self.zero_out, cut)));
        let error = (p_error * p_error + e_error * e_error).sqrt();
        if error > 0.0 { (p - e) / error } else { 0.0 }
    }

    /// The slope's distance from 1, in standard errors.
    fn slope_z(&self) -> f64 {
        const UNIT: f64 = 1e-6;
        let units = |scores: &[f64]| -> Vec<i64> {
            scores.iter().map(|l| (l / UNIT).round() as i64).collect()
        };
        let (target, zero_out) = (units(&self.target), units(&self.zero_out));
        let bins = ScoreBins::from_pilot(UNIT, &target, &zero_out).unwrap();
        let mut histograms = AuditHistograms::empty(&bins);
        for (world, scores) in [(World::Target, target), (World::ZeroOut, zero_out)] {
            for (observation, score) in (0..).zip(scores) {
                histograms.add(&bins, world, observation, score);
            }
        }
        slope_z(&histograms, &bins)
    }

    fn worst(&self, cuts: &[f64]) -> f64 {
        cuts.iter().map(|&cut| self.z_at(cut).abs()).fold(0.0, f64::max)
    }
}

fn slope_z(histograms: &AuditHistograms, bins: &ScoreBins) -> f64 {
    let ScoreSlope { slope, standard_error, .. } = histograms.slope(bins).unwrap().unwrap();
    (slope - 1.0) / standard_error
}

fn weights(zero_out: &[f64], cut: f64) -> Vec<f64> {
    zero_out.iter().map(|&l| if l <= cut { exp(l) } else { 0.0 }).collect()
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let Spread { values: n, mean, standard_deviation } = Spread::of(values);
    (mean, standard_deviation / (n as f64).sqrt())
}

/// Cuts at quantiles of the worlds and at round values, chosen on the pilot's stream. Each leaves
/// a hundred scores of D below it and lets no score of D′ weigh much, so that errors are about
/// normal.
fn cuts(distribution: &ScoreDistribution, seed: u64, observations: u64) -> Vec<f64> {
    let pilot = Scores::of(|world| scores(distribution, seed, Phase::Pilot, world, 4_000));
    let mut pooled = [pilot.target.as_slice(), &pilot.zero_out].concat();
    pooled.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| pooled[(share * pooled.len() as f64) as usize];
    let mut cuts: Vec<f64> = [0.05, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9].map(at).to_vec();
    cuts.extend([-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, f64::INFINITY]);
    cuts.retain(|&cut| {
        let heaviest = if cut.is_finite() { cut } else { at(1.0 - 1e-9) };
        let below = mean_and_error(&weights(&pilot.zero_out, cut)).0 * observations as f64;
        below > 100.0 && exp(heaviest) < below / 100.0
    });
    cuts
}

/// Noise, epochs and observations of each world: enough leakage for the twins to show.
const SETTINGS: [(f64, u32, u64); 5] = [
    (0.2, 1, 200_000),
    (0.5, 1, 100_000),
    (1.0, 2, 50_000),
    (3.0, 30, 20_000),
    (20.0, 400, 10_000),
];

fn mechanisms() -> impl Iterator<Item = (BatchedGaussian, u64, u64)> {
    SETTINGS.into_iter().flat_map(|(noise_multiplier, epochs, observations)| {
        let pairs = every_pair(noise_multiplier, epochs).into_iter();
        let short = move |m| (BatchedGaussian { steps_per_epoch: 3, ..m }, observations);
        pairs.map(short).zip(40..).map(|((m, observations), seed)| (m, observations, seed))
    })
}

/// Observations of the twin with less noise, which is scored one by one.
fn affordable(distribution: &ScoreDistribution, observations: u64) -> u64 {
    observations.min(6_000_000 / distribution.normals_per_observation())
}

#[test]
fn each_world_is_the_other_reweighted_by_the_score() {
    for (mechanism, observations, seed) in mechanisms() {
        let distribution = mechanism.distribution().unwrap();
        let cuts = cuts(&distribution, seed, observations);
        assert!(cuts.len() > 4, "{mechanism}: {cuts:?}");
        let honest =
            Scores::of(|world| scores(&distribution, seed, Phase::Audit, world, observations));
        let (z, slope) = (honest.worst(&cuts), honest.slope_z());
        assert!(z < HONEST, "{mechanism}: {z:.1} standard errors");
        assert!(slope.abs() < SLOPE, "{mechanism}: slope off by {slope:.1}");
        // No slope can see an offset: it only shifts the scores.
        let z = honest.with_offset(&distribution).worst(&cuts);
        assert!(z > BROKEN, "{mechanism} with another offset: {z:.1} standard errors");

        let twin_observations = affordable(&distribution, observations);
        let less_noise =
            |world| rescored(&distribution, seed, world, twin_observations, LESS_NOISE);
        let twin = Scores::of(less_noise);
        let (z, slope) = (twin.worst(&cuts), twin.slope_z());
        assert!(z > BROKEN, "{mechanism} with less noise: {z:.1} standard errors");
        // Fewer observations have too wide an error of the slope.
        let seen = slope.abs() > SLOPE || twin_observations < 20_000;
        assert!(seen, "{mechanism} with less noise: slope off by {slope:.1}");
    }
}

#[test]
fn counted_histograms_have_slope_one() {
    for (mechanism, seed) in every_pair(1.0, 2).into_iter().zip(70..) {
        let audit = counted(&planned(mechanism, 1_000_000, seed));
        let z = slope_z(&audit.evidence.histograms, &audit.stage.bins);
        assert!(z.abs() < SLOPE, "{mechanism}: slope off by {z:.1}");
    }
}
