//! Tests of the noise of a record.

use super::limits::{self, NoiseLimits, kurtosis_score};
use super::{NoisePairs, NoiseScope, StepFinding, StepRecord, StepRecordError, TensorNoise};
use crate::math;
use crate::recorded::OutputParameter;
use crate::special::normal;

/// Chance that an interval of a reported standard deviation misses it.
const SIGNIFICANCE: f64 = 0.05;

/// Fewest entries of a test of kurtosis: with fewer, the approximation of Anscombe and Glynn accuses
/// correct noise several times too often at the levels used here.
const FEWEST_OF_KURTOSIS: u64 = 2048;

/// Noise is absent if its standard deviation is this share of the stated one, or if rounding explains a
/// share of `FAINT`.
const ABSENT: f64 = 1e-6;
const FAINT: f64 = 1e-2;

/// Standard deviations of the noise of a record, in C, with 95 % intervals.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NoiseEstimates {
    /// Over all steps and tensors.
    pub all: OutputParameter,
    /// Stated standard deviation, the root mean square over steps.
    pub stated: f64,
    /// One estimate per step with noise: step, from 0, and standard deviation.
    pub steps: Vec<(usize, OutputParameter)>,
    /// One estimate per tensor over all steps.
    pub tensors: Vec<(String, OutputParameter)>,
}

/// What noise is pooled over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    All,
    Step(usize),
    Tensor(usize),
}

/// Noise z = e/σ of several tensors and steps.
#[derive(Debug, Clone, Copy, Default)]
struct Pool {
    entries: f64,
    /// Σz, Σz², Σz³, Σz⁴
    powers: [f64; 4],
    /// Σe²
    squares: f64,
    /// Σσ² over entries
    variances: f64,
    /// Least and largest Σz².
    limits: [f64; 2],
    correlations: [Pairs; 6],
}

/// Σ r·n and Σ n over cells, for correlations r of n pairs, whose variance is 1/n.
#[derive(Debug, Clone, Copy, Default)]
struct Pairs {
    weighted: f64,
    pairs: f64,
}

impl Pool {
    fn add(&mut self, cell: &TensorNoise, size: u64, noise_multiplier: f64) {
        self.entries += size as f64;
        let mut unit = 1.0;
        for (power, value) in self.powers.iter_mut().zip(cell.powers) {
            unit *= noise_multiplier;
            *power += value / unit;
        }
        self.squares += cell.powers[1];
        self.variances += size as f64 * noise_multiplier * noise_multiplier;
        for (pool, correlation) in self.correlations.iter_mut().zip(cell.correlations()) {
            if let Some(correlation) = correlation {
                pool.pairs += correlation.pairs as f64;
                pool.weighted += correlation.pairs as f64 * correlation.value;
            }
        }
    }

    /// Standard deviation over the stated one.
    fn ratio(&self) -> f64 {
        (self.powers[1] / self.entries).sqrt()
    }

    fn stated(&self) -> f64 {
        (self.variances / self.entries).sqrt()
    }

    /// m₄/m₂², with central moments.
    fn kurtosis(&self) -> f64 {
        let [mean, second, third, fourth] = self.powers.map(|power| power / self.entries);
        let square = mean * mean;
        let variance = second - square;
        let moment = fourth - 4.0 * mean * third + 6.0 * square * second - 3.0 * square * square;
        if variance > 0.0 { moment / (variance * variance) } else { 3.0 }
    }

    /// The standard deviation in C, and those for which Σz² is at a limit.
    fn estimate(&self, [lower, upper]: [f64; 2]) -> OutputParameter {
        let limit = |quantile: f64| self.stated() * (self.powers[1] / quantile).sqrt();
        let value = self.ratio() * self.stated();
        OutputParameter { value, lower: limit(upper), upper: limit(lower) }
    }
}

/// Pools of a record, and how many tests there are.
struct Pools<'a> {
    record: &'a StepRecord,
    pools: Vec<(Scope, Pool)>,
    /// The largest tensor of each step.
    largest: Vec<(Scope, Pool)>,
    tests: u64,
}

