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

/** A trace records every step and picture: in CI, only the retry of a failed test has one. */
const TRACE = process.env.CI === undefined ? "retain-on-failure" : "on-first-retry";

const WITHOUT_WEBGPU = ["--disable-features=WebGPU"];

function chromium(name: string, more: string[]) {
  return {
    name,
    use: { launchOptions: { executablePath: installed(), args: [...ARGUMENTS, ...more] } },
  };
}

/** Specifications that ask for no GPU. */
const WITHOUT_GPU = [
  "docs",
  "docs-search",
  "embeds",
  "app-federated",
  "app-matrix",
  "app-one-run",
  "app-published",
  "app-questions",
  "app-screens",
  "app-see",
  "app-synthetic",
  "app-views",
];

// Tags: `@webgpu` needs WebGPU, `@cpu` a browser without it, `@both` is tested with and without,
// `@picture` compares pixels. All others are tested without, and by `npm run browsers` also with.

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
  globalTimeout: 45 * 60_000, // of all tests together, the start of the server included
  use: { browserName: "chromium", baseURL: process.env.DPSCOPE_URL, trace: TRACE },
  projects: [
    { ...chromium("webgpu", WEBGPU), grep: /@webgpu|@both/ },
    { ...chromium("cpu", WITHOUT_WEBGPU), grepInvert: /@webgpu|@picture/ },
    { ...chromium("pictures", WITHOUT_WEBGPU), grep: /@picture/ },
    {
      ...chromium("webgpu-rest", WEBGPU),
      grepInvert: /@webgpu|@both|@cpu|@picture/,
      testIgnore: WITHOUT_GPU.map((name) => `**/${name}.spec.ts`),
    },
  ],
});
