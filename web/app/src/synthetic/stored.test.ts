import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { initSync, PateGanAudit, PateGanCounter, pategan_facts } from "@dpscope/wasm/synth";
import { expect, test } from "vitest";
import { FIELDS, initialState } from "../state/fields";
import { questionOf } from "./question";
import stored from "./stored.json";

const bundle = new URL("../../../wasm/synth/dpscope_synth_bg.wasm", import.meta.url);
initSync({ module: readFileSync(fileURLToPath(bundle)) });

/** What the bundle says of the default settings now. */
function computed() {
  const audit = PateGanAudit.open(questionOf(initialState()));
  const counter = PateGanCounter.open(audit.layout());
  for (let range = audit.assign(1e6); range !== undefined; range = audit.assign(1e6)) {
    audit.add(counter.count(range.first, range.end));
  }
  return { facts: pategan_facts(), answer: audit.report(0) };
}

test("the stored audit is that of the bundle (UPDATE=1 rewrites it)", () => {
  const now = computed();
  if (process.env.UPDATE === "1") {
    const file = fileURLToPath(new URL("./stored.json", import.meta.url));
    writeFileSync(file, `${JSON.stringify(now, null, 2)}\n`);
    return;
  }
  expect(stored).toEqual(now);
}, 120_000);

test("links name the switches of the bundle, in its order", () => {
  const faults = pategan_facts().groups.flatMap((group) => group.faults);
  expect(FIELDS.syn_faults.options).toEqual([...new Set(faults.map((fault) => fault.switch))]);
});
