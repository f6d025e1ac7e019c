// What every kernel of a training sees: seven buffers and one uniform, and which model it works on.
//
// Models of a wave lie one after the other: the runs of D, then those of D′.

struct Law {
    seed_low: u32,
    seed_high: u32,
    first_run_low: u32,
    first_run_high: u32,
    // Runs of each world.
    runs: u32,
    // Within the epoch.
    step: u32,
    // Number of the first order of the epoch.
    order_low: u32,
    order_high: u32,
    // First block of the step's noise.
    block_low: u32,
    block_high: u32,
    // First row of the pass within the batch.
    first_row: u32,
    is_first_pass: u32,
    // Which output of the run.
    output: u32,
    // First of a model's workgroups that are dispatched: heavy dispatches are cut.
    first_group: u32,
    // A zero that the compiler does not know of.
    zero: u32,
}

@group(0) @binding(0) var<uniform> law: Law;
@group(0) @binding(1) var<storage, read_write> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> theta: array<f32>;
@group(0) @binding(3) var<storage, read_write> sums: array<f32>;
@group(0) @binding(4) var<storage, read_write> canary: array<f32>;
@group(0) @binding(5) var<storage, read> data: array<u32>;
@group(0) @binding(6) var<storage, read_write> rows: array<u32>;
@group(0) @binding(7) var<storage, read_write> outputs: array<f32>;

var<private> model: u32;

// A number of 64 bits, low word first, and one of 32.
fn plus(wide: vec2<u32>, more: u32) -> vec2<u32> {
    let low = wide.x + more;
    return vec2<u32>(low, wide.y + select(0u, 1u, low < more));
}

// 2·run + world.
fn stream() -> vec2<u32> {
    let run = plus(vec2<u32>(law.first_run_low, law.first_run_high), model % law.runs);
    return vec2<u32>((run.x << 1u) | (model / law.runs), (run.y << 1u) | (run.x >> 31u));
}

// Where the workgroup stands among those of its model, which it finds as well.
fn place_of(group: vec3<u32>) -> u32 {
    model = group.z;
    return law.first_group + group.y * COLUMNS + group.x;
}

// The bits of a number as something that the compiler does not know to be one: it may take every
// float to be finite, and tests of their bits to be known.
fn bits_of(x: f32) -> u32 {
    return bitcast<u32>(x) ^ law.zero;
}

fn is_nan(x: f32) -> bool {
    return (bits_of(x) & 0x7fffffffu) > 0x7f800000u;
}

fn is_finite(x: f32) -> bool {
    return (bits_of(x) & 0x7fffffffu) < 0x7f800000u;
}
