// The random stream of a model.

fn stream() -> vec2<u32> {
    if (IS_UNIT) {
        return plus(vec2<u32>(params.first_run_low, params.first_run_high), model);
    }
    // 2·run + world
    let run = plus(vec2<u32>(params.first_run_low, params.first_run_high), model % params.runs);
    return vec2<u32>((run.x << 1u) | (model / params.runs), (run.y << 1u) | (run.x >> 31u));
}
