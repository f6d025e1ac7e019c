// Epochs of the exact pair, drawn from a proposal and summed over all slots except the target's.
//
// In: `params` (the proposal and the seed), `thresholds` (the first word of each component but the
// first), `dispatch` (which draws).
// Out: `values`, [draw][8]: the target's normal, the centre, the largest normal, Σ z,
// Σ 2^(s(z − c)), Σ 2^(2s(z − c)), Σ 2^(bs(z − c)), and the component, with EXTREME set if a
// radius word has no proven error.
// Grid: workgroups (x, y) cover the draws, one an invocation.
// Parity: exact mode bit for bit with the twin; there is no fast mode.

struct Params {
    seed_low: u32,
    seed_high: u32,
    noise_purpose: u32,
    // Slots of an epoch.
    steps: u32,
    thresholds: u32,
    // A bit for each component that shifts another slot, and by how much in units of σ.
    shifts_other: u32,
    other_shift: f32,
    // log₂e/σ and log₂e·b/σ.
    slope: f32,
    slope_others: f32,
    // Maximum distance of a normal above the centre.
    span: f32,
    // A zero unknown to the compiler.
    zero: u32,
}

struct Dispatch {
    first_low: u32,
    first_high: u32,
    draws: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<uniform> dispatch: Dispatch;
@group(0) @binding(4) var<storage, read> thresholds: array<u32>;
@group(0) @binding(6) var<storage, read_write> values: array<u32>;

// Below every normal, and far from overflow under every slope.
const NOWHERE: f32 = -1e20;

const ROWS_A = vec4<u32>(0u, 1u, 2u, 3u);
const ROWS_B = vec4<u32>(4u, 5u, 6u, 7u);
const ROWS_C = vec4<u32>(8u, 9u, 10u, 11u);
const ROWS_D = vec4<u32>(12u, 13u, 14u, 15u);

// Rows of a block that belong to the epoch.
struct Rows {
    first: u32,
    end: u32,
}

var<private> centre: f32;
var<private> maximum: f32;
// Four sums (Σ z, first, second, others) in three levels, of 32 terms each.
var<private> lowest: vec4<f32>;
var<private> middle: vec4<f32>;
var<private> highest: vec4<f32>;

fn used(rows: Rows, at: vec4<u32>) -> vec4<bool> {
    return (at >= vec4<u32>(rows.first)) & (at < vec4<u32>(rows.end));
}

fn extremes(words: vec4<u32>, inside: vec4<bool>) -> u32 {
    let radius = words.xz;
    let outside =
        (radius < vec2<u32>(MIN_RADIUS_WORD)) | (radius > vec2<u32>(MAX_RADIUS_WORD));
    return select(0u, EXTREME, any(outside & inside.xz));
}

fn larger(largest: vec4<f32>, z: vec4<f32>, inside: vec4<bool>) -> vec4<f32> {
    return select(largest, z, inside & (z > largest));
}

fn add_quarter(sums: vec4<f32>, z: vec4<f32>, inside: vec4<bool>) -> vec4<f32> {
    let above = rounded4(z - centre);
    let y = power_of_two_from_below(rounded4(above * params.slope));
    let square = rounded4(y * y);
    let other = power_of_two_from_below(rounded4(above * params.slope_others));
    let none = vec4<f32>();
    var sum = rounded4(sums + select(none, vec4<f32>(z.x, y.x, square.x, other.x), inside.x));
    sum = rounded4(sum + select(none, vec4<f32>(z.y, y.y, square.y, other.y), inside.y));
    sum = rounded4(sum + select(none, vec4<f32>(z.z, y.z, square.z, other.z), inside.z));
    return rounded4(sum + select(none, vec4<f32>(z.w, y.w, square.w, other.w), inside.w));
}

// Moves the centre if the largest normal is too far above it, and adds the terms of the block.
fn add_block(z: Normals, rows: Rows) {
    var best = vec4<f32>(NOWHERE);
    best = larger(best, z.a, used(rows, ROWS_A));
    best = larger(best, z.b, used(rows, ROWS_B));
    best = larger(best, z.c, used(rows, ROWS_C));
    best = larger(best, z.d, used(rows, ROWS_D));
    let pair = select(best.xy, best.zw, best.zw > best.xy);
    let largest = select(pair.x, pair.y, pair.y > pair.x);
    let moved = select(centre, largest, rounded(largest - centre) > params.span);
    let down = rounded(centre - moved);
    let exponents = vec4<f32>(rounded(down * params.slope), rounded(down * params.slope_others), 0.0, 0.0);
    let powers = power_of_two_from_below(exponents);
    let scale = vec4<f32>(1.0, powers.x, rounded(powers.x * powers.x), powers.y);
    centre = moved;
    maximum = select(maximum, largest, largest > maximum);
    var sums = add_quarter(vec4<f32>(), z.a, used(rows, ROWS_A));
    sums = add_quarter(sums, z.b, used(rows, ROWS_B));
    sums = add_quarter(sums, z.c, used(rows, ROWS_C));
    sums = add_quarter(sums, z.d, used(rows, ROWS_D));
    lowest = rounded4(rounded4(lowest * scale) + sums);
    middle = rounded4(middle * scale);
    highest = rounded4(highest * scale);
}

// Call after adding a block, with the number of blocks so far.
fn carry(blocks: u32) {
    if (blocks % 32u == 0u) {
        middle = rounded4(middle + lowest);
        lowest = vec4<f32>();
        if (blocks % 1024u == 0u) {
            highest = rounded4(highest + middle);
            middle = vec4<f32>();
        }
    }
}

fn component(word: u32) -> u32 {
    var picked = 0u;
    for (var i = 0u; i < params.thresholds; i++) {
        picked += select(0u, 1u, thresholds[i] <= word);
    }
    return picked;
}

@compute @workgroup_size(WORKGROUP)
fn draw(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = (group.y * groups.x + group.x) * WORKGROUP + local;
    if (index >= dispatch.draws) { return; }
    let low = dispatch.first_low + index;
    let high = dispatch.first_high + select(0u, 1u, low < index);
    let stream = vec2<u32>(low << 1u, (high << 1u) | (low >> 31u));
    centre = NOWHERE;
    maximum = NOWHERE;
    var is_extreme = 0u;
    var picked = 0u;
    var target_normal = 0.0;
    let end = params.steps + HEAD;
    var i = 0u;
    loop {
        let block = vec2<u32>(i, 0u);
        let words = chacha8(params.noise_purpose, block, stream);
        var rows = Rows(0u, min(end - 16u * i, 16u));
        var z = any_normals(words, rows.end, block, stream);
        if (i == 0u) {
            picked = component(words.a.x);
            let shifts = ((params.shifts_other >> picked) & 1u) == 1u;
            target_normal = z.a.z;
            z.a.w = select(z.a.w, rounded(z.a.w + params.other_shift), shifts);
            rows.first = HEAD;
        }
        is_extreme |= extremes(words.a, used(rows, ROWS_A));
        is_extreme |= extremes(words.b, used(rows, ROWS_B));
        is_extreme |= extremes(words.c, used(rows, ROWS_C));
        is_extreme |= extremes(words.d, used(rows, ROWS_D));
        // The host processes the target's slot.
        rows.first += select(0u, 1u, i == 0u);
        add_block(z, rows);
        i += 1u;
        carry(i);
        continuing { break if 16u * i >= end; }
    }
    let sums = rounded4(rounded4(lowest + middle) + highest);
    let at = 8u * index;
    values[at] = bitcast<u32>(target_normal);
    values[at + 1u] = bitcast<u32>(centre);
    values[at + 2u] = bitcast<u32>(maximum);
    values[at + 3u] = bitcast<u32>(sums.x);
    values[at + 4u] = bitcast<u32>(sums.y);
    values[at + 5u] = bitcast<u32>(sums.z);
    values[at + 6u] = bitcast<u32>(sums.w);
    values[at + 7u] = picked | is_extreme;
}
