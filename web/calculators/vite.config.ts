import { defineConfig } from "vite";

// No library mode: that would inline the wasm, which lies beside the module instead.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../dist/calculators",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: false,
    rolldownOptions: {
      input: "src/calculators.ts",
      preserveEntrySignatures: "strict",
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "[name].js",
        assetFileNames: "[name][extname]",
      },
    },
  },
});
