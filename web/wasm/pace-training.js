// `node web/wasm/pace-training.js [SECONDS [PROGRAM]]`: trainings per CPU second that the bundle `training`
// makes in one worker, and their ratio to those of native code. PROGRAM is
// target/release/examples/run_speed of `cargo build --release -p dpscope-train --example run_speed
// --features portable`, which uses no AVX. CPU seconds depend little on other work.

import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";

const { initSync, Audit, Command, TrainingCounter } = await import(
  "./training/dpscope_training.js"
);
const bundle = new URL("./training/dpscope_training_bg.wasm", import.meta.url);
initSync({ module: await readFile(bundle) });
const seconds = Number(process.argv[2] ?? 5);

/** CPU seconds of one training, the shortest of several. */
function pace(model) {
  const words = `audit dpsgd --model ${model} --records 500 --batch-size 50 --noise-multiplier 0.5 --runs 1e6 --seed 1`;
  const command = () => new Command(words.split(" "), [], []);
  const counter = TrainingCounter.open(Audit.of_training(command()).layout(), command());
  counter.count(8, 9); // the first runs are tested on held-out records too
  const end = performance.now() + 1000 * seconds;
  let [shortest, first] = [Number.POSITIVE_INFINITY, 9];
  while (performance.now() < end) {
    const cpu = process.cpuUsage();
    counter.count(first, first + 2);
    first += 2;
    const { user, system } = process.cpuUsage(cpu);
    shortest = Math.min(shortest, (user + system) / 1e6 / 4);
  }
  return shortest;
}

const program = process.argv[3];
for (const model of ["mlp", "lenet"]) {
  const shortest = pace(model);
  const native = program && JSON.parse(execFileSync(program, [model], { encoding: "utf8" }));
  console.log(
    JSON.stringify({
      model,
      milliseconds_per_run: Number((1e3 * shortest).toFixed(3)),
      ...(native && {
        native_milliseconds_per_run: native.milliseconds_per_run,
        share_of_native: Number((native.milliseconds_per_run / 1e3 / shortest).toFixed(2)),
      }),
    }),
  );
}
