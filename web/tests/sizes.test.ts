import { describe, expect, it } from "vitest";
import { loadedBy, loadedFrom, row, table } from "../sizes.js";

describe("what a page loads at first", () => {
  it("is what a script imports, not what it may import later", () => {
    const script = `import{a}from"./lit-1.js";import"./side-2.js";
      const __vite__mapDeps=(i,m=__vite__mapDeps,d=(m.f||(m.f=["./later-3.js"])))=>i.map(i=>d[i]);
      import("./later-3.js");new Worker(new URL("theory.worker-4.js",import.meta.url));`;
    expect(loadedBy(script)).toEqual(["lit-1.js", "side-2.js", "theory.worker-4.js"]);
  });

  it("is followed through the files, and audits come later", () => {
    const files = new Map(
      Object.entries({
        "index.html": '<link href="./a.css"><script type="module" src="./assets/a.js">',
        "a.css": "body{background:url(./b.svg)}",
        "b.svg": "<svg/>",
        "a.js": 'import"./c.js";new Worker(new URL("audit.worker-1.js",import.meta.url))',
        "c.js": 'import"./a.js";new URL("calculators_bg.wasm",import.meta.url)',
        "calculators_bg.wasm": "",
        "audit.worker-1.js": "",
        "unused.js": "",
      }).map(([name, text]): [string, Buffer] => [name, Buffer.from(text)]),
    );
    const first = loadedFrom(files, "index.html").sort();
    expect(first).toEqual(["a.css", "a.js", "b.svg", "c.js", "calculators_bg.wasm", "index.html"]);
  });
});

describe("a budget", () => {
  it("is a limit on compressed sizes, each file by itself", () => {
    const parts = [Buffer.alloc(5000, "a"), Buffer.alloc(3000, "b")];
    const { raw, gzipped, most } = row("x", parts, 1);
    expect({ raw, most }).toEqual({ raw: 8000, most: 1024 });
    expect(gzipped).toBeGreaterThan(40);
    expect(gzipped).toBeLessThan(100);
  });

  it("is seen to be broken by one byte", () => {
    const shown = (gzipped: number) => table([{ what: "x", raw: 9, gzipped, most: 1024 }]);
    expect(shown(1024)).not.toContain("OVER");
    expect(shown(1025)).toMatch(/1\.1 +1\.0 {2}OVER/);
  });
});
