// Records of a pass, and the coefficient of ĝ in the step's sum.
//
// Out: `rows`, R records per model (NONE if missing), then the coefficient times C, f32.
// Grid: one thread per row.
// Parity: exact.

// Position of the target, record 0.
fn target_position() -> u32 {
    if (!SHUFFLES) { return 0u; }
    return order_position(order_of(0u, block_count(0u)), 0u);
}

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = workgroup_index(group) * WORKGROUP + local;
    if (row >= ROWS) { return; }
    let first = params.step * BATCH_SIZE;
    let slot = target_position() - first;
    let has_target = slot < BATCH_SIZE;
    // The gradient of the target is replaced; without the target, a partially informed attacker
    // replaces that of the last record.
    let count = BATCH_SIZE - select(LEFT_OUT, 1u, has_target);
    let index = params.first_row + row;
    var record = NONE;
    if (index < count) {
        record = record_at(first + index + select(0u, 1u, has_target && index >= slot));
    }
    rows[model * ROW_WORDS + row] = record;
    if (row == 0u) {
        let of_target = select(0.0, CLIP_NORM, model < params.runs);
        let of_others = select(0.0, -CLIP_NORM, LEFT_OUT == 1u);
        let multiple = select(of_others, of_target, has_target);
        rows[model * ROW_WORDS + ROWS] = bitcast<u32>(multiple);
    }
}
