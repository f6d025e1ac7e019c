// Products of canary directions with the change of a model, by blocks of 4096 coordinates.
//
// In: `params` (the seed), `change` (the coordinates of the dispatch's blocks), `dispatch` (which
// canaries and blocks).
// Out: `values`, [canary][block][32][2]: a running sum of products, and one of squares; running sum l
// adds the coordinates l, l + 32, … of the block.
// Grid: workgroups (x, y) cover the running sums, one an invocation.
// Parity: exact mode bit for bit with the twin; there is no fast mode.

struct Params {
    seed_low: u32,
    seed_high: u32,
    noise_purpose: u32,
    // A zero unknown to the compiler.
    zero: u32,
}

struct Dispatch {
    canary_low: u32,
    canary_high: u32,
    // The first block of words.
    words_low: u32,
    words_high: u32,
    // Blocks of coordinates.
    blocks: u32,
    sums: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<uniform> dispatch: Dispatch;
@group(0) @binding(4) var<storage, read> change: array<f32>;
@group(0) @binding(6) var<storage, read_write> values: array<f32>;

var<private> product: f32;
var<private> square: f32;

fn plus(low: u32, high: u32, add: u32) -> vec2<u32> {
    let sum = low + add;
    return vec2<u32>(sum, high + select(0u, 1u, sum < add));
}

fn add(normal: f32, at: u32) {
    product = rounded(product + rounded(normal * change[at]));
    square = rounded(square + rounded(normal * normal));
}

// Four rows of two words each: coordinates are 32 apart.
fn add_rows(even: vec4<f32>, odd: vec4<f32>, at: u32) {
    add(even.x, at);
    add(odd.x, at + 32u);
    add(even.y, at + 64u);
    add(odd.y, at + 96u);
    add(even.z, at + 128u);
    add(odd.z, at + 160u);
    add(even.w, at + 192u);
    add(odd.w, at + 224u);
}

fn normals(block: vec2<u32>, stream: vec2<u32>) -> Normals {
    return any_normals(chacha8(params.noise_purpose, block, stream), 16u, block, stream);
}

@compute @workgroup_size(WORKGROUP)
fn multiply(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = (group.y * groups.x + group.x) * WORKGROUP + local;
    if (index >= dispatch.sums) { return; }
    let lane = index % SUMS;
    let block = (index / SUMS) % dispatch.blocks;
    let canary = index / SUMS / dispatch.blocks;
    let stream = plus(dispatch.canary_low, dispatch.canary_high, canary);
    product = 0.0;
    square = 0.0;
    for (var tile = 0u; tile < TILES; tile += 1u) {
        let words = (block * TILES + tile) * 64u + lane;
        let even = normals(plus(dispatch.words_low, dispatch.words_high, words), stream);
        let odd = normals(plus(dispatch.words_low, dispatch.words_high, words + 32u), stream);
        let at = (block * TILES + tile) * 1024u + lane;
        add_rows(even.a, odd.a, at);
        add_rows(even.b, odd.b, at + 256u);
        add_rows(even.c, odd.c, at + 512u);
        add_rows(even.d, odd.d, at + 768u);
    }
    values[2u * index] = product;
    values[2u * index + 1u] = square;
}
