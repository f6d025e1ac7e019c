// Σ factor·gradient over the rows, where the gradients of a convolution were kept.
//
// Grid: a thread a parameter.

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let at = place_of(group) * WORKGROUP + local;
    if (at >= OWN) { return; }
    var sum = 0.0;
    for (var row = 0u; row < ROWS; row += 1u) {
        sum += factor(row) * values[model * VALUES + GRADIENTS + row * OWN + at];
    }
    put_sum(WEIGHTS + at, sum);
}
