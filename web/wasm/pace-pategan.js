// `node web/wasm/pace-pategan.js [SECONDS [PROGRAM]]`: trainings of PATE-GAN in the worst case per CPU
// second that the bundle `synth` makes in one worker, and their ratio to those of native code. PROGRAM is
// target/release/examples/pategan_speed of `cargo build --release -p dpscope-synth --example
// pategan_speed --features portable`, which uses no AVX. CPU seconds depend little on other work.

import { execFileSync } from "node:child_process";
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
const program = process.argv[3];
const native = program && JSON.parse(execFileSync(program, ["worst"], { encoding: "utf8" }));
const ratio = native && 1 / shortest / native.runs_per_cpu_second;
console.log(
  JSON.stringify({
    milliseconds_per_run: Number((1e3 * shortest).toFixed(4)),
    runs_per_cpu_second: Math.round(1 / shortest),
    ...(native && {
      native_milliseconds_per_run: native.milliseconds_per_run,
      share_of_native: Number(ratio.toFixed(2)),
    }),
  }),
);
