// `node web/wasm/pace-pategan.js [SECONDS]`: trainings of PATE-GAN in the worst case per CPU second that
// the bundle `synth` makes in one worker, as `cargo run --release -p dpscope-synth --example
// pategan_speed -- worst` prints of native code, which uses AVX where the machine has it. CPU seconds
// depend little on other work.

import { readFile } from "node:fs/promises";

/** Runs of each world that a call trains: a fraction of a second. */
const TRAINED = 64;

const { initSync, PateGanAudit, PateGanCounter } = await import("./synth/dpscope_synth.js");
const bundle = new URL("./synth/dpscope_synth_bg.wasm", import.meta.url);
initSync({ module: await readFile(bundle) });
const audit = PateGanAudit.open({
  faults: "",
  teachers: 2,
  gamma: 1e-3,
  batch_size: 4,
  iterations: 100,
  runs: 100_000,
  delta: 1e-5,
  significance: 0.05,
  seed: "1",
});
const counter = PateGanCounter.open(audit.layout());
counter.count(0, TRAINED);
const end = performance.now() + 1000 * Number(process.argv[2] ?? 5);
let [shortest, first] = [Number.POSITIVE_INFINITY, 0];
while (performance.now() < end) {
  first += TRAINED;
  const cpu = process.cpuUsage();
  counter.count(first, first + TRAINED);
  const { user, system } = process.cpuUsage(cpu);
  shortest = Math.min(shortest, (user + system) / 1e6 / (2 * TRAINED));
}
console.log(
  JSON.stringify({
    milliseconds_per_run: Number((1e3 * shortest).toFixed(4)),
    runs_per_cpu_second: Math.round(1 / shortest),
  }),
);
