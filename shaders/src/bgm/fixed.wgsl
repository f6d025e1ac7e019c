// One-slot scores for gap 1 or 2 with a fixed centre: one exponential per entry.
//
// Parity: exact mode bit for bit; fast mode as `fast.rs` derives.

struct Scoring {
    // log₂e/σ.
    slope: f32,
    // Shift of the target's entry relative to the others, in units of σ, in D and in D′.
    shift_target: f32,
    shift_zero_out: f32,
    // (½ − gap)/σ².
    offset: f32,
    // 1/T, or 1 with weights.
    share: f32,
}

fn begin_epoch() {}

// Adds four rows, of which `used` belong to the segment. `at`: the entry of the first.
fn add_quarter(sum: vec2<f32>, row: vec4<f32>, used: vec4<bool>, at: u32) -> vec2<f32> {
    let y = power_of_two(rounded4(row * scoring.slope));
    var weighted = y;
    if (WEIGHTED) { weighted = rounded4(weights_from(at) * y); }
    let one = select(vec4<f32>(), weighted, used);
    var s = sum;
    s.x = rounded(rounded(rounded(rounded(s.x + one.x) + one.y) + one.z) + one.w);
    if (TWO_SUMS) {
        let two = select(vec4<f32>(), rounded4(weighted * y), used);
        s.y = rounded(rounded(rounded(rounded(s.y + two.x) + two.y) + two.z) + two.w);
    }
    return s;
}

// Shifts the target's entry, which is row `raised`.
fn raise(row: vec4<f32>, rows: vec4<u32>, raised: u32, shift: f32) -> vec4<f32> {
    return rounded4(row + select(vec4<f32>(), vec4<f32>(shift), rows == vec4<u32>(raised)));
}

fn add_segment(t: u32, segment: Segment, z: Normals, words: Block) {
    let shift = select(scoring.shift_target, scoring.shift_zero_out, world == 1u);
    let raised = segment.first + slot - t;
    var rows = z;
    rows.a = raise(z.a, ROWS_A, raised, shift);
    if (WEIGHTED || segment.first > 0u) {
        rows.b = raise(z.b, ROWS_B, raised, shift);
        rows.c = raise(z.c, ROWS_C, raised, shift);
        rows.d = raise(z.d, ROWS_D, raised, shift);
    }
    let at = t - segment.first;
    var sum = vec2<f32>();
    if (holds(segment, 0u)) { sum = add_quarter(sum, rows.a, used(segment, ROWS_A), at); }
    if (holds(segment, 4u)) { sum = add_quarter(sum, rows.b, used(segment, ROWS_B), at + 4u); }
    if (holds(segment, 8u)) { sum = add_quarter(sum, rows.c, used(segment, ROWS_C), at + 8u); }
    if (holds(segment, 12u)) { sum = add_quarter(sum, rows.d, used(segment, ROWS_D), at + 12u); }
    first.x = rounded(first.x + sum.x);
    second.x = rounded(second.x + sum.y);
}

fn epoch_score() -> f32 {
    let totals = vec4<f32>(total(first), total(second), 1.0, 1.0);
    let logarithms = ln(rounded4(totals * scoring.share));
    if (TWO_SUMS) { return rounded(scoring.offset + rounded(logarithms.y - logarithms.x)); }
    return rounded(scoring.offset + logarithms.x);
}
