// Records of a pass: those of the batch in order, without those of canaries that are not included.
//
// Out: `rows`, R records per model (NONE in the place of each that is missing).
// Grid: one thread per row.
// Parity: exact.

// The coin of a canary: the lowest bit of a word.
fn is_included(canary: u32) -> bool {
    let words = chacha8(COINS, vec2<u32>(canary / 16u, 0u), stream());
    let place = canary % 16u;
    var four = words.a;
    if (place >= 4u) { four = words.b; }
    if (place >= 8u) { four = words.c; }
    if (place >= 12u) { four = words.d; }
    var two = four.xy;
    if ((place & 2u) != 0u) { two = four.zw; }
    return (select(two.x, two.y, (place & 1u) == 1u) & 1u) == 1u;
}

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = workgroup_index(group) * WORKGROUP + local;
    if (row >= ROWS) { return; }
    let index = params.first_row + row;
    var record = NONE;
    if (index < BATCH_SIZE) {
        record = record_at(params.step * BATCH_SIZE + index);
        if (record >= BASE) {
            if (!is_included(record - BASE)) { record = NONE; }
        }
    }
    rows[model * ROW_WORDS + row] = record;
}
