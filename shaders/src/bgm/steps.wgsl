// Scores that are sums over steps: Poisson sampling, and the linear score of one known slot.
//
// Parity: exact mode bit for bit; fast mode as `fast.rs` derives.

struct Scoring {
    // Poisson: log₂e/σ; linear: 1/σ.
    slope: f32,
    // Poisson: ±½·log₂e/σ² where the target is in and out; linear: ±½/σ² in D and D′.
    offset_target: f32,
    offset_zero_out: f32,
    rate: f32,
    // 1 − rate.
    rest: f32,
    ln_rate: f32,
    // The largest word that includes the target.
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
    let inside = vec4<f32>(scoring.offset_target);
    let outside = vec4<f32>(scoring.offset_zero_out);
    var included = vec4<bool>(world == 0u);
    if (POISSON) { included = included & (words <= vec4<u32>(scoring.last_word)); }
    var y = rounded4(rounded4(row * scoring.slope) + select(outside, inside, included));
    if (POISSON) { y = poisson_steps(y); }
    y = select(vec4<f32>(), y, used);
    return rounded(rounded(rounded(rounded(sum + y.x) + y.y) + y.z) + y.w);
}

fn add_segment(t: u32, segment: Segment, z: Normals, words: Block) {
    var sum = 0.0;
    if (holds(segment, 0u)) { sum = add_quarter(sum, z.a, words.a, used(segment, ROWS_A)); }
    if (holds(segment, 4u)) { sum = add_quarter(sum, z.b, words.b, used(segment, ROWS_B)); }
    if (holds(segment, 8u)) { sum = add_quarter(sum, z.c, words.c, used(segment, ROWS_C)); }
    if (holds(segment, 12u)) { sum = add_quarter(sum, z.d, words.d, used(segment, ROWS_D)); }
    first.x = rounded(first.x + sum);
}

fn epoch_score() -> f32 {
    return total(first);
}
