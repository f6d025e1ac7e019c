import { html, nothing, svg } from "lit/html.js";
import { expect, test } from "vitest";
import { template } from "./mathml";
import { toHtml } from "./static";

test("a template becomes the HTML that Lit renders", () => {
  const list = ["one", "two"].map((text) => html`<li>${text}</li>`);
  const made = html`<a class="x ${"y"}" href=${"#a"} ?hidden=${false} @click=${() => undefined}
    >${list}${nothing}${svg`<path d=${"M0"}></path>`}</a>`;
  expect(toHtml(made)).toBe(
    '<a class="x y" href="#a"\n    ><li>one</li><li>two</li><path d="M0"></path></a>',
  );
});

test("properties of inputs become attributes, and nothing is omitted", () => {
  const made = html`<input .value=${"1"} ?disabled=${true} aria-describedby=${nothing} />`;
  expect(toHtml(made)).toBe('<input value="1" disabled />');
});

test("text stays text", () => {
  expect(toHtml(html`<p title=${'"><b>'}>${"<script>&"}</p>`)).toBe(
    '<p title="&quot;&gt;&lt;b&gt;">&lt;script&gt;&amp;</p>',
  );
});

test("formulas become MathML without styles, display formulas can be focused, and backticks stay text", () => {
  const made = template("<p>`$" + "{x}` <math-tex>a &lt; b</math-tex></p>");
  expect(made).toContain("<math>");
  expect(template("<math-tex display>a</math-tex>")).toContain('tabindex="0"');
  expect(made).toContain("\\`\\$" + "{x}\\`");
  expect(made).toContain('<mi mathvariant="normal" class="variable">a</mi>');
  expect(made).not.toContain("style=");
});

test("an invalid formula stops the build", () => {
  expect(() => template("<math-tex>\\frac{1}</math-tex>")).toThrow();
});
