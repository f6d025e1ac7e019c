// Sums over the entries of an epoch, in four levels: 32 segments of at most 16 rows form a term of
// the next level. Parity: exact mode bit for bit.

// The two sums of an epoch; level 0 in x.
var<private> first: vec4<f32>;
var<private> second: vec4<f32>;
// Moving centre: entry and log₂ weight of the largest terms of the two sums.
var<private> top: vec2<f32>;
var<private> bottom: vec2<f32>;
// Number of segments in the sums.
var<private> segments: u32;

fn clear_sums() {
    first = vec4<f32>();
    second = vec4<f32>();
    segments = 0u;
}

// Call after adding a segment to level 0.
fn carry() {
    segments += 1u;
    if (segments % 32u == 0u) {
        first = vec4<f32>(0.0, rounded(first.y + first.x), first.zw);
        second = vec4<f32>(0.0, rounded(second.y + second.x), second.zw);
        if (segments % 1024u == 0u) {
            first = vec4<f32>(first.x, 0.0, rounded(first.z + first.y), first.w);
            second = vec4<f32>(second.x, 0.0, rounded(second.z + second.y), second.w);
            if (segments % 32768u == 0u) {
                first = vec4<f32>(first.xy, 0.0, rounded(first.w + first.z));
                second = vec4<f32>(second.xy, 0.0, rounded(second.w + second.z));
            }
        }
    }
}

// The total, lowest level first.
fn total(levels: vec4<f32>) -> f32 {
    return rounded(rounded(rounded(levels.x + levels.y) + levels.z) + levels.w);
}
