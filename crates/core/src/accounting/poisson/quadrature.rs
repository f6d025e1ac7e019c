//! Moments of one step's likelihood ratio, by the trapezium rule.

use crate::math;

const UNIT: f64 = 0.5 * f64::EPSILON;

/// ln of the truncation error of the rule, relative to the moment.
const LN_NEGLIGIBLE: f64 = -40.0;

/// More than all truncation errors: strip, both tails, dropped points.
const NEGLIGIBLE: f64 = 1e-16;

/// Maximum number of points per side; about 20 ms.
const MOST_POINTS: usize = 1 << 18;

/// Maximum number of points per side for moments alone, at many powers.
const FEW_POINTS: usize = 1 << 15;

/// One step: outputs N(0, σ²) under Q, r(x) = dP/dQ = 1 − q + q e^y, y = (2x − 1)/(2σ²).
#[derive(Debug, Clone, Copy)]
pub(in crate::accounting) struct OneStep {
    pub(in crate::accounting) noise_multiplier: f64,
    pub(in crate::accounting) sampling_rate: f64,
}

impl OneStep {
    fn exponent(&self, x: f64) -> f64 {
        (2.0 * x - 1.0) / (2.0 * self.noise_multiplier * self.noise_multiplier)
    }

    /// ln r(x), increasing in x.
    pub(in crate::accounting) fn loss_at(&self, x: f64) -> f64 {
        self.loss_and_slope_at(x).0
    }

    /// The output with this loss; −∞ from ln(1 − q) down.
    pub(in crate::accounting) fn output_at(&self, loss: f64) -> f64 {
        let (q, variance) = (self.sampling_rate, self.noise_multiplier * self.noise_multiplier);
        let ratio = self.ratio_at(loss);
        if loss > 600.0 {
            variance * (loss - math::ln(q)) + 0.5
        } else if ratio > 0.0 {
            variance * math::ln(ratio) + 0.5
        } else {
            f64::NEG_INFINITY
        }
    }

    /// e^y = (e^L − 1 + q)/q.
    pub(super) fn ratio_at(&self, loss: f64) -> f64 {
        (math::exp_m1(loss) + self.sampling_rate) / self.sampling_rate
    }

    /// ln r(x), and σ² d(ln r)/dx, from 0 to 1, both increasing in x.
    fn loss_and_slope_at(&self, x: f64) -> (f64, f64) {
        let (q, exponent) = (self.sampling_rate, self.exponent(x));
        if exponent > 700.0 {
            (math::ln(q) + exponent, 1.0)
        } else if exponent < -1.0 && q > 0.5 {
            if q == 1.0 {
                return (exponent, 1.0);
            }
            let part = q * math::exp(exponent);
            (math::ln((1.0 - q) + part), part / ((1.0 - q) + part))
        } else {
            let change = math::exp_m1(exponent);
            (math::ln_1p(q * change), q * (1.0 + change) / (1.0 + q * change))
        }
    }

    /// Widest spacing at which the rule finds ∫ N(x; 0, σ²) r^{p + iu} dx for |u| ≤ `frequency`.
    ///
    /// In the strip |Im x| ≤ bσ², b < π/2: |r(x + ibσ²)| ≤ r(x), ≥ r(x) cos b, |arg r| ≤ b. The
    /// error at the spacing d is at most 2M(p)e^{b²σ²/2 + b|u| − min(p, 0) ln sec b}/(e^{2πbσ²/d} −
    /// 1), here about M(p)e^{`ln_negligible`}.
    ///
    /// Reference: L. N. Trefethen and J. A. C. Weideman (2014), theorem 5.1.
    fn spacing(&self, power: f64, frequency: f64, ln_negligible: f64) -> f64 {
        let variance = self.noise_multiplier * self.noise_multiplier;
        let mut least = f64::INFINITY;
        let mut strip = 1.3;
        while strip > 1e-4 {
            let secant = -power.min(0.0) * -math::ln(math::cos(strip));
            let needed = frequency + 0.5 * strip * variance + (secant - ln_negligible) / strip;
            if needed > least {
                break;
            }
            least = needed;
            strip *= 0.8;
        }
        2.0 * std::f64::consts::PI * variance / least
    }
}

/// An output with its loss ln r.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    x: f64,
    pub(super) loss: f64,
    /// σ² d(loss)/dx
    slope: f64,
    /// Mass under the tilted distribution.
    pub(super) mass: f64,
}

