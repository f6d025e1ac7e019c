/** Saves bytes as a file of the reader. */
export function download(name: string, bytes: Uint8Array): void {
  const url = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>]));
  const link = document.createElement("a");
  [link.href, link.download] = [url, name];
  link.click();
  URL.revokeObjectURL(url);
}
