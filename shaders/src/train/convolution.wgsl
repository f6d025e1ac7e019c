// A convolution on R rows: Σ w·x + b over windows, its slopes by the inputs, gradients of single rows
// with the sums of their squares, and Σ factor·gradient. Windows are never stored.
//
// Parity: relative, that of sums in f32.

const SQUARE: u32 = KERNEL * KERNEL;
const TAPS: u32 = CHANNELS_IN * SQUARE;
const POSITIONS_IN: u32 = HEIGHT * WIDTH;
const POSITIONS: u32 = HEIGHT_OUT * WIDTH_OUT;
const BIASES: u32 = WEIGHTS + CHANNELS * TAPS;

// The input under a tap of the window at a position; 0 in the border.
fn window(row: u32, position: u32, tap: u32) -> f32 {
    let y = position / WIDTH_OUT * STRIDE + tap / KERNEL % KERNEL - PADDING;
    let x = position % WIDTH_OUT * STRIDE + tap % KERNEL - PADDING;
    if (y >= HEIGHT || x >= WIDTH) { return 0.0; }
    return input(row, (tap / SQUARE * HEIGHT + y) * WIDTH + x);
}

// The same with a tap more that is always 1: the bias's.
fn window_or_one(row: u32, position: u32, tap: u32) -> f32 {
    if (tap == TAPS) { return 1.0; }
    return window(row, position, tap);
}

fn forward_left(channel: u32, tap: u32) -> f32 {
    return theta[model * PARAMETERS + WEIGHTS + channel * TAPS + tap];
}

fn forward_right(tap: u32, place: u32) -> f32 {
    return window(place / POSITIONS, place % POSITIONS, tap);
}

fn forward_store(channel: u32, place: u32, sum: f32) {
    let at = channel * POSITIONS + place % POSITIONS;
    put_output(place / POSITIONS, at, sum + theta[model * PARAMETERS + BIASES + channel]);
}

// Terms are an output channel and a tap each.
fn slopes_left(channel: u32, term: u32) -> f32 {
    let weight = term / SQUARE * TAPS + channel * SQUARE + term % SQUARE;
    return theta[model * PARAMETERS + WEIGHTS + weight];
}

fn slopes_right(term: u32, place: u32) -> f32 {
    let position = place % POSITIONS_IN;
    let y = position / WIDTH + PADDING;
    let x = position % WIDTH + PADDING;
    let down = term / KERNEL % KERNEL;
    let right = term % KERNEL;
    if (y < down || x < right) { return 0.0; }
    let top = (y - down) / STRIDE;
    let left = (x - right) / STRIDE;
    let is_window = (y - down) % STRIDE == 0u && (x - right) % STRIDE == 0u;
    if (!is_window || top >= HEIGHT_OUT || left >= WIDTH_OUT) { return 0.0; }
    return slope(place / POSITIONS_IN, (term / SQUARE * HEIGHT_OUT + top) * WIDTH_OUT + left);
}

fn slopes_store(channel: u32, place: u32, sum: f32) {
    put_slope_below(place / POSITIONS_IN, channel * POSITIONS_IN + place % POSITIONS_IN, sum);
}

fn parameter(channel: u32, tap: u32) -> u32 {
    return select(channel * TAPS + tap, CHANNELS * TAPS + channel, tap == TAPS);
}

// One product a row.
var<private> square: f32;

fn gradients_left(channel: u32, position: u32) -> f32 {
    return slope(product, channel * POSITIONS + position);
}

fn gradients_right(position: u32, tap: u32) -> f32 {
    return window_or_one(product, position, tap);
}

fn gradients_store(channel: u32, tap: u32, sum: f32) {
    square += sum * sum;
    if (KEEPS) {
        let first = model * VALUES + GRADIENTS + product * CHANNELS * (TAPS + 1u);
        values[first + parameter(channel, tap)] = sum;
    }
}

var<workgroup> squares: array<f32, WORKGROUP>;

fn gradients_end(local: u32, tile: u32) {
    squares[local] = square;
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        if (local < half) { squares[local] += squares[local + half]; }
        workgroupBarrier();
    }
    if (local == 0u) { values[model * VALUES + PARTIALS + product * TILES + tile] = squares[0]; }
}

// Terms are a row and a position each.
fn sums_left(channel: u32, term: u32) -> f32 {
    let row = term / POSITIONS;
    return factor(row) * slope(row, channel * POSITIONS + term % POSITIONS);
}

fn sums_right(term: u32, tap: u32) -> f32 {
    return window_or_one(term / POSITIONS, term % POSITIONS, tap);
}

fn sums_store(channel: u32, tap: u32, sum: f32) {
    put_sum(WEIGHTS + parameter(channel, tap), sum);
}
