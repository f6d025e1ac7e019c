declare module "*.html?mathml" {
  const text: () => import("lit/html.js").TemplateResult;
  export default text;
}
