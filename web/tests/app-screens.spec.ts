import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "@playwright/test";
import { expect, test } from "./page";

/** Pictures are compared only where they were made: with the same fonts and browser. */
const MADE_WITH = fileURLToPath(new URL("screenshots/made-with.json", import.meta.url));
const WIDTHS = [390, 768, 1440];
const SCHEMES = ["light", "dark"] as const;

/** What changes text on the screen: the browser, and how wide its fonts are. */
async function fingerprint(page: Page, browser: Browser): Promise<string> {
  const widths = await page.evaluate(() => {
    const pen = document.createElement("canvas").getContext("2d");
    return ["system-ui", "ui-monospace", "sans-serif"].map((family) => {
      if (pen !== null) pen.font = `40px ${family}`;
      return pen?.measureText("Poisson ε ≤ 0.7181, δ = 1e-5 Wij").width ?? 0;
    });
  });
  return `${browser.version()} ${widths.map((width) => width.toFixed(2)).join(" ")}`;
}

async function isSameMachine(page: Page, browser: Browser): Promise<boolean> {
  const here = await fingerprint(page, browser);
  const isNew = test.info().config.updateSnapshots === "all";
  if (isNew) writeFileSync(MADE_WITH, `${JSON.stringify(here)}\n`);
  return existsSync(MADE_WITH) && JSON.parse(readFileSync(MADE_WITH, "utf8")) === here;
}

for (const width of WIDTHS) {
  for (const colorScheme of SCHEMES) {
    test(`Explore looks as it did: ${width} px, ${colorScheme}`, async ({ page, browser }) => {
      test.skip(test.info().project.name !== "cpu", "one project is enough");
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.goto("");
      await expect(page.locator("#app:not([data-painted])")).toHaveCount(1);
      test.skip(!(await isSameMachine(page, browser)), "pictures were made with other fonts");
      await expect(page).toHaveScreenshot(`explore-${width}-${colorScheme}.png`);
    });
  }
}

test("nothing overlaps or leaves the page, at any width", async ({ page }) => {
  for (const width of [320, 390, 600, 768, 979, 980, 1440, 2200]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto("");
    await expect(page.locator("#app:not([data-painted])")).toHaveCount(1);
    const found = await page.evaluate(() => {
      const boxes = [...document.querySelectorAll(".figure, .controls, .column > .panel")];
      const places = boxes.map((box) => box.getBoundingClientRect());
      const overlaps = places.some((one, index) =>
        places
          .slice(index + 1)
          .some(
            (other) =>
              one.left < other.right - 1 &&
              other.left < one.right - 1 &&
              one.top < other.bottom - 1 &&
              other.top < one.bottom - 1,
          ),
      );
      return { overlaps, wide: document.documentElement.scrollWidth };
    });
    expect(found).toEqual({ overlaps: false, wide: width });
  }
});
