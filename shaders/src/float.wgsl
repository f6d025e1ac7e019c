// What the float mode is made of. In exact mode a product is xor-ed with `law.zero`, a zero that no
// compiler knows of, before it reaches a sum or another product, and a sum before it reaches another
// sum: nothing can be fused or reassociated, so every result is one rounded f32 operation, as in the
// twin.
//
// Parity: exact mode bit for bit; fast mode within the error of `fast.rs`.

fn barrier(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(law.zero));
}

fn kept(x: f32) -> f32 {
    if (EXACT) { return bitcast<f32>(bitcast<u32>(x) ^ law.zero); }
    return x;
}

fn kept2(x: vec2<f32>) -> vec2<f32> {
    if (EXACT) { return bitcast<vec2<f32>>(bitcast<vec2<u32>>(x) ^ vec2<u32>(law.zero)); }
    return x;
}

fn kept4(x: vec4<f32>) -> vec4<f32> {
    if (EXACT) { return barrier(x); }
    return x;
}

// Nearest f32 of a word. f32(u32) may round either way; here both parts are exact and so is the
// product, and the sum rounds once.
fn from_word(w: vec2<u32>) -> vec2<f32> {
    if (EXACT) {
        return kept2(vec2<f32>(w >> vec2<u32>(16u)) * 65536.0 + vec2<f32>(w & vec2<u32>(0xffffu)));
    }
    return vec2<f32>(w);
}

// Nearest f32 of a word in two's complement.
fn from_signed(w: vec2<u32>) -> vec2<f32> {
    let signed = bitcast<vec2<i32>>(w);
    if (EXACT) {
        let high = vec2<f32>(signed >> vec2<u32>(16u)) * 65536.0;
        return kept2(high + vec2<f32>(w & vec2<u32>(0xffffu)));
    }
    return vec2<f32>(signed);
}

// Nearest f32 of the square root of 0 or a normal number.
//
// The built-in root may be off by some units of the last place. With x = M·4^j·2^p/2^23, p 0 or 1,
// the root is s·2^(j−23) with s² = S = M·2^(23+p); a guess s differs from it by about D/(2s),
// D = S − s², which is small enough to be exact in 32 bits though S and s² are not. The nearest s
// is the one with −s < D ≤ s.
fn root(x: vec2<f32>) -> vec2<f32> {
    if (!EXACT) { return sqrt(x); }
    let bits = bitcast<vec2<u32>>(x);
    let exponent = bits >> vec2<u32>(23u);
    let odd = (exponent & vec2<u32>(1u)) ^ vec2<u32>(1u);
    let base = ((exponent + 127u - odd) >> vec2<u32>(1u)) << vec2<u32>(23u);
    let mantissa = (bits & vec2<u32>(0x7fffffu)) | vec2<u32>(0x800000u);
    let guess = bitcast<vec2<i32>>(bitcast<vec2<u32>>(sqrt(x)) - base + 0x800000u);
    let square = bitcast<vec2<i32>>(mantissa << (vec2<u32>(23u) + odd));
    let off = square - guess * guess;
    let step = vec2<i32>(round(vec2<f32>(off) / vec2<f32>(2 * guess)));
    let near = guess + step;
    let rest = off - step * (2 * guess + step);
    let up = select(vec2<i32>(0), vec2<i32>(1), rest > near);
    let down = select(vec2<i32>(0), vec2<i32>(1), rest <= -near);
    let nearest = bitcast<vec2<f32>>(base + bitcast<vec2<u32>>(near + up - down) - 0x800000u);
    return select(nearest, x, x == vec2<f32>(0.0));
}
