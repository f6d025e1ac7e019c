// Pooling, functions of single values, and pure activation layers: forward pass and input gradient.
//
// Grid: one thread per output in the forward pass, per input in the backward pass.
// Parity: relative; exact for maxima: the first of equal values, NaN if any value is NaN. Absolute
// for Φ, whose fraction has an error of 3e-7: GELU's is 3e-7·|x|, its derivative's 3e-7.

const KIND_AVERAGE: u32 = 1u;
const KIND_MAXIMUM: u32 = 2u;
const KIND_GELU: u32 = 3u;
const KIND_SOFTPLUS: u32 = 4u;
const KIND_SCALE: u32 = 5u;

fn corner(at: u32) -> u32 {
    let channel = at / (HEIGHT_OUT * WIDTH_OUT);
    let y = at / WIDTH_OUT % HEIGHT_OUT * SIZE;
    return (channel * HEIGHT + y) * WIDTH + at % WIDTH_OUT * SIZE;
}

fn step(i: u32) -> u32 {
    return i / SIZE * WIDTH + i % SIZE;
}

fn mean(row: u32, first: u32) -> Real {
    var sum = Real();
    for (var i = 0u; i < SIZE * SIZE; i += 1u) { sum += input(row, first + step(i)); }
    return sum * FACTOR;
}

// Index of the first maximum, or of the first NaN if there is one.
fn largest(row: u32, first: u32) -> u32 {
    var best = first;
    var most = primal(input(row, first));
    for (var i = 1u; i < SIZE * SIZE; i += 1u) {
        let at = first + step(i);
        let x = primal(input(row, at));
        if (!is_nan(most) && (x > most || is_nan(x))) {
            best = at;
            most = x;
        }
    }
    return best;
}

// Φ(x) = (1 + erf(x/√2))/2, with erf z = z·P(z²)/Q(z²) for |z| ≤ 4.
fn normal_cdf(x: f32) -> f32 {
    let z = clamp(x * SQRT_HALF, -4.0, 4.0);
    let q = z * z;
    var p = -2.101024e-6 + q * (2.7706814e-8 + q * -2.7261423e-10);
    p = -7.3499063e-4 + q * (-5.6925064e-5 + q * p);
    p = -1.6096033e-2 + q * (-2.9546e-3 + q * p);
    var d = -2.1337406e-4 + q * -1.4566072e-5;
    d = -1.4264739e-2 + q * (-7.3733292e-3 + q * (-1.682827e-3 + q * d));
    return 0.5 + 0.5 * (z * p / d);
}

// ln(1 + e^x) = max(x, 0) + 2 artanh(u/(u + 2)) with u = e^−|x|; preserves NaN.
fn softplus(x: f32) -> f32 {
    if (is_nan(x)) { return x; }
    let u = exponential(-abs(x));
    let s = u / (u + 2.0);
    let q = s * s;
    var series = 1.0 / 9.0 + q * (1.0 / 11.0 + q * (1.0 / 13.0 + q * (1.0 / 15.0)));
    series = 1.0 + q * (1.0 / 3.0 + q * (1.0 / 5.0 + q * (1.0 / 7.0 + q * series)));
    return max(x, 0.0) + 2.0 * s * series;
}

// 1/(1 + e^−x); preserves NaN.
fn sigmoid(x: f32) -> f32 {
    if (is_nan(x)) { return x; }
    let u = exponential(-abs(x));
    return select(1.0, u, x < 0.0) / (1.0 + u);
}

fn normal_density(x: f32) -> f32 {
    return exponential(-0.5 * x * x) * NORMAL_AT_0;
}

fn transformed(number: Real) -> Real {
    let x = primal(number);
    if (KIND == KIND_GELU) {
        let cdf = normal_cdf(x);
        return lifted(number, x * cdf, cdf + x * normal_density(x));
    }
    if (KIND == KIND_SOFTPLUS) { return lifted(number, softplus(x), sigmoid(x)); }
    if (KIND == KIND_SCALE) { return number * FACTOR; }
    return number;
}

fn derivative(number: Real) -> Real {
    let x = primal(number);
    if (KIND == KIND_GELU) {
        let density = normal_density(x);
        return lifted(number, normal_cdf(x) + x * density, density * (2.0 - x * x));
    }
    if (KIND == KIND_SOFTPLUS) {
        let s = sigmoid(x);
        return lifted(number, s, s * (1.0 - s));
    }
    if (KIND == KIND_SCALE) { return real(FACTOR); }
    return real(1.0);
}

fn forward(row: u32, at: u32) {
    if (KIND == KIND_AVERAGE) {
        put_output(row, at, mean(row, corner(at)));
    } else if (KIND == KIND_MAXIMUM) {
        put_output(row, at, input(row, largest(row, corner(at))));
    } else {
        put_output(row, at, transformed(input(row, at)));
    }
}

fn backward(row: u32, at: u32) {
    if (KIND != KIND_AVERAGE && KIND != KIND_MAXIMUM) {
        put_input_gradient(row, at, times(output_gradient(row, at), derivative(input(row, at))));
        return;
    }
    let y = at / WIDTH % HEIGHT / SIZE;
    let x = at % WIDTH / SIZE;
    var found = Real();
    if (y < HEIGHT_OUT && x < WIDTH_OUT) {
        let block = (at / (HEIGHT * WIDTH) * HEIGHT_OUT + y) * WIDTH_OUT + x;
        if (KIND == KIND_AVERAGE) {
            found = output_gradient(row, block) * FACTOR;
        } else if (largest(row, corner(block)) == at) {
            found = output_gradient(row, block);
        }
    }
    put_input_gradient(row, at, found);
}

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let at = workgroup_index(group) * WORKGROUP + local;
    if (FORWARD) {
        if (at < ROWS * OUTPUTS) { forward(at / OUTPUTS, at % OUTPUTS); }
    } else {
        if (at < ROWS * INPUTS) { backward(at / INPUTS, at % INPUTS); }
    }
}
