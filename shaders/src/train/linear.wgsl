// A linear layer on R rows: w·x + b, its slopes by the inputs, and Σ factor·gradient.
//
// Parity: relative, that of sums in f32.

// A column of the right factor: an input.
alias Spot = u32;

fn forward_left(row: u32, at: u32) -> f32 {
    return input(row, at);
}

fn forward_right(at: u32, out: u32) -> f32 {
    return theta[model * PARAMETERS + WEIGHTS + out * INPUTS + at];
}

fn forward_store(row: u32, out: u32, sum: f32) {
    put_output(row, out, sum + theta[model * PARAMETERS + WEIGHTS + OUTPUTS * INPUTS + out]);
}

fn slopes_left(row: u32, out: u32) -> f32 {
    return slope(row, out);
}

fn slopes_spot(at: u32) -> Spot {
    return model * PARAMETERS + WEIGHTS + at;
}

fn slopes_right(spot: Spot, out: u32) -> f32 {
    return theta[spot + out * INPUTS];
}

fn slopes_store(row: u32, at: u32, sum: f32) {
    put_slope_below(row, at, sum);
}

fn sums_left(out: u32, row: u32) -> f32 {
    return factor(row) * slope(row, out);
}

// The bias is the weight of an input that is 1.
fn sums_spot(at: u32) -> Spot {
    return at;
}

fn sums_right(at: Spot, row: u32) -> f32 {
    if (at == INPUTS) { return 1.0; }
    return input(row, at);
}

fn sums_store(out: u32, at: u32, sum: f32) {
    let place = select(out * INPUTS + at, OUTPUTS * INPUTS + out, at == INPUTS);
    put_sum(WEIGHTS + place, sum);
}
