// Initialises a run: its parameters and, if each run has its own, its canary.
//
// Grid: one workgroup per tile of 1024 parameters, one thread per block of words; the entries of a
// thread are 64 apart.
// Parity: words and indices exact, norms relative.

const RANDOM: u32 = 1u;
const DIRAC: u32 = 2u;
const NORMALIZE: u32 = 3u;

var<workgroup> parts: array<f32, WORKGROUP>;
var<private> square: f32;

fn entry(at: u32, normal: f32) {
    if (at >= PARAMETERS) { return; }
    let place = model * PARAMETERS + at;
    if (PART == NORMALIZE) {
        vector[place] *= values[model * VALUES + TILE_SUMS];
        return;
    }
    theta[place] = bitcast<f32>(data[at]);
    if (PART == RANDOM) {
        vector[place] = normal;
        square += normal * normal;
    }
}

fn entries(first: u32, normals: vec4<f32>) {
    entry(first, normals.x);
    entry(first + WORKGROUP, normals.y);
    entry(first + 2u * WORKGROUP, normals.z);
    entry(first + 3u * WORKGROUP, normals.w);
}

// High word of a product.
fn multiply_high(a: u32, b: u32) -> u32 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let first = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let second = (a & 0xffffu) * (b >> 16u) + (first & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (first >> 16u) + (second >> 16u);
}

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let tile = workgroup_index(group);
    if (tile >= GROUPS) { return; }
    let block = vec2<u32>(tile * WORKGROUP + local, 0u);
    let first = tile * 16u * WORKGROUP + local;
    var normals = Normals();
    if (PART == RANDOM) {
        normals = any_normals(chacha8(PURPOSE, block, stream()), 16u, block, stream());
    }
    entries(first, normals.a);
    entries(first + 4u * WORKGROUP, normals.b);
    entries(first + 8u * WORKGROUP, normals.c);
    entries(first + 12u * WORKGROUP, normals.d);
    if (PART == DIRAC) {
        let drawn = multiply_high(chacha8(PURPOSE, vec2<u32>(), stream()).a.x, PARAMETERS);
        for (var at = first; at < min(first + 16u * WORKGROUP, PARAMETERS); at += WORKGROUP) {
            vector[model * PARAMETERS + at] = select(0.0, 1.0, at == drawn);
        }
    }
    if (PART == RANDOM) {
        parts[local] = square;
        workgroupBarrier();
        for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
            if (local < half) { parts[local] += parts[local + half]; }
            workgroupBarrier();
        }
        if (local == 0u) { values[model * VALUES + TILE_SUMS + tile] = parts[0]; }
    }
}
