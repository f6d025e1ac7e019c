/** How to cite the program, with the link or fragment that reproduces the screen, and the paper. */
export function bibtex(version: string, link: string): string {
  const isFragment = link.startsWith("#");
  const escaped = link.replace(/[\\{}#%&_~^]/g, (sign) => `\\${sign}`);
  return `@software{dpscope,
  title = {dpscope: how much privacy a differentially private training run really leaks},
  author = {{The dpscope authors}},
  version = {${version}},
  year = {2026},
  ${isFragment ? `note = {Settings: \\texttt{${escaped}}}` : `howpublished = {\\url{${escaped}}}`}
}

@inproceedings{annamalai2026shuffle,
  title = {To Shuffle or not to Shuffle: Auditing {DP-SGD} with Shuffling},
  author = {Annamalai, Meenatchi Sundaram Muthu Selva and Balle, Borja and Hayes, Jamie and De Cristofaro, Emiliano},
  booktitle = {Network and Distributed System Security Symposium (NDSS)},
  year = {2026},
  note = {arXiv:2411.10614}
}
`;
}
