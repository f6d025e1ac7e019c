import { defineConfig } from "vite";

/** The scripts of the search, beside the pages, after Eleventy has written them. */
export default defineConfig({
  base: "./",
  root: "docs",
  publicDir: false,
  build: {
    outDir: "../dist/docs",
    emptyOutDir: false,
    license: { fileName: "third-party.md" },
    target: "es2022",
    modulePreload: false,
    lib: { entry: { search: "search/open.ts" }, formats: ["es"] }, // no helpers of Vite around imports
    rolldownOptions: {
      output: { minify: true, entryFileNames: "[name].js", chunkFileNames: "search-[hash].js" },
    },
  },
});
