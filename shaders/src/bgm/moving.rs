//! One-slot scores for any gap and noise, with a moving centre: the largest term so far.
//!
//! Each sum uses the entry of its largest term as centre (v, l), v = x/σ and l = log₂ of the
//! slot's weight; terms are 2^(slope·(v_t − v) + (l_t − l)) ≤ 1 and the sums at least about 1. With
//! g = gap, centres (v, l) of Σ_g and (v′, l′) of Σ_{g−1}:
//!
//! score = v/σ + ½/σ² + (g − 1)(v − v′)/σ + ln 2·(l − l′) + ln Σ_g − ln Σ_{g−1}
//!
//! The two centres are nearly always the same entry, so that there is no cancellation.

use super::math::{exp2_from_below, ln};
use super::sums::Sums;
use crate::lanes::{InstructionSet, LANES, Row, lane_fn};
use crate::wgsl::Fields;
use dpscope_core::adjacency::World;
use std::f64::consts::LOG2_E;

/// Constants of the scoring method.
#[derive(Clone, Debug)]
pub(crate) struct Moving {
    /// log₂e·g/σ and log₂e·(g − 1)/σ; the second is 0 at gap 1, where its sum is constant.
    slopes: [f32; 2],
    /// Mean of the target's entry in units of σ, per world.
    target_shift: [f32; 2],
    /// Mean of the other entries in units of σ.
    other_shift: f32,
    /// log₂ of each slot's weight.
    log_weights: Vec<f32>,
    weighted: bool,
    finish: Finish,
}

#[derive(Clone, Debug)]
struct Finish {
    inverse_sigma: f32,
    /// ½/σ², less ln Σ w at gap 1.
    offset: f32,
    /// (g − 1)/σ.
    centre_slope: f32,
}

/// The centre and the sums of one exponent slope.
#[derive(Clone, Debug)]
pub(crate) struct CentredSums {
    shift: Row<f32>,
    log_weight: Row<f32>,
    sums: Sums,
}

impl CentredSums {
    pub(crate) fn new() -> Self {
        CentredSums { shift: [0.0; LANES], log_weight: [0.0; LANES], sums: Sums::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.sums.clear();
    }

    fn add(&mut self, isa: InstructionSet, slope: f32, log_weights: &[f32], rows: &[Row<f32>]) {
        let used = self.sums.used();
        let levels = &mut self.sums.levels[..used];
        add_centred(isa, slope, log_weights, rows, &mut self.shift, &mut self.log_weight, levels);
        self.sums.carry();
    }
}

impl Moving {
    /// `weights` must have sum 1; `None` for uniform slots.
    pub(crate) fn new(sigma: f64, gap: f64, entries: u32, weights: Option<&[f64]>) -> Self {
        let log_weights = match weights {
            None => vec![0.0; entries as usize],
            Some(weights) => weights.iter().map(|&w| dpscope_core::math::log2(w) as f32).collect(),
        };
        let total = if weights.is_none() { f64::from(entries) } else { 1.0 };
        let constant = if gap == 1.0 { dpscope_core::math::ln(total) } else { 0.0 };
        Moving {
            slopes: [(LOG2_E * gap / sigma) as f32, (LOG2_E * (gap - 1.0) / sigma) as f32],
            target_shift: [0.0, (-1.0 / sigma) as f32],
            other_shift: (-gap / sigma) as f32,
            log_weights,
            weighted: weights.is_some(),
            finish: Finish {
                inverse_sigma: (1.0 / sigma) as f32,
                offset: (0.5 / (sigma * sigma) - constant) as f32,
                centre_slope: ((gap - 1.0) / sigma) as f32,
            },
        }
    }

    /// Whether there is a second sum, and whether there are weights.
    pub(crate) fn shape(&self) -> (bool, bool) {
        (self.slopes[1] > 0.0, self.weighted)
    }

    /// log₂ of each slot's weight; empty for uniform slots.
    pub(crate) fn weights(&self) -> &[f32] {
        if self.weighted { &self.log_weights } else { &[] }
    }

