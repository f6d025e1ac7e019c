/** The search of the documentation in a browser. */

import type { Page, Route } from "@playwright/test";
import { expect, expectAccessible, test } from "./page";

const START = "./docs/concepts/threat-models/"; // without a calculator

const field = (page: Page) => page.getByRole("combobox", { name: "Search the documentation" });
const dialog = (page: Page) => page.getByRole("dialog", { name: "Search" });
const button = (page: Page) => page.getByRole("button", { name: "Search", exact: true });
const options = (page: Page) => dialog(page).getByRole("option");
const selected = (page: Page) => dialog(page).getByRole("option", { selected: true });
const status = (page: Page) => dialog(page).getByRole("status");

async function search(page: Page, query: string): Promise<void> {
  await page.keyboard.press("/");
  await expect(field(page)).toBeFocused();
  await page.keyboard.type(query);
  await expect(status(page)).not.toHaveText("Loading…");
}

test("a section is found and opened with the keyboard alone", async ({ page }) => {
  await page.goto(START);
  await search(page, "random allocation");
  await expect(status(page)).toHaveText("4 results");
  await expect(options(page)).toHaveCount(4);
  await expect(field(page)).toHaveAttribute("aria-expanded", "true");
  const active = async () => {
    const id = await field(page).getAttribute("aria-activedescendant");
    await expect(selected(page)).toHaveCount(1);
    await expect(selected(page)).toHaveAttribute("id", id ?? "");
    return (await options(page).evaluateAll((all) => all.map(({ id }) => id))).indexOf(id ?? "");
  };
  expect(await active()).toBe(0);
  await page.keyboard.press("ArrowUp");
  expect(await active()).toBe(3);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  expect(await active()).toBe(1);
  await expect(selected(page)).toContainText("Audits › Trained models");
  await expect(selected(page).locator("mark")).toHaveText(["random-allocation"]);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/docs\/audits\/trained-models\/#command$/);
  await expect(page.locator("#command")).toBeInViewport();
});

test("the search opens by keys, and gives the focus back", async ({ page }) => {
  await page.goto(START);
  const link = page.getByRole("link", { name: "App", exact: true });
  for (const keys of ["/", "Control+k", "Meta+k"]) {
    await link.focus();
    await page.keyboard.press(keys);
    await expect(field(page)).toBeFocused();
    await page.keyboard.press("Escape");
    await expect(dialog(page)).toBeHidden();
    await expect(link).toBeFocused();
  }
  await button(page).click();
  await page.keyboard.type("verdict");
  await expect(options(page).first()).toBeVisible();
  await dialog(page).getByRole("button", { name: "Close" }).click();
  await expect(button(page)).toBeFocused();
  // the query is still there, selected, so that typing replaces it
  await page.keyboard.press("Enter");
  await expect(field(page)).toHaveValue("verdict");
  await page.keyboard.type("ε");
  await expect(options(page).first()).toContainText("The claim: ε and δ");
});

test("a slash that is typed into a field is no shortcut", async ({ page }) => {
  await page.goto("./docs/concepts/bounds/");
  const number = page.locator("dpscope-counts input").first(); // within a shadow root
  await number.focus();
  await page.keyboard.press("/");
  await expect(dialog(page)).toBeHidden();
  await page.keyboard.press("Control+k");
  await expect(dialog(page)).toBeVisible();
});

test("without a result there is advice, and examples that find something", async ({ page }) => {
  await page.goto(START);
  await search(page, "qqqqzzzz");
  await expect(status(page)).toHaveText("No results for “qqqqzzzz”");
  await expect(dialog(page)).toContainText("Check the spelling");
  await expect(page.getByRole("listbox")).toBeHidden();
  await expect(field(page)).toHaveAttribute("aria-expanded", "false");
  await expect(field(page)).not.toHaveAttribute("aria-activedescendant");
  await page.keyboard.press("Enter"); // opens nothing
  await expect(dialog(page)).toBeVisible();
  await dialog(page).getByRole("button", { name: "--fail-above" }).click();
  await expect(field(page)).toBeFocused();
  await expect(field(page)).toHaveValue("--fail-above");
  await expect(status(page)).toHaveText("1 result");
  await expect(options(page)).toContainText("Exit codes");
  await expect(dialog(page)).not.toContainText("Check the spelling");
});

