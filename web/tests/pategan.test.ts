/** Audits of PATE-GAN in the browser's bundle are those of the program. */

import { readFileSync } from "node:fs";
import {
  audit_features,
  GeneratorRuns,
  initSync,
  PateGanAudit,
  PateGanCounter,
  type PateGanQuestion,
  score_canaries,
} from "@dpscope/wasm/synth";
import { beforeAll, expect, test } from "vitest";
import { pateganCommand } from "../app/src/copies/trained";
import { assigned, thrown } from "./calls";
import folder from "./generator.json" with { type: "json" };
import native from "./pategan.json" with { type: "json" };

beforeAll(() => {
  const wasm = new URL("../wasm/synth/dpscope_synth_bg.wasm", import.meta.url);
  initSync({ module: readFileSync(wasm) });
});

/** The report by counters that train so many runs at a time, the last ones first. */
function audited(asked: PateGanQuestion, size: number) {
  const audit = PateGanAudit.open(asked);
  const counter = PateGanCounter.open(audit.layout());
  for (const { first, end } of assigned(audit, size).reverse())
    audit.add(counter.count(first, end));
  const { elapsed_ms: _, ...report } = audit.report(1).report;
  return report;
}

test("reports are those of the program to the bit, however runs are divided", () => {
  for (const [at, { asked, report }] of native.entries()) {
    expect(audited(asked as PateGanQuestion, at === 0 ? 16 : 1e6)).toEqual(report);
  }
});

test("another seed is another report", () => {
  const [first] = native;
  const asked = { ...(first?.asked as PateGanQuestion), seed: "2" };
  expect(audited(asked, 1e6)).not.toEqual({ ...first?.report, seed: "2" });
});

test("commands are those whose reports are stored", () => {
  for (const { asked, arguments: words } of native) {
    expect(pateganCommand(asked as PateGanQuestion)).toBe(`dpscope ${words.join(" ")}`);
  }
});

test("evidence of other runs is refused, and lost runs are assigned again", () => {
  const asked = native[0]?.asked as PateGanQuestion;
  const audit = PateGanAudit.open(asked);
  const counter = PateGanCounter.open(audit.layout());
  const range = audit.assign(8);
  expect(range).toEqual({ first: 0, end: 8 });
  expect(thrown(() => audit.add(counter.count(8, 16)))).toMatchObject({ kind: "file" });
  const other = PateGanCounter.open(PateGanAudit.open({ ...asked, seed: "8" }).layout());
  expect(thrown(() => audit.add(other.count(0, 8)))).toMatchObject({ kind: "file" });
  audit.release(0, 8);
  expect(audit.assign(8)).toEqual(range);
  audit.add(counter.count(0, 8));
  expect(audit.progress()).toEqual({ done: 16, total: 2 * asked.runs });
  expect(audit.so_far()).toMatchObject({ runs: 0, epsilon: 0 });
  expect(thrown(() => audit.report(0))).toMatchObject({ kind: "input" });
});

test("settings outside their domain are refused by name", () => {
  const asked = native[0]?.asked as PateGanQuestion;
  const refused = (part: Partial<PateGanQuestion>) =>
    thrown(() => PateGanAudit.open({ ...asked, ...part }));
  expect(refused({ faults: "U9" })).toMatchObject({ kind: "input", field: "faults" });
  expect(refused({ runs: 5 })).toMatchObject({ kind: "input", field: "runs" });
  expect(refused({ faults: "E6" })).toMatchObject({ kind: "input", field: "faults" });
  expect(refused({ teachers: 5000, runs: 9000 })).toMatchObject({ kind: "limit" });
  expect(refused({ gamma: "1" as never })).toMatchObject({ kind: "input", field: "gamma" });
});

const bytes = (text: string) => new TextEncoder().encode(text);

test("the audit of a folder is that of the program to the bit", () => {
  const runs = GeneratorRuns.open("manifest.toml", bytes(folder.manifest));
  for (const world of ["without", "with"] as const) {
    for (const [at, text] of folder[world].entries()) {
      runs.add(world, `${world}/${String(at).padStart(4, "0")}.csv`, bytes(text));
    }
  }
  const { report, text, scores } = runs.report(1);
  const { elapsed_ms: _, ...found } = report;
  expect(found).toEqual(folder.report);
  expect(text).toContain("attack");
  const evaluated = scores.reduce((sum, bin) => sum + (bin.runs[0] ?? 0), 0);
  expect(evaluated).toBe(folder.report.attack.evaluated);
});

test("features of both worlds are attacked", () => {
  const table = (shift: number) =>
    Array.from({ length: 200 }, (_, run) => `${shift + (run % 7)},${run % 5}`).join("\n");
  const files = (one: number, other: number) => [one, other].map((x) => bytes(`a,b\n${table(x)}`));
  const options = { delta: 0, significance: 0.05, claim: 0.1, seed: "1" };
  const names = ["with.csv", "without.csv"];
  expect(audit_features(names, files(9, 0), options).report.verdict).toBe("refuted");
  expect(audit_features(names, files(0, 0), options).report.verdict).not.toBe("refuted");
  const [one] = files(0, 0);
  const broken = [one ?? bytes(""), bytes("a,b\n1,two\n")];
  expect(thrown(() => audit_features(names, broken, options))).toMatchObject({
    kind: "file",
    message: expect.stringContaining("without.csv cannot be used: line 2, column `b`: `two`"),
  });
});

test("canaries are scored as numpy arrays", () => {
  const columns = '[[columns]]\nkind = "integer"\nname = "a"\nlow = 0\nhigh = 100\n';
  const found = score_canaries(
    ["columns.toml", "canaries.csv", "0000.csv"],
    [bytes(columns), bytes("a\n3\n50\n"), bytes("a\n3\n9\n")],
    "nearest",
  );
  expect(new TextDecoder().decode(found.scores.slice(1, 6))).toBe("NUMPY");
  const scores = new Float64Array(found.scores.slice(-16).buffer);
  expect(scores[0]).toBe(-0);
  expect(scores[1]).toBeLessThan(0);
});
