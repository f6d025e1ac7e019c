/** The reader's data set, as a page sends it to workers. */
export interface SentFiles {
  data: { name: string; bytes: Uint8Array };
  labels?: { name: string; bytes: Uint8Array } | undefined;
}

/** The data set of a bundle. */
interface Received {
  set_labels(name: string, bytes: Uint8Array): void;
}

/** The same for a bundle, which reads it once. */
export function received<D extends Received>(
  DataFiles: new (name: string, bytes: Uint8Array) => D,
  files: SentFiles | undefined,
): D | undefined {
  if (files === undefined) return undefined;
  const { data, labels } = files;
  const found = new DataFiles(data.name, data.bytes);
  if (labels !== undefined) found.set_labels(labels.name, labels.bytes);
  return found;
}
