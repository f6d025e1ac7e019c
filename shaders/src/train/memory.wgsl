// Memory layout of a layer. Rows are examples with INPUTS inputs and OUTPUTS outputs.

const FROM_VALUES: u32 = 0u;
const FROM_BITS: u32 = 1u;
const FROM_BYTES: u32 = 2u;
const TANH: u32 = 1u;
const RELU: u32 = 2u;
const NONE: u32 = 0xffffffffu;

// Offset of the inputs of a row: outputs of the previous layer, or a packed record.
fn row_first(row: u32) -> u32 {
    if (SOURCE == FROM_VALUES) { return model * VALUES + INPUT + row * INPUTS; }
    let record = rows[model * ROW_WORDS + row];
    return select(INPUT + record * RECORD_WORDS, NONE, record == NONE);
}

// An input of the row at that offset; rows without a record are zeros.
fn value(first: u32, at: u32) -> Real {
    if (SOURCE == FROM_VALUES) { return values[first + at]; }
    if (first == NONE) { return Real(); }
    if (SOURCE == FROM_BITS) { return real(f32((data[first + at / 32u] >> (at % 32u)) & 1u)); }
    if (SOURCE == FROM_BYTES) {
        let byte = (data[first + at / 4u] >> (8u * (at % 4u))) & 255u;
        return real((f32(byte) * 2.0 - 255.0) * (1.0 / 255.0));
    }
    return real(bitcast<f32>(data[first + at]));
}

fn input(row: u32, at: u32) -> Real {
    return value(row_first(row), at);
}

// Gradient of the loss with respect to an output, before the activation.
fn output_gradient(row: u32, at: u32) -> Real {
    return values[model * VALUES + OUTPUT_GRADIENT + row * OUTPUTS + at];
}

fn factor(row: u32) -> Real {
    return values[model * VALUES + FACTORS + row];
}

fn put_output(row: u32, at: u32, x: Real) {
    values[model * VALUES + OUTPUT + row * OUTPUTS + at] = activated(ACTIVATION, x);
}

// Stores the gradient with respect to an input as that with respect to the previous layer's output
// before its activation.
fn put_input_gradient(row: u32, at: u32, x: Real) {
    var gradient = x;
    if (INPUT_ACTIVATION != 0u) { gradient = activation_gradient(INPUT_ACTIVATION, input(row, at), x); }
    values[model * VALUES + INPUT_GRADIENT + row * INPUTS + at] = gradient;
}

fn put_sum(at: u32, x: Real) {
    let place = model * PARAMETERS + at;
    if (params.is_first_pass == 1u) {
        sums[place] = x;
    } else {
        sums[place] += x;
    }
}

struct Power {
    exponent: i32,
    less_one: f32,
}

// (n, e^r − 1) with x = n·ln 2 + r.
fn reduced(x: f32) -> Power {
    let sum = x * LOG2_E + ROUNDING;
    let n = f32(i32(bitcast<u32>(sum) - bitcast<u32>(ROUNDING)));
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let end = 1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0));
    let series = 0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * end));
    return Power(i32(n), r + r * r * series);
}

fn power(n: i32) -> f32 {
    return bitcast<f32>(u32(n + 127) << 23u);
}

// e^x for x ≤ 0; preserves NaN.
fn exponential(x: f32) -> f32 {
    if (is_nan(x)) { return x; }
    let parts = reduced(max(x, -110.0));
    let half = parts.exponent >> 1u;
    return (1.0 + parts.less_one) * power(half) * power(parts.exponent - half);
}

// E/(E + 2) with E = e^2x − 1; preserves NaN.
fn hyperbolic_tangent(x: f32) -> f32 {
    if (is_nan(x)) { return x; }
    let parts = reduced(clamp(2.0 * x, -20.0, 20.0));
    let two = power(parts.exponent);
    let less_one = two * parts.less_one + (two - 1.0);
    return less_one / (less_one + 2.0);
}

// Preserves NaN by integer comparison: compilers may assume that floats are numbers.
fn activated(activation: u32, x: Real) -> Real {
    if (activation == TANH) {
        let y = hyperbolic_tangent(primal(x));
        return lifted(x, y, 1.0 - y * y);
    }
    if (activation == RELU) {
        return select(x, Real(), bits_of(primal(x)) - 0x80000000u <= 0x7f800000u);
    }
    return x;
}

// Converts the gradient with respect to an activation's output to that with respect to its input.
fn activation_gradient(activation: u32, output: Real, gradient: Real) -> Real {
    if (activation == TANH) { return times(gradient, real(1.0) - times(output, output)); }
    return select(Real(), gradient, primal(output) > 0.0);
}
