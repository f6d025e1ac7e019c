// ‖g‖² of the gradient g of each canary, and ⟨g, noisy sum⟩.
//
// Out: `outputs`, two words per canary, step by step in turn.
// Grid: one workgroup per row. Sums: 16 terms, then over these, then a tree.
// Parity: relative to ‖g‖·‖noisy sum‖.

// A thread's part of Σ x·y over `count` words from `first` and `second` on.
fn products(local: u32, first: u32, second: u32, count: u32) -> f32 {
    var sum = 0.0;
    for (var start = local; start < count; start += 16u * WORKGROUP) {
        var short = 0.0;
        for (var i = 0u; i < 16u; i += 1u) {
            let at = start + i * WORKGROUP;
            if (at < count) { short += values[first + at] * values[second + at]; }
        }
        sum += short;
    }
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
    let product = joined(local, vec2<f32>(along(local, row), 0.0)).x;
    let index = params.first_row + row;
    if (local == 0u && index < COUNT) {
        let step = params.output % STEPS_PER_READING;
        let at = model * OUTPUTS_PER_MODEL + 2u * (step * COUNT + index);
        outputs[at] = square;
        outputs[at + 1u] = product;
    }
}
