// Adds noise to the sum of a step.
//
// Grid: one workgroup per tile of 1024 parameters, one thread per block of words; the entries of a
// thread are 64 apart.
// Parity: words exact, the rest relative.

fn entry(at: u32, normal: f32) {
    if (at < PARAMETERS) { sums[model * PARAMETERS + at] += NOISE * normal; }
}

fn entries(first: u32, normals: vec4<f32>) {
    entry(first, normals.x);
    entry(first + WORKGROUP, normals.y);
    entry(first + 2u * WORKGROUP, normals.z);
    entry(first + 3u * WORKGROUP, normals.w);
}

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let tile = workgroup_index(group);
    if (tile >= GROUPS) { return; }
    let block = plus(vec2<u32>(params.block_low, params.block_high), tile * WORKGROUP + local);
    let normals = any_normals(chacha8(PURPOSE, block, stream()), 16u, block, stream());
    let first = tile * 16u * WORKGROUP + local;
    entries(first, normals.a);
    entries(first + 4u * WORKGROUP, normals.b);
    entries(first + 8u * WORKGROUP, normals.c);
    entries(first + 12u * WORKGROUP, normals.d);
}
