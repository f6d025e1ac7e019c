// `node web/wasm/pace.js [SECONDS]`: normals per second that the bundle of the audits draws in one worker
// and in two, with 100 steps per epoch, as `cargo run --release -p dpscope-shaders --example throughput --
// --isa portable --entries 100` says of native code with SSE2. CPU seconds depend little on other work;
// how two workers scale can be measured only on an idle machine.

import { readFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

const STEPS = 100;
/** Observations of each world that a call counts: well under a second. */
const COUNTED = 1 << 16;

async function audits() {
  const bundle = await import("./audits/dpscope_audits.js");
  const module = new URL("./audits/dpscope_audits_bg.wasm", import.meta.url);
  await bundle.default({ module_or_path: await readFile(module) });
  return bundle;
}

/** Counts until the time is over; says how many observations of each world. */
async function work({ layout, seconds, first }) {
  const { count } = await audits();
  count(layout, first, first + COUNTED);
  parentPort.postMessage("ready");
  await new Promise((go) => parentPort.once("message", go));
  const end = performance.now() + 1000 * seconds;
  let counted = 0;
  while (performance.now() < end) {
    count(layout, first + counted, first + counted + COUNTED);
    counted += COUNTED;
  }
  parentPort.postMessage(counted);
}

const next = (worker) => new Promise((answer) => worker.once("message", answer));

async function pace(layout, workers, seconds) {
  const all = Array.from({ length: workers }, (_, index) => {
    const data = { layout, seconds, first: index * 1e8 };
    return new Worker(new URL(import.meta.url), { workerData: data });
  });
  await Promise.all(all.map(next));
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  const answers = all.map(next);
  for (const worker of all) worker.postMessage("go");
  const counted = (await Promise.all(answers)).reduce((sum, more) => sum + more, 0);
  const { user, system } = process.cpuUsage(cpu);
  const normals = 2 * STEPS * counted;
  const million = (rate) => Math.round(rate / 1e6);
  return {
    workers,
    "M normals a second": million((1e3 * normals) / (performance.now() - start)),
    "M normals a CPU second": million((1e6 * normals) / (user + system)),
  };
}

if (isMainThread) {
  const seconds = Number(process.argv[2] ?? 5);
  const { Audit } = await audits();
  const audit = Audit.open({
    mechanism: { noise_multiplier: 1, steps: STEPS, epochs: 1, sampler: "shuffle" },
    observations: 1e9,
    delta: 1e-5,
    significance: 0.05,
    seed: "1",
  });
  const layout = audit.layout();
  console.log(`load ${loadavg()[0].toFixed(1)} on ${cpus().length} cores`);
  const rows = [await pace(layout, 1, seconds), await pace(layout, 2, seconds)];
  console.table(rows);
} else {
  await work(workerData);
}
