//! One-slot scores for gap 1 or 2 with a fixed centre: one exponential per entry.
//!
//! Centre m = −gap, so that (x − m)/σ = z for every entry but the target's, where it is
//! z + gap/σ in D and z + (gap − 1)/σ in D′; with y = exp((x − m)/σ²) the score of an epoch is
//!
//! gap 1: −½/σ² + ln Σ w y         gap 2: −1.5/σ² + ln Σ w y² − ln Σ w y  (Σ w = 1)
//!
//! With |z| ≤ Z = 9.494: e^(−gap·Z/σ) ≤ Σ w y^gap ≤ e^(gap·(Z/σ + gap/σ²)), the sum of unweighted
//! terms T times that, so neither overflow nor underflow is possible if
//! gap·(Z/σ + gap/σ²) + ln T ≤ 80 (σ ≥ 0.35 at gap 2 and T = 100); see [`Fixed::fits`].

use super::math::{exp2, ln};
use super::sums::Sums;
use crate::lanes::{InstructionSet, LANES, Row, lane_fn};
use crate::random::NORMAL_LIMIT;
use crate::wgsl::Fields;
use dpscope_core::adjacency::World;
use std::f64::consts::LOG2_E;

/// Constants of the scoring method.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    /// Whether the gap is 2, which needs both sums; at gap 1 the denominator is constant.
    squared: bool,
    /// log₂e/σ.
    slope: f32,
    /// Shift of the target's entry relative to the others, in units of σ, per world.
    target_shift: [f32; 2],
    /// (½ − gap)/σ².
    offset: f32,
    /// 1/T, or 1 with weights.
    share: f32,
    /// Slot weights with sum 1; `None` for uniform slots.
    weights: Option<Vec<f32>>,
}

/// Largest exponent of the sums, in nats; f32 overflows at 88.
const EXPONENT_LIMIT: f64 = 80.0;
/// Smaller weights could be lost in sums with the largest exponentials.
const MIN_WEIGHT: f64 = 1e-20;

impl Fixed {
    /// Whether overflow and underflow are impossible.
    pub(crate) fn fits(sigma: f64, gap: f64, entries: u32, weights: Option<&[f64]>) -> bool {
        let reach = gap * (NORMAL_LIMIT / sigma + gap / (sigma * sigma));
        (gap == 1.0 || gap == 2.0)
            && reach + dpscope_core::math::ln(f64::from(entries)) <= EXPONENT_LIMIT
            && weights.is_none_or(|w| w.iter().all(|&w| w >= MIN_WEIGHT))
    }

    /// `weights` must have sum 1.
    pub(crate) fn new(sigma: f64, gap: f64, entries: u32, weights: Option<&[f64]>) -> Self {
        Fixed {
            squared: gap == 2.0,
            slope: (LOG2_E / sigma) as f32,
            target_shift: [(gap / sigma) as f32, ((gap - 1.0) / sigma) as f32],
            offset: ((0.5 - gap) / (sigma * sigma)) as f32,
            share: if weights.is_some() { 1.0 } else { (1.0 / f64::from(entries)) as f32 },
            weights: weights.map(|w| w.iter().map(|&w| w as f32).collect()),
        }
    }

    /// Whether there is a second sum, and whether there are weights.
    pub(crate) fn shape(&self) -> (bool, bool) {
        (self.squared, self.weights.is_some())
    }

    /// Slot weights with sum 1; empty for uniform slots.
    pub(crate) fn weights(&self) -> &[f32] {
        self.weights.as_deref().unwrap_or(&[])
    }

    /// The uniform `scoring` of `fixed.wgsl`.
    pub(crate) fn fields(&self) -> Fields {
        let [target, zero_out] = self.target_shift;
        vec![
            ("slope", self.slope.to_bits()),
            ("shift_target", target.to_bits()),
            ("shift_zero_out", zero_out.to_bits()),
            ("offset", self.offset.to_bits()),
            ("share", self.share.to_bits()),
        ]
    }

    /// Adds rows of an epoch; the first is entry `t`. `slots` are the slots of the target's batch.
    pub(crate) fn add(
        &self,
        isa: InstructionSet,
        world: World,
        t: u32,
        slots: &Row<u32>,
        rows: &mut [Row<f32>],
        sums: &mut [Sums; 2],
    ) {
        let shift = self.target_shift[world.index()];
        let [one, two] = sums;
        let (first, second) = (&mut one.levels[0], &mut two.levels[0]);
        match (&self.weights, self.squared) {
            (None, squared) => {
                if let (0, [row, ..]) = (t, &mut *rows) {
                    raise(isa, shift, row);
                }
                if squared {
                    add_both(isa, self.slope, rows, first, second);
                } else {
                    add_one(isa, self.slope, rows, first);
                }
            }
            (Some(weights), squared) => {
                place(isa, t, slots, shift, rows);
                let weights = weights.get(t as usize..).unwrap_or(&[]);
                if squared {
                    add_both_weighted(isa, self.slope, weights, rows, first, second);
                } else {
                    add_one_weighted(isa, self.slope, weights, rows, first);
                }
            }
        }
        one.carry();
        two.carry();
    }

