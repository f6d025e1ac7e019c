//! What a phase did, from its recorded sums and uses.

use super::exact_noise::ExactNoise;
use super::independence::RecordedRuns;
use super::mixture::Explanation;
use super::output_model::OutputModel;
use super::output_parameter::OutputParameter;
use super::uses::two_sided_binomial;
use crate::special::{chi_square, normal};

/// Chance that the interval of a size misses it where a cause is decided.
const SIGNIFICANCE: f64 = 1e-3;

/// Sizes and shares of the stated uses that count as stated.
pub(crate) const NEARLY_ONE: [f64; 2] = [0.9, 1.1];

/// Factors that count as 1.
pub(crate) const NEARLY_SCALED: [f64; 2] = [0.99, 1.01];

/// Outputs beside their sums, by world.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordedSums {
    noise: [ExactNoise; 2],
    /// None where uses were not recorded.
    lines: Option<[Line; 2]>,
}

/// The least-squares line of the sums of a world over how often each step used the target.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    steps: f64,
    uses: f64,
    squared_uses: f64,
    sums: f64,
    squared_sums: f64,
    products: f64,
}

/// A least-squares line.
#[derive(Debug, Clone, Copy)]
struct Fit {
    /// The sum of a step without the target: b.
    other_mean: f64,
    /// What a use adds: κ.
    contrast: f64,
    squared_error: f64,
}

impl Line {
    fn add(&mut self, uses: f64, sum: f64) {
        self.steps += 1.0;
        self.uses += uses;
        self.squared_uses += uses * uses;
        self.sums += sum;
        self.squared_sums += sum * sum;
        self.products += uses * sum;
    }

    /// None where every step has as many uses as every other, or with fewer than three steps.
    fn fit(&self) -> Option<Fit> {
        let spread = self.squared_uses - self.uses * self.uses / self.steps;
        if self.steps < 3.0 || spread <= 0.0 {
            return None;
        }
        let common = self.products - self.uses * self.sums / self.steps;
        let contrast = common / spread;
        let residual = self.squared_sums - self.sums * self.sums / self.steps - common * contrast;
        Some(Fit {
            other_mean: (self.sums - contrast * self.uses) / self.steps,
            contrast,
            squared_error: residual.max(0.0) / (self.steps - 2.0) / spread,
        })
    }
}

