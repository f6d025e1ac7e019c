// Squared norms of per-example gradients, by the threads of a workgroup.

var<workgroup> parts: array<vec2<f32>, WORKGROUP>;

fn joined(local: u32, x: vec2<f32>) -> vec2<f32> {
    parts[local] = x;
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        if (local < half) { parts[local] += parts[local + half]; }
        workgroupBarrier();
    }
    let sum = parts[0];
    workgroupBarrier();
    return sum;
}

// A thread's part of Σ x² over `count` words from `first` on.
fn squares(local: u32, first: u32, count: u32) -> f32 {
    var sum = 0.0;
    for (var start = local; start < count; start += 16u * WORKGROUP) {
        var short = 0.0;
        for (var i = 0u; i < 16u; i += 1u) {
            let at = start + i * WORKGROUP;
            if (at < count) {
                let x = values[first + at];
                short += x * x;
            }
        }
        sum += short;
    }
    return sum;
}

// A thread's part of Σ x² over the features of a record.
fn record_squares(local: u32, row: u32) -> f32 {
    var sum = 0.0;
    for (var start = local; start < INPUTS; start += 16u * WORKGROUP) {
        var short = 0.0;
        for (var i = 0u; i < 16u; i += 1u) {
            let at = start + i * WORKGROUP;
            if (at < INPUTS) {
                let x = input(row, at);
                short += x * x;
            }
        }
        sum += short;
    }
    return sum;
}

// A thread's part of a sum of partial sums.
fn summed(local: u32, first: u32, count: u32) -> f32 {
    var sum = 0.0;
    for (var at = local; at < count; at += WORKGROUP) { sum += values[first + at]; }
    return sum;
}
