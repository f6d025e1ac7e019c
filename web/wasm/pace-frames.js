// `node web/wasm/pace-frames.js [SECONDS]`: how smooth the page is while it trains, with the default number
// of CPU workers and with one on each core: frames, those longer than 50 ms, the longest, and what Chromium
// itself reports as long animation frames and long tasks. Needs `web/dist` and an idle machine.

import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { chromium } from "@playwright/test";
import { preview } from "vite";
import { installed } from "../tests/chromium.js";

const LONG_MS = 50;
const TRAIN = "view=train&train_noise=0.3&device=cpu";
const ONE_RUN = `${TRAIN}&train_protocol=one-run`;
const [STARTS, OPTIMISES] = ["#train-start", "#train-optimise"];

/** More work than is measured. */
const WORK = {
  "two worlds": [`${TRAIN}&train_runs=20000`, STARTS],
  "one run": [`${ONE_RUN}&train_repeats=2000`, STARTS],
  federated: [`${TRAIN}&train_protocol=federated&train_client_repeats=300`, STARTS],
  optimisation: [`${ONE_RUN}&train_kind=optimised&train_metasteps=1000`, OPTIMISES],
};

/** Runs in the page: observes its frames from now on. */
function observe() {
  const seen = { gaps: [], frames: 0, tasks: 0 };
  window.seen = seen;
  const count = (type, name) =>
    new PerformanceObserver((list) => {
      seen[name] += list.getEntries().length;
    }).observe({ type });
  count("long-animation-frame", "frames");
  count("longtask", "tasks");
  let before = performance.now();
  const next = () => {
    const now = performance.now();
    seen.gaps.push(now - before);
    before = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}

async function frames(browser, url, [link, button], workers) {
  const page = await browser.newPage();
  const chosen = workers === undefined ? "" : `&workers=${workers}`;
  await page.goto(`${url}#v=1&${link}${chosen}`);
  await page.locator(`${button}:not([aria-disabled])`).waitFor();
  if (button === STARTS) await page.getByText(/held out/).waitFor();
  await page.evaluate(observe);
  await page.locator(button).click();
  await new Promise((over) => setTimeout(over, 1000 * seconds));
  const { gaps, frames, tasks } = await page.evaluate(() => window.seen);
  await page.close();
  return {
    frames: gaps.length,
    [`longer than ${LONG_MS} ms`]: gaps.filter((gap) => gap > LONG_MS).length,
    "longest, ms": Math.round(Math.max(...gaps)),
    "long animation frames": frames,
    "long tasks": tasks,
  };
}

const seconds = Number(process.argv[2] ?? 20);
const root = fileURLToPath(new URL("..", import.meta.url));
const server = await preview({ root, configFile: false, preview: { port: 0 }, logLevel: "error" });
const { port } = server.httpServer.address();
const browser = await chromium.launch({ executablePath: installed(), args: ["--no-sandbox"] });
const cores = cpus().length;
console.log(`load ${loadavg()[0].toFixed(1)} on ${cores} cores`);
const rows = {};
for (const [name, work] of Object.entries(WORK)) {
  for (const workers of work[1] === STARTS ? [undefined, cores] : [undefined]) {
    const of = workers === undefined ? "" : `, ${workers} workers`;
    rows[`${name}${of}`] = await frames(browser, `http://localhost:${port}/`, work, workers);
  }
}
console.table(rows);
await browser.close();
await server.close();
