/** The calculators in sites of each host: right numbers, no error, no missing file, no path of the build. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Page } from "@playwright/test";
import { plain, unequal } from "../calculators/agreement/compare";
import values from "../calculators/agreement/values.json" with { type: "json" };
import { expect, test } from "../tests/page";
import { PAGES, reasonOf } from "./built";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Pages of each host. */
const SITES: Record<string, readonly string[]> = {
  docusaurus: [""],
  esbuild: ["index.html"],
  furo: ["index.html"],
  html: ["index.html"],
  material: ["index.html"],
  mdbook: ["index.html"],
  mkdocs: ["index.html"],
  sphinx: ["index.html"],
  "trusted-types": ["index.html", "inline.html"],
  vite: ["index.html", "files.html"],
  vitepress: [""],
  webpack: ["index.html", "files.html"],
  zensical: ["index.html"],
};

/** One question to each calculator, so that every module is loaded. */
const QUESTIONS = [...new Map(values.map((value) => [value.calculator, value])).values()];

/** Responses that failed, from now on. */
function failed(page: Page): string[] {
  const failures: string[] = [];
  page.context().on("response", (response) => {
    if (response.status() >= 400) failures.push(`${response.status()} ${response.url()}`);
  });
  return failures;
}

/** What a calculator answers to settings, in this page. */
function answer(page: Page, calculator: string, settings: object): Promise<object> {
  return page.evaluate(
    ({ calculator, settings }) => {
      const element = document.createElement(`dpscope-${calculator}`);
      for (const [name, value] of Object.entries(settings))
        element.setAttribute(name.replaceAll("_", "-"), String(value));
      const answered = new Promise<object>((resolve, reject) => {
        element.addEventListener("dpscope-result", ({ detail }) => resolve(detail.result));
        element.addEventListener("dpscope-error", ({ detail }) =>
          reject(new Error(detail.failure.message)),
        );
      });
      document.body.prepend(element);
      element.scrollIntoView();
      return answered;
    },
    { calculator, settings },
  );
}

/** Workers of the calculators: some hosts search in a worker. */
async function workers(page: Page): Promise<number> {
  const names = page.workers().map((worker) => worker.evaluate(() => self.name));
  return (await Promise.all(names)).filter((name) => name === "dpscope-calculators").length;
}

/** The element that the site's author wrote, then all calculators, have the program's numbers. */
async function expectAgreement(page: Page): Promise<void> {
  const written = page.locator("dpscope-epsilon").first();
  await written.scrollIntoViewIfNeeded();
  await expect(written.locator(".result[aria-busy=false]")).toContainText("4.0631");
  for (const { calculator, settings, expected } of QUESTIONS) {
    const result = await answer(page, calculator, settings);
    expect(unequal(plain(result), expected), calculator).toEqual([]);
  }
}

for (const [name, pages] of Object.entries(SITES)) {
  for (const path of pages) {
    test(`${name}/${path} has the numbers of the program`, async ({ page }) => {
      const reason = reasonOf(name);
      test.skip(reason !== undefined, reason);
      const failures = failed(page);
      await page.goto(`./pages/${name}/${path}`);
      await expectAgreement(page);
      expect(await workers(page)).toBe(1);
      expect(failures).toEqual([]);
    });
  }
}

test("file: a page that is opened from disk has the numbers of the program", async ({ page }) => {
  const reason = reasonOf("file");
  test.skip(reason !== undefined, reason);
  await page.goto(pathToFileURL(join(PAGES, "file/index.html")).href);
  await expectAgreement(page);
  expect(await workers(page)).toBe(1);
});

for (const name of ["docusaurus", "vitepress"]) {
  test(`${name}: calculators work after a navigation without a reload`, async ({ page }) => {
    const reason = reasonOf(name);
    test.skip(reason !== undefined, reason);
    await page.goto(`./pages/${name}/`);
    await page.evaluate(() => Object.assign(window, { isSame: true }));
    await page.getByRole("link", { name: "Votes of teachers", exact: true }).first().click();
    const pate = page.locator("dpscope-pate");
    await expect(pate.locator(".result[aria-busy=false]")).toContainText("ε ≤ 0.3455");
    expect(await page.evaluate(() => "isSame" in window)).toBe(true);
  });
}

test("without Trusted Types for our policy, the page itself computes", async ({ page, heard }) => {
  const reason = reasonOf("trusted-types");
  test.skip(reason !== undefined, reason);
  await page.route("**/inline.html", async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace("lit-html dpscope", "lit-html");
    await route.fulfill({ response, body });
  });
  await page.goto("./pages/trusted-types/inline.html");
  await expectAgreement(page);
  expect(await workers(page)).toBe(0);
  expect(heard.splice(0).join()).toContain("dpscope");
});

/** Files below a folder that a browser reads as text. */
function texts(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => [".html", ".js", ".css", ".json", ".map"].includes(extname(path)))
    .map((path) => join(folder, path));
}

/** Files of a site that contain a folder of the machine that built it. */
function leaks(folder: string): string[] {
  return texts(folder).filter((path) => readFileSync(path, "utf8").includes(ROOT));
}

for (const name of [...Object.keys(SITES), "file"]) {
  test(`${name}: the site contains no path of the build`, () => {
    const reason = reasonOf(name);
    test.skip(reason !== undefined, reason);
    expect(texts(join(PAGES, name)).length).toBeGreaterThan(0);
    expect(leaks(join(PAGES, name))).toEqual([]);
  });
}

test("a path of the build is detected", () => {
  const folder = mkdtempSync(join(tmpdir(), "site-"));
  writeFileSync(join(folder, "main.js"), "const address = new URL('./a.wasm', import.meta.url);");
  expect(leaks(folder)).toEqual([]);
  writeFileSync(join(folder, "main.js"), `const address = "file://${ROOT}web/a.wasm";`);
  expect(leaks(folder)).toEqual([join(folder, "main.js")]);
  rmSync(folder, { recursive: true });
});
