// Bindings of every training kernel, on numbers of type Real: seven buffers and one uniform; selection of the model.
//
// The models of a wave are stored consecutively: with two worlds the runs of D, then those of D′;
// with one run the units.

struct Params {
    seed_low: u32,
    seed_high: u32,
    first_run_low: u32,
    first_run_high: u32,
    // Number of runs of each world, or of units.
    runs: u32,
    // Step within the epoch.
    step: u32,
    // Index of the first order of the epoch.
    order_low: u32,
    order_high: u32,
    // First block of random words of the step's noise.
    block_low: u32,
    block_high: u32,
    // First row of the pass within the batch.
    first_row: u32,
    is_first_pass: u32,
    // Index of the output within the run.
    output: u32,
    // First workgroup of each model in this dispatch: long dispatches are split.
    first_group: u32,
    // A zero unknown to the compiler.
    zero: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> values: array<Real>;
@group(0) @binding(2) var<storage, read_write> theta: array<Real>;
@group(0) @binding(3) var<storage, read_write> sums: array<Real>;
// With two worlds the canary ĝ, with one run the velocity.
@group(0) @binding(4) var<storage, read_write> vector: array<f32>;
@group(0) @binding(5) var<storage, read> data: array<u32>;
@group(0) @binding(6) var<storage, read_write> rows: array<u32>;
@group(0) @binding(7) var<storage, read_write> outputs: array<f32>;

var<private> model: u32;

// Adds a word to a 64-bit number, low word first.
fn plus(wide: vec2<u32>, more: u32) -> vec2<u32> {
    let low = wide.x + more;
    return vec2<u32>(low, wide.y + select(0u, 1u, low < more));
}

// Index of the workgroup within its model; also sets the model.
fn workgroup_index(group: vec3<u32>) -> u32 {
    model = group.z;
    return params.first_group + group.y * COLUMNS + group.x;
}

// The bits of a float, hidden from the compiler: it may assume that every float is finite and
// answer tests of their bits.
fn bits_of(x: f32) -> u32 {
    return bitcast<u32>(x) ^ params.zero;
}

fn is_nan(x: f32) -> bool {
    return (bits_of(x) & 0x7fffffffu) > 0x7f800000u;
}

fn is_finite(x: f32) -> bool {
    return (bits_of(x) & 0x7fffffffu) < 0x7f800000u;
}
