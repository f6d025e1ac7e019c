// Slopes of the loss by the logits: the softmax, less 1 at the label; 0 in a row without a record.
//
// Out: the slopes of the last layer, before its activation.
// Grid: LANES threads a row.
// Parity: relative.

const LOWEST: f32 = -3e38;

var<workgroup> parts: array<f32, WORKGROUP>;

// The largest, or the sum, of what the threads of a row give. A NaN among what is compared is lost,
// and stays in the sum.
fn joined(local: u32, x: f32, is_sum: bool) -> f32 {
    parts[local] = x;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        var more = parts[local];
        if (local % LANES < half) {
            let other = parts[local + half];
            if (is_sum) {
                more += other;
            } else {
                more = select(more, other, other > more);
            }
        }
        workgroupBarrier();
        parts[local] = more;
        workgroupBarrier();
    }
    let first = parts[local / LANES * LANES];
    workgroupBarrier();
    return first;
}

fn logit(row: u32, kind: u32) -> f32 {
    return values[model * VALUES + OUTPUT + row * OUTPUTS + kind];
}

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = place_of(group) * (WORKGROUP / LANES) + local / LANES;
    let lane = local % LANES;
    // slopes may lie where logits do: each is read by one thread alone
    let kinds = select(0u, OUTPUTS, row < ROWS);
    var most = LOWEST;
    for (var kind = lane; kind < kinds; kind += LANES) {
        let x = logit(row, kind);
        most = select(most, x, x > most);
    }
    let centre = joined(local, most, false);
    var sum = 0.0;
    for (var kind = lane; kind < kinds; kind += LANES) {
        sum += exponential(logit(row, kind) - centre);
    }
    let share = 1.0 / joined(local, sum, true);
    if (row >= ROWS) { return; }
    let record = rows[model * ROW_WORDS + row];
    for (var kind = lane; kind < OUTPUTS; kind += LANES) {
        let output = logit(row, kind);
        var slope = 0.0;
        if (record != NONE) {
            slope = exponential(output - centre) * share;
            if (data[LABELS + record] == kind) { slope -= 1.0; }
            if (ACTIVATION != 0u) { slope = sloped(ACTIVATION, output, slope); }
        }
        values[model * VALUES + SLOPES + row * OUTPUTS + kind] = slope;
    }
}
