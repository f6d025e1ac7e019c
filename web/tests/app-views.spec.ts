import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./page";

const VIEWS = [
  "explore",
  "matrix",
  "see",
  "check",
  "scores",
  "one-run",
  "federated",
  "synthetic",
  "published",
  "meaning",
] as const;

async function isReady(page: Page, view: (typeof VIEWS)[number]): Promise<void> {
  const sign = {
    explore: ".hero .big",
    matrix: "#matrix-errors li",
    see: ".scene .record.moving",
    check: ".findings li",
    scores: ".drop",
    "one-run": "#run-boundary",
    federated: ".rule-bars li",
    synthetic: ".lamp",
    published: ".published tbody tr",
    meaning: "math",
  }[view];
  await expect(page.locator(sign).first()).toBeAttached();
}

/** Of the whole page, which changes with the next frame after its window or text. */
function widthOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth);
}

for (const view of VIEWS) {
  for (const scheme of ["light", "dark"] as const) {
    test(`${view} is accessible in ${scheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await page.goto(`#v=1&view=${view}`);
      await isReady(page, view);
      for (const details of await page.locator("details").all()) {
        await details.evaluate((element) => element.setAttribute("open", ""));
      }
      await expectAccessible(page);
    });
  }

  test(`${view} fits a phone, and forced colours`, async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" });
    await page.goto(`#v=1&view=${view}`);
    await isReady(page, view);
    await expect.poll(() => widthOf(page)).toBe(390);
    await expectAccessible(page);
  });
}

for (const view of VIEWS) {
  test(`${view} has targets of 24 pixels on a phone`, async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`#v=1&view=${view}`);
    await isReady(page, view);
    const small = await page
      .locator("a:visible, button:visible, input:visible, select:visible, summary:visible")
      .evaluateAll((targets) =>
        targets
          .filter((target) => target.closest("p, li p, .skip, .hidden") === null)
          .map((target) => ({ box: target.getBoundingClientRect(), text: target.outerHTML }))
          .filter(({ box }) => box.height < 24 || box.width < 24)
          .map(({ box, text }) => `${box.width} × ${box.height}: ${text.slice(0, 90)}`),
      );
    expect(small).toEqual([]);
  });
}

for (const [view, field, result] of [
  ["explore", "Delta, slider", "4.06"],
  ["check", "Claimed ε", "REFUTED"],
] as const) {
  test(`the result of ${view} stays beside its fields on a phone`, async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`#v=1&view=${view}`);
    await isReady(page, view);
    await page.getByLabel(field).evaluate((input) => input.scrollIntoView({ block: "center" }));
    const line = page.locator(".nearby");
    await expect(line).toContainText(result);
    await expect(line).toBeInViewport();
    await page.setViewportSize({ width: 1280, height: 844 });
    await expect(line).toBeHidden();
  });
}

test("enlarged text covers nothing", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto("");
  await expect(page.locator("#app:not([data-painted])")).toHaveCount(1);
  await page.evaluate(() => {
    document.documentElement.style.fontSize = "32px";
  });
  const covered = () =>
    page.locator(".paired").evaluateAll(
      (rows) =>
        rows.filter((row) => {
          const [label, input] = ["label", ".number"].map((part) => row.querySelector(part));
          const text = document.createRange();
          text.selectNodeContents(label as Node);
          const [one, other] = [text, input as Element].map((part) => part.getBoundingClientRect());
          return one && other && one.right > other.left + 1 && one.bottom > other.top + 1;
        }).length,
    );
  await expect.poll(covered).toBe(0);
  await expect.poll(() => widthOf(page)).toBe(1280);
});

test("forced colours keep the legend", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ forcedColors: "active" });
  await page.goto("");
  await expect(page.locator("#app:not([data-painted])")).toHaveCount(1);
  const grounds = await page.locator(".legend .dash").evaluateAll((dashes) =>
    dashes.map((dash) => {
      const { backgroundColor, backgroundImage } = getComputedStyle(dash);
      return `${backgroundColor} ${backgroundImage}`;
    }),
  );
  expect(new Set(grounds).size).toBe(4);
  const strokes = await page
    .locator("#sweep path.curve")
    .evaluateAll((curves) => curves.map((curve) => getComputedStyle(curve).stroke));
  expect(new Set(strokes).size).toBe(4);
});

