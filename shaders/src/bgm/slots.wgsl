// Where the target's batch falls in an epoch: inverse of the cumulative weights. Parity: exact.

// The entry of the target in this epoch; 0 where no slot is drawn.
var<private> slot: u32;

fn draw_slot(epoch: u32, stream: vec2<u32>) {
    if (!WEIGHTED) { return; }
    let words = chacha8(law.slots_purpose, vec2<u32>(epoch / 16u, 0u), stream);
    let quarter = array<vec4<u32>, 4>(words.a, words.b, words.c, words.d)[epoch / 4u % 4u];
    let word = quarter[epoch % 4u];
    // The number of thresholds that are at most `word`.
    var low = 0u;
    var high = law.thresholds;
    while (low < high) {
        let middle = (low + high) / 2u;
        if (thresholds[middle] <= word) { low = middle + 1u; } else { high = middle; }
    }
    slot = low;
}
