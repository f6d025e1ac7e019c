import base from "../styles/base.css?inline";
import charts from "../styles/charts.css?inline";
import figures from "../styles/figures.css?inline";
import forms from "../styles/forms.css?inline";
import shell from "../styles/shell.css?inline";
import tokens from "../styles/tokens.css?inline";

/** Styles of the app for an element: its width stands for that of the window. */
const styles = [tokens, base, shell, forms, figures, charts].map((text) =>
  text
    .replace(/:root(\[[^\]]*\])/g, ":host($1)")
    .replaceAll(":root", ":host")
    .replace(/@media \((min|max)-width/g, "@container notebook ($1-width")
    .replace(/(\d)vw\b/g, "$1cqi"),
);

export const style = `${styles.join("\n")}
:host {
  display: block;
  container: notebook / inline-size;
  background: var(--paper);
  color: var(--ink);
  border: 1px solid var(--line);
  border-radius: var(--radius);
}
.notebook { padding: var(--gutter); }
.nearby { top: 0; }
`;
