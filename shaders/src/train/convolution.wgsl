// A convolution on R rows: Σ w·x + b over windows, its input gradient, per-example gradients with
// the sums of their squares, and Σ factor·gradient. Windows are never stored.
//
// Parity: relative, that of f32 sums.

const SQUARE: u32 = KERNEL * KERNEL;
const TAPS: u32 = CHANNELS_IN * SQUARE;
const POSITIONS_IN: u32 = HEIGHT * WIDTH;
const POSITIONS: u32 = HEIGHT_OUT * WIDTH_OUT;
const BIASES: u32 = WEIGHTS + CHANNELS * TAPS;

// A column of the right factor: the offset of its row of values, and its index and position (y, x)
// in them, which wrap around 0 in the border.
struct Spot {
    first: u32,
    at: u32,
    y: u32,
    x: u32,
}

fn forward_spot(place: u32) -> Spot {
    let position = place % POSITIONS;
    let y = position / WIDTH_OUT * STRIDE - PADDING;
    let x = position % WIDTH_OUT * STRIDE - PADDING;
    return Spot(row_first(place / POSITIONS), y * WIDTH + x, y, x);
}

// The input at a tap of the window whose corner is at (y, x); 0 in the border.
fn forward_right(spot: Spot, tap: u32) -> Real {
    let down = tap / KERNEL % KERNEL;
    let right = tap % KERNEL;
    if (PADDING > 0u && (spot.y + down >= HEIGHT || spot.x + right >= WIDTH)) { return Real(); }
    return value(spot.first, spot.at + tap / SQUARE * POSITIONS_IN + down * WIDTH + right);
}

fn forward_left(channel: u32, tap: u32) -> Real {
    return theta[model * PARAMETERS + WEIGHTS + channel * TAPS + tap];
}

fn forward_store(channel: u32, place: u32, sum: Real) {
    let at = channel * POSITIONS + place % POSITIONS;
    put_output(place / POSITIONS, at, sum + theta[model * PARAMETERS + BIASES + channel]);
}

// A term is an output channel and a tap.
fn input_gradient_left(channel: u32, term: u32) -> Real {
    let weight = term / SQUARE * TAPS + channel * SQUARE + term % SQUARE;
    return theta[model * PARAMETERS + WEIGHTS + weight];
}

fn input_gradient_spot(place: u32) -> Spot {
    let position = place % POSITIONS_IN;
    let first = model * VALUES + OUTPUT_GRADIENT + place / POSITIONS_IN * OUTPUTS;
    return Spot(first, 0u, position / WIDTH + PADDING, position % WIDTH + PADDING);
}

// The output gradient of the window with this input at the tap; 0 if there is none.
fn input_gradient_right(spot: Spot, term: u32) -> Real {
    let down = spot.y - term / KERNEL % KERNEL;
    let right = spot.x - term % KERNEL;
    let y = down / STRIDE;
    let x = right / STRIDE;
    if (y >= HEIGHT_OUT || x >= WIDTH_OUT) { return Real(); }
    if (y * STRIDE != down || x * STRIDE != right) { return Real(); }
    return values[spot.first + (term / SQUARE * HEIGHT_OUT + y) * WIDTH_OUT + x];
}

fn input_gradient_store(channel: u32, place: u32, sum: Real) {
    put_input_gradient(place / POSITIONS_IN, channel * POSITIONS_IN + place % POSITIONS_IN, sum);
}

fn parameter(channel: u32, tap: u32) -> u32 {
    return select(channel * TAPS + tap, CHANNELS * TAPS + channel, tap == TAPS);
}

// Marks the column of the biases; not a valid index.
const ONE: u32 = 0x80000000u;

// The column of a tap in a row; the last column is the constant 1 of the biases.
fn spot_of_tap(first: u32, tap: u32) -> Spot {
    let y = tap / KERNEL % KERNEL - PADDING;
    let x = tap % KERNEL - PADDING;
    let at = tap / SQUARE * POSITIONS_IN + y * WIDTH + x;
    return Spot(first, select(at, ONE, tap == TAPS), y, x);
}

// The input at the tap of the window at a position.
fn under(spot: Spot, position: u32) -> Real {
    if (spot.at == ONE) { return real(1.0); }
    let down = position / WIDTH_OUT * STRIDE;
    let right = position % WIDTH_OUT * STRIDE;
    if (PADDING > 0u && (spot.y + down >= HEIGHT || spot.x + right >= WIDTH)) { return Real(); }
    return value(spot.first, spot.at + down * WIDTH + right);
}

// One product per row.
var<private> square: f32;

fn gradients_left(channel: u32, position: u32) -> Real {
    return output_gradient(product, channel * POSITIONS + position);
}

fn gradients_spot(tap: u32) -> Spot {
    return spot_of_tap(row_first(product), tap);
}

fn gradients_right(spot: Spot, position: u32) -> Real {
    return under(spot, position);
}

fn gradients_store(channel: u32, tap: u32, sum: Real) {
    square += primal(sum) * primal(sum);
    if (SAVES_GRADIENTS) {
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
    if (local == 0u) {
        values[model * VALUES + PARTIALS + product * TILES + tile] = real(squares[0]);
    }
}

// A term is a row and a position.
fn sums_left(channel: u32, term: u32) -> Real {
    let row = term / POSITIONS;
    return times(factor(row), output_gradient(row, channel * POSITIONS + term % POSITIONS));
}

fn sums_spot(tap: u32) -> Spot {
    return spot_of_tap(0u, tap);
}

fn sums_right(spot: Spot, term: u32) -> Real {
    let first = row_first(term / POSITIONS);
    return under(Spot(first, spot.at, spot.y, spot.x), term % POSITIONS);
}

fn sums_store(channel: u32, tap: u32, sum: Real) {
    put_sum(WEIGHTS + parameter(channel, tap), sum);
}
