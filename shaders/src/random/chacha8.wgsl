// ChaCha8: block `block` of stream `stream` (low word first) under the key (seed, purpose, zeros).
//
// Out: 16 words, four rows of the state. Parity: exact.

struct Block {
    a: vec4<u32>,
    b: vec4<u32>,
    c: vec4<u32>,
    d: vec4<u32>,
}

fn rotate(x: vec4<u32>, by: u32) -> vec4<u32> {
    return (x << vec4<u32>(by)) | (x >> vec4<u32>(32u - by));
}

fn quarter_rounds(s: Block) -> Block {
    var a = s.a;
    var b = s.b;
    var c = s.c;
    var d = s.d;
    a += b;
    d = rotate(d ^ a, 16u);
    c += d;
    b = rotate(b ^ c, 12u);
    a += b;
    d = rotate(d ^ a, 8u);
    c += d;
    b = rotate(b ^ c, 7u);
    return Block(a, b, c, d);
}

fn double_round(s: Block) -> Block {
    let columns = quarter_rounds(s);
    let turned = Block(columns.a, columns.b.yzwx, columns.c.zwxy, columns.d.wxyz);
    let diagonals = quarter_rounds(turned);
    return Block(diagonals.a, diagonals.b.wxyz, diagonals.c.zwxy, diagonals.d.yzwx);
}

fn chacha8(purpose: u32, block: vec2<u32>, stream: vec2<u32>) -> Block {
    let start = Block(
        vec4<u32>(0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u),
        vec4<u32>(params.seed_low, params.seed_high, purpose, 0u),
        vec4<u32>(0u),
        vec4<u32>(block, stream),
    );
    let end = double_round(double_round(double_round(double_round(start))));
    return Block(end.a + start.a, end.b + start.b, end.c + start.c, end.d + start.d);
}
