import base from "../playwright.config";

/** Sites that `cargo xtask web --hosts` built; calculators use no GPU. */
export default {
  ...base,
  testDir: ".",
  globalSetup: "../tests/server.ts",
  outputDir: "../test-results",
  reporter: [["list"], ["../tests/counts.ts"]],
  projects: base.projects?.filter(({ name }) => name === "cpu"),
};
