// A pseudorandom permutation that is computed entry by entry, and its inverse.
//
// Parity: exact.

struct Order {
    first: vec4<u32>,
    last: vec4<u32>,
    count: u32,
    half_bits: u32,
}

// Order params.order + index of the model's stream; a block of words holds two orders.
fn order_of(index: u32, count: u32) -> Order {
    let number = plus(vec2<u32>(params.order_low, params.order_high), index);
    let block = vec2<u32>((number.x >> 1u) | (number.y << 31u), number.y >> 1u);
    let words = chacha8(PURPOSE, block, stream());
    let bits = 32u - countLeadingZeros(count - 1u);
    let half_bits = max((bits + 1u) / 2u, 4u);
    if ((number.x & 1u) == 1u) { return Order(words.c, words.d, count, half_bits); }
    return Order(words.a, words.b, count, half_bits);
}

fn mix_word(word: u32) -> u32 {
    var x = (word ^ (word >> 16u)) * 0x21f0aaadu;
    x = (x ^ (x >> 15u)) * 0x735a2d97u;
    return x ^ (x >> 15u);
}

fn round_of(half: u32, key: u32, half_bits: u32) -> u32 {
    return mix_word(half + key) >> (32u - half_bits);
}

// Double round: updates both halves.
fn pass_of(halves: vec2<u32>, keys: vec2<u32>, half_bits: u32) -> vec2<u32> {
    let mask = (1u << half_bits) - 1u;
    let left = (halves.x + round_of(halves.y, keys.x, half_bits)) & mask;
    return vec2<u32>(left, (halves.y + round_of(left, keys.y, half_bits)) & mask);
}

fn pass_back(halves: vec2<u32>, keys: vec2<u32>, half_bits: u32) -> vec2<u32> {
    let mask = (1u << half_bits) - 1u;
    let right = (halves.y - round_of(halves.x, keys.y, half_bits)) & mask;
    return vec2<u32>((halves.x - round_of(right, keys.x, half_bits)) & mask, right);
}

fn halves_of(value: u32, half_bits: u32) -> vec2<u32> {
    return vec2<u32>(value >> half_bits, value & ((1u << half_bits) - 1u));
}

// Entry at a position below the count.
fn order_at(order: Order, place: u32) -> u32 {
    let bits = order.half_bits;
    var value = place;
    loop {
        var halves = pass_of(halves_of(value, bits), order.first.xy, bits);
        halves = pass_of(halves, order.first.zw, bits);
        halves = pass_of(halves, order.last.xy, bits);
        halves = pass_of(halves, order.last.zw, bits);
        value = (halves.x << bits) | halves.y;
        continuing { break if value < order.count; }
    }
    return value;
}

// Position of a record below the count.
fn order_position(order: Order, record: u32) -> u32 {
    let bits = order.half_bits;
    var value = record;
    loop {
        var halves = pass_back(halves_of(value, bits), order.last.zw, bits);
        halves = pass_back(halves, order.last.xy, bits);
        halves = pass_back(halves, order.first.zw, bits);
        halves = pass_back(halves, order.first.xy, bits);
        value = (halves.x << bits) | halves.y;
        continuing { break if value < order.count; }
    }
    return value;
}

const NONE: u32 = 0xffffffffu;

// Number of records of a block that is shuffled separately.
fn block_count(block: u32) -> u32 {
    return min(BLOCK, RECORDS - block * BLOCK);
}

fn record_at(place: u32) -> u32 {
    if (!SHUFFLES) { return place; }
    let block = place / BLOCK;
    let order = order_of(block, block_count(block));
    return block * BLOCK + order_at(order, place % BLOCK);
}
