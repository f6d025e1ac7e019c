// End of a step: adds canary and noise to the sum, updates the parameters and computes the
// attacker's output, the component along ĝ.
//
// Grid: one workgroup per tile of 1024 parameters, one thread per block of words; the entries of a
// thread are 64 apart.
// Out: θ, and ⟨sum, ĝ⟩ per tile.
// Parity: words exact, the rest relative.

var<workgroup> parts: array<f32, WORKGROUP>;
var<private> multiple: f32;
var<private> along: f32;

fn entry(at: u32, normal: f32) {
    if (at >= PARAMETERS) { return; }
    let place = model * PARAMETERS + at;
    let direction = vector[select(at, place, IS_FRESH)];
    let sum = (sums[place] + multiple * direction) + NOISE * normal;
    along += sum * direction;
    theta[place] -= RATE * sum;
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
    let words = chacha8(PURPOSE, block, stream());
    let normals = any_normals(words, 16u, block, stream());
    multiple = bitcast<f32>(rows[model * ROW_WORDS + ROWS]);
    let first = tile * 16u * WORKGROUP + local;
    entries(first, normals.a);
    entries(first + 4u * WORKGROUP, normals.b);
    entries(first + 8u * WORKGROUP, normals.c);
    entries(first + 12u * WORKGROUP, normals.d);
    parts[local] = along;
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        if (local < half) { parts[local] += parts[local + half]; }
        workgroupBarrier();
    }
    if (local == 0u) { values[model * VALUES + TILE_SUMS + tile] = parts[0]; }
}
