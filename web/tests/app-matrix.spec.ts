/** Correlated noise: a bound, the errors of all strategies at its ε, and what is refused. */

import { expect, expectAccessible, test } from "./page";

const QUICK = "#v=1&view=matrix&matrix_steps=100&matrix_epochs=5";

test("a strategy has its bound, and all strategies are compared at its ε", async ({ page }) => {
  await page.goto(QUICK);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Correlated noise (DP-FTRL)");
  const big = page.locator(".matrix .big");
  await expect(big.first()).toHaveText(/ε ≤\s+4\.00/);
  const bars = page.locator("#matrix-errors li");
  await expect(bars).toHaveCount(5);
  await expect(bars.filter({ hasText: "chosen" })).toContainText("Banded, optimised");
  const error = async (name: string) =>
    Number(await bars.filter({ hasText: name }).locator("strong").textContent());
  expect(await error("Banded, optimised")).toBeLessThan(await error("Independent noise"));
  await page.getByText("Strategies as a table").click();
  await expect(page.locator(".data tbody tr")).toHaveCount(5);
  await expectAccessible(page);
});

test("the goal, the strategy and the participation are in the link and in the command", async ({
  page,
}) => {
  await page.goto(QUICK);
  await page.getByRole("button", { name: "Noise multiplier", exact: true }).click();
  await page.getByLabel("Strategy").selectOption("tree");
  await page.getByLabel("Participation").selectOption("min-separation");
  const separation = page.getByLabel("Minimum separation b");
  await separation.fill("20");
  await separation.press("Enter");
  await expect(page).toHaveURL(/matrix_participation=min-separation.*matrix_separation=20/);
  const command =
    "dpscope bound matrix --strategy tree --steps 100 --participation min-separation:20 --noise-multiplier 3 --delta 1e-5";
  await expect(page.locator(".matrix .command code").first()).toHaveText(command);
  await expect(page.locator(".matrix .command code").last()).toContainText(
    /calibrate matrix --epsilon [0-9.]+ --strategy all/,
  );
  const before = await page.locator(".matrix .big").first().textContent();
  await page.reload();
  await expect(page.locator(".matrix .big").first()).toHaveText(before ?? "");
});

test("a number that the library refuses is reported at its field", async ({ page }) => {
  await page.goto(QUICK);
  const epochs = page.getByLabel("Epochs of the training E");
  await epochs.fill("7");
  await epochs.press("Enter");
  const says = "Epochs of the training is 7; it must be a divisor of the number of steps";
  await expect(page.locator("#matrix_epochs-hint")).toContainText(says);
  await expect(page.getByRole("alert")).toContainText(says);
  await epochs.fill("10");
  await epochs.press("Enter");
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect(page.locator("#matrix-errors li")).toHaveCount(5);
});

test("an unknown value is called unknown", async ({ page }) => {
  await page.goto(`${QUICK}&matrix_strategy=tree&matrix_participation=shuffled`);
  await expect(page.locator(".facts")).toContainText("none is known");
  await page.goto(`${QUICK}&matrix_strategy=identity`);
  await expect(page.locator(".facts")).toContainText("at least one participant has ε ≥ 3.99");
});

for (const scheme of ["light", "dark"] as const) {
  test(`the view fits a phone: ${scheme}`, async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(QUICK);
    await expect(page.locator("#matrix-errors li")).toHaveCount(5);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await expectAccessible(page);
  });
}

test("bars are visible in forced colours", async ({ page }) => {
  await page.emulateMedia({ forcedColors: "active" });
  await page.goto(QUICK);
  await expect(page.locator("#matrix-errors .rule-bar").first()).toBeVisible();
  const colours = await page
    .locator("#matrix-errors svg")
    .first()
    .evaluate((chart) => {
      const fill = (name: string) => getComputedStyle(chart.querySelector(name) as Element).fill;
      return [fill(".rule-bar"), fill(".rule-track")];
    });
  expect(colours[0]).not.toBe(colours[1]);
});
