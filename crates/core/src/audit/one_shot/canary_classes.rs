//! Whether what a plan declared about canaries by lot shows in the updates, and how often they took part.

use super::LEVEL;
use super::{CosineNull, OneShotError, ScoreChecks, StatedNoise};
use crate::audit::one_run::{CanaryClass, OneRunFinding};
use crate::math;
use crate::special::normal;

/// The number that a plan drew for a canary, among canaries that are alike otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeclaredNumber {
    /// The number.
    pub value: f64,
    /// What the plan drew for it in the other class: canaries are compared with those of equal number
    /// only, so that a fault of one class is not attributed to the other.
    pub within: Option<f64>,
}

/// Weighted parallel lines, one per group of canaries, through their values against what was declared
/// about them.
struct Line {
    /// Σ v (x − x̄)(y − ȳ) over Σ v (x − x̄)², v the reciprocal of a variance, x̄ and ȳ of the group.
    slope: f64,
    standard_error: f64,
    /// x̄ and ȳ of all.
    centre: (f64, f64),
    groups: usize,
    /// Σ v (y − ȳ)² within groups that the lines do not explain.
    unexplained: f64,
}

/// One canary: what was declared, a value, and its standard error.
#[derive(Clone, Copy)]
struct Place {
    declared: DeclaredNumber,
    value: f64,
    standard_error: f64,
}

impl Place {
    fn weight(&self) -> f64 {
        (self.standard_error * self.standard_error).recip()
    }
}

/// Weighted means of declared numbers and values.
fn centre(places: &[Place]) -> (f64, f64) {
    let sum = |of: &dyn Fn(&Place) -> f64| places.iter().map(|p| p.weight() * of(p)).sum::<f64>();
    let all = sum(&|_| 1.0);
    (sum(&|p| p.declared.value) / all, sum(&|p| p.value) / all)
}

impl Line {
    /// None if no group has two declared numbers.
    fn through(mut places: Vec<Place>) -> Option<Self> {
        let group = |place: &Place| place.declared.within.map(f64::to_bits);
        places.sort_by_key(group);
        let (mut square, mut product, mut explainable, mut groups) = (0.0, 0.0, 0.0, 0);
        for members in places.chunk_by(|one, next| group(one) == group(next)) {
            let (x, y) = centre(members);
            groups += 1;
            for place in members {
                let (weight, dx, dy) = (place.weight(), place.declared.value - x, place.value - y);
                square += weight * dx * dx;
                product += weight * dx * dy;
                explainable += weight * dy * dy;
            }
        }
        let is_line = square > 0.0 && square.is_finite() && product.is_finite();
        is_line.then(|| Self {
            slope: product / square,
            standard_error: square.sqrt().recip(),
            centre: centre(&places),
            groups,
            unexplained: (explainable - product * product / square).max(0.0),
        })
    }

    fn at(&self, declared: f64) -> f64 {
        self.centre.1 + self.slope * (declared - self.centre.0)
    }

    /// The part of Σ v (y − ȳ)² that the lines explain.
    fn explained(&self) -> f64 {
        let ratio = self.slope / self.standard_error;
        ratio * ratio
    }

    /// Two-sided.
    fn p_value(&self) -> f64 {
        2.0 * normal::normal_cdf(-(self.slope / self.standard_error).abs())
    }
}

