// Σ factor·gradient over the rows, from saved per-example gradients of a convolution.
//
// Grid: one thread per parameter.

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let at = workgroup_index(group) * WORKGROUP + local;
    if (at >= OWN) { return; }
    var sum = Real();
    for (var row = 0u; row < ROWS; row += 1u) {
        sum += times(factor(row), values[model * VALUES + GRADIENTS + row * OWN + at]);
    }
    put_sum(WEIGHTS + at, sum);
}
