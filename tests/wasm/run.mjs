// Prints the numbers of a module of dpscope-wasm-bits: node run.mjs MODULE.wasm
//
// First line {"simd": true or false}, then {"group": name, "bits": 16 hexadecimal digits} a number.

import { readFile } from 'node:fs/promises';

const [path] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(await readFile(path));
const {
  memory,
  dpscope_compiled_with_simd: compiledWithSimd,
  dpscope_fingerprint_bits: bits,
  dpscope_fingerprint_count: count,
  dpscope_fingerprint_group: group,
  dpscope_fingerprint_group_length: groupLength,
} = instance.exports;

const decoder = new TextDecoder();
const lines = [JSON.stringify({ simd: compiledWithSimd() === 1 })];
const length = count();
for (let index = 0; index < length; index += 1) {
  // Computing the list may have grown the memory: its buffer is taken afresh.
  const name = decoder.decode(new Uint8Array(memory.buffer, group(index), groupLength(index)));
  const hex = BigInt.asUintN(64, bits(index)).toString(16).padStart(16, '0');
  lines.push(JSON.stringify({ group: name, bits: hex }));
}
process.stdout.write(`${lines.join('\n')}\n`);
