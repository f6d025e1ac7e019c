// Records of a pass over the canaries, and the held-out records after them.
//
// Out: `rows`, R records per model (NONE after the last).
// Grid: one thread per row.
// Parity: exact.

const NONE: u32 = 0xffffffffu;

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = workgroup_index(group) * WORKGROUP + local;
    if (row >= ROWS) { return; }
    let index = params.first_row + row;
    rows[model * ROW_WORDS + row] = select(NONE, FIRST_RECORD + index, index < COUNT);
}
