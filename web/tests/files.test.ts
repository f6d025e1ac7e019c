/** Audits of files in the browser's bundle are those of the program. */

import { existsSync, readFileSync } from "node:fs";
import { ask, Command, initSync } from "@dpscope/wasm/files";
import { beforeAll, expect, test } from "vitest";
import { commandsOf, thrown } from "./calls";
import native from "./files.json" with { type: "json" };

beforeAll(() => {
  const wasm = new URL("../wasm/files/dpscope_files_bg.wasm", import.meta.url);
  initSync({ module: readFileSync(wasm) });
});

const commandOf = commandsOf(Command);
const at = (name: string) => new URL(name, import.meta.url);
const read = (name: string) => readFileSync(at(name));

const PLAN = ["plan.json", "seed.secret", "commitment.txt"].map((name) => `plan/${name}`);

/** Where the file of a path is among those of the tests. */
function placeOf(path: string): string | undefined {
  const name = path.replace(/^plan\//, "");
  const places = [`files/${name}`, `files/federated/${name}`];
  return /\.[a-z]+$/.test(name) ? places.find((place) => existsSync(at(place))) : undefined;
}

/** What the program answers to these words, with the files that they name. */
function asked(words: string[]) {
  const paths = [...words, ...(words.includes("plan") ? PLAN : [])];
  const files = paths.flatMap((path) => {
    const place = placeOf(path);
    return place === undefined ? [] : [[path, read(place)]];
  });
  return ask(commandOf(words, Object.fromEntries(files)));
}

const ONE_RUN = "audit one-run --scores one_run_scores.csv --coins one_run_coins.csv".split(" ");

test.each(native)("a report is that of the program to the bit: $arguments", (row) => {
  const { report } = asked(row.arguments);
  const { elapsed_ms: _, input: __, ...found } = report as typeof report & { input?: object };
  expect(found).toEqual(row.report);
});

test("a report names its files", () => {
  expect(asked(ONE_RUN).report).toMatchObject({ input: { scores: "one_run_scores.csv" } });
});

test("an answer has the text, the drawing and the page of the program", () => {
  const { text, picture, page } = asked([...ONE_RUN, "--claim", "0.5"]);
  expect(text).toContain("claim ε = 0.5 at δ = 1e-5: REFUTED");
  expect(text).toContain("601 canaries, each included or not by a fair coin");
  expect(picture).toMatch(/^<svg xmlns/);
  expect(page).toContain("<!doctype html>");
});

test("both worlds are read from one file", () => {
  const sample = read("../app/src/questions/sample-scores.npz");
  const words = ["audit", "scores", "--target", "both.npz", "--zero-out", "both.npz"];
  expect(ask(commandOf(words, { "both.npz": sample })).text).toContain("ε ≥");
});

test("the files of a plan are a folder", () => {
  const words =
    "audit federated --final final.safetensors --initial initial.safetensors --plan plan";
  expect(asked(words.split(" ")).text).toContain("60 added");
});

test("a mistake is a failure with the words of the program", () => {
  const failure = expect.objectContaining({ kind: "input", message: expect.any(String) });
  expect(thrown(() => asked([...ONE_RUN, "--set-size", "1"]))).toEqual(failure);
  expect(thrown(() => asked(["audit", "one-run", "--unknown"]))).toEqual(failure);
});