impl RecordedSums {
    /// The sums of some epochs, without the cells that are left out.
    pub(crate) fn new(
        [outputs, sums]: [[RecordedRuns<'_>; 2]; 2],
        uses: Option<[RecordedRuns<'_>; 2]>,
        epochs: &std::ops::Range<usize>,
        is_left_out: impl Fn(usize) -> bool,
    ) -> Self {
        let mut found = RecordedSums { lines: uses.map(|_| Default::default()), ..Self::default() };
        for world in 0..2 {
            let steps = outputs[world].steps();
            let part = epochs.start * steps..epochs.end * steps;
            let mut of_uses = uses.map(|uses| uses[world].runs());
            for (run, of_run) in outputs[world].runs().zip(sums[world].runs()) {
                let used = of_uses.as_mut().and_then(Iterator::next);
                for cell in part.clone().filter(|&cell| !is_left_out(cell)) {
                    found.noise[world].add(run[cell], of_run[cell]);
                    if let (Some(lines), Some(used)) = (&mut found.lines, used)
                        && used[cell].is_finite()
                        && of_run[cell].is_finite()
                    {
                        lines[world].add(used[cell], of_run[cell]);
                    }
                }
            }
        }
        found
    }

    /// The noise of both worlds.
    pub(crate) fn noise(&self) -> ExactNoise {
        self.noise[0].joined(self.noise[1])
    }

    pub(crate) fn noise_by_world(&self) -> [f64; 2] {
        self.noise.map(|noise| noise.noise_multiplier(SIGNIFICANCE).value)
    }

    /// P-value of equal noise in both worlds: half of the level for that of each world against the noise
    /// of both.
    fn p_value_of_worlds(&self) -> f64 {
        let of_both = self.noise().noise_multiplier(SIGNIFICANCE).value;
        self.noise.map(|noise| 2.0 * noise.p_value(of_both)).into_iter().fold(1.0, f64::min)
    }

    /// Uses per epoch.
    pub(crate) fn uses(&self, steps: f64) -> Option<f64> {
        let [target, zero_out] = self.lines?;
        Some(steps * (target.uses + zero_out.uses) / (target.steps + zero_out.steps))
    }

    /// What a use of the target adds in D and not in D′, clip norms; none where uses were not recorded or
    /// are everywhere equal.
    pub(crate) fn size(&self, significance: f64) -> Option<OutputParameter> {
        let [target, zero_out] = self.fits()?;
        let value = target.contrast - zero_out.contrast;
        let error = (target.squared_error + zero_out.squared_error).sqrt();
        let margin = error * normal::quantile(1.0 - 0.5 * significance);
        Some(OutputParameter { value, lower: value - margin, upper: value + margin })
    }

    fn fits(&self) -> Option<[Fit; 2]> {
        let [target, zero_out] = self.lines?;
        Some([target.fit()?, zero_out.fit()?])
    }

    /// P-value of the stated parameters against an explanation; none where the sums do not test it.
    pub(crate) fn p_value(
        &self,
        against: Explanation,
        stated: &OutputModel,
        steps: f64,
    ) -> Option<f64> {
        match against {
            Explanation::Noise => Some(self.noise().p_value(stated.noise_multiplier)),
            Explanation::NoiseByWorld => Some(self.p_value_of_worlds()),
            Explanation::Uses => {
                let [target, zero_out] = self.lines?;
                let trials = target.steps + zero_out.steps;
                let uses = target.uses + zero_out.uses;
                let rate = stated.uses / steps;
                match uses <= trials {
                    true => Some(two_sided_binomial(uses as u64, trials as u64, rate)),
                    false => Some(0.0),
                }
            }
            Explanation::Size => {
                let [target, zero_out] = self.fits()?;
                let deviation = target.contrast - zero_out.contrast - stated.size();
                let variance = target.squared_error + zero_out.squared_error;
                let squared =
                    deviation * deviation / (variance + f64::EPSILON * stated.contrast.abs());
                Some(chi_square::tails(1.0, squared)[1])
            }
            _ => self.fits().map(|_| 1.0),
        }
    }

    /// The parameter that is not as stated; [`Explanation::All`] where several are not. None where uses
    /// were not recorded, or are everywhere equal.
    pub(crate) fn cause(&self, stated: &OutputModel, steps: f64) -> Option<Explanation> {
        let [target, zero_out] = self.fits()?;
        let size = self.size(SIGNIFICANCE)?.times(1.0 / stated.size());
        let noise =
            self.noise().noise_multiplier(SIGNIFICANCE).times(1.0 / stated.noise_multiplier);
        let uses = OutputParameter::exactly(self.uses(steps)? / stated.uses);
        let differ_by_world = self.p_value_of_worlds() < SIGNIFICANCE;
        let is_off = [
            noise.is_outside(NEARLY_SCALED) || differ_by_world,
            size.is_outside(NEARLY_ONE),
            uses.is_outside(NEARLY_ONE),
        ];
        let other_mean = 0.5 * (target.other_mean + zero_out.other_mean);
        let factor = size.value;
        let distance = |[b, contrast, in_zero_out]: [f64; 3]| {
            (other_mean - b).abs()
                + (target.contrast - contrast).abs()
                + (zero_out.contrast - in_zero_out).abs()
        };
        let OutputModel { other_mean: b, contrast, .. } = *stated;
        let in_zero_out = stated.in_zero_out();
        // the first of several that are as near
        let candidates = [
            (Explanation::Negated, [b, contrast, in_zero_out].map(|mean| -mean)),
            (Explanation::Swapped, [b, in_zero_out, contrast]),
            (Explanation::Size, [b, contrast + (factor - 1.0) * stated.size(), in_zero_out]),
            (Explanation::Unclipped, [b, contrast, in_zero_out].map(|mean| factor * mean)),
        ];
        let nearest = candidates.iter().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
        let of_size = nearest.map_or(Explanation::Size, |(explanation, _)| *explanation);
        Some(match is_off {
            [false, false, false] => Explanation::Stated,
            [true, _, false]
                if !differ_by_world && size.is_outside(NEARLY_SCALED) && size.overlaps(noise) =>
            {
                Explanation::Scaled
            }
            [true, false, false] if differ_by_world => Explanation::NoiseByWorld,
            [true, false, false] => Explanation::Noise,
            [false, false, true] => Explanation::Uses,
            [false, true, false] => of_size,
            _ => Explanation::All,
        })
    }
}
