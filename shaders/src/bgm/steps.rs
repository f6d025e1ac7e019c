//! Scores that are sums over steps: Poisson sampling, several slots, batches of fixed size, and
//! the linear score of one known slot.
//!
//! With o = x + 1 and a = (2o − 1)/(2σ²), the score of a step with Poisson sampling is ln(1 + w),
//! w = q·(e^a − 1); if the target is always included, it is a. With batches of fixed size, o = x + 2
//! and the score is the same function of 2(o − 1)/σ² less that of a.

use super::math::{exp2, ln_1p};
use super::sums::Sums;
use crate::lanes::{InstructionSet, LANES, Row, lane_fn};
use crate::wgsl::Fields;
use dpscope_core::adjacency::World;
use std::f64::consts::LOG2_E;

/// Exponent, in bits, above which ln(1 + w) is computed as a + ln q: there q·e^a > 10⁻⁹·e⁵⁹.
pub(crate) const LARGE: f32 = 86.0;

/// Constants of Poisson sampling and several slots, 1e-9 ≤ q < 1.
#[derive(Clone, Debug)]
pub(crate) struct Poisson {
    /// log₂e/σ.
    slope: f32,
    /// ½·log₂e/σ².
    half: f32,
    rate: f32,
    /// Probability 1 − q that a step lacks the target.
    rest: f32,
    ln_rate: f32,
    /// The largest word that includes the target, or the last entry with it.
    last_word: u32,
}

/// Constants of batches of fixed size.
#[derive(Clone, Debug)]
pub(crate) struct FixedSize {
    poisson: Poisson,
    /// ½·log₂e/σ² times 2s − 1, in D and D′ where the target or ⊥ is in, and elsewhere; s = 2, 1, 0.
    offsets: [f32; 3],
    /// ½·log₂e/σ² times 4(s − 1), for 2(o − 1)/σ²; s and places as in `offsets`.
    target_offsets: [f32; 3],
}

/// Constants of a score that is linear in the noise.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    /// 1/σ.
    slope: f32,
    /// ±½/σ², per world.
    offset: [f32; 2],
}

/// Number of words, out of 2³², that include the target: q·2³² rounded, an error of at most 2⁻³³ in
/// q.
pub(crate) fn including_words(sampling_rate: f64) -> u64 {
    (sampling_rate * 4_294_967_296.0).round() as u64
}

impl Poisson {
    /// Several slots: q = k/T, and the target is in the first k entries of an epoch.
    pub(crate) fn allocated(sigma: f64, uses: u32, entries: u32) -> Self {
        let poisson = Poisson::new(sigma, f64::from(uses) / f64::from(entries));
        Poisson { last_word: uses - 1, ..poisson }
    }

    pub(crate) fn new(sigma: f64, sampling_rate: f64) -> Self {
        Poisson {
            slope: (LOG2_E / sigma) as f32,
            half: (0.5 * LOG2_E / (sigma * sigma)) as f32,
            rate: sampling_rate as f32,
            rest: (1.0 - sampling_rate) as f32,
            ln_rate: dpscope_core::math::ln(sampling_rate) as f32,
            last_word: including_words(sampling_rate).saturating_sub(1) as u32,
        }
    }

    /// The uniform `scoring` of `steps.wgsl`.
    pub(crate) fn fields(&self) -> Fields {
        self.fields_at([self.half, -self.half, -self.half], [0.0; 3])
    }

    fn fields_at(&self, offsets: [f32; 3], target_offsets: [f32; 3]) -> Fields {
        let rates = [self.rate, self.rest, self.ln_rate];
        fields(self.slope, offsets, target_offsets, rates, self.last_word)
    }

    /// Adds rows of an epoch; `words` determine the inclusions and are ignored in D′.
    pub(crate) fn add(
        &self,
        isa: InstructionSet,
        world: World,
        words: &[Row<u32>],
        rows: &[Row<f32>],
        sums: &mut Sums,
    ) {
        match world {
            World::Target => add_with_target(isa, self, words, rows, &mut sums.levels[0]),
            World::ZeroOut => add_without_target(isa, self, rows, &mut sums.levels[0]),
        }
        sums.carry();
    }
}

impl FixedSize {
    pub(crate) fn new(sigma: f64, sampling_rate: f64) -> Self {
        let poisson = Poisson::new(sigma, sampling_rate);
        let half = 0.5 * LOG2_E / (sigma * sigma);
        let scaled = |factors: [f64; 3]| factors.map(|factor| (factor * half) as f32);
        FixedSize {
            poisson,
            offsets: scaled([3.0, 1.0, -1.0]),
            target_offsets: scaled([4.0, 0.0, -4.0]),
        }
    }

    /// The uniform `scoring` of `steps.wgsl`.
    pub(crate) fn fields(&self) -> Fields {
        self.poisson.fields_at(self.offsets, self.target_offsets)
    }

    /// Adds rows of an epoch; `words` determine the inclusions, in both worlds.
    pub(crate) fn add(
        &self,
        isa: InstructionSet,
        world: World,
        words: &[Row<u32>],
        rows: &[Row<f32>],
        sums: &mut Sums,
    ) {
        add_fixed_size(isa, self, world.index(), words, rows, &mut sums.levels[0]);
        sums.carry();
    }
}

