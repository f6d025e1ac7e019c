/** Made by the build: gzip in base64. */
declare module "virtual:packed" {
  export const modules: Readonly<
    Record<"accounting" | "calculators" | "one_shot" | "pate", string>
  >;
  export const worker: string;
}
