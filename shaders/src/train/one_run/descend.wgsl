// v ← μv + sum, θ ← θ − rate·v; the rate is η/B, or the last word of the model's rows.
//
// Grid: one thread per parameter.
// Parity: relative.

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let at = workgroup_index(group) * WORKGROUP + local;
    if (at >= PARAMETERS) { return; }
    let place = model * PARAMETERS + at;
    var velocity = sums[place];
    if (HAS_MOMENTUM) {
        // before the first step the velocity is 0
        if (params.output > 0u) { velocity = MOMENTUM * vector[place] + velocity; }
        vector[place] = velocity;
    }
    var rate = RATE;
    if (HAS_OWN_RATE) { rate = bitcast<f32>(rows[model * ROW_WORDS + ROWS]); }
    theta[place] -= rate * velocity;
}
