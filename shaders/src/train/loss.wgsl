// Gradient of the loss with respect to the logits: softmax − 1 at the label; 0 in rows without a
// record.
//
// Out: the output gradient of the last layer, before its activation.
// Grid: LANES threads per row.
// Parity: relative.

fn exponential_of(x: Real) -> Real {
    let y = exponential(primal(x));
    return lifted(x, y, y);
}

fn inverse(x: Real) -> Real {
    let y = 1.0 / primal(x);
    return lifted(x, y, -y * y);
}

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = workgroup_index(group) * (WORKGROUP / LANES) + local / LANES;
    let lane = local % LANES;
    // the gradient may overwrite the logits: each is read by one thread only
    let kinds = select(0u, OUTPUTS, row < ROWS);
    var most = LOWEST;
    for (var kind = lane; kind < kinds; kind += LANES) {
        let x = primal(logit(row, kind));
        most = select(most, x, x > most);
    }
    let centre = real(primal(joined(local, real(most), false)));
    var sum = Real();
    for (var kind = lane; kind < kinds; kind += LANES) {
        sum += exponential_of(logit(row, kind) - centre);
    }
    let share = inverse(joined(local, sum, true));
    if (row >= ROWS) { return; }
    let record = rows[model * ROW_WORDS + row];
    for (var kind = lane; kind < OUTPUTS; kind += LANES) {
        let output = logit(row, kind);
        var gradient = Real();
        if (record != NONE) {
            gradient = times(exponential_of(output - centre), share);
            if (data[LABELS + record] == kind) { gradient -= real(1.0); }
            if (ACTIVATION != 0u) { gradient = activation_gradient(ACTIVATION, output, gradient); }
        }
        values[model * VALUES + OUTPUT_GRADIENT + row * OUTPUTS + kind] = gradient;
    }
}
