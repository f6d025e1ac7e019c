/** The documentation under the policy of `dpscope serve`. */

import type { Page } from "@playwright/test";
import axe from "axe-core";
import { plain, unequal } from "../calculators/agreement/compare";
import values from "../calculators/agreement/values.json" with { type: "json" };
import type { DpscopeDetail } from "../calculators/src/types";
import { built, pagesOf } from "./built-pages";
import { expect, expectAccessible, test } from "./page";

const PAGES = pagesOf(built()).map(([name]) => name.replace(/index\.html$/, ""));
const sectionOf = (name: string) => name.replace(/^docs\/([^/]*).*$/, "$1");
const SECTIONS = [...new Set(PAGES.map(sectionOf))];
const CALCULATORS = [...new Set(values.map(({ calculator }) => calculator))];

/** What axe finds by some rules, or by all. Its script is in the page already, which is faster. */
async function violations(page: Page, rules?: string[]): Promise<string[]> {
  return page.evaluate(async (rules) => {
    const { axe } = window as unknown as { axe: typeof import("axe-core") };
    const { violations } = await axe.run(rules === undefined ? {} : { runOnly: rules });
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(", ")}`,
    );
  }, rules);
}

async function width(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth);
}

for (const section of SECTIONS) {
  test(`pages of docs/${section} are accessible and fit every width`, async ({ page }) => {
    await page.addInitScript(axe.source);
    for (const name of PAGES.filter((name) => sectionOf(name) === section)) {
      await test.step(name, async () => {
        await page.setViewportSize({ width: 1440, height: 900 });
        await page.emulateMedia({ colorScheme: "light" });
        await page.goto(`./${name}`);
        await expect(page.locator("h1")).toHaveCount(1);
        expect(await violations(page)).toEqual([]);
        await page.emulateMedia({ colorScheme: "dark" });
        expect(await violations(page, ["color-contrast"])).toEqual([]);
        for (const pixels of [390, 899, 900]) {
          await page.setViewportSize({ width: pixels, height: 844 });
          expect(await width(page)).toBe(pixels);
        }
      });
    }
  });
}

test("what is not accessible is found", async ({ page }) => {
  await page.addInitScript(axe.source);
  await page.goto("./docs/concepts/");
  await page.evaluate(() => {
    const image = document.createElement("img");
    document.querySelector("main")?.append(image);
  });
  const found = (await violations(page)).join();
  expect(found).toContain("image-alt");
  await page.emulateMedia({ colorScheme: "light" });
  await page.evaluate(() => document.querySelector("h1")?.style.setProperty("color", "#bbbbbb"));
  expect((await violations(page, ["color-contrast"])).join()).toContain("color-contrast");
});

test("calculators of the gallery compute the numbers of the program", async ({ page }) => {
  await page.addInitScript(() => {
    const details: unknown[] = [];
    Object.assign(window, { details });
    document.addEventListener("dpscope-result", ({ detail }) => details.push(detail));
  });
  await page.goto("./docs/embeds/");
  for (const name of CALCULATORS) {
    const calculator = page.locator(`dpscope-${name}`);
    await calculator.scrollIntoViewIfNeeded();
    await expect(calculator.locator(".result[aria-busy=false]")).toBeVisible();
    await expect(calculator.locator(".problem")).toHaveCount(0);
    // what readers without JavaScript see
    const stored = (await calculator.textContent())?.match(/\d\.\d{4}/g) ?? [];
    for (const number of stored) await expect(calculator.locator(".result")).toContainText(number);
  }
  await expect(page.locator("dpscope-value").first()).toContainText("0.7181");
  const details = await page.evaluate(
    () => (window as unknown as { details: DpscopeDetail[] }).details,
  );
  const compared = details.flatMap(({ calculator, settings, result }) => {
    const key = JSON.stringify(Object.entries(settings).sort());
    const same = values.find(
      (value) =>
        value.calculator === calculator &&
        JSON.stringify(Object.entries(value.settings).sort()) === key,
    );
    if (same === undefined) return [];
    expect(unequal(plain(result), same.expected)).toEqual([]);
    return [calculator];
  });
  expect(compared).toEqual(expect.arrayContaining(["epsilon", "shuffle-gap"]));
  await expectAccessible(page);
});

test("the colours that the reader chooses are those of the app", async ({ page }) => {
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  await page.goto("./docs/");
  const button = page.getByRole("button", { name: "Colours: Auto" });
  await button.click();
  await page.getByRole("button", { name: "Colours: Light" }).click();
  await page.getByRole("link", { name: "Concepts", exact: true }).first().click();
  await expect(page.getByRole("button", { name: "Colours: Dark" })).toBeVisible();
  await page.getByRole("link", { name: "App", exact: true }).click();
  await expect(page.locator(".hero")).toBeVisible();
  await expect.poll(theme).toBe("dark");
  await page.getByRole("link", { name: "Documentation" }).click();
  await expect(page.locator("h1")).toHaveText("How much privacy does a training really leak?");
  expect(await theme()).toBe("dark");
});

test("on a phone the contents are a menu, and the skip link leads to the text", async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("./docs/audits/counts/");
  const contents = page.getByRole("navigation", { name: "Contents", exact: true });
  await expect(contents).toBeHidden();
  await page.getByRole("button", { name: "Contents" }).click();
  await expect(contents.getByRole("link", { name: "Counts" })).toHaveAttribute(
    "aria-current",
    "page",
  );
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(contents).toBeHidden();
  await page.getByRole("button", { name: "Contents" }).click();
  await contents.getByRole("link", { name: "Reading a report" }).click();
  await expect(page).toHaveURL(/\/docs\/reports\/$/);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.locator("main")).toBeFocused();
});

test("forced colours are readable, and a printed page is its text", async ({ page }) => {
  await page.addInitScript(axe.source);
  await page.goto("./docs/concepts/bounds/");
  await page.emulateMedia({ forcedColors: "active" });
  expect(await violations(page, ["color-contrast"])).toEqual([]);
  await page.emulateMedia({ forcedColors: "none", media: "print" });
  await expect(page.getByRole("navigation")).toHaveCount(0);
  await expect(page.locator("h1")).toBeVisible();
  await expect(page.locator("math").first()).toBeVisible();
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });
  test("text, numbers and contents are there", async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto("./docs/");
    await expect(page.getByText("shuffled, ε ≥ 4.0631")).toBeVisible();
    await expect(page.locator("#theme")).toBeHidden();
    await page.getByRole("button", { name: "Contents" }).click();
    await page.getByRole("link", { name: "Concepts", exact: true }).click();
    await page.getByRole("link", { name: "Claims, bounds and estimates" }).last().click();
    await expect(page.locator("math").first()).toBeVisible();
    await expect(page.getByText("12 false positives and 480")).toBeVisible();
  });
});

test("without a network the app is not shown in place of a page", async ({
  page,
  context,
  heard,
}) => {
  await page.goto("");
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.reload();
  await context.setOffline(true);
  await expect(page.goto("./docs/")).rejects.toThrow("ERR_");
  await context.setOffline(false);
  await page.goto("./docs/");
  await expect(page.locator("h1")).toHaveCount(1);
  heard.length = 0;
});
