// The loss of each row as two numbers: Σ e^(logit − largest), and by how much the largest logit
// exceeds that of the label; the latter is −1 if the label's is larger than all others. The loss is
// ln of the first plus the second, if that is positive.
//
// Out: `outputs`, two words per record.
// Grid: LANES threads per row.
// Parity: relative.

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = workgroup_index(group) * (WORKGROUP / LANES) + local / LANES;
    let lane = local % LANES;
    let index = params.first_row + row;
    let kinds = select(0u, OUTPUTS, row < ROWS && index < COUNT);
    var most = LOWEST;
    for (var kind = lane; kind < kinds; kind += LANES) {
        let x = logit(row, kind);
        most = select(most, x, x > most);
    }
    let centre = joined(local, most, false);
    var sum = 0.0;
    var ties = 0.0;
    for (var kind = lane; kind < kinds; kind += LANES) {
        let x = logit(row, kind);
        // a NaN unknown to the compiler
        let lost = bitcast<f32>(0x7fc00000u | params.zero);
        sum += select(lost, exponential(x - centre), is_finite(x));
        if (x == centre) { ties += 1.0; }
    }
    let total = joined(local, sum, true);
    let largest = joined(local, ties, true);
    if (lane > 0u || kinds == 0u) { return; }
    let label = data[LABELS + FIRST_RECORD + index];
    let gap = centre - logit(row, label);
    let at = model * OUTPUTS_PER_MODEL + 2u * index;
    outputs[at] = total;
    outputs[at + 1u] = select(gap, -1.0, gap == 0.0 && largest == 1.0);
}
