/** The built documentation: its links lead somewhere, and mistakes in it are detected. */

import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FIELDS } from "../app/src/state/fields";
import { built, pagesOf, problems } from "./built-pages";

const files = built();

describe("the built documentation", () => {
  it("has no broken link, and one heading of the first level on every page", () => {
    expect(pagesOf(files).length).toBeGreaterThan(40);
    expect(problems(files)).toEqual([]);
  });

  it("links to views that the app has", () => {
    const views = pagesOf(files).flatMap(([, html]) =>
      [...html.matchAll(/#v=1&amp;view=([\w-]*)/g)].map(([, view = ""]) => view),
    );
    const known: string[] = FIELDS.view.options.map(([view]) => view);
    expect(views.length).toBeGreaterThan(5);
    expect(views.filter((view) => !known.includes(view))).toEqual([]);
  });

  it("names tests that exist", () => {
    const root = new URL("../../", import.meta.url);
    const named = pagesOf(files).flatMap(([, html]) =>
      [...html.matchAll(/<code>([\w/-]+\.rs)::(\w+)<\/code>/g)].map(([, file = "", test = ""]) => ({
        file,
        test,
      })),
    );
    const isMissing = ({ file, test }: { file: string; test: string }) =>
      !existsSync(new URL(file, root)) ||
      !readFileSync(new URL(file, root), "utf8").includes(`fn ${test}(`);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(isMissing)).toEqual([]);
    expect(isMissing({ file: "tests/repo/main.rs", test: "gone" })).toBe(true);
  });

  it.each([
    ["links to nothing", "</main>", '<a href="gone/">x</a></main>'],
    ["links to no heading", "</main>", '<a href="#gone">x</a></main>'],
    ["links to no heading", "</main>", '<a href="../concepts/#gone">x</a></main>'],
    ["has an address of its own", "</main>", '<a href="/docs/">x</a></main>'],
    [
      "has an address of its own",
      "</head>",
      '<script src="https://example.org/a.js"></script></head>',
    ],
    ["has 2 h1", "</main>", "<h1>x</h1></main>"],
    ["has no title", /<title>.*<\/title>/, ""],
    ["has the title of", /<title>.*<\/title>/, "<title>Audits: dpscope docs</title>"],
    ["has no language", '<html lang="en">', "<html>"],
    ["has an inline style", "<main", '<main style="x"'],
    ["has an inline script", "</head>", "<script>x</script></head>"],
    ["repeats the id", "</main>", '<i id="content"></i></main>'],
  ])("is rejected where it %s", (problem, from, to) => {
    const name = "docs/start/index.html";
    const page = files.get(name) ?? "";
    const found = problems(new Map([...files, [name, page.replace(from, to)]]));
    expect(page).toMatch(from);
    expect(found.join("\n")).toContain(problem);
  });
});
