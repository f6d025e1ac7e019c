/** Audits of files in the browser's bundle are those of the program. */

import { readFileSync } from "node:fs";
import { ask, initSync } from "@dpscope/wasm/files";
import { beforeAll, expect, test } from "vitest";
import native from "./one_run.json" with { type: "json" };

beforeAll(() => {
  const wasm = new URL("../wasm/files/dpscope_files_bg.wasm", import.meta.url);
  initSync({ module: readFileSync(wasm) });
});

const read = (name: string) => readFileSync(new URL(name, import.meta.url));

function asked(words: string[]) {
  const names = ["one_run_scores.csv", "one_run_coins.csv"];
  const contents = names.map((name) => read(`files/${name}`));
  return ask(words, names, contents);
}

test("reports of one run are those of the program to the bit", () => {
  for (const row of native) {
    const { report } = asked(row.arguments);
    const { elapsed_ms: _, input, ...found } = report as typeof report & { input: object };
    expect(found).toEqual(row.report);
    expect(input).toMatchObject({ scores: "one_run_scores.csv" });
  }
});

test("an answer has the text, the drawing and the page of the program", () => {
  const { text, picture, page } = asked(native[0]?.arguments ?? []);
  expect(text).toContain("claim ε = 0.5 at δ = 1e-5: REFUTED");
  expect(text).toContain("601 canaries, each included or not by a fair coin");
  expect(picture).toMatch(/^<svg xmlns/);
  expect(page).toContain("<!doctype html>");
});

test("both worlds are read from one file", () => {
  const sample = read("../app/src/questions/sample-scores.npz");
  const words = ["audit", "scores", "--target", "both.npz", "--zero-out", "both.npz"];
  expect(ask(words, ["both.npz"], [sample]).text).toContain("ε ≥");
});

test("the files of a plan are a folder", () => {
  const models = ["initial.safetensors", "final.safetensors"];
  const plan = ["plan.json", "seed.secret", "commitment.txt"];
  const contents = [...models, ...plan].map((name) => read(`files/federated/${name}`));
  const words =
    "audit federated --final final.safetensors --initial initial.safetensors --plan plan";
  const names = [...models, ...plan.map((name) => `plan/${name}`)];
  expect(ask(words.split(" "), names, contents).text).toContain("60 added");
});

test("a mistake is a failure with the words of the program", () => {
  const failure = expect.objectContaining({ kind: "input", message: expect.any(String) });
  const thrown = (words: string[]) => {
    try {
      return asked(words);
    } catch (problem) {
      return problem;
    }
  };
  expect(thrown([...(native[0]?.arguments ?? []), "--set-size", "1"])).toEqual(failure);
  expect(thrown(["audit", "one-run", "--unknown"])).toEqual(failure);
});
