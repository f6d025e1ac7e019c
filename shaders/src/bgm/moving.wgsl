// One-slot scores for any gap and noise, with a moving centre: the largest term so far.
//
// Parity: exact mode bit for bit; fast mode as `fast.rs` derives.

struct Scoring {
    // log₂e·g/σ and log₂e·(g − 1)/σ.
    slope_top: f32,
    slope_bottom: f32,
    // Mean of the target's entry in units of σ, in D and in D′.
    shift_target: f32,
    shift_zero_out: f32,
    // Mean of the other entries in units of σ.
    shift_others: f32,
    inverse_sigma: f32,
    // ½/σ², less ln Σ w at gap 1.
    offset: f32,
    // (g − 1)/σ.
    centre_slope: f32,
}

// Below every entry and weight, and far from overflow under every slope.
const NOWHERE: f32 = -1e20;

fn begin_epoch() {
    top = vec2<f32>(NOWHERE);
    bottom = vec2<f32>(NOWHERE);
}

fn log_weights(at: u32) -> vec4<f32> {
    if (WEIGHTED) { return weights_from(at); }
    return vec4<f32>();
}

// Distance of the term of (v, l) above that of `centre`, in bits.
fn above(v: vec4<f32>, l: vec4<f32>, centre: vec2<f32>, slope: f32) -> vec4<f32> {
    return rounded4(rounded4(rounded4(v - centre.x) * slope) + rounded4(l - centre.y));
}

fn larger(centre: vec2<f32>, v: f32, l: f32, used: bool, slope: f32) -> vec2<f32> {
    let better = above(vec4<f32>(v), vec4<f32>(l), centre, slope).x > 0.0;
    return select(centre, vec2<f32>(v, l), used && better);
}

fn largest(centre: vec2<f32>, row: vec4<f32>, segment: Segment, rows: vec4<u32>, at: u32, slope: f32)
    -> vec2<f32> {
    let inside = used(segment, rows);
    let l = log_weights(at);
    var best = larger(centre, row.x, l.x, inside.x, slope);
    best = larger(best, row.y, l.y, inside.y, slope);
    best = larger(best, row.z, l.z, inside.z, slope);
    return larger(best, row.w, l.w, inside.w, slope);
}

fn add_quarter(sum: f32, row: vec4<f32>, used: vec4<bool>, at: u32, centre: vec2<f32>, slope: f32)
    -> f32 {
    let terms = power_of_two_from_below(above(row, log_weights(at), centre, slope));
    let y = select(vec4<f32>(), terms, used);
    return rounded(rounded(rounded(rounded(sum + y.x) + y.y) + y.z) + y.w);
}

struct Centred {
    centre: vec2<f32>,
    levels: vec4<f32>,
}

// Moves the centre to the largest term and adds Σ 2^(slope·(v_t − v) + (l_t − l)).
fn add_centred(sums: Centred, rows: Normals, segment: Segment, at: u32, slope: f32) -> Centred {
    var centre = sums.centre;
    if (holds(segment, 0u)) { centre = largest(centre, rows.a, segment, ROWS_A, at, slope); }
    if (holds(segment, 4u)) { centre = largest(centre, rows.b, segment, ROWS_B, at + 4u, slope); }
    if (holds(segment, 8u)) { centre = largest(centre, rows.c, segment, ROWS_C, at + 8u, slope); }
    if (holds(segment, 12u)) { centre = largest(centre, rows.d, segment, ROWS_D, at + 12u, slope); }
    let down = above(vec4<f32>(sums.centre.x), vec4<f32>(sums.centre.y), centre, slope);
    var levels = rounded4(sums.levels * power_of_two_from_below(down).x);
    var sum = 0.0;
    if (holds(segment, 0u)) {
        sum = add_quarter(sum, rows.a, used(segment, ROWS_A), at, centre, slope);
    }
    if (holds(segment, 4u)) {
        sum = add_quarter(sum, rows.b, used(segment, ROWS_B), at + 4u, centre, slope);
    }
    if (holds(segment, 8u)) {
        sum = add_quarter(sum, rows.c, used(segment, ROWS_C), at + 8u, centre, slope);
    }
    if (holds(segment, 12u)) {
        sum = add_quarter(sum, rows.d, used(segment, ROWS_D), at + 12u, centre, slope);
    }
    levels.x = rounded(levels.x + sum);
    return Centred(centre, levels);
}

fn shifted(row: vec4<f32>, rows: vec4<u32>, target_row: u32, shift: f32) -> vec4<f32> {
    let others = vec4<f32>(scoring.shift_others);
    return rounded4(row + select(others, vec4<f32>(shift), rows == vec4<u32>(target_row)));
}

fn add_segment(t: u32, segment: Segment, z: Normals, words: Block) {
    let shift = select(scoring.shift_target, scoring.shift_zero_out, world == 1u);
    let target_row = segment.first + slot - t;
    let rows = Normals(
        shifted(z.a, ROWS_A, target_row, shift),
        shifted(z.b, ROWS_B, target_row, shift),
        shifted(z.c, ROWS_C, target_row, shift),
        shifted(z.d, ROWS_D, target_row, shift),
    );
    let at = t - segment.first;
    let upper = add_centred(Centred(top, first), rows, segment, at, scoring.slope_top);
    top = upper.centre;
    first = upper.levels;
    if (TWO_SUMS) {
        let lower = add_centred(Centred(bottom, second), rows, segment, at, scoring.slope_bottom);
        bottom = lower.centre;
        second = lower.levels;
    }
}

fn epoch_score() -> f32 {
    let logarithms = ln(vec4<f32>(total(first), select(1.0, total(second), TWO_SUMS), 1.0, 1.0));
    let centre = rounded(rounded(top.x * scoring.inverse_sigma) + scoring.offset);
    let upper = rounded(centre + rounded(rounded(top.y * LN_OF_2) + logarithms.x));
    if (!TWO_SUMS) { return upper; }
    let apart = rounded(rounded(top.x - bottom.x) * scoring.centre_slope);
    return rounded(upper + rounded(apart - rounded(rounded(bottom.y * LN_OF_2) + logarithms.y)));
}
