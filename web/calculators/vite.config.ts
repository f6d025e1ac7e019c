import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { calculators } from "./src/calculators";
import { attributeOf, type Input } from "./src/fields";
import { settingsOfAll } from "./src/quantities";

/** Substitutes for the DOM where a server imports the module, which then defines nothing. */
const WITHOUT_DOM =
  "const HTMLElement = globalThis.HTMLElement ?? class {}, document = globalThis.document ?? { createTreeWalker() {} };";

const at = (path: string) => new URL(path, import.meta.url);

/** Emits the other files of the npm package. */
function npmPackage(): Plugin {
  return {
    name: "npm-package",
    generateBundle() {
      const { name, version, description, license } = JSON.parse(
        readFileSync(at("package.json"), "utf8"),
      );
      const manifest = {
        name,
        version,
        description,
        license,
        type: "module",
        exports: {
          ".": { types: "./dpscope-calculators.d.ts", default: "./dpscope-calculators.js" },
          "./*": "./*",
        },
        customElements: "custom-elements.json",
        sideEffects: true,
      };
      const emit = (fileName: string, source: string) =>
        this.emitFile({ type: "asset", fileName, source });
      emit("package.json", `${JSON.stringify(manifest, null, 2)}\n`);
      emit("custom-elements.json", `${JSON.stringify(customElements(), null, 2)}\n`);
      const types = readFileSync(at("src/types.ts"), "utf8");
      emit("dpscope-calculators.d.ts", types.replace(/@dpscope\/wasm\/\w+/g, "./records.js"));
      emit("records.d.ts", readFileSync(at("../../crates/report/types.d.ts"), "utf8"));
      emit("README.md", readFileSync(at("README.md"), "utf8"));
      for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"])
        emit(licence, readFileSync(at(`../../${licence}`), "utf8"));
    },
  };
}

/** The custom elements manifest, from the same fields as the elements. */
function customElements(): unknown {
  const events = [
    { name: "dpscope-result", type: { text: "DpscopeResultEvent" } },
    { name: "dpscope-error", type: { text: "DpscopeErrorEvent" } },
  ];
  const declarations = calculators.map(({ name, about, fields }) => ({
    kind: "class",
    customElement: true,
    name: `dpscope-${name}`,
    tagName: `dpscope-${name}`,
    description: about,
    attributes: Object.entries<Input>(fields).map(([name, field]) => ({
      name: attributeOf(name),
      description: field.help,
      default: String(field.initial),
      type: {
        text:
          field.kind === "choice"
            ? field.options.map(([value]) => `"${value}"`).join(" | ")
            : "number",
      },
    })),
    events,
  }));
  const value = {
    kind: "class",
    customElement: true,
    name: "dpscope-value",
    tagName: "dpscope-value",
    description: "one number within a sentence",
    attributes: ["quantity", ...settingsOfAll].map((name) => ({ name: attributeOf(name) })),
    events,
  };
  return {
    schemaVersion: "1.0.0",
    modules: [
      {
        kind: "javascript-module",
        path: "dpscope-calculators.js",
        declarations: [...declarations, value],
      },
    ],
  };
}

export default defineConfig({
  base: "./",
  plugins: [npmPackage()],
  build: {
    outDir: "../dist/calculators",
    emptyOutDir: true,
    license: { fileName: "third-party.md" },
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: { "dpscope-calculators": "src/index.ts", embed: "src/embed.ts" },
      preserveEntrySignatures: "strict",
      output: {
        entryFileNames: "[name].js",
        assetFileNames: "[name][extname]",
        intro: ({ name }) => (name === "embed" ? "" : WITHOUT_DOM),
      },
    },
  },
});
