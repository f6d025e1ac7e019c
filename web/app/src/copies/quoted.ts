/** A word quoted for a shell. */
export function quoted(word: string): string {
  return /^[\w./-][\w.,:=/-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