/// Evenly spaced outputs in rising order, with p ln r − x²/(2σ²) as mass, and the largest of these.
///
/// All but e^{`ln_negligible`} of the sum, per side; none if that needs too many points.
fn exponents(
    step: OneStep,
    power: f64,
    spacing: f64,
    ln_negligible: f64,
    most: usize,
) -> Option<(Vec<Point>, f64)> {
    let variance = step.noise_multiplier * step.noise_multiplier;
    let mut points = Vec::new();
    let mut highest = f64::NEG_INFINITY;
    for side in [1.0, -1.0] {
        for place in 0..most {
            let x = spacing * side * (place as f64 + if side < 0.0 { 1.0 } else { 0.0 });
            let (loss, slope) = step.loss_and_slope_at(x);
            let exponent = power * loss - 0.5 * x * x / variance;
            if !exponent.is_finite() {
                return None;
            }
            highest = highest.max(exponent);
            points.push(Point { x, loss, slope, mass: exponent });
            if exponent < highest + 0.5 * ln_negligible {
                // farther out the density falls by e^{−fall·distance/σ²} at least
                let fall = if side > 0.0 { x - power.max(0.0) } else { power.min(0.0) * slope - x };
                let ln_tail = exponent + math::ln(variance / (fall.max(0.0) * spacing));
                if ln_tail < highest + ln_negligible {
                    break;
                }
            }
            if place + 1 == most {
                return None;
            }
        }
        if side > 0.0 {
            points.reverse();
        }
    }
    points.reverse();
    Some((points, highest))
}

/// ln M(p), to about e^{`ln_negligible`}; infinite if it needs too many points.
pub(super) fn ln_moment_about(step: OneStep, power: f64, ln_negligible: f64) -> f64 {
    let spacing = step.spacing(power, 0.0, ln_negligible);
    let found = exponents(step, power, spacing, ln_negligible, FEW_POINTS);
    let Some((points, highest)) = found else {
        return f64::INFINITY;
    };
    let shares = points.iter().map(|point| point.mass - highest);
    let total: f64 = shares.filter(|share| *share > -50.0).map(math::exp).sum();
    let front = spacing / (step.noise_multiplier * (2.0 * std::f64::consts::PI).sqrt());
    highest + math::ln(total * front)
}

/// The distribution with the density N(x; 0, σ²) r(x)^p / M(p), on evenly spaced outputs.
#[derive(Debug)]
pub(super) struct TiltedDistribution {
    power: f64,
    spacing: f64,
    /// Variance σ² of the noise.
    variance: f64,
    /// In rising order.
    pub(super) points: Vec<Point>,
    /// ln of the moment at the power p, ln M(p)
    pub(super) ln_moment: f64,
    /// Bound of the relative error of M(p).
    pub(super) error: f64,
    /// Bound of the mean error of a loss.
    pub(super) loss_error: f64,
}

impl TiltedDistribution {
    /// The distribution at a power p; none if it needs too many points.
    pub(super) fn new(step: OneStep, power: f64, frequency: f64) -> Option<Self> {
        Self::spaced(step, power, step.spacing(power, frequency, LN_NEGLIGIBLE))
    }

    /// As [`Self::new`], fine enough to resolve the density's shape.
    pub(super) fn fine(step: OneStep, power: f64) -> Option<Self> {
        let sigma = step.noise_multiplier;
        let widest = 0.06 * sigma * sigma.min(1.0);
        Self::spaced(step, power, step.spacing(power, 0.0, LN_NEGLIGIBLE).min(widest))
    }

    fn spaced(step: OneStep, power: f64, spacing: f64) -> Option<Self> {
        let (mut points, highest) = exponents(step, power, spacing, LN_NEGLIGIBLE, MOST_POINTS)?;
        points.retain(|point| point.mass > highest - 50.0);
        Some(Self::normalised(step, power, spacing, points, highest))
    }

    fn normalised(
        step: OneStep,
        power: f64,
        spacing: f64,
        mut points: Vec<Point>,
        highest: f64,
    ) -> Self {
        let variance = step.noise_multiplier * step.noise_multiplier;
        let (mut error, mut loss_error) = (0.0, 0.0);
        for point in &mut points {
            let exponent = point.mass;
            point.mass = math::exp(exponent - highest);
            let moved = 1.0 + step.exponent(point.x).abs() + 1.0 / variance;
            let moved = moved * point.slope;
            let absolute = if step.sampling_rate > 0.5 { 1.0 } else { 0.0 };
            let of_loss = 8.0 * UNIT * (point.loss.abs() + moved + absolute);
            let terms = (power * point.loss).abs() + point.x * point.x / variance + highest.abs();
            error += point.mass * (power.abs() * of_loss + 4.0 * UNIT * (terms + 4.0));
            loss_error += point.mass * of_loss;
        }
        let blocks =
            points.chunks(32).map(|block| block.iter().map(|point| point.mass).sum::<f64>());
        let total: f64 = blocks.sum();
        points.iter_mut().for_each(|point| point.mass /= total);
        let front = spacing / (variance * 2.0 * std::f64::consts::PI).sqrt();
        // of sums by blocks of 32
        let summed = (points.len() as f64 / 32.0 + 48.0) * UNIT;
        TiltedDistribution {
            power,
            spacing,
            variance,
            ln_moment: highest + math::ln(total * front),
            error: NEGLIGIBLE + error / total + summed,
            loss_error: loss_error / total,
            points,
        }
    }