    /// Score of an epoch after all entries have been added.
    pub(crate) fn score(&self, isa: InstructionSet, sums: &[Sums; 2], score: &mut Row<f32>) {
        let first = sums[0].total();
        if self.squared {
            score_both(isa, self.offset, self.share, &first, &sums[1].total(), score);
        } else {
            score_one(isa, self.offset, self.share, &first, score);
        }
    }
}

#[inline(always)]
fn raise_body(shift: f32, row: &mut Row<f32>) {
    for x in row {
        *x += shift;
    }
}

#[inline(always)]
fn place_body(t: u32, slots: &Row<u32>, shift: f32, rows: &mut [Row<f32>]) {
    for (t, row) in (t..).zip(rows) {
        for lane in 0..LANES {
            row[lane] += if slots[lane] == t { shift } else { 0.0 };
        }
    }
}

#[inline(always)]
fn add_both_body(slope: f32, rows: &[Row<f32>], first: &mut Row<f32>, second: &mut Row<f32>) {
    let (mut sum, mut sum_squares) = ([0.0; LANES], [0.0; LANES]);
    for row in rows {
        for lane in 0..LANES {
            let y = exp2(row[lane] * slope);
            sum[lane] += y;
            sum_squares[lane] += y * y;
        }
    }
    for lane in 0..LANES {
        first[lane] += sum[lane];
        second[lane] += sum_squares[lane];
    }
}

#[inline(always)]
fn add_one_body(slope: f32, rows: &[Row<f32>], first: &mut Row<f32>) {
    let mut sum = [0.0; LANES];
    for row in rows {
        for lane in 0..LANES {
            sum[lane] += exp2(row[lane] * slope);
        }
    }
    for lane in 0..LANES {
        first[lane] += sum[lane];
    }
}

#[inline(always)]
fn add_both_weighted_body(
    slope: f32,
    weights: &[f32],
    rows: &[Row<f32>],
    first: &mut Row<f32>,
    second: &mut Row<f32>,
) {
    let (mut sum, mut sum_squares) = ([0.0; LANES], [0.0; LANES]);
    for (row, &weight) in rows.iter().zip(weights) {
        for lane in 0..LANES {
            let y = exp2(row[lane] * slope);
            let weighted = weight * y;
            sum[lane] += weighted;
            sum_squares[lane] += weighted * y;
        }
    }
    for lane in 0..LANES {
        first[lane] += sum[lane];
        second[lane] += sum_squares[lane];
    }
}

#[inline(always)]
fn add_one_weighted_body(slope: f32, weights: &[f32], rows: &[Row<f32>], first: &mut Row<f32>) {
    let mut sum = [0.0; LANES];
    for (row, &weight) in rows.iter().zip(weights) {
        for lane in 0..LANES {
            sum[lane] += weight * exp2(row[lane] * slope);
        }
    }
    for lane in 0..LANES {
        first[lane] += sum[lane];
    }
}

#[inline(always)]
fn score_both_body(
    offset: f32,
    share: f32,
    first: &Row<f32>,
    second: &Row<f32>,
    score: &mut Row<f32>,
) {
    for lane in 0..LANES {
        score[lane] = offset + (ln(second[lane] * share) - ln(first[lane] * share));
    }
}

#[inline(always)]
fn score_one_body(offset: f32, share: f32, first: &Row<f32>, score: &mut Row<f32>) {
    for lane in 0..LANES {
        score[lane] = offset + ln(first[lane] * share);
    }
}

lane_fn! {
    /// Shifts the target's entry, which is entry 0 in every lane.
    fn raise(shift: f32, row: &mut Row<f32>) = raise_body
}
lane_fn! {
    /// Shifts the target's entry of each lane; `rows` start at entry `t`.
    fn place(t: u32, slots: &Row<u32>, shift: f32, rows: &mut [Row<f32>]) = place_body
}
lane_fn! {
    /// Adds Σ y and Σ y².
    fn add_both(slope: f32, rows: &[Row<f32>], first: &mut Row<f32>, second: &mut Row<f32>)
        = add_both_body
}
lane_fn! {
    /// Adds Σ y.
    fn add_one(slope: f32, rows: &[Row<f32>], first: &mut Row<f32>) = add_one_body
}
lane_fn! {
    /// Adds Σ w y and Σ w y².
    fn add_both_weighted(
        slope: f32,
        weights: &[f32],
        rows: &[Row<f32>],
        first: &mut Row<f32>,
        second: &mut Row<f32>,
    ) = add_both_weighted_body
}
lane_fn! {
    /// Adds Σ w y.
    fn add_one_weighted(slope: f32, weights: &[f32], rows: &[Row<f32>], first: &mut Row<f32>)
        = add_one_weighted_body
}
lane_fn! {
    /// offset + ln(share·Σ y²) − ln(share·Σ y).
    fn score_both(
        offset: f32,
        share: f32,
        first: &Row<f32>,
        second: &Row<f32>,
        score: &mut Row<f32>,
    ) = score_both_body
}
lane_fn! {
    /// offset + ln(share·Σ y).
    fn score_one(offset: f32, share: f32, first: &Row<f32>, score: &mut Row<f32>) = score_one_body
}
