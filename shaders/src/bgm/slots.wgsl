// Slot of the target's batch in an epoch: inversion of the cumulative weights. Parity: exact.

// The target's entry in this epoch; 0 if no slot is drawn.
var<private> slot: u32;

fn draw_slot(epoch: u32, stream: vec2<u32>) {
    if (!WEIGHTED) { return; }
    let words = chacha8(params.slots_purpose, vec2<u32>(epoch / 16u, 0u), stream);
    let quarter = array<vec4<u32>, 4>(words.a, words.b, words.c, words.d)[epoch / 4u % 4u];
    let word = quarter[epoch % 4u];
    // The number of thresholds that are at most `word`.
    var low = 0u;
    var high = params.thresholds;
    while (low < high) {
        let middle = (low + high) / 2u;
        if (thresholds[middle] <= word) { low = middle + 1u; } else { high = middle; }
    }
    slot = low;
}