test("the keyboard reaches the content first, and every view", async ({ page }) => {
  await page.goto("");
  await expect(page.locator("#app:not([data-painted])")).toHaveCount(1);
  await page.keyboard.press("Tab");
  await expect(page.getByText("Skip to the content")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.locator("main")).toBeFocused();
  await page.getByRole("link", { name: "See it happen" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("See it happen");
  await expect(page).toHaveTitle("See it happen: dpscope");
});

test("the theme is chosen by hand, and remembered", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto("");
  const theme = page.getByRole("button", { name: /Colours/ });
  await theme.click();
  await theme.click();
  await expect(theme).toContainText("Dark");
  await expect(page.locator("body")).toHaveCSS("background-color", "rgb(19, 21, 24)");
  await page.reload();
  await expect(theme).toContainText("Dark");
});

test("following a number to its meaning loses no setting", async ({ page }) => {
  await page.goto("#v=1&steps=50");
  await expect(page.locator("#app:not([data-painted])")).toHaveCount(1);
  await page.locator(".hero .badge").first().click();
  await page.locator("#about-claimed a").click();
  await expect(page.locator("math").first()).toBeAttached();
  await page.getByRole("link", { name: "Explore", exact: true }).click();
  await expect(page.getByLabel("Steps per epoch", { exact: false }).first()).toHaveValue("50");
});

test.describe("check my training", () => {
  test("a claim of a shuffled loader is refuted", async ({ page }) => {
    await page.goto("#v=1&view=check");
    await expect(page.locator("#check-head")).toContainText("REFUTED");
    await expect(page.locator(".findings li.is-refutes")).toContainText("20.95");
    await expect(page.locator(".command code").first()).toContainText(
      "dpscope calibrate noise --sampler poisson --epsilon 2.6",
    );
    await expect(page.locator(".findings")).toContainText("under add/remove adjacency");
  });

  test("the noise that satisfies the claim is computed, and opens in Explore", async ({ page }) => {
    await page.goto("#v=1&view=check&check_adjacency=zero-out");
    const remedies = page.locator(".remedy");
    await expect(remedies.nth(0)).toContainText("σ = 7.06 with shuffled batches");
    await expect(remedies.nth(1)).toContainText("σ = 0.81 with Poisson-sampled batches");
    await remedies.nth(0).getByRole("link").click();
    await expect(page.locator(".hero .sentence")).toContainText("no dataset leaks more than 2.60");
    await expect(page.getByLabel("Steps per epoch T", { exact: true })).toHaveValue("235");
    await expect(page.getByLabel("Noise multiplier σ", { exact: true })).toHaveValue("7.06");
  });

  test("a larger claim is inconclusive, or holds as described", async ({ page }) => {
    await page.goto("#v=1&view=check");
    const claim = page.getByLabel("Claimed ε");
    await claim.fill("30");
    await claim.press("Enter");
    await expect(page.locator("#check-head")).toContainText("inconclusive");
    await expect(page.locator("section.panel")).toContainText(
      "neither refutes the claim nor confirms",
    );
    await claim.fill("40");
    await claim.press("Enter");
    await expect(page.locator("#check-head")).toContainText("inconclusive");
    await page.getByLabel("Adjacency", { exact: true }).selectOption("zero-out");
    await expect(page.locator("#check-head")).toContainText("holds as described");
    await expect(page.locator("section.panel")).toContainText("satisfies the claim: proven");
    await page.getByLabel("How the data loader draws batches").selectOption("Poisson");
    await expect(page).toHaveURL(/check_loader=poisson/);
  });

  test("truncated batches are checked with their maximum", async ({ page }) => {
    await page.goto(
      "#v=1&view=check&check_loader=truncated-poisson&check_adjacency=zero-out&check_claim=2",
    );
    const most = page.getByLabel("Most records of a batch");
    await expect(page.locator("#check_max_batch-hint")).toContainText("max_batch_size is missing");
    await most.fill("300");
    await most.press("Enter");
    await expect(page.locator("#check-head")).toContainText("REFUTED");
    const command = page.locator(".command code").first();
    await expect(command).toContainText("--batch-size 256 --max-batch-size 300 --epochs 20");
    await expect(page.locator(".remedy").first()).toContainText("σ = ");
    await page.getByLabel("How the data loader draws batches").selectOption("Poisson");
    await expect(most).toHaveCount(0);
  });

  test("an inconsistent description is reported", async ({ page }) => {
    await page.goto("#v=1&view=check&check_batch=100000");
    await expect(page.locator(".failure, .refused").first()).toBeVisible();
  });
});

for (const [view, link] of [
  ["explore", "#v=1"],
  ["check", "#v=1&view=check"],
] as const) {
  test(`${view} has a privacy statement to paste`, async ({ page, context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(link);
    await isReady(page, view);
    await page.getByRole("button", { name: "Privacy statement" }).click();
    const dialog = page.getByRole("dialog", { name: "Privacy statement to paste" });
    const text = dialog.locator("pre");
    await expect(text).toContainText("- **Privacy unit:** one training record");
    await expect(text).toContainText(view === "check" ? "the claim is refuted" : "ε ≥ 4.0631");
    await expect(text).toContainText(view === "check" ? "`dpscope check" : "`dpscope compare");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "LaTeX" }).click();
    await expect(text).toContainText("\\begin{description}");
    const shown = await text.textContent();
    await dialog.getByRole("button", { name: "Copy" }).click();
    await expect(page.getByText("Copied: privacy statement.")).toBeVisible();
    expect((await page.evaluate(() => navigator.clipboard.readText())).trim()).toBe(shown?.trim());
  });
}
