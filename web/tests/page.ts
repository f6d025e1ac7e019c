/** The `test` of every browser test: a page must log nothing and stay on its own origin. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page, test as plain } from "@playwright/test";

export { expect };

interface Watched {
  /** Errors so far; a test removes those that it expects. */
  heard: string[];
}

/** Fails when a page logs an error, throws, violates its policy or contacts another origin. */
export const test = plain.extend<Watched>({
  page: async ({ page }, use) => {
    await use(page);
    // what the page still loads when its test ends is no error
    if (!page.isClosed()) await page.unrouteAll({ behavior: "ignoreErrors" });
  },
  heard: [
    async ({ context, baseURL }, use) => {
      const heard: string[] = [];
      context.on("weberror", (error) => heard.push(`thrown: ${error.error()}`));
      context.on("console", (message) => {
        if (message.type() === "error") heard.push(`console: ${message.text()}`);
      });
      context.on("request", (request) => {
        const { protocol, origin } = new URL(request.url());
        const isOwn = origin === new URL(baseURL ?? "").origin;
        if (!isOwn && !["data:", "blob:", "file:"].includes(protocol))
          heard.push(`asked: ${request.url()}`);
      });
      await use(heard);
      expect(heard).toEqual([]);
    },
    { auto: true },
  ],
});

/** No violation of WCAG 2.2 A and AA, nor of axe's best practices. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const lines = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`,
  );
  expect(lines).toEqual([]);
}

/** Whether the page of a documentation tool was built here; `cargo xtask web --pages` builds all that it can. */
export function isBuilt(tool: string): boolean {
  return existsSync(fileURLToPath(new URL(`../pages/${tool}/index.html`, import.meta.url)));
}

/** A file of scores, evenly spread around a middle. */
export function scores(count: number, middle: number): string {
  // no value of one middle is one of another
  const width = 4 + middle / 100;
  return Array.from({ length: count }, (_, i) => String(middle + (width * i) / count - 2)).join(
    "\n",
  );
}

/** Cosines about `shift` standard deviations above those of canaries that were not in. */
export function cosines(count: number, shift: number, dimension: number): string {
  const rows = Array.from({ length: count }, (_, canary) => {
    const cosine = (shift + (4 * canary) / count - 2) / Math.sqrt(dimension);
    return `${canary},${cosine}`;
  });
  return ["canary,cosine", ...rows].join("\n");
}
