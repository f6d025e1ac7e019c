// Standard normals from a block of words, by the Box–Muller transform.
//
// In: 16 words. Out: 16 normals. Parity: exact mode bit for bit.

struct Normals {
    a: vec4<f32>,
    b: vec4<f32>,
    c: vec4<f32>,
    d: vec4<f32>,
}

// −2 ln(v/2^bits), ≥ 0, for 0.5 ≤ v ≤ 2^bits.
fn radius_squared(v: vec2<f32>, bits: vec2<u32>) -> vec2<f32> {
    let shifted = bitcast<vec2<u32>>(v) - (SQRT_HALF_BITS + (bits << vec2<u32>(23u)));
    let exponent = vec2<f32>(bitcast<vec2<i32>>(shifted) >> vec2<u32>(23u));
    let mantissa = (shifted & vec2<u32>(0x7fffffu)) + SQRT_HALF_BITS;
    let f = rounded2(bitcast<vec2<f32>>(mantissa) - 1.0);
    var p = rounded2(RADIUS_6 * f) + RADIUS_5;
    p = rounded2(p * f) + RADIUS_4;
    p = rounded2(p * f) + RADIUS_3;
    p = rounded2(p * f) + RADIUS_2;
    p = rounded2(p * f) + RADIUS_1;
    p = rounded2(p * f) + RADIUS_0;
    return rounded2(rounded2(p * f) + rounded2(exponent * MINUS_2_LN_2));
}

// Points at `radius` and the angles of the words `w`: (cosine, sine, cosine, sine).
fn on_circle(radius: vec2<f32>, w: vec2<u32>) -> vec4<f32> {
    let signed = bitcast<vec2<f32>>(bitcast<vec2<u32>>(radius) ^ (w & vec2<u32>(0x80000000u)));
    let a = from_signed(w << vec2<u32>(1u)) * (1.0 / 2147483648.0);
    let t = rounded2(a * a);
    var c = rounded2(COS_4 * t) + COS_3;
    c = rounded2(c * t) + COS_2;
    c = rounded2(c * t) + COS_1;
    c = rounded2(c * t) + COS_0;
    var s = rounded2(SIN_4 * t) + SIN_3;
    s = rounded2(s * t) + SIN_2;
    s = rounded2(s * t) + SIN_1;
    s = rounded2(s * t) + SIN_0;
    let x = rounded2(signed * c);
    let y = rounded2(signed * rounded2(s * a));
    return vec4<f32>(x.x, y.x, x.y, y.y);
}

// Four normals from four words.
fn shallow_normals(w: vec4<u32>) -> vec4<f32> {
    return on_circle(root(radius_squared(rounded2(from_word(w.xz) + 0.5), vec2<u32>(32u))), w.yw);
}

// As above, with radius words below DEEP extended by the words of `extension`.
fn deep_normals(w: vec4<u32>, extension: vec4<u32>) -> vec4<f32> {
    let word = from_word(w.xz);
    let extended = rounded2(word * 4294967296.0 + rounded2(from_word(extension.xz) + 0.5));
    let deep = w.xz < vec2<u32>(DEEP);
    let v = select(rounded2(word + 0.5), extended, deep);
    let bits = select(vec2<u32>(32u), vec2<u32>(64u), deep);
    return on_circle(root(radius_squared(v, bits)), w.yw);
}

// Whether a radius word needs its extension: one block in 2¹⁷.
fn has_deep_word(words: Block) -> bool {
    let least = min(min(words.a.xz, words.b.xz), min(words.c.xz, words.d.xz));
    return min(least.x, least.y) < DEEP;
}

// The normals of a block without deep words.
fn plain_normals(words: Block) -> Normals {
    return Normals(
        shallow_normals(words.a),
        shallow_normals(words.b),
        shallow_normals(words.c),
        shallow_normals(words.d),
    );
}

// The normals of the first `rows` rows of any block.
fn any_normals(words: Block, rows: u32, block: vec2<u32>, stream: vec2<u32>) -> Normals {
    var extension = words;
    if (has_deep_word(words)) {
        extension = chacha8(params.noise_purpose ^ 0x80000000u, block, stream);
    }
    var z = Normals();
    z.a = deep_normals(words.a, extension.a);
    if (rows > 4u) { z.b = deep_normals(words.b, extension.b); }
    if (rows > 8u) { z.c = deep_normals(words.c, extension.c); }
    if (rows > 12u) { z.d = deep_normals(words.d, extension.d); }
    return z;
}