impl<'a> Pools<'a> {
    fn new(record: &'a StepRecord, stated: &[f64], keeps: impl Fn(usize, usize) -> bool) -> Self {
        let mut all = Pool::default();
        let mut steps = vec![Pool::default(); record.noise.len()];
        let mut tensors = vec![Pool::default(); record.tensors.len()];
        let mut largest = Vec::new();
        for (step, cells) in record.noise.iter().enumerate() {
            let mut most: Option<Pool> = None;
            for (place, (cell, tensor)) in cells.iter().zip(&record.tensors).enumerate() {
                if !keeps(step, place) {
                    continue;
                }
                let mut own = Pool::default();
                for pool in [&mut all, &mut steps[step], &mut tensors[place], &mut own] {
                    pool.add(cell, tensor.size, stated[step]);
                }
                if most.is_none_or(|most| most.entries < own.entries) {
                    most = Some(own);
                }
            }
            largest.extend(most.map(|pool| (Scope::Step(step), pool)));
        }
        let mut pools = vec![(Scope::All, all)];
        pools.extend(steps.into_iter().enumerate().map(|(at, pool)| (Scope::Step(at), pool)));
        pools.extend(tensors.into_iter().enumerate().map(|(at, pool)| (Scope::Tensor(at), pool)));
        pools.retain(|(_, pool)| pool.entries > 0.0);
        let correlations = pools.iter().flat_map(|(_, pool)| pool.correlations);
        let kurtoses = pools.iter().chain(&largest);
        let tests = pools.len()
            + correlations.filter(|it| it.pairs >= limits::FEWEST as f64).count()
            + kurtoses.filter(|(_, pool)| pool.entries >= FEWEST_OF_KURTOSIS as f64).count();
        let tests = tests as u64;
        for (_, pool) in &mut pools {
            let NoiseLimits { lower, upper, .. } = NoiseLimits::new(pool.entries as u64, tests);
            pool.limits = [lower, upper];
        }
        Pools { record, pools, largest, tests }
    }

    fn scope(&self, scope: Scope) -> NoiseScope {
        match scope {
            Scope::All => NoiseScope::All,
            Scope::Step(step) => NoiseScope::Step(step),
            Scope::Tensor(place) => NoiseScope::Tensor(self.record.tensors[place].name.clone()),
        }
    }

    /// Scopes whose noise is below, or above what is stated.
    fn off_scale(&self, is_below: bool) -> Vec<(Scope, Pool)> {
        let is_off = |pool: &Pool| match is_below {
            true => pool.powers[1] < pool.limits[0],
            false => pool.powers[1] > pool.limits[1],
        };
        self.pools.iter().filter(|(_, pool)| is_off(pool)).copied().collect()
    }

    /// The scope that shows a difference best: all, unless a step or tensor is further off than that.
    fn clearest(off: &[(Scope, Pool)]) -> Option<(Scope, Pool)> {
        let distance = |pool: &Pool| math::ln(pool.ratio().max(f64::MIN_POSITIVE)).abs();
        let parts = off.iter().filter(|(scope, _)| *scope != Scope::All);
        let part = parts.max_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)));
        let all = off.iter().find(|(scope, _)| *scope == Scope::All);
        let (Some(part), Some(all)) = (part, all) else { return part.or(all).copied() };
        let mean = all.1.powers[1] / all.1.entries;
        let [lower, upper] = part.1.limits.map(|limit| limit * mean);
        let includes = (lower..=upper).contains(&part.1.powers[1]);
        Some(if includes { *all } else { *part })
    }

    /// Scopes without noise.
    fn without_noise(&self) -> Vec<Scope> {
        let sums: Vec<f64> =
            self.record.original.steps.iter().map(|step| step.sum_norm.unwrap_or(0.0)).collect();
        let all: f64 = sums.iter().map(|norm| norm * norm).sum();
        let is_absent = |(scope, pool): &(Scope, Pool)| {
            let sum = match scope {
                Scope::Step(step) => sums[*step],
                Scope::All | Scope::Tensor(_) => all.sqrt(),
            };
            let is_rounding = pool.squares.sqrt() <= 4.0 * self.record.precision * sum;
            pool.ratio() <= ABSENT || (pool.ratio() <= FAINT && is_rounding)
        };
        self.off_scale(true).iter().filter(|it| is_absent(it)).map(|(scope, _)| *scope).collect()
    }

    fn scale_findings(&self) -> Vec<StepFinding> {
        let found = [true, false].map(|is_below| {
            let (scope, pool) = Self::clearest(&self.off_scale(is_below))?;
            let (scope, stated) = (self.scope(scope), pool.stated());
            let noise = pool.estimate(pool.limits);
            Some(match is_below {
                true => StepFinding::NoiseBelowStated { noise, stated, scope },
                false => StepFinding::NoiseAboveStated { noise, stated, scope },
            })
        });
        found.into_iter().flatten().collect()
    }

    /// Where noise is nearly equal, its effective dimension is small, and weaker correlations follow.
    fn correlation_findings(&self) -> Vec<StepFinding> {
        let found = NoisePairs::ALL.into_iter().enumerate().filter_map(|(at, pairs)| {
            let off: Vec<(Scope, f64, f64)> = self
                .pools
                .iter()
                .filter_map(|(scope, pool)| {
                    let Pairs { weighted, pairs } = pool.correlations[at];
                    let limit = NoiseLimits::new(pairs as u64, self.tests).correlation;
                    let value = weighted / pairs;
                    let is_off = pairs >= limits::FEWEST as f64 && value.abs() > limit;
                    is_off.then_some((*scope, value, limit))
                })
                .collect();
            let most = off.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
            let all = off.iter().find(|it| it.0 == Scope::All && it.1.abs() >= 0.5 * most.1.abs());
            let (scope, correlation, limit) = *all.unwrap_or(most);
            let scope = self.scope(scope);
            Some((
                correlation.abs(),
                match pairs.is_reuse() {
                    true => StepFinding::NoiseReused { correlation, limit, pairs, scope },
                    false => StepFinding::NoiseCorrelated { correlation, limit, pairs, scope },
                },
            ))
        });
        let found: Vec<(f64, StepFinding)> = found.collect();
        let is_strong = |size: f64| size >= 0.5;
        let has_strong = found.iter().any(|it| is_strong(it.0));
        let kept = found.into_iter().filter(|it| is_strong(it.0) || !has_strong);
        kept.map(|it| it.1).collect()
    }

    /// A mixture of two scales has a kurtosis, so that steps or tensors of different scales are not pooled.
    fn kurtosis_finding(&self, is_one_scale: bool) -> Option<StepFinding> {
        let limit = -normal::quantile(limits::half_level(self.tests));
        let pools = if is_one_scale { &self.pools } else { &self.largest };
        let tested = pools.iter().filter(|(_, pool)| pool.entries >= FEWEST_OF_KURTOSIS as f64);
        let score = |pool: &Pool| kurtosis_score(pool.entries as u64, pool.kurtosis()).abs();
        let (scope, pool) = tested
            .filter(|(_, pool)| score(pool) > limit)
            .max_by(|a, b| score(&a.1).total_cmp(&score(&b.1)))?;
        let (kurtosis, dimension) = (pool.kurtosis(), pool.entries as u64);
        Some(StepFinding::NoiseNotNormal { kurtosis, dimension, scope: self.scope(*scope) })
    }

    fn estimates(&self) -> Option<NoiseEstimates> {
        let estimate = |pool: &Pool| {
            pool.estimate(limits::chi_square_quantiles(pool.entries, 0.5 * SIGNIFICANCE))
        };
        let (_, all) = self.pools.first()?;
        let mut estimates = NoiseEstimates {
            all: estimate(all),
            stated: all.stated(),
            steps: Vec::new(),
            tensors: Vec::new(),
        };
        for (scope, pool) in &self.pools {
            match self.scope(*scope) {
                NoiseScope::All => {}
                NoiseScope::Step(step) => estimates.steps.push((step, estimate(pool))),
                NoiseScope::Tensor(name) => estimates.tensors.push((name, estimate(pool))),
            }
        }
        Some(estimates)
    }
}

