/** Sizes of a cold load, counted at the server; `sizes.js` counts the files, workers included. */

import { gzipSync } from "node:zlib";
import { expect, test as quiet } from "./page";
import { serve } from "./server";

const loaded = new Map<string, number>();

const test = quiet.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what is used
  baseURL: async ({}, use) => {
    const server = await serve((name, bytes) =>
      loaded.set(name, gzipSync(bytes, { level: 9 }).length),
    );
    await use(server.url);
    server.close();
  },
});

// The offline cache is loaded after the page.
test.use({ serviceWorkers: "block" });

test("a cold load transfers at most 151 KiB compressed, and no audit", async ({ page }) => {
  await page.goto("./");
  await page.waitForLoadState("networkidle");
  const names = () => [...loaded.keys()].join(" ");
  expect(names()).toMatch(/\.js/);
  expect(names()).not.toContain("audit");
  const total = [...loaded.values()].reduce((sum, gzipped) => sum + gzipped, 0);
  expect(total, names()).toBeLessThanOrEqual(151 * 1024);
});
