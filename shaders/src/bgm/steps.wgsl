// Scores that are sums over steps: Poisson sampling, several slots, batches of fixed size, and
// the linear score of one known slot.
//
// Parity: exact mode bit for bit; fast mode as `fast.rs` derives.

struct Scoring {
    // log₂e/σ; linear: 1/σ.
    slope: f32,
    // (2s − 1)·½·log₂e/σ² where the target is in, in D and D′, and elsewhere; s is the mean of the
    // output. Linear: ±½/σ² in D and D′.
    offset_target: f32,
    offset_zero_out: f32,
    offset_out: f32,
    // Fixed size: (s − 1)·2·log₂e/σ².
    target_offset_target: f32,
    target_offset_zero_out: f32,
    target_offset_out: f32,
    rate: f32,
    // 1 − rate.
    rest: f32,
    ln_rate: f32,
    // The largest word that includes the target; several slots: the last entry with it.
    last_word: u32,
}

fn begin_epoch() {}

// Scores of steps whose a·log₂e is `t`.
fn poisson_steps(t: vec4<f32>) -> vec4<f32> {
    let small = t < vec4<f32>(LARGE);
    let e = power_of_two_from_below(select(vec4<f32>(LARGE), t, small));
    let w = rounded4(scoring.rate * rounded4(e - 1.0));
    let u = rounded4(scoring.rest + rounded4(scoring.rate * e));
    let large = rounded4(rounded4(t * LN_OF_2) + scoring.ln_rate);
    return select(large, ln_1p(w, u), small);
}

fn add_quarter(sum: f32, row: vec4<f32>, words: vec4<u32>, used: vec4<bool>) -> f32 {
    let inside = vec4<f32>(select(scoring.offset_zero_out, scoring.offset_target, world == 0u));
    var included = vec4<bool>(true);
    if (!LINEAR) { included = words <= vec4<u32>(scoring.last_word); }
    let scaled = rounded4(row * scoring.slope);
    var y = rounded4(scaled + select(vec4<f32>(scoring.offset_out), inside, included));
    if (!LINEAR) { y = poisson_steps(y); }
    if (FIXED_SIZE) {
        let target_inside =
            vec4<f32>(select(scoring.target_offset_zero_out, scoring.target_offset_target, world == 0u));
        let offset = select(vec4<f32>(scoring.target_offset_out), target_inside, included);
        let with_target = poisson_steps(rounded4(rounded4(2.0 * scaled) + offset));
        y = rounded4(with_target - y);
    }
    y = select(vec4<f32>(), y, used);
    return rounded(rounded(rounded(rounded(sum + y.x) + y.y) + y.z) + y.w);
}

// Words that decide whether an entry includes the target: the entries themselves where it is in
// the first ones.
fn deciding(words: vec4<u32>, t: u32, segment: Segment, rows: vec4<u32>) -> vec4<u32> {
    if (ALLOCATED) { return rows + (t - segment.first); }
    return words;
}

fn add_segment(t: u32, segment: Segment, z: Normals, words: Block) {
    let a = deciding(words.a, t, segment, ROWS_A);
    let b = deciding(words.b, t, segment, ROWS_B);
    let c = deciding(words.c, t, segment, ROWS_C);
    let d = deciding(words.d, t, segment, ROWS_D);
    var sum = 0.0;
    if (holds(segment, 0u)) { sum = add_quarter(sum, z.a, a, used(segment, ROWS_A)); }
    if (holds(segment, 4u)) { sum = add_quarter(sum, z.b, b, used(segment, ROWS_B)); }
    if (holds(segment, 8u)) { sum = add_quarter(sum, z.c, c, used(segment, ROWS_C)); }
    if (holds(segment, 12u)) { sum = add_quarter(sum, z.d, d, used(segment, ROWS_D)); }
    first.x = rounded(first.x + sum);
}

fn epoch_score() -> f32 {
    return total(first);
}
