// Per-example gradient norms over all layers, and the clipping factors min(1, C ÷ norm), reduced by
// a factor of 1 − 2⁻¹⁸; NaN if the norm is not finite, 0 without a record.
//
// Grid: one workgroup per row. Sums: 16 terms, then over these, then a tree.
// Parity: relative, 4e-6 at most in the factor.

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
