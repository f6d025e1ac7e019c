import { defineConfig } from "@playwright/test";
import { installed, WEBGPU } from "./tests/chromium.js";

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

function chromium(name: string, more: string[]) {
  return {
    name,
    use: { launchOptions: { executablePath: installed(), args: [...ARGUMENTS, ...more] } },
  };
}

/** What asks for no GPU, tested in one browser only. */
const WITHOUT_GPU = [
  "docs",
  "docs-search",
  "embeds",
  "app-federated",
  "app-matrix",
  "app-one-run",
  "app-published",
  "app-screens",
  "app-see",
  "app-synthetic",
  "app-views",
];

export default defineConfig({
  testDir: "tests",
  testMatch: "**/*.spec.ts",
  globalSetup: "./tests/server.ts",
  outputDir: "test-results",
  fullyParallel: true,
  forbidOnly: process.env.CI !== undefined,
  workers: 2,
  retries: process.env.CI === undefined ? 0 : 1, // a test that passes then is listed as flaky
  reporter: [["list"], ["./tests/counts.ts"]],
  snapshotPathTemplate: "{testDir}/screenshots/{arg}{ext}",
  expect: {
    timeout: 20_000, // two cores draw, calculate and compile shaders
    toHaveScreenshot: { maxDiffPixelRatio: 0.02, animations: "disabled" },
  },
  timeout: 90_000,
  use: { browserName: "chromium", baseURL: process.env.DPSCOPE_URL, trace: "retain-on-failure" },
  projects: [
    {
      ...chromium("webgpu", WEBGPU),
      testIgnore: WITHOUT_GPU.map((name) => `**/${name}.spec.ts`),
    },
    chromium("cpu", ["--disable-features=WebGPU"]),
  ],
});
