//! Pairs of worlds whose truth is known, and scores drawn from them.

use dpscope_core::adjacency::World;
use dpscope_core::math::{exp, ln};
use dpscope_core::special::normal_survival;
use dpscope_tests::Draws;

/// Laplace(ε, 1) against Laplace(0, 1): ε-DP exactly, with δ = 0.
///
/// Every cut at or above ε is tight for D, and every cut at or below 0 for D′: no pair is harder on
/// a rule that chooses among many cuts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaplacePair {
    pub(crate) epsilon: f64,
}

impl LaplacePair {
    pub(crate) fn score(&self, world: World, draws: &mut Draws) -> f64 {
        let u = draws.uniform();
        let centred = if u < 0.5 { ln(2.0 * u) } else { -ln(2.0 * (1.0 - u)) };
        centred + self.shift(world)
    }

    pub(crate) fn scores(&self, world: World, n: usize, draws: &mut Draws) -> Vec<f64> {
        (0..n).map(|_| self.score(world, draws)).collect()
    }

    /// P[score > τ].
    pub(crate) fn above(&self, world: World, threshold: f64) -> f64 {
        let x = threshold - self.shift(world);
        if x > 0.0 { 0.5 * exp(-x) } else { 1.0 - 0.5 * exp(x) }
    }

    fn shift(&self, world: World) -> f64 {
        match world {
            World::Target => self.epsilon,
            World::ZeroOut => 0.0,
        }
    }
}

/// A pair whose scores are log-likelihood ratios, as integers in units of `unit` nats.
#[derive(Debug)]
pub(crate) struct IntegerScores {
    pub(crate) name: &'static str,
    pub(crate) unit: f64,
    worlds: [IntegerDistribution; 2],
}

impl IntegerScores {
    /// N(μ, 1) against N(0, 1).
    pub(crate) fn gaussian(name: &'static str, mu: f64) -> Self {
        let above = |world: World, nats: f64| {
            let mean = if world == World::Target { mu * mu / 2.0 } else { -mu * mu / 2.0 };
            normal_survival((nats - mean) / mu)
        };
        let reach = mu * mu / 2.0 + 8.0 * mu;
        Self::of(name, mu / 200.0, [-reach, reach], above)
    }

    /// 0.98 N(0, 1) + 0.02 N(4, 1) against N(0, 1): the target shows in one observation of fifty.
    pub(crate) fn skewed() -> Self {
        let above = |world: World, nats: f64| {
            let ratio = exp(nats);
            if ratio <= 0.98 {
                return 1.0;
            }
            let x = (ln((ratio - 0.98) / 0.02) + 8.0) / 4.0;
            match world {
                World::Target => 0.98 * normal_survival(x) + 0.02 * normal_survival(x - 4.0),
                World::ZeroOut => normal_survival(x),
            }
        };
        Self::of("skewed", 1.0 / 1024.0, [-0.05, 22.0], above)
    }

    fn of(
        name: &'static str,
        unit: f64,
        [from, to]: [f64; 2],
        above: impl Fn(World, f64) -> f64,
    ) -> Self {
        let [lowest, highest] = [from, to].map(|nats| (nats / unit) as i64);
        let worlds = World::BOTH.map(|world| {
            let at_least = |score: i64| above(world, (score as f64 - 0.5) * unit);
            IntegerDistribution::new(lowest, (lowest + 1..=highest).map(at_least))
        });
        IntegerScores { name, unit, worlds }
    }

    pub(crate) fn draw(&self, world: World, draws: &mut Draws) -> i64 {
        self.worlds[world.index()].draw(draws)
    }
}

/// An integer distribution, drawn by inversion with a table of starting points.
#[derive(Debug)]
struct IntegerDistribution {
    lowest: i64,
    /// P[score > lowest + i].
    above: Vec<f64>,
    starts: Vec<u32>,
}

impl IntegerDistribution {
    const STARTS: usize = 1 << 12;

    fn new(lowest: i64, above: impl Iterator<Item = f64>) -> Self {
        let above: Vec<f64> = above.collect();
        let start = |cell: usize| {
            let u = (cell + 1) as f64 / Self::STARTS as f64;
            above.partition_point(|&p| p > u) as u32
        };
        let starts = (0..Self::STARTS).map(start).collect();
        IntegerDistribution { lowest, above, starts }
    }

    /// The first score that is exceeded with probability at most u.
    fn draw(&self, draws: &mut Draws) -> i64 {
        let u = draws.uniform();
        let mut at = self.starts[(u * Self::STARTS as f64) as usize] as usize;
        while self.above.get(at).is_some_and(|&p| p > u) {
            at += 1;
        }
        self.lowest + at as i64
    }
}
