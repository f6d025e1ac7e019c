// Sums over the tiles of a model: the attacker's output of a step, or 1 ÷ the norm of a canary.
//
// Grid: one workgroup per model.
// Parity: relative.

var<workgroup> parts: array<f32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    model = group.z;
    var sum = 0.0;
    for (var tile = local; tile < TILES; tile += WORKGROUP) {
        sum += values[model * VALUES + TILE_SUMS + tile];
    }
    parts[local] = sum;
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        if (local < half) { parts[local] += parts[local + half]; }
        workgroupBarrier();
    }
    if (local == 0u) {
        if (IS_LENGTH) {
            values[model * VALUES + TILE_SUMS] = 1.0 / sqrt(max(parts[0], 1e-30));
        } else {
            outputs[model * OUTPUTS_PER_RUN + params.output] = parts[0] / CLIP_NORM;
        }
    }
}
