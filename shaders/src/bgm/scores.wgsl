// Scores of observations of the batched Gaussian mechanism, counted in histograms.
//
// In: `params` and `scoring` (the plan), `dispatch` (which observations, and which blocks of their
// words), `weights` and `thresholds` of the slots.
// Out: `histogram`, counts of [world][parity of the observation][bin]; or, where asked to record,
// the scores themselves as [world][observation][low, high].
// Grid: workgroups (x, y) cover the observations, one an invocation; z is the world.
// `state` saves observations that are split among dispatches: [value][world][observation].
// Parity: exact mode bit for bit with the twin; fast mode within the error of `fast.rs`.

struct Params {
    seed_low: u32,
    seed_high: u32,
    noise_purpose: u32,
    slots_purpose: u32,
    // Entries of an epoch.
    entries: u32,
    thresholds: u32,
    units_per_nat: f32,
    // A zero unknown to the compiler.
    zero: u32,
}

struct Dispatch {
    first_low: u32,
    first_high: u32,
    observations: u32,
    // First block of words, and number of blocks.
    block_low: u32,
    block_high: u32,
    blocks: u32,
    // Rows of the last of these blocks that are entries.
    last_rows: u32,
    // Position of the first block: epoch, entry, and preceding segments of the epoch.
    epoch: u32,
    entry: u32,
    segments: u32,
    // Whether these are the first and the last blocks of the observations.
    begins: u32,
    ends: u32,
    // Whether scores are recorded instead of counted.
    records: u32,
    // Bins of the scores.
    origin_low: u32,
    origin_high: u32,
    shift: u32,
    bins: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> scoring: Scoring;
@group(0) @binding(2) var<uniform> dispatch: Dispatch;
@group(0) @binding(3) var<storage, read> weights: array<f32>;
@group(0) @binding(4) var<storage, read> thresholds: array<u32>;
@group(0) @binding(5) var<storage, read_write> state: array<u32>;
@group(0) @binding(6) var<storage, read_write> histogram: array<atomic<u32>>;

// 0 in D, 1 in D′.
var<private> world: u32;
// The sum of the epochs' scores in units, in two's complement.
var<private> score_low: u32;
var<private> score_high: u32;

// Rows of a block that belong to one epoch.
struct Segment {
    first: u32,
    end: u32,
}

const ROWS_A = vec4<u32>(0u, 1u, 2u, 3u);
const ROWS_B = vec4<u32>(4u, 5u, 6u, 7u);
const ROWS_C = vec4<u32>(8u, 9u, 10u, 11u);
const ROWS_D = vec4<u32>(12u, 13u, 14u, 15u);

// Whether any of the four rows from `row` belongs to the segment.
fn holds(segment: Segment, row: u32) -> bool {
    return segment.first < row + 4u && row < segment.end;
}

fn used(segment: Segment, rows: vec4<u32>) -> vec4<bool> {
    return (rows >= vec4<u32>(segment.first)) & (rows < vec4<u32>(segment.end));
}

// Weights (or their logarithms) of four entries; of entries outside the epoch, any.
fn weights_from(at: u32) -> vec4<f32> {
    let i = min(vec4<u32>(at) + ROWS_A, vec4<u32>(params.entries - 1u));
    return vec4<f32>(weights[i.x], weights[i.y], weights[i.z], weights[i.w]);
}

fn finish_epoch() {
    let units = round_to_i32(epoch_score() * params.units_per_nat);
    let low = bitcast<u32>(units);
    score_low += low;
    score_high += bitcast<u32>(units >> 31u) + select(0u, 1u, score_low < low);
}

// Bin 0 is below the origin; the last contains everything above the highest edge.
fn bin() -> u32 {
    let high = bitcast<i32>(score_high);
    let origin_high = bitcast<i32>(dispatch.origin_high);
    let below = high < origin_high || (high == origin_high && score_low < dispatch.origin_low);
    if (below) { return 0u; }
    let above_low = score_low - dispatch.origin_low;
    let above_high =
        score_high - dispatch.origin_high - select(0u, 1u, score_low < dispatch.origin_low);
    var width = above_low;
    var beyond = above_high;
    if (dispatch.shift >= 32u) {
        width = above_high >> (dispatch.shift - 32u);
        beyond = 0u;
    } else if (dispatch.shift > 0u) {
        width = (above_low >> dispatch.shift) | (above_high << (32u - dispatch.shift));
        beyond = above_high >> dispatch.shift;
    }
    let last = dispatch.bins - 2u;
    return select(min(width, last), last, beyond > 0u) + 1u;
}

fn count_or_record(index: u32) {
    if (dispatch.records == 0u) {
        let half = (dispatch.first_low + index) & 1u;
        atomicAdd(&histogram[(world * 2u + half) * dispatch.bins + bin()], 1u);
    } else {
        let at = 2u * (world * dispatch.observations + index);
        atomicStore(&histogram[at], score_low);
        atomicStore(&histogram[at + 1u], score_high);
    }
}

fn suspend(index: u32) {
    let values = array<u32, STATE_VALUES>(
        score_low, score_high, slot,
        bitcast<u32>(first.x), bitcast<u32>(first.y), bitcast<u32>(first.z), bitcast<u32>(first.w),
        bitcast<u32>(second.x), bitcast<u32>(second.y), bitcast<u32>(second.z), bitcast<u32>(second.w),
        bitcast<u32>(top.x), bitcast<u32>(top.y), bitcast<u32>(bottom.x), bitcast<u32>(bottom.y),
    );
    for (var i = 0u; i < STATE_VALUES; i++) {
        state[(i * 2u + world) * dispatch.observations + index] = values[i];
    }
}

fn resume(index: u32) {
    var values: array<u32, STATE_VALUES>;
    for (var i = 0u; i < STATE_VALUES; i++) {
        values[i] = state[(i * 2u + world) * dispatch.observations + index];
    }
    score_low = values[0];
    score_high = values[1];
    slot = values[2];
    first = bitcast<vec4<f32>>(vec4<u32>(values[3], values[4], values[5], values[6]));
    second = bitcast<vec4<f32>>(vec4<u32>(values[7], values[8], values[9], values[10]));
    top = bitcast<vec2<f32>>(vec2<u32>(values[11], values[12]));
    bottom = bitcast<vec2<f32>>(vec2<u32>(values[13], values[14]));
    segments = dispatch.segments;
}

fn words_of(block: vec2<u32>, stream: vec2<u32>) -> Block {
    return chacha8(params.noise_purpose, block, stream);
}

fn start_epoch(epoch: u32, stream: vec2<u32>) {
    clear_sums();
    begin_epoch();
    draw_slot(epoch, stream);
}

fn inclusion_words(words: Block, block: vec2<u32>, stream: vec2<u32>) -> Block {
    if (DRAWS_INCLUSIONS && (FIXED_SIZE || world == 0u)) { return chacha8(params.slots_purpose, block, stream); }
    return words;
}

fn block_at(i: u32) -> vec2<u32> {
    let low = dispatch.block_low + i;
    return vec2<u32>(low, dispatch.block_high + select(0u, 1u, low < i));
}

// Adds blocks from `from` until before `end`, each 16 rows within the epoch, or until one has a
// deep word; returns where it stopped.
fn add_plain_blocks(from_block: u32, end: u32, entry: u32, stream: vec2<u32>) -> u32 {
    var i = from_block;
    if (i < end) {
        loop {
            let block = block_at(i);
            let words = words_of(block, stream);
            if (has_deep_word(words)) { break; }
            let z = plain_normals(words);
            let t = entry + 16u * (i - from_block);
            add_segment(t, Segment(0u, 16u), z, inclusion_words(words, block, stream));
            i += 1u;
            continuing { break if i >= end; }
        }
    }
    segments += i - from_block;
    return i;
}

// Rare cases are handled outside the loop over plain blocks, and loops break at their ends:
// software rasterisers execute both sides of every branch, and the rest of an iteration after a
// break.
fn draw_and_score(stream: vec2<u32>) {
    var epoch = dispatch.epoch;
    var t = dispatch.entry;
    var i = 0u;
    if (dispatch.begins == 1u) { start_epoch(0u, stream); }
    loop {
        // The last block of an epoch, and one that fills a level of the sums, are not plain.
        let plain = min((params.entries - t - 1u) / 16u, 31u - segments % 32u);
        let end = i + min(plain, dispatch.blocks - i - 1u);
        let next = add_plain_blocks(i, end, t, stream);
        t += 16u * (next - i);
        let block = block_at(next);
        let words = words_of(block, stream);
        let rows = select(16u, dispatch.last_rows, next + 1u == dispatch.blocks);
        let z = any_normals(words, rows, block, stream);
        let inclusion = inclusion_words(words, block, stream);
        var row = 0u;
        loop {
            let count = min(rows - row, params.entries - t);
            add_segment(t, Segment(row, row + count), z, inclusion);
            carry();
            row += count;
            t += count;
            if (t == params.entries) {
                finish_epoch();
                epoch += 1u;
                t = 0u;
                start_epoch(epoch, stream);
            }
            continuing { break if row >= rows; }
        }
        i = next + 1u;
        continuing { break if i >= dispatch.blocks; }
    }
}

@compute @workgroup_size(WORKGROUP)
fn count(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = (group.y * groups.x + group.x) * WORKGROUP + local;
    if (index >= dispatch.observations) { return; }
    world = group.z;
    let low = dispatch.first_low + index;
    let high = dispatch.first_high + select(0u, 1u, low < index);
    if (dispatch.begins == 0u) { resume(index); }
    draw_and_score(vec2<u32>((low << 1u) | world, (high << 1u) | (low >> 31u)));
    if (dispatch.ends == 0u) { suspend(index); } else { count_or_record(index); }
}
