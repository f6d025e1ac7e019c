import { expect, expectAccessible, test } from "./page";

test("every published training has its row, its source and its claim", async ({ page }) => {
  await page.goto("#v=1&view=published");
  const rows = page.locator(".published tbody tr");
  await expect(rows).toHaveCount(32);
  await expect(page.locator("#published > g:not(.axes)")).toHaveCount(32);
  await expect(rows.first()).toContainText("60,000");
  await expect(rows.first().getByRole("link").first()).toHaveAttribute("rel", "noreferrer");
  const partial = rows.filter({ hasText: "917 epochs + 63 steps" });
  await expect(partial).toHaveCount(1);
  await expect(partial.getByRole("link", { name: /^Explore/ })).toHaveCount(0);
  await expect(page.getByText("not stated").first()).toBeVisible();
});

test("a row opens in Explore with the numbers of the row", async ({ page }) => {
  await page.goto("#v=1&view=published&dataset_size=1000&batch_size=10");
  const row = page.locator(".published tbody tr").first();
  await expect(row).toContainText("≥ 3.24");
  await row.getByRole("link", { name: /^Explore TF Privacy MNIST, σ = 1.3/ }).click();
  await expect(page.getByLabel("Noise multiplier σ", { exact: true })).toHaveValue("1.3");
  await expect(page.getByLabel("Steps per epoch T", { exact: true })).toHaveValue("235");
  await expect(page.getByLabel("Epochs E", { exact: true })).toHaveValue("15");
  await expect(page.locator(".hero .big.attack")).toHaveText("3.24");
});

test("on a phone the table scrolls by keyboard, and the page does not", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("#v=1&view=published");
  const region = page.getByRole("region", { name: "Published trainings: numbers and sources" });
  await region.focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => region.evaluate((element) => element.scrollLeft)).toBeGreaterThan(0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await expectAccessible(page);
});