impl StatedNoise {
    /// Canaries whose norm in the release follows what the plan declared about them: the slope of
    /// b̂ᵢ = ⟨cᵢ, a⟩/(C·|Rᵢ|) on it, among canaries that are alike otherwise, which is 0 ± its standard
    /// error if every client is clipped and weighted alike. Two-sided, at a significance of 10⁻⁵.
    ///
    /// | class | fault |
    /// |---|---|
    /// | number of examples | the server weights clients by it |
    /// | loudness: norm sent over the clipping norm | clients are not clipped, or loud ones differently |
    ///
    /// `products` are those of [`Self::weight_finding`], `declared` has one number per product; with two
    /// values in one class the statistic is the two-sample z. The noise multiplier of the finding is σ over
    /// the b̂ of the line at the largest declared number.
    ///
    /// # Guarantee
    /// `unit::declared_numbers_that_matter_are_detected`.
    #[must_use]
    pub fn class_finding(
        &self,
        class: CanaryClass,
        products: &[(f64, f64)],
        declared: &[DeclaredNumber],
        dimension: u64,
    ) -> Option<OneRunFinding> {
        let root = (dimension as f64).sqrt();
        let place = |(&(product, norm), &declared): (&(f64, f64), &DeclaredNumber)| Place {
            declared,
            value: product / self.clip_norm,
            standard_error: norm / (self.clip_norm * root),
        };
        let line = Line::through(products.iter().zip(declared).map(place).collect())?;
        let p_value = line.p_value();
        let numbers = declared.iter().map(|declared| declared.value);
        let (least, most) = (
            numbers.clone().fold(f64::INFINITY, f64::min),
            numbers.fold(f64::NEG_INFINITY, f64::max),
        );
        (p_value < LEVEL).then(|| OneRunFinding::ArrivalFollowsClass {
            class,
            slope: line.slope,
            standard_error: line.standard_error,
            p_value,
            least: line.at(least),
            most: line.at(most),
            noise_multiplier: self.noise_multiplier / line.at(most).max(line.at(least)).max(1.0),
            stated: self.noise_multiplier,
        })
    }
}

/// Canaries whose normal score follows what the plan declared about them, where neither noise nor
/// clipping norm are known. Two-sided, at a significance of 10⁻⁵.
///
/// Declared numbers are drawn by lot, so scores do not depend on them unless the server does. The p-value
/// is the larger of two, for scores of variance 1, as in one Gaussian sum, and for normal ones of unknown
/// variance (Student). `cosines` and `declared` have one number per canary.
///
/// # Guarantee
/// `unit::scores_that_follow_declared_numbers_are_detected`.
///
/// # Errors
/// [`OneShotError::Cosine`].
pub fn class_score_finding(
    null: &CosineNull,
    class: CanaryClass,
    cosines: &[f64],
    declared: &[DeclaredNumber],
) -> Result<Option<OneRunFinding>, OneShotError> {
    let place = |(&cosine, &declared): (&f64, &DeclaredNumber)| {
        let value = null.normal_score(cosine)?;
        Ok(Place { declared, value, standard_error: 1.0 })
    };
    let places = cosines.iter().zip(declared).map(place);
    let places: Vec<Place> = places.collect::<Result<_, OneShotError>>()?;
    let count = places.len();
    let line = Line::through(places).filter(|line| count > line.groups + 1);
    let Some(line) = line else { return Ok(None) };
    let share = line.explained() / (line.explained() + line.unexplained);
    // the correlation of n values about the means of g groups is a cosine in n - g dimensions
    let of_correlation = CosineNull::new((count - line.groups) as u64)?;
    let student = if share > 0.0 { of_correlation.ln_tail(share.sqrt().min(1.0))? } else { 0.0 };
    let p_value = line.p_value().max((2.0 * math::exp(student)).min(1.0));
    let spread = (line.unexplained / (count - line.groups - 1) as f64).sqrt().max(1.0);
    let Line { slope, standard_error, .. } = line;
    Ok((p_value < LEVEL).then_some(OneRunFinding::ScoresFollowClass {
        class,
        slope,
        standard_error: standard_error * spread,
        p_value,
    }))
}

/// How often each client takes part, as claimed, in the updates whose weighted sum is audited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClaimedParticipation<'a> {
    /// Claimed noise multiplier σ.
    pub noise_multiplier: f64,
    /// Server rounds in which each client takes part.
    pub participations: u64,
    /// The weight of the update of each server round in the sum.
    pub weights: &'a [f64],
}

