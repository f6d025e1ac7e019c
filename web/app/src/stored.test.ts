import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type Accounted,
  bound,
  bound_columns,
  conclusion,
  initSync,
  version,
} from "@dpscope/wasm/calculators";
import { initSync as initStudies, pair } from "@dpscope/wasm/studies";
import { expect, test } from "vitest";
import { epsilonsOf, type Lines, linesOf } from "./numbers/lines";
import { storedConclusion, storedLines, storedSweep, storedVersion } from "./numbers/stored";
import { initialState } from "./state/fields";
import { settingOf } from "./theory/setting";
import { alongAxis, placesOf, seriesOf } from "./theory/sweep";

function bundle(name: string): { module: BufferSource } {
  const file = new URL(`../../wasm/${name}/dpscope_${name}_bg.wasm`, import.meta.url);
  return { module: readFileSync(fileURLToPath(file)) };
}

initSync(bundle("calculators"));
initStudies(bundle("studies"));

/** What the bundle says of the default state now. */
function computed() {
  const state = initialState();
  const setting = settingOf(state);
  const at = { delta: state.delta };
  const found = pair(setting, at, 0, state.seed, state.significance);
  const drawn = { observations: found.observations, seed: found.seed };
  const lines: Lines = {};
  for (const name of linesOf(state.sampler)) {
    if (name === "pair-lower") lines[name] = { value: found.lower, ...drawn };
    else if (name === "pair-estimate")
      lines[name] = { value: found.estimate as Accounted, ...drawn };
    else lines[name] = { value: bound(name, setting, at) };
  }
  const rows = [...seriesOf(state), ["balls-in-bins", "balls-in-bins"] as const];
  const epsilons = Object.fromEntries(
    rows.map(([row, name]) => [name, [...bound_columns(row, setting, ...alongAxis(state))]]),
  );
  const { axis } = state;
  return {
    version: version(),
    lines,
    conclusion: conclusion(state.sampler, epsilonsOf(lines), state.significance),
    sweep: { axis, places: placesOf(axis, state[axis]), epsilons },
  };
}

test("the stored figures are those of the bundle (UPDATE=1 rewrites them)", () => {
  const now = computed();
  if (process.env.UPDATE === "1") {
    const file = fileURLToPath(new URL("./stored.json", import.meta.url));
    writeFileSync(file, `${JSON.stringify(now, null, 2)}\n`);
  }
  expect(storedVersion).toBe(now.version);
  expect(storedLines()).toEqual(now.lines);
  expect(storedConclusion()).toEqual(now.conclusion);
  expect(storedSweep()).toEqual(now.sweep);
}, 60_000);
