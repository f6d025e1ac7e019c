// Group normalisation on R rows: the forward pass, or the input gradient and per-example gradients
// with the sums of their squares.
//
// Grid: one workgroup per row and group; LANES threads per channel in the backward pass.
// Parity: relative, that of f32 sums.

const MEMBERS: u32 = CHANNELS * POSITIONS;

struct Pair {
    first: Real,
    second: Real,
}

var<workgroup> parts: array<Pair, WORKGROUP>;

// Sums over `lanes` consecutive threads.
fn joined(local: u32, x: Pair, lanes: u32) -> Pair {
    parts[local] = x;
    workgroupBarrier();
    for (var half = lanes / 2u; half > 0u; half /= 2u) {
        if (local % lanes < half) {
            parts[local].first += parts[local + half].first;
            parts[local].second += parts[local + half].second;
        }
        workgroupBarrier();
    }
    let sum = parts[local / lanes * lanes];
    workgroupBarrier();
    return sum;
}

var<private> mean: Real;
var<private> scale: Real;

// Sets the mean and 1/√(variance + ε) of a group whose first value is at `first`.
fn find_statistics(local: u32, row: u32, first: u32) {
    var sum = Real();
    for (var at = local; at < MEMBERS; at += WORKGROUP) { sum += input(row, first + at); }
    mean = joined(local, Pair(sum, Real()), WORKGROUP).first * SHARE;
    var squares = Real();
    for (var at = local; at < MEMBERS; at += WORKGROUP) {
        let deviation = input(row, first + at) - mean;
        squares += times(deviation, deviation);
    }
    let variance = joined(local, Pair(squares, Real()), WORKGROUP).first * SHARE;
    let inverse = 1.0 / sqrt(max(primal(variance) + EPSILON, 1e-30));
    scale = lifted(variance, inverse, -0.5 * inverse * inverse * inverse);
}

fn normalised(row: u32, at: u32) -> Real {
    return times(input(row, at) - mean, scale);
}

fn weight(channel: u32) -> Real {
    return theta[model * PARAMETERS + WEIGHTS + channel];
}

fn bias(channel: u32) -> Real {
    return theta[model * PARAMETERS + WEIGHTS + ALL_CHANNELS + channel];
}

fn forward(local: u32, row: u32, first: u32) {
    for (var at = first + local; at < first + MEMBERS; at += WORKGROUP) {
        let channel = at / POSITIONS;
        put_output(row, at, times(normalised(row, at), weight(channel)) + bias(channel));
    }
}

// With x̂ the normalised inputs and δ the output gradient:
// (wδ − mean(wδ) − x̂·mean(wδx̂))/√(variance + ε).
fn backward(local: u32, row: u32, group: u32) {
    let first_channel = group * CHANNELS;
    let gradients = model * VALUES + GRADIENTS + row * 2u * ALL_CHANNELS;
    var sum = Pair();
    var square = 0.0;
    for (var start = 0u; start < CHANNELS; start += WORKGROUP / LANES) {
        let member = start + local / LANES;
        let channel = first_channel + member;
        var own = Pair();
        if (member < CHANNELS) {
            for (var at = local % LANES; at < POSITIONS; at += LANES) {
                let place = channel * POSITIONS + at;
                let gradient = output_gradient(row, place);
                own.first += times(gradient, normalised(row, place));
                own.second += gradient;
            }
        }
        let found = joined(local, own, LANES);
        if (member < CHANNELS && local % LANES == 0u) {
            values[gradients + channel] = found.first;
            values[gradients + ALL_CHANNELS + channel] = found.second;
            let a = primal(found.first);
            let b = primal(found.second);
            square += a * a + b * b;
            sum.first += times(weight(channel), found.first);
            sum.second += times(weight(channel), found.second);
        }
    }
    let squares = joined(local, Pair(real(square), Real()), WORKGROUP).first;
    if (local == 0u) { values[model * VALUES + PARTIALS + row * NORM_GROUPS + group] = squares; }
    if (!HAS_INPUT_GRADIENT) { return; }
    sum = joined(local, sum, WORKGROUP);
    let along = sum.first * SHARE;
    let constant = sum.second * SHARE;
    let first = first_channel * POSITIONS;
    for (var at = first + local; at < first + MEMBERS; at += WORKGROUP) {
        let weighted = times(weight(at / POSITIONS), output_gradient(row, at));
        let centred = weighted - constant - times(normalised(row, at), along);
        put_input_gradient(row, at, times(scale, centred));
    }
}

@compute @workgroup_size(WORKGROUP)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let place = workgroup_index(group);
    if (place >= GROUPS) { return; }
    let row = place / NORM_GROUPS;
    let own = place % NORM_GROUPS;
    find_statistics(local, row, own * MEMBERS);
    if (FORWARD) {
        forward(local, row, own * MEMBERS);
    } else {
        backward(local, row, own);
    }
}
