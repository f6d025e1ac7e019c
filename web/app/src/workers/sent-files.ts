/** Canaries that the page has optimised. */
export interface SentCanaries {
  values: Float32Array;
  labels: Uint32Array;
  /** The same as a file of the program. */
  file: Uint8Array;
  /** Differs between optimisations. */
  id: string;
}

/** The reader's data set, as a page sends it to workers, and canaries. */
export interface SentFiles {
  data?: { name: string; bytes: Uint8Array } | undefined;
  labels?: { name: string; bytes: Uint8Array } | undefined;
  canaries?: SentCanaries | undefined;
}

/** The data set of a bundle. */
export interface Received {
  set_labels(name: string, bytes: Uint8Array): void;
  set_canaries?(values: Float32Array, labels: Uint32Array): void;
}

export interface Receiver<D extends Received> {
  new (name: string, bytes: Uint8Array): D;
  none(): D;
}

/** The same for a bundle, which reads it once. */
export function received<D extends Received>(
  DataFiles: Receiver<D>,
  files: SentFiles | undefined,
): D | undefined {
  if (files === undefined) return undefined;
  const { data, labels, canaries } = files;
  const found = data === undefined ? DataFiles.none() : new DataFiles(data.name, data.bytes);
  if (labels !== undefined) found.set_labels(labels.name, labels.bytes);
  if (canaries !== undefined) found.set_canaries?.(canaries.values, canaries.labels);
  return found;
}
