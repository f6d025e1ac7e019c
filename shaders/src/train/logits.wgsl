// Logits of a row, by LANES threads.

const LOWEST: f32 = -3e38;

var<workgroup> parts: array<Real, WORKGROUP>;

// Maximum or sum over the threads of a row. The maximum ignores NaN; the sum preserves it.
fn joined(local: u32, x: Real, is_sum: bool) -> Real {
    parts[local] = x;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        var more = parts[local];
        if (local % LANES < half) {
            let other = parts[local + half];
            if (is_sum) {
                more += other;
            } else {
                more = select(more, other, primal(other) > primal(more));
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

fn logit(row: u32, kind: u32) -> Real {
    return values[model * VALUES + OUTPUT + row * OUTPUTS + kind];
}