impl ClaimedParticipation<'_> {
    /// The largest μ of a client: Σ w over its server rounds, over σ√Σw² over all of them, at the
    /// heaviest server rounds.
    #[must_use]
    pub fn gdp_mu(&self) -> f64 {
        let mut weights: Vec<f64> = self.weights.iter().map(|weight| weight.abs()).collect();
        weights.sort_unstable_by(|one, other| other.total_cmp(one));
        let square: f64 = weights.iter().map(|weight| weight * weight).sum();
        let own: f64 = weights.iter().take(self.participations as usize).sum();
        own / (self.noise_multiplier * square.sqrt())
    }

    /// Canaries that took part more often than claimed: a mean normal score above that of
    /// [`Self::gdp_mu`], at a significance of 10⁻⁵, for canaries that do not influence each other.
    ///
    /// # Guarantee
    /// `unit::participation_above_the_claimed_one_is_detected`.
    #[must_use]
    pub fn finding(&self, checks: &ScoreChecks<'_>, canaries: u64) -> Option<OneRunFinding> {
        let root = (canaries as f64).sqrt();
        let (mean_score, claimed) = (checks.standardised_mean() / root, self.gdp_mu());
        let is_above = normal::normal_cdf(-(mean_score - claimed) * root) < LEVEL;
        is_above.then_some(OneRunFinding::ParticipationAboveClaimed {
            participations: self.participations,
            mean_score,
            claimed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::one_shot::NullTails;
    use crate::random::{Purpose, WideNormals};

    const STATED: StatedNoise = StatedNoise { noise_multiplier: 0.8, clip_norm: 0.5 };

    fn normals(seed: u64, count: usize) -> Vec<f64> {
        let mut normals = vec![0.0; count];
        WideNormals::new(seed, Purpose::Test, 36).fill(&mut normals);
        normals
    }

    /// A number for each canary, alike otherwise.
    fn alone(numbers: &[f64]) -> Vec<DeclaredNumber> {
        numbers.iter().map(|&value| DeclaredNumber { value, within: None }).collect()
    }

    fn weights() -> Vec<f64> {
        [1.0, 10.0, 100.0].repeat(20)
    }

    #[test]
    fn declared_numbers_that_matter_are_detected() {
        let weights = weights();
        let finding = |seed: u64, arrives: &dyn Fn(f64) -> f64| {
            // ‖a‖ = 20, d = 2,000: a standard error of 0.9 per canary
            let product =
                |(z, w): (&f64, &f64)| (0.5 * arrives(*w) + z * 20.0 / 2_000_f64.sqrt(), 20.0);
            let products: Vec<(f64, f64)> =
                normals(seed, 60).iter().zip(&weights).map(product).collect();
            STATED.class_finding(CanaryClass::Weight, &products, &alone(&weights), 2_000)
        };
        for seed in 0..20 {
            assert_eq!(finding(seed, &|_| 1.0), None, "{seed}");
            assert_eq!(finding(seed, &|_| 3.0), None, "{seed}");
            let Some(OneRunFinding::ArrivalFollowsClass { slope, noise_multiplier, .. }) =
                finding(seed, &|weight| 0.05 * weight)
            else {
                panic!("{seed}")
            };
            assert!((slope - 0.05).abs() < 0.015, "{slope}");
            assert!((noise_multiplier - 0.16).abs() < 0.05, "{noise_multiplier}");
        }
        assert_eq!(STATED.class_finding(CanaryClass::Weight, &[], &[], 2_000), None);
        let one = STATED.class_finding(CanaryClass::Weight, &[(9.0, 1.0)], &alone(&[5.0]), 2_000);
        assert_eq!(one, None);
    }

    #[test]
    fn scores_that_follow_declared_numbers_are_detected() {
        let null = CosineNull::new(10_000).unwrap();
        let weights = weights();
        let finding = |seed: u64, score: &dyn Fn(f64) -> f64| {
            let cosine = |(z, w): (&f64, &f64)| (z + score(*w)) / 100.0;
            let cosines: Vec<f64> = normals(seed, 60).iter().zip(&weights).map(cosine).collect();
            class_score_finding(&null, CanaryClass::Weight, &cosines, &alone(&weights)).unwrap()
        };
        // four scores of any spread are no evidence at this significance
        let four = |cosines: &[f64]| {
            class_score_finding(&null, CanaryClass::Weight, cosines, &alone(&[1.0, 1.0, 2.0, 2.0]))
        };
        assert_eq!(four(&[0.05, 0.25, 0.5, 0.75]).unwrap(), None);
        for seed in 0..20 {
            assert_eq!(finding(seed, &|_| 0.0), None, "{seed}");
            assert_eq!(finding(seed, &|_| 3.0), None, "{seed}");
            let found = finding(seed, &|weight| 0.05 * weight);
            assert!(matches!(found, Some(OneRunFinding::ScoresFollowClass { .. })), "{seed}");
        }
        let class = CanaryClass::Loudness;
        let of = |cosines: &[f64], numbers: &[f64]| {
            class_score_finding(&null, class, cosines, &alone(numbers))
        };
        assert_eq!(of(&[-1.0, 1.0], &[1.0, 1.0]).unwrap(), None);
        assert_eq!(of(&[-0.5, 0.5], &[1.0, 2.0]).unwrap(), None);
        assert!(of(&[2.0], &[1.0]).is_err());
    }

    #[test]
    fn a_fault_of_one_class_is_not_attributed_to_the_other() {
        let null = CosineNull::new(10_000).unwrap();
        // loud canaries have large weights in 35 cases of 60, so that weight alone explains the scores
        let weights: Vec<f64> = (0..60).map(|at| if at < 30 { 1.0 } else { 100.0 }).collect();
        let loud = |at: usize| if (5..35).contains(&at) { 4.0 } else { 1.0 };
        let pairs: Vec<_> = weights.iter().enumerate().map(|(at, &w)| (w, loud(at))).collect();
        let declared = |is_weight: bool| -> Vec<DeclaredNumber> {
            let number = |&(weight, loudness): &(f64, f64)| match is_weight {
                true => DeclaredNumber { value: weight, within: Some(loudness) },
                false => DeclaredNumber { value: loudness, within: Some(weight) },
            };
            pairs.iter().map(number).collect()
        };
        let (weight, loudness) = (declared(true), declared(false));
        for seed in 0..20 {
            let noise = normals(seed, 60);
            // noise of 0.01, so that any imbalance of loudness is seen
            let product = |(z, (_, loud)): (&f64, &(f64, f64))| (0.5 * loud + 0.005 * z, 0.5);
            let products: Vec<_> = noise.iter().zip(&pairs).map(product).collect();
            let found = |class, declared: &[DeclaredNumber]| {
                STATED.class_finding(class, &products, declared, 10_000).is_some()
            };
            assert!(found(CanaryClass::Weight, &alone(&weights)), "{seed}");
            assert!(!found(CanaryClass::Weight, &weight), "{seed}");
            assert!(found(CanaryClass::Loudness, &loudness), "{seed}");
            let cosines: Vec<_> =
                noise.iter().zip(&pairs).map(|(z, (_, loud))| (z + 5.0 * loud) / 100.0).collect();
            let found = |class, declared: &[DeclaredNumber]| {
                class_score_finding(&null, class, &cosines, declared).unwrap().is_some()
            };
            assert!(!found(CanaryClass::Weight, &weight), "{seed}");
            assert!(found(CanaryClass::Loudness, &loudness), "{seed}");
        }
    }

    #[test]
    fn participation_above_the_claimed_one_is_detected() {
        let weights = [1.0; 16];
        let claimed = |participations| ClaimedParticipation {
            noise_multiplier: 0.5,
            participations,
            weights: &weights,
        };
        assert_eq!([1, 2].map(|times| claimed(times).gdp_mu()), [0.5, 1.0]);
        for seed in 0..20 {
            // two of 16 server rounds
            let ln_p =
                normals(seed, 200).iter().map(|z| normal::normal_ln_cdf(-(z + 1.0))).collect();
            let tails = NullTails::new(ln_p).unwrap();
            let checks = ScoreChecks::new(&tails);
            assert!(claimed(1).finding(&checks, 200).is_some(), "{seed}");
            assert_eq!(claimed(2).finding(&checks, 200), None, "{seed}");
            assert_eq!(claimed(3).finding(&checks, 200), None, "{seed}");
        }
        assert_eq!(claimed(1).finding(&ScoreChecks::new(&NullTails::default()), 0), None);
    }
}
