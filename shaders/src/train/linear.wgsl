// A linear layer on R rows: w·x + b, its input gradient, and Σ factor·gradient.
//
// Parity: relative, that of f32 sums.

// A column of the right factor: an input.
alias Spot = u32;

fn forward_left(row: u32, at: u32) -> Real {
    return input(row, at);
}

fn forward_right(at: u32, out: u32) -> Real {
    return theta[model * PARAMETERS + WEIGHTS + out * INPUTS + at];
}

fn forward_store(row: u32, out: u32, sum: Real) {
    put_output(row, out, sum + theta[model * PARAMETERS + WEIGHTS + OUTPUTS * INPUTS + out]);
}

fn input_gradient_left(row: u32, out: u32) -> Real {
    return output_gradient(row, out);
}

fn input_gradient_spot(at: u32) -> Spot {
    return model * PARAMETERS + WEIGHTS + at;
}

fn input_gradient_right(spot: Spot, out: u32) -> Real {
    return theta[spot + out * INPUTS];
}

fn input_gradient_store(row: u32, at: u32, sum: Real) {
    put_input_gradient(row, at, sum);
}

fn sums_left(out: u32, row: u32) -> Real {
    return times(factor(row), output_gradient(row, out));
}

// The bias is the weight of a constant input 1.
fn sums_spot(at: u32) -> Spot {
    return at;
}

fn sums_right(at: Spot, row: u32) -> Real {
    if (at == INPUTS) { return real(1.0); }
    return input(row, at);
}

fn sums_store(out: u32, at: u32, sum: Real) {
    let place = select(out * INPUTS + at, OUTPUTS * INPUTS + out, at == INPUTS);
    put_sum(WEIGHTS + place, sum);
}
