// Which records a pass works on, and the multiple of ĝ in the step's sum.
//
// Out: `rows`, R records a model (NONE where there is none), then the multiple, f32.
// Grid: a thread a row.
// Parity: exact.

const NONE: u32 = 0xffffffffu;

// The records of a block of its own order: the file, cut.
fn block_count(block: u32) -> u32 {
    return min(BLOCK, RECORDS - block * BLOCK);
}

fn record_at(place: u32) -> u32 {
    if (!SHUFFLES) { return place; }
    let block = place / BLOCK;
    let order = order_of(block, block_count(block));
    return block * BLOCK + order_at(order, place % BLOCK);
}

// Where record 0 stands, the target.
fn target_place() -> u32 {
    if (!SHUFFLES) { return 0u; }
    return order_place(order_of(0u, block_count(0u)), 0u);
}

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = place_of(group) * WORKGROUP + local;
    if (row >= ROWS) { return; }
    let first = law.step * BATCH_SIZE;
    let slot = target_place() - first;
    let has_target = slot < BATCH_SIZE;
    // The target's own gradient is replaced, and the last record's where the attacker knows no
    // more.
    let kept = BATCH_SIZE - select(LEFT_OUT, 1u, has_target);
    let index = law.first_row + row;
    var record = NONE;
    if (index < kept) {
        record = record_at(first + index + select(0u, 1u, has_target && index >= slot));
    }
    rows[model * ROW_WORDS + row] = record;
    if (row == 0u) {
        let of_target = select(0.0, CLIP_NORM, model < law.runs);
        let of_others = select(0.0, -CLIP_NORM, LEFT_OUT == 1u);
        let multiple = select(of_others, of_target, has_target);
        rows[model * ROW_WORDS + ROWS] = bitcast<u32>(multiple);
    }
}
