// Elementary functions of the scores. Parity: exact mode bit for bit.

// 2^t for t in [−126, 127].
fn power_of_two(t: vec4<f32>) -> vec4<f32> {
    let shifted = barrier(t + ROUNDER);
    let f = t - barrier(shifted - ROUNDER);
    var p = rounded4(EXP2_4 * f) + EXP2_3;
    p = rounded4(p * f) + EXP2_2;
    p = rounded4(p * f) + EXP2_1;
    p = rounded4(p * f) + EXP2_0;
    let y = rounded4(p * f) + 1.0;
    let exponent = bitcast<vec4<u32>>(shifted) << vec4<u32>(23u);
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(y) + exponent);
}

// 2^t for t ≤ 127; 2⁻¹²⁶ below the range.
fn power_of_two_from_below(t: vec4<f32>) -> vec4<f32> {
    return power_of_two(select(vec4<f32>(-126.0), t, t > vec4<f32>(-126.0)));
}

// ln(2^k·(1 + f)) for f in [√½ − 1, √2 − 1].
fn ln_of_parts(k: vec4<f32>, f: vec4<f32>) -> vec4<f32> {
    var p = rounded4(LN_7 * f) + LN_6;
    p = rounded4(p * f) + LN_5;
    p = rounded4(p * f) + LN_4;
    p = rounded4(p * f) + LN_3;
    p = rounded4(p * f) + LN_2;
    p = rounded4(p * f) + LN_1;
    p = rounded4(p * f) + LN_0;
    let rest = rounded4(rounded4(rounded4(f * f) * p) + f);
    return rounded4(rounded4(k * LN_OF_2) + rest);
}

struct Parts {
    exponent: vec4<f32>,
    mantissa: vec4<f32>,
}

// Exponent k and mantissa m in [√½, √2) of a normal x = 2^k·m.
fn split(x: vec4<f32>) -> Parts {
    let shifted = bitcast<vec4<u32>>(x) - SQRT_HALF_BITS;
    let mantissa = (shifted & vec4<u32>(0x7fffffu)) + SQRT_HALF_BITS;
    return Parts(
        vec4<f32>(bitcast<vec4<i32>>(shifted) >> vec4<u32>(23u)),
        bitcast<vec4<f32>>(mantissa),
    );
}

// Natural logarithm of a positive normal number.
fn ln(x: vec4<f32>) -> vec4<f32> {
    let parts = split(x);
    return ln_of_parts(parts.exponent, rounded4(parts.mantissa - 1.0));
}

// ln(1 + w), given w and u = 1 + w each to full relative accuracy; u > 0.
fn ln_1p(w: vec4<f32>, u: vec4<f32>) -> vec4<f32> {
    let parts = split(u);
    let f = select(rounded4(parts.mantissa - 1.0), w, parts.exponent == vec4<f32>(0.0));
    return ln_of_parts(parts.exponent, f);
}

// The nearest integer, ties to even, saturating to the range of i32.
fn round_to_i32(x: f32) -> i32 {
    let size = abs(x);
    let nearest = barrier(barrier(vec4<f32>(size + WHOLE)) - WHOLE).x;
    let whole = min(select(size, nearest, size < WHOLE), 2147483520.0);
    if (size >= 2147483648.0) { return select(2147483647, i32(-2147483648), x < 0.0); }
    return select(i32(whole), -i32(whole), x < 0.0);
}
