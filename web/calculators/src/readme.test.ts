/** The README lists what the elements have. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { numberText } from "../../fields/field";
import { calculators } from "./calculators";
import { attributeOf, type Input } from "./fields";
import { quantities } from "./quantities";
import { style } from "./style";

const text = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const view = readFileSync(new URL("./view.ts", import.meta.url), "utf8");
const element = readFileSync(new URL("./element.ts", import.meta.url), "utf8");

/** What a README lacks of the elements and their attributes. */
function missing(readme: string): string[] {
  const rows = readme
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .reverse();
  const rowOf = (name: string) => rows.find((row) => row.startsWith(`| \`${name}\``)) ?? "";
  const problems = calculators.flatMap(({ name, fields }) => {
    const listed = [
      ...(rowOf(`<dpscope-${name}>`)
        .split("|")[3]
        ?.matchAll(/`(.+?)`/g) ?? []),
    ];
    const found = listed.map(([, attribute]) => attribute).sort();
    const expected = Object.keys(fields).map(attributeOf).sort();
    return `${found}` === `${expected}` ? [] : [`${name} has ${expected}, not ${found}`];
  });
  const known = (field: Input) =>
    field.kind === "choice"
      ? [field.initial, ...field.options.map(([value]) => `\`${value}\``)]
      : [field.least, field.most, field.initial].map(numberText);
  for (const [name, field] of calculators.flatMap(({ fields }) => Object.entries<Input>(fields))) {
    const row = rowOf(attributeOf(name));
    for (const part of known(field)) if (!row.includes(part)) problems.push(`${name}: ${part}`);
  }
  return problems;
}

test("the README lists the elements and attributes of the code", () => {
  expect(missing(text)).toEqual([]);
  expect(missing(text.replace("`false-positives` `zero", "`zero"))).toHaveLength(1);
  expect(missing(text.replace("1e-15 to 0.5", "0 to 0.5")).length).toBeGreaterThan(0);
});

test("the README lists the quantities of the value with their attributes", () => {
  const lacking = (readme: string) =>
    Object.entries(quantities).filter(([name, { about, fields }]) => {
      const attributes = Object.keys(fields).map((field) => `\`${attributeOf(field)}\``);
      const row = readme.split("\n").find((line) => line.startsWith(`| \`${name}\` `)) ?? "";
      const [, , says, listed] = row.split("|").map((cell) => cell.trim());
      return says !== about || listed !== attributes.join(" ");
    });
  expect(lacking(text)).toEqual([]);
  expect(lacking(text.replaceAll("`false-positives` `zero", "`zero"))).toHaveLength(1);
  expect(lacking(text.replace("leak at least", "leak at most"))).toHaveLength(1);
});

test("the README lists the parts and properties of the code", () => {
  const listed = (pattern: RegExp, source: string) =>
    new Set([...source.matchAll(pattern)].flatMap(([, names]) => (names ?? "").split(" ")));
  const parts = listed(/part="([\w -]+)"/g, view + element);
  const section = text.slice(text.indexOf("Parts:"), text.indexOf("Slots:"));
  expect(listed(/`([\w-]+)`/g, section)).toEqual(
    new Set([
      ...parts,
      "figure",
      ...["claim", "lower", "upper", "answer"].map((role) => `figure-${role}`),
    ]),
  );
  const properties = listed(/var\((--dpscope-[\w-]+)/g, style.cssText);
  expect(listed(/`(--dpscope-[\w-]+)`/g, text)).toEqual(properties);
});

test("the snippet for hosts is the one that is tested", () => {
  const script = readFileSync(new URL("../fixtures/html/iframe.js", import.meta.url), "utf8");
  expect(text).toContain(script.slice(script.indexOf("\n") + 1));
});

/** The blocks of a README that name a fixture before them, with that fixture. */
function blocks(readme: string): [path: string, block: string][] {
  const named = readme.matchAll(/<!-- (fixtures\/\S+) -->\n\n```\w+\n(.*?)```/gs);
  return [...named].map(([, path = "", block = ""]) => [path, block]);
}

/** Blocks that are not in their fixture, line by line. */
function foreign(readme: string): string[] {
  const text = (path: string) =>
    `${readFileSync(new URL(`../${path}`, import.meta.url), "utf8")}\n`;
  return blocks(readme).flatMap(([path, block]) => (text(path).includes(block) ? [] : [path]));
}

test("the lines for each host are those of its fixture", () => {
  const hosts = new Set(blocks(text).map(([path]) => path.split("/")[1]));
  expect([...hosts].sort()).toEqual(
    "docusaurus esbuild file furo material mdbook vitepress zensical".split(" "),
  );
  expect(foreign(text)).toEqual([]);
  expect(foreign(text.replace("clientModules", "scripts"))).toHaveLength(1);
  for (const host of ["vite", "webpack/src"])
    expect(text).toContain(
      readFileSync(new URL(`../fixtures/${host}/main.js`, import.meta.url), "utf8"),
    );
});
