// Primitives of the float modes. In exact mode `params.zero`, a zero unknown to the compiler, is
// added to the bits of a product before it reaches a sum or another product, and to those of a sum
// before it reaches another sum: nothing can be fused or reassociated, so every result is one
// rounded f32 operation, as in the twin. (NVIDIA's compiler fuses through an xor with that zero.)
// Where the compiler takes orders not to (BARRIERS is false), the source is without.
//
// Parity: exact mode bit for bit; fast mode within the error of `fast.rs`.

fn barrier(x: vec4<f32>) -> vec4<f32> {
    if (BARRIERS) { return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) + vec4<u32>(params.zero)); }
    return x;
}

fn rounded(x: f32) -> f32 {
    if (EXACT && BARRIERS) { return bitcast<f32>(bitcast<u32>(x) + params.zero); }
    return x;
}

fn rounded2(x: vec2<f32>) -> vec2<f32> {
    if (EXACT && BARRIERS) {
        return bitcast<vec2<f32>>(bitcast<vec2<u32>>(x) + vec2<u32>(params.zero));
    }
    return x;
}

fn rounded4(x: vec4<f32>) -> vec4<f32> {
    if (EXACT) { return barrier(x); }
    return x;
}

// The word w, with `offset` 2^39 + 2^23, rounded to nearest. The conversion f32(u32) may round
// either way; here the halves of w are set into numbers with an exact difference, and the sum
// rounds once.
fn join_halves(w: vec2<u32>, offset: f32) -> vec2<f32> {
    let high = bitcast<vec2<f32>>((w >> vec2<u32>(16u)) | vec2<u32>(0x53000000u)); // 2^39 + high·2^16
    let low = bitcast<vec2<f32>>((w & vec2<u32>(0xffffu)) | vec2<u32>(0x4b000000u)); // 2^23 + low
    return rounded2(rounded2(high - offset) + low);
}

// Rounds a word to the nearest f32.
fn from_word(w: vec2<u32>) -> vec2<f32> {
    if (EXACT) { return join_halves(w, 549764202496.0); } // 2^39 + 2^23
    return vec2<f32>(w);
}

// Rounds a signed word to the nearest f32.
fn from_signed(w: vec2<u32>) -> vec2<f32> {
    if (EXACT) { return join_halves(w ^ vec2<u32>(0x80000000u), 551911686144.0); } // and 2^31 more
    return vec2<f32>(bitcast<vec2<i32>>(w));
}

// Nearest f32 of the square root of 0 or a normal number.
//
// The built-in functions may be off by some units of the last place. One step of Newton's from the
// guess leaves less than 1.1 units, and the nearest is found in integers: with 4^j ≤ x < 4^(j+1)
// the root is s·2^(j − 23) with s² = S, an integer whose lowest 32 bits are those of x's mantissa
// shifted. S − s² is small where s is near, hence exact in 32 bits; the nearest s is the one with
// −s < S − s² ≤ s.
fn root(x: vec2<f32>) -> vec2<f32> {
    // A driver may compute √0 as 0·(1/√0) = NaN; 10⁻¹⁵ is negligible.
    if (!EXACT) { return sqrt(max(x, vec2<f32>(1e-30))); }
    let inverse = inverseSqrt(x);
    let guess = x * inverse;
    let near = guess + (0.5 * inverse) * (x - guess * guess);
    let bits = bitcast<vec2<u32>>(x);
    // The bits of 2^j, less 2^23.
    let base = (((bits + 0x3f800000u) >> vec2<u32>(1u)) & vec2<u32>(0x7f800000u)) - 0x800000u;
    let square = bits << (vec2<u32>(24u) - ((bits >> vec2<u32>(23u)) & vec2<u32>(1u)));
    let s = bitcast<vec2<u32>>(near) - base;
    let off = bitcast<vec2<i32>>(square - s * s);
    let up = select(vec2<u32>(0u), vec2<u32>(1u), off > bitcast<vec2<i32>>(s));
    let down = select(vec2<u32>(0u), vec2<u32>(1u), off <= -bitcast<vec2<i32>>(s));
    let nearest = bitcast<vec2<f32>>(base + s + up - down);
    return select(nearest, x, x == vec2<f32>(0.0));
}
