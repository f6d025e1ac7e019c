/** Made by the build: gzip in base64. */
declare module "virtual:explore" {
  export const modules: Readonly<Record<"accounting" | "calculators" | "studies", string>>;
}

declare module "*?worker&inline" {
  const Inline: new (options?: WorkerOptions) => Worker;
  export default Inline;
}

declare module "*.css?inline" {
  const text: string;
  export default text;
}
