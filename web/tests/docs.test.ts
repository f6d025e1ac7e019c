/** The built documentation: its links lead somewhere, and mistakes in it are detected. */

import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { FIELDS } from "../app/src/state/fields";
import { contentsOf } from "../docs/build/contents.js";
import { withLinks } from "../docs/build/links.js";
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

describe("links of a page", () => {
  const page = { url: "/audits/counts/", source: "web/docs/audits/counts.md" };
  const places = (path: string) =>
    path === "web/docs/concepts/bounds.md" ? "/concepts/bounds/" : undefined;
  const linked = (link: string) => withLinks(`<a href="${link}">x</a>`, page, places);

  it("become relative addresses", () => {
    expect(linked("../concepts/bounds.md#the-leak")).toContain("../../concepts/bounds/#the-leak");
    expect(linked("/")).toContain('"../../"');
    expect(linked("app:#v=1")).toContain('"../../../#v=1"');
    expect(linked("calculators:a.js")).toContain('"../../../calculators/a.js"');
    for (const link of ["#limits", "https://example.org/a"]) {
      expect(linked(link)).toContain(`"${link}"`);
    }
  });

  it("to nothing stop the build", () => {
    expect(() => linked("../concepts/gone.md")).toThrow("counts.md: nothing is at");
  });
});

test("a page without its place in the contents stops the build", () => {
  const page = (url: string, order?: number) => ({
    url,
    data: { title: url, order: order ?? NaN },
  });
  expect(contentsOf([page("/", 0), page("/a/", 1), page("/a/b/", 1)])[1]?.pages).toHaveLength(1);
  expect(() => contentsOf([page("/", 0), page("/a/b/", 1)])).toThrow("no index.md");
  expect(() => contentsOf([page("/", 0), page("/a/")])).toThrow("no order");
});
