// Per-example gradient norms over all layers, and the clipping factors min(1, C ÷ norm), reduced by
// a factor of 1 − 2⁻¹⁸; NaN if the norm is not finite, 0 without a record.
//
// Grid: one workgroup per row. Sums: 16 terms, then over these, then a tree.
// Parity: relative, 4e-6 at most in the factor.

var<workgroup> parts: array<vec2<f32>, WORKGROUP>;

fn joined(local: u32, x: vec2<f32>) -> vec2<f32> {
    parts[local] = x;
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        if (local < half) { parts[local] += parts[local + half]; }
        workgroupBarrier();
    }
    let sum = parts[0];
    workgroupBarrier();
    return sum;
}

// A thread's part of Σ x² over `count` words from `first` on.
fn squares(local: u32, first: u32, count: u32) -> f32 {
    var sum = 0.0;
    for (var start = local; start < count; start += 16u * WORKGROUP) {
        var short = 0.0;
        for (var i = 0u; i < 16u; i += 1u) {
            let at = start + i * WORKGROUP;
            if (at < count) {
                let x = values[first + at];
                short += x * x;
            }
        }
        sum += short;
    }
    return sum;
}

// A thread's part of Σ x² over the features of a record.
fn record_squares(local: u32, row: u32) -> f32 {
    var sum = 0.0;
    for (var start = local; start < INPUTS; start += 16u * WORKGROUP) {
        var short = 0.0;
        for (var i = 0u; i < 16u; i += 1u) {
            let at = start + i * WORKGROUP;
            if (at < INPUTS) {
                let x = input(row, at);
                short += x * x;
            }
        }
        sum += short;
    }
    return sum;
}

// A thread's part of a sum of partial sums.
fn summed(local: u32, first: u32, count: u32) -> f32 {
    var sum = 0.0;
    for (var at = local; at < count; at += WORKGROUP) { sum += values[first + at]; }
    return sum;
}

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = workgroup_index(group);
    if (row >= GROUPS) { return; }
    let square = total(local, row);
    if (local == 0u) {
        var found = 0.0;
        if (rows[model * ROW_WORDS + row] != NONE) {
            // avoids overflow of the quotient for short gradients
            let norm = max(sqrt(max(square, 1e-30)), DOWN * CLIP_NORM);
            let bounded = DOWN * CLIP_NORM / norm;
            // a NaN unknown to the compiler
            let lost = bitcast<f32>(0x7fc00000u | params.zero);
            found = select(lost, min(bounded, 1.0), is_finite(square));
        }
        values[model * VALUES + FACTORS + row] = found;
    }
}