test("a result on the same page, and one in a new tab", async ({ page, context }) => {
  await page.goto(START);
  await search(page, "federated threat model");
  await options(page).filter({ hasText: "In federated training" }).click();
  await expect(dialog(page)).toBeHidden();
  await expect(page).toHaveURL(/\/docs\/concepts\/threat-models\/#in-federated-training$/);
  await search(page, "samplers");
  await expect(options(page).first()).toContainText("Samplers");
  const opened = context.waitForEvent("page");
  await page.keyboard.press("Control+Enter");
  await expect(await opened).toHaveURL(/\/docs\/concepts\/samplers\/$/);
  await expect(dialog(page)).toBeVisible();
});

test("results lead to their pages below any path", async ({ page, baseURL }) => {
  await page.route("**/site/of/others/**", async (route) => {
    const url = route.request().url().replace("/site/of/others/", "/");
    await route.fulfill({ response: await route.fetch({ url }) });
  });
  await page.goto("./site/of/others/docs/audits/counts/");
  await search(page, "exit codes");
  const address = `${baseURL}site/of/others/docs/concepts/verdicts/#exit-codes`;
  await expect(options(page).first()).toHaveAttribute("href", address);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(address);
  await expect(page.locator("h1")).toHaveText("Verdicts");
});

test("the search is loaded at its first use, once", async ({ page }) => {
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  const ofSearch = () => loaded.filter((path) => /\/search[^/]*(?:-[^/]*\.js|\.json)$/.test(path));
  await page.goto(START);
  await expect(button(page)).toBeVisible();
  await page.waitForLoadState("networkidle");
  expect(ofSearch()).toEqual([]);
  for (const query of ["verdict", "sampler"]) {
    await search(page, query);
    await expect(options(page).first()).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(dialog(page)).toBeHidden();
  }
  expect(ofSearch()).toHaveLength(2);
});

test("a search that cannot be loaded says so, and is loaded when it is opened again", async ({
  page,
  heard,
}) => {
  const refused = (route: Route) => route.abort();
  await page.route("**/search.json", refused);
  await page.goto(START);
  await page.keyboard.press("/");
  await expect(status(page)).toContainText("The search cannot be loaded.");
  await page.keyboard.type("verdict");
  await page.keyboard.press("Escape");
  await expect(dialog(page)).toBeHidden();
  await page.unroute("**/search.json", refused);
  heard.length = 0;
  await page.keyboard.press("/");
  await expect(options(page).first()).toContainText("Verdicts");
});

test("the search is accessible and fits, in every state", async ({ page }) => {
  await page.goto(START);
  await page.keyboard.press("/");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const query of ["", "noise multiplier", "qqqqzzzz"]) {
      await field(page).fill(query);
      await expect(status(page)).toHaveText(
        { "": "", qqqqzzzz: /No results/ }[query] ?? "Top 30 results",
      );
      await expectAccessible(page);
    }
  }
  await field(page).fill("--max-batch-size");
  await expect(options(page).first()).toBeVisible();
  await page.emulateMedia({ colorScheme: "light", forcedColors: "active" });
  await expectAccessible(page);
  const mark = options(page).first().locator("mark").first(); // axe does not see its ground
  await expect(mark).not.toHaveCSS("background-color", /^rgba.*, 0\)$/);
  for (const width of [320, 390, 768, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    const box = await dialog(page).boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
    expect(
      await dialog(page).evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth),
    ).toBe(0);
  }
});

test("on a phone the button is an icon in a header of one line", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(START);
  const box = await button(page).boundingBox();
  expect(box?.width).toBeLessThan(48);
  expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);
  const header = await page.getByRole("banner").boundingBox();
  expect(header?.height).toBeLessThan(70);
  await button(page).click();
  await page.keyboard.type("canary");
  await expect(options(page).first()).toBeVisible();
  for (let i = 0; i < 12; i++) await page.keyboard.press("ArrowDown");
  await expect(selected(page)).toBeInViewport({ ratio: 0.99 });
  await expect(field(page)).toBeInViewport({ ratio: 0.99 });
});

test("a strict content policy is not violated", async ({ page, heard }) => {
  await page.route("**/docs/**", async (route) => {
    const response = await route.fetch();
    const policy = { "content-security-policy": "default-src 'self'" };
    await route.fulfill({ response, headers: { ...response.headers(), ...policy } });
  });
  await page.goto(START);
  await search(page, "--fail-above");
  await expect(options(page).first().locator("mark").first()).toHaveText("--fail-above");
  expect(heard).toEqual([]);
  await page.evaluate(() => document.body.setAttribute("style", "color: red"));
  await expect.poll(() => heard.join()).toContain("Content Security Policy"); // of this policy
  heard.length = 0;
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });
  test("there is no button and no field", async ({ page }) => {
    await page.goto(START);
    await expect(page.locator("#search-open")).toBeHidden();
    await expect(page.locator("#search-input")).toBeHidden();
  });
});