    /// The distribution of the loss as a mixture of uniform distributions: their shares, at most 1
    /// in all, and widths.
    ///
    /// Between points the density g of the loss is at least the smaller of its values there times
    /// e^{−d²(p + 1)₊/(32σ⁴)}, as (ln g)″ ≤ (p + 1)₊/(4σ⁴) as a function of x. That step function
    /// is split into its horizontal layers.
    pub(super) fn layers(&self) -> Vec<(f64, f64)> {
        let variance = self.variance;
        let bend = (self.power + 1.0).max(0.0) / (32.0 * variance * variance);
        let lowered = (1.0 - 1e-9) * math::exp(-bend * self.spacing * self.spacing);
        let density = |point: &Point| {
            lowered * point.mass * variance / (self.spacing * point.slope.max(1e-300))
        };
        let densities: Vec<f64> = self.points.iter().map(density).collect();
        let mut layers = Vec::new();
        // starts and heights of what is still open, rising
        let mut open: Vec<(f64, f64)> = Vec::new();
        for (place, point) in self.points.iter().enumerate() {
            let next = self.points.get(place + 1);
            let is_beside = next.is_some_and(|next| next.x - point.x < 1.5 * self.spacing);
            let height = if is_beside { densities[place].min(densities[place + 1]) } else { 0.0 };
            let mut start = point.loss;
            while let Some(&(from, top)) = open.last().filter(|last| last.1 > height) {
                open.pop();
                let below = open.last().map_or(height, |last| last.1.max(height));
                layers.push(((top - below) * (point.loss - from), point.loss - from));
                start = from;
            }
            if open.last().is_none_or(|last| last.1 < height) {
                open.push((start, height));
            }
        }
        layers
    }
}

#[cfg(test)]
mod tests {
    use super::super::decay::Decay;
    use super::*;

    const STEPS: [(f64, f64); 6] =
        [(1.0, 0.01), (0.4, 0.001), (3.0, 0.3), (0.7, 1.0), (20.0, 0.9), (1.5, 1e-6)];

    /// ln M(0), ln M(1) and ln M(2) = ln(1 + q²(e^{1/σ²} − 1)).
    fn exact(noise_multiplier: f64, sampling_rate: f64) -> [f64; 3] {
        let second = math::exp_m1(1.0 / (noise_multiplier * noise_multiplier));
        [0.0, 0.0, math::ln_1p(sampling_rate * sampling_rate * second)]
    }

    #[test]
    fn moments_are_the_closed_ones_within_their_errors() {
        for (noise_multiplier, sampling_rate) in STEPS {
            let step = OneStep { noise_multiplier, sampling_rate };
            for (power, exact) in exact(noise_multiplier, sampling_rate).into_iter().enumerate() {
                for frequency in [0.0, 50.0] {
                    let distribution =
                        TiltedDistribution::new(step, power as f64, frequency).unwrap();
                    let change = (distribution.ln_moment - exact).abs();
                    assert!(
                        change <= distribution.error,
                        "{step:?} {power}: {change:e} {:e}",
                        distribution.error
                    );
                    assert!(
                        distribution.error < 1e-12,
                        "{step:?} {power}: {:e}",
                        distribution.error
                    );
                }
            }
            let wide = 16.0 * step.spacing(2.0, 0.0, LN_NEGLIGIBLE);
            let distribution = TiltedDistribution::spaced(step, 2.0, wide).unwrap();
            let change = (distribution.ln_moment - exact(noise_multiplier, sampling_rate)[2]).abs();
            assert!(change > distribution.error || sampling_rate < 1e-5, "{step:?}: {change:e}");
        }
    }

    #[test]
    fn layers_bound_the_characteristic_function() {
        for (noise_multiplier, sampling_rate) in STEPS {
            let step = OneStep { noise_multiplier, sampling_rate };
            for power in [-20.0, -1.5, 2.0, 6.0] {
                let distribution = TiltedDistribution::fine(step, power).unwrap();
                let layers = distribution.layers();
                let share: f64 = layers.iter().map(|layer| layer.0).sum();
                assert!(share > 0.9 && share <= 1.0, "{step:?} {power}: {share}");
                let wider = layers.iter().map(|(share, width)| (*share, 3.0 * width)).collect();
                let (bound, broken) = (Decay::new(layers, 1.0), Decay::new(wider, 1.0));
                let spread =
                    distribution.points.iter().map(|point| point.mass * point.loss).sum::<f64>();
                let spread = distribution
                    .points
                    .iter()
                    .map(|p| p.mass * (p.loss - spread) * (p.loss - spread));
                let spread = spread.sum::<f64>().sqrt();
                let mut is_seen = false;
                for place in 1..60 {
                    let u = 0.1 * f64::from(place) / spread;
                    let turned = distribution.points.iter().map(|point| {
                        let (sine, cosine) = math::sin_cos(u * point.loss);
                        (point.mass * cosine, point.mass * sine)
                    });
                    let (re, im) =
                        turned.fold((0.0, 0.0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
                    let ln_seen = 0.5 * math::ln(re * re + im * im) - math::ln(u);
                    assert!(ln_seen <= bound.ln_beyond(u, 0.0), "{step:?} {power} {u}");
                    is_seen |= ln_seen > broken.ln_beyond(u, 0.0);
                }
                assert!(is_seen, "{step:?} {power}");
            }
        }
    }
}