impl Linear {
    pub(crate) fn new(sigma: f64) -> Self {
        let half = (0.5 / (sigma * sigma)) as f32;
        Linear { slope: (1.0 / sigma) as f32, offset: [half, -half] }
    }

    /// The uniform `scoring` of `steps.wgsl`.
    pub(crate) fn fields(&self) -> Fields {
        let [target, zero_out] = self.offset;
        fields(self.slope, [target, zero_out, zero_out], [0.0; 3], [0.0; 3], 0)
    }

    /// Adds rows of an epoch.
    pub(crate) fn add(
        &self,
        isa: InstructionSet,
        world: World,
        rows: &[Row<f32>],
        sums: &mut Sums,
    ) {
        add_linear(isa, self.slope, self.offset[world.index()], rows, &mut sums.levels[0]);
        sums.carry();
    }
}

fn fields(
    slope: f32,
    offsets: [f32; 3],
    target_offsets: [f32; 3],
    rates: [f32; 3],
    last_word: u32,
) -> Fields {
    let [rate, rest, ln_rate] = rates;
    vec![
        ("slope", slope.to_bits()),
        ("offset_target", offsets[0].to_bits()),
        ("offset_zero_out", offsets[1].to_bits()),
        ("offset_out", offsets[2].to_bits()),
        ("target_offset_target", target_offsets[0].to_bits()),
        ("target_offset_zero_out", target_offsets[1].to_bits()),
        ("target_offset_out", target_offsets[2].to_bits()),
        ("rate", rate.to_bits()),
        ("rest", rest.to_bits()),
        ("ln_rate", ln_rate.to_bits()),
        ("last_word", last_word),
    ]
}

/// Score of a step whose a·log₂e is `t`.
#[inline(always)]
fn step(poisson: &Poisson, t: f32) -> f32 {
    let capped = if t < LARGE { t } else { LARGE };
    let e = exp2(if capped > -126.0 { capped } else { -126.0 });
    let score = ln_1p(poisson.rate * (e - 1.0), poisson.rest + poisson.rate * e);
    if t < LARGE { score } else { t * std::f32::consts::LN_2 + poisson.ln_rate }
}

#[inline(always)]
fn add_with_target_body(
    poisson: &Poisson,
    words: &[Row<u32>],
    rows: &[Row<f32>],
    total: &mut Row<f32>,
) {
    let mut sum = [0.0; LANES];
    for (word, row) in words.iter().zip(rows) {
        for lane in 0..LANES {
            let included = word[lane] <= poisson.last_word;
            let half = if included { poisson.half } else { -poisson.half };
            sum[lane] += step(poisson, row[lane] * poisson.slope + half);
        }
    }
    for lane in 0..LANES {
        total[lane] += sum[lane];
    }
}

#[inline(always)]
fn add_without_target_body(poisson: &Poisson, rows: &[Row<f32>], total: &mut Row<f32>) {
    let mut sum = [0.0; LANES];
    for row in rows {
        for lane in 0..LANES {
            sum[lane] += step(poisson, row[lane] * poisson.slope - poisson.half);
        }
    }
    for lane in 0..LANES {
        total[lane] += sum[lane];
    }
}

#[inline(always)]
fn add_fixed_size_body(
    fixed_size: &FixedSize,
    world: usize,
    words: &[Row<u32>],
    rows: &[Row<f32>],
    total: &mut Row<f32>,
) {
    let FixedSize { poisson, offsets, target_offsets } = fixed_size;
    let (inside, target_inside) = (offsets[world], target_offsets[world]);
    let mut sum = [0.0; LANES];
    for (word, row) in words.iter().zip(rows) {
        for lane in 0..LANES {
            let included = word[lane] <= poisson.last_word;
            let scaled = row[lane] * poisson.slope;
            let with_zero = scaled + if included { inside } else { offsets[2] };
            let twice = 2.0 * scaled;
            let with_target = twice + if included { target_inside } else { target_offsets[2] };
            sum[lane] += step(poisson, with_target) - step(poisson, with_zero);
        }
    }
    for lane in 0..LANES {
        total[lane] += sum[lane];
    }
}

#[inline(always)]
fn add_linear_body(slope: f32, offset: f32, rows: &[Row<f32>], total: &mut Row<f32>) {
    let mut sum = [0.0; LANES];
    for row in rows {
        for lane in 0..LANES {
            sum[lane] += row[lane] * slope + offset;
        }
    }
    for lane in 0..LANES {
        total[lane] += sum[lane];
    }
}

lane_fn! {
    /// Adds the scores of steps in D.
    fn add_with_target(
        poisson: &Poisson,
        words: &[Row<u32>],
        rows: &[Row<f32>],
        total: &mut Row<f32>,
    ) = add_with_target_body
}
lane_fn! {
    /// Adds the scores of steps in D′.
    fn add_without_target(poisson: &Poisson, rows: &[Row<f32>], total: &mut Row<f32>)
        = add_without_target_body
}
lane_fn! {
    /// Adds the scores of steps with batches of fixed size.
    fn add_fixed_size(
        fixed_size: &FixedSize,
        world: usize,
        words: &[Row<u32>],
        rows: &[Row<f32>],
        total: &mut Row<f32>,
    ) = add_fixed_size_body
}
lane_fn! {
    /// Adds slope·z + offset.
    fn add_linear(slope: f32, offset: f32, rows: &[Row<f32>], total: &mut Row<f32>)
        = add_linear_body
}
