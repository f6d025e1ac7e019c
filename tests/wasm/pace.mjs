// Prints how long a browser takes for the cosines of canary directions, on one core:
// node pace.mjs MODULE.wasm [DIMENSION] [CANARIES], with a module of dpscope-wasm-bits built for speed:
//
// RUSTFLAGS='-C target-feature=+simd128' cargo build --release -p dpscope-wasm-bits
//   --target wasm32-unknown-unknown --target-dir target/pace

import { readFile } from 'node:fs/promises';

const [path, dimension = '1e6', canaries = '200'] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(await readFile(path));
const { dpscope_compiled_with_simd: compiledWithSimd, dpscope_mean_cosine: meanCosine } =
  instance.exports;
meanCosine(10_000, 10);
const started = performance.now();
meanCosine(Number(dimension), Number(canaries));
const seconds = (performance.now() - started) / 1e3;
console.log(JSON.stringify({ dimension: +dimension, canaries: +canaries, simd: compiledWithSimd() === 1, seconds }));
