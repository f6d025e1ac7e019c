// Pooling and pure activation layers: forward pass and input gradient.
//
// Grid: one thread per output in the forward pass, per input in the backward pass.
// Parity: relative; exact for maxima: the first of equal values, NaN if any value is NaN.

const KIND_AVERAGE: u32 = 1u;
const KIND_MAXIMUM: u32 = 2u;

fn corner(at: u32) -> u32 {
    let channel = at / (HEIGHT_OUT * WIDTH_OUT);
    let y = at / WIDTH_OUT % HEIGHT_OUT * SIZE;
    return (channel * HEIGHT + y) * WIDTH + at % WIDTH_OUT * SIZE;
}

fn step(i: u32) -> u32 {
    return i / SIZE * WIDTH + i % SIZE;
}

fn mean(row: u32, first: u32) -> f32 {
    var sum = 0.0;
    for (var i = 0u; i < SIZE * SIZE; i += 1u) { sum += input(row, first + step(i)); }
    return sum * SHARE;
}

// Index of the first maximum, or of the first NaN if there is one.
fn largest(row: u32, first: u32) -> u32 {
    var best = first;
    var most = input(row, first);
    for (var i = 1u; i < SIZE * SIZE; i += 1u) {
        let at = first + step(i);
        let x = input(row, at);
        if (!is_nan(most) && (x > most || is_nan(x))) {
            best = at;
            most = x;
        }
    }
    return best;
}

fn forward(row: u32, at: u32) {
    if (KIND == KIND_AVERAGE) {
        put_output(row, at, mean(row, corner(at)));
    } else if (KIND == KIND_MAXIMUM) {
        put_output(row, at, input(row, largest(row, corner(at))));
    } else {
        put_output(row, at, input(row, at));
    }
}

fn backward(row: u32, at: u32) {
    if (KIND == 0u) {
        put_input_gradient(row, at, output_gradient(row, at));
        return;
    }
    let y = at / WIDTH % HEIGHT / SIZE;
    let x = at % WIDTH / SIZE;
    var found = 0.0;
    if (y < HEIGHT_OUT && x < WIDTH_OUT) {
        let block = (at / (HEIGHT * WIDTH) * HEIGHT_OUT + y) * WIDTH_OUT + x;
        if (KIND == KIND_AVERAGE) {
            found = output_gradient(row, block) * SHARE;
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
