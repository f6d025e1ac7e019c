import { DataFiles } from "@dpscope/wasm/training";

/** The reader's data set, as a page sends it to workers. */
export interface SentFiles {
  data: { name: string; bytes: Uint8Array };
  labels?: { name: string; bytes: Uint8Array } | undefined;
}

/** The same for the bundle, which reads it once. */
export function received(files: SentFiles | undefined): DataFiles | undefined {
  if (files === undefined) return undefined;
  const { data, labels } = files;
  const found = new DataFiles(data.name, data.bytes);
  if (labels !== undefined) found.set_labels(labels.name, labels.bytes);
  return found;
}
