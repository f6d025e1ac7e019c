import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { description } from "../app/src/notebook/fields";
import { answers } from "./src/answers";
import { calculators } from "./src/calculators";
import { attributeOf, type Input } from "./src/fields";
import { settingsOfAll } from "./src/quantities";

/** Substitutes for the DOM where a server imports the module, which then defines nothing. */
const WITHOUT_DOM =
  "const HTMLElement = globalThis.HTMLElement ?? class {}, document = globalThis.document ?? { createTreeWalker() {} };";

const BUNDLES = ["accounting", "calculators", "one_shot", "pate"];

const at = (path: string) => new URL(path, import.meta.url);

const wasmOf = (bundle: string) => readFileSync(at(`../wasm/${bundle}/dpscope_${bundle}_bg.wasm`));

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
          "./inline": {
            types: "./dpscope-calculators-inline.d.ts",
            default: "./dpscope-calculators-inline.js",
          },
          "./*": "./*",
        },
        customElements: "custom-elements.json",
        sideEffects: true,
      };
      const emit = (fileName: string, source: string | Buffer) =>
        this.emitFile({ type: "asset", fileName, source });
      emit("package.json", `${JSON.stringify(manifest, null, 2)}\n`);
      emit("custom-elements.json", `${JSON.stringify(customElements(), null, 2)}\n`);
      const types = readFileSync(at("src/types.ts"), "utf8");
      emit("dpscope-calculators.d.ts", types.replace(/@dpscope\/wasm\/\w+/g, "./records.js"));
      emit("dpscope-calculators-inline.d.ts", 'export type * from "./dpscope-calculators.js";\n');
      emit("records.d.ts", readFileSync(at("../../crates/report/types.d.ts"), "utf8"));
      emit("README.md", readFileSync(at("README.md"), "utf8"));
      for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"])
        emit(licence, readFileSync(at(`../../${licence}`), "utf8"));
      for (const bundle of BUNDLES) emit(`dpscope_${bundle}_bg.wasm`, wasmOf(bundle));
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

/** Addresses are those of `src/files.ts` alone, as it has them, and not what wasm-bindgen wrote. */
const addresses: Plugin = {
  name: "addresses",
  transform(code, id) {
    if (!/\/dpscope_\w+\.js$/.test(id)) return;
    return { code: code.replace(/new URL\('\w+_bg\.wasm', import\.meta\.url\)/, '""'), map: null };
  },
  renderChunk: (code) => code.replaceAll(/\/\* @vite-ignore \*\//g, ""), // of this build alone
};

const pack = (bytes: Uint8Array) => gzipSync(bytes, { level: 9 }).toString("base64");

/** The wasm modules of these bundles, compressed, by the names of the bundles. */
const modulesOf = (bundles: readonly string[]) =>
  JSON.stringify(Object.fromEntries(bundles.map((bundle) => [bundle, pack(wasmOf(bundle))])));

/** A module that is written while the others are built. */
function virtual(name: string, code: () => string): Plugin {
  return {
    name,
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load: (id) => (id === `\0${name}` ? code() : undefined),
  };
}

/** Modules and worker of the calculators, compressed. */
const packed = () =>
  virtual("virtual:packed", () => {
    const compute = readFileSync(at("../dist/calculators/dpscope-compute.js"), "utf8");
    const script = compute.replace(/export\s*\{[^{}]*\};?\s*$/, ""); // of a worker that is no module
    const worker = pack(Buffer.from(script));
    return `export const modules = ${modulesOf(BUNDLES)}, worker = ${JSON.stringify(worker)};`;
  });

/** The modules of Explore, compressed. */
const explored = () =>
  virtual("virtual:explore", () => {
    return `export const modules = ${modulesOf(["accounting", "calculators", "studies"])};`;
  });

/** The builds, in their order: each reads what the one before wrote. */
const BUILDS: Record<string, { input: Record<string, string>; format: "es" | "iife" }> = {
  compute: { input: { "dpscope-compute": "src/dpscope-compute.ts" }, format: "es" },
  files: {
    input: { "dpscope-calculators": "src/index.ts", embed: "src/embed.ts" },
    format: "es",
  },
  inline: { input: { "dpscope-calculators-inline": "src/inline.ts" }, format: "iife" },
  widget: { input: { widget: "src/widget.ts" }, format: "es" },
  explore: { input: { explore: "../app/src/notebook/explore.ts" }, format: "es" },
};

/** What the Python package knows of the calculators: domains of their settings, names of their answers. */
const forPython: Plugin = {
  name: "for-python",
  generateBundle() {
    const described = calculators.map(({ name, title, fields }) => {
      const settings = Object.entries<Input>(fields).map(([setting, field]) => {
        const { kind, initial, help } = field;
        const domain =
          field.kind === "choice"
            ? { values: field.options.map(([value]) => value) }
            : { least: field.least, most: field.most, whole: field.whole ?? false };
        return [setting, { kind, initial, help, ...domain }];
      });
      const numbers = Object.keys(answers[name] ?? {});
      return [name, { title, settings: Object.fromEntries(settings), answers: numbers }];
    });
    const source = `${JSON.stringify(Object.fromEntries(described), null, 2)}\n`;
    this.emitFile({ type: "asset", fileName: "widget.json", source });
  },
};

/** The same of Explore. */
const exploreForPython: Plugin = {
  name: "explore-for-python",
  generateBundle() {
    const source = `${JSON.stringify(description(), null, 2)}\n`;
    this.emitFile({ type: "asset", fileName: "explore.json", source });
  },
};

const MORE: Record<string, Plugin> = {
  files: npmPackage(),
  widget: forPython,
  explore: exploreForPython,
};

export default defineConfig(({ mode }) => {
  const { input, format } = BUILDS[mode] ?? { input: {}, format: "es" };
  return {
    base: "./",
    plugins: [addresses, packed(), explored(), MORE[mode] ?? []],
    worker: { format: "iife", plugins: () => [addresses] },
    publicDir: mode === "files" && "public",
    build: {
      outDir: ["widget", "explore"].includes(mode) ? "../widget" : "../dist/calculators",
      emptyOutDir: ["compute", "widget"].includes(mode),
      license: mode === "files" && { fileName: "third-party.md" },
      target: "es2022",
      modulePreload: false,
      lib: { entry: input, formats: [format], name: "dpscope" }, // no helpers of Vite around imports
      rolldownOptions: {
        external: ["./dpscope-compute.js"],
        makeAbsoluteExternalsRelative: false,
        preserveEntrySignatures: "strict",
        output: {
          minify: true,
          entryFileNames: "[name].js",
          assetFileNames: "[name][extname]",
          intro: ({ name }) => (name.startsWith("dpscope-calculators") ? WITHOUT_DOM : ""),
        },
      },
    },
  };
});