    /// The uniform `scoring` of `moving.wgsl`.
    pub(crate) fn fields(&self) -> Fields {
        let ([top, bottom], [target, zero_out]) = (self.slopes, self.target_shift);
        vec![
            ("slope_top", top.to_bits()),
            ("slope_bottom", bottom.to_bits()),
            ("shift_target", target.to_bits()),
            ("shift_zero_out", zero_out.to_bits()),
            ("shift_others", self.other_shift.to_bits()),
            ("inverse_sigma", self.finish.inverse_sigma.to_bits()),
            ("offset", self.finish.offset.to_bits()),
            ("centre_slope", self.finish.centre_slope.to_bits()),
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
        sums: &mut [CentredSums; 2],
    ) {
        shift(isa, t, slots, [self.target_shift[world.index()], self.other_shift], rows);
        let log_weights = self.log_weights.get(t as usize..).unwrap_or(&[]);
        let parts = if self.slopes[1] > 0.0 { 2 } else { 1 };
        for (sums, &slope) in sums.iter_mut().zip(&self.slopes).take(parts) {
            if let (0, [row, ..], [log_weight, ..]) = (t, &*rows, log_weights) {
                sums.shift = *row;
                sums.log_weight = [*log_weight; LANES];
            }
            sums.add(isa, slope, log_weights, rows);
        }
    }

    /// Score of an epoch after all entries have been added.
    pub(crate) fn score(&self, isa: InstructionSet, sums: &[CentredSums; 2], score: &mut Row<f32>) {
        let [top, bottom] = sums;
        score_top(isa, &self.finish, top, &top.sums.total(), score);
        if self.slopes[1] > 0.0 {
            score_bottom(isa, &self.finish, sums, &bottom.sums.total(), score);
        }
    }
}

#[inline(always)]
fn shift_body(t: u32, slots: &Row<u32>, shifts: [f32; 2], rows: &mut [Row<f32>]) {
    for (t, row) in (t..).zip(rows) {
        for lane in 0..LANES {
            row[lane] += if slots[lane] == t { shifts[0] } else { shifts[1] };
        }
    }
}

#[inline(always)]
fn add_centred_body(
    slope: f32,
    log_weights: &[f32],
    rows: &[Row<f32>],
    centre: &mut Row<f32>,
    centre_weight: &mut Row<f32>,
    levels: &mut [Row<f32>],
) {
    let (mut v, mut l) = (*centre, *centre_weight);
    for (row, &log_weight) in rows.iter().zip(log_weights) {
        for lane in 0..LANES {
            let better = (row[lane] - v[lane]) * slope + (log_weight - l[lane]) > 0.0;
            v[lane] = if better { row[lane] } else { v[lane] };
            l[lane] = if better { log_weight } else { l[lane] };
        }
    }
    let mut rescale = [0.0; LANES];
    for lane in 0..LANES {
        let down = (centre[lane] - v[lane]) * slope + (centre_weight[lane] - l[lane]);
        rescale[lane] = exp2_from_below(down);
    }
    let mut sum = [0.0; LANES];
    for (row, &log_weight) in rows.iter().zip(log_weights) {
        for lane in 0..LANES {
            let down = (row[lane] - v[lane]) * slope + (log_weight - l[lane]);
            sum[lane] += exp2_from_below(down);
        }
    }
    for level in levels.iter_mut() {
        for lane in 0..LANES {
            level[lane] *= rescale[lane];
        }
    }
    if let [lowest, ..] = levels {
        for lane in 0..LANES {
            lowest[lane] += sum[lane];
        }
    }
    (*centre, *centre_weight) = (v, l);
}

#[inline(always)]
fn score_top_body(finish: &Finish, top: &CentredSums, total: &Row<f32>, score: &mut Row<f32>) {
    for lane in 0..LANES {
        let centre = top.shift[lane] * finish.inverse_sigma + finish.offset;
        let weight = top.log_weight[lane] * std::f32::consts::LN_2;
        score[lane] = centre + (weight + ln(total[lane]));
    }
}

#[inline(always)]
fn score_bottom_body(
    finish: &Finish,
    sums: &[CentredSums; 2],
    total: &Row<f32>,
    score: &mut Row<f32>,
) {
    let [top, bottom] = sums;
    for lane in 0..LANES {
        let apart = (top.shift[lane] - bottom.shift[lane]) * finish.centre_slope;
        let weight = bottom.log_weight[lane] * std::f32::consts::LN_2;
        score[lane] += apart - (weight + ln(total[lane]));
    }
}

lane_fn! {
    /// Adds the mean of every entry: `shifts` of the target's entry and of the others.
    fn shift(t: u32, slots: &Row<u32>, shifts: [f32; 2], rows: &mut [Row<f32>]) = shift_body
}
lane_fn! {
    /// Moves the centre to the largest term and adds Σ 2^(slope·(v_t − v) + (l_t − l)).
    fn add_centred(
        slope: f32,
        log_weights: &[f32],
        rows: &[Row<f32>],
        centre: &mut Row<f32>,
        centre_weight: &mut Row<f32>,
        levels: &mut [Row<f32>],
    ) = add_centred_body
}
lane_fn! {
    /// v/σ + offset + ln 2·l + ln Σ_g.
    fn score_top(finish: &Finish, top: &CentredSums, total: &Row<f32>, score: &mut Row<f32>)
        = score_top_body
}
lane_fn! {
    /// Adds (g − 1)(v − v′)/σ − ln 2·l′ − ln Σ_{g−1}.
    fn score_bottom(finish: &Finish, sums: &[CentredSums; 2], total: &Row<f32>, score: &mut Row<f32>)
        = score_bottom_body
}