/// Findings about the noise, and its standard deviations.
pub(super) fn examine(
    record: &StepRecord,
) -> Result<(Vec<StepFinding>, Option<NoiseEstimates>), StepRecordError> {
    let stated = stated(record)?;
    let pools = Pools::new(record, &stated, |_, _| true);
    let estimates = pools.estimates();
    let absent = pools.without_noise();
    let mut findings = no_noise(&pools, &absent);
    let pools = match absent.is_empty() {
        true => pools,
        false => Pools::new(record, &stated, |step, place| {
            let is_in = |scope: &Scope| match *scope {
                Scope::All => true,
                Scope::Step(at) => at == step,
                Scope::Tensor(at) => at == place,
            };
            !absent.iter().any(is_in)
        }),
    };
    let scale = pools.scale_findings();
    let is_one_scale = scale.is_empty();
    findings.extend(scale);
    findings.extend(pools.correlation_findings());
    findings.extend(pools.kurtosis_finding(is_one_scale));
    Ok((findings, estimates))
}

/// One finding for all noise, or one for steps and one for tensors.
fn no_noise(pools: &Pools<'_>, absent: &[Scope]) -> Vec<StepFinding> {
    if absent.contains(&Scope::All) {
        return vec![StepFinding::NoNoise { scope: NoiseScope::All, others: 0 }];
    }
    let kinds: [fn(&&Scope) -> bool; 2] =
        [|scope| matches!(scope, Scope::Step(_)), |scope| matches!(scope, Scope::Tensor(_))];
    let found = kinds.into_iter().filter_map(|is_kind| {
        let mut scopes = absent.iter().filter(is_kind);
        let scope = pools.scope(*scopes.next()?);
        Some(StepFinding::NoNoise { scope, others: scopes.count() as u64 })
    });
    found.collect()
}

/// σ of each step: the user's, the accountant's, or that of the optimizer.
fn stated(record: &StepRecord) -> Result<Vec<f64>, StepRecordError> {
    let accounted = record.accountant.and_then(|accountant| accountant.noise_multiplier);
    let stated = record.noise_multiplier.or(accounted);
    let steps = record.noise.iter().zip(&record.original.steps).enumerate();
    let of_step =
        |(step, (cells, values)): (usize, (&Vec<TensorNoise>, &super::ReplayedStep))| match stated
            .or(values.noise_multiplier)
        {
            Some(stated) => Ok(stated),
            None if cells.is_empty() => Ok(1.0),
            None => Err(StepRecordError::UnknownNoise { step }),
        };
    steps.map(of_step).collect()
}
