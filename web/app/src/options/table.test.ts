import { expect, test } from "vitest";
import { defaultWith, labelOf, splitDefault } from "./table";

test("a default is that of the chosen model", () => {
  const { help, usual = "" } = splitDefault("Steps [default: 150; lenet 500, cnn 50]");
  expect(help).toBe("Steps");
  const defaults = ["mlp", "lenet", "cnn", "le"].map((model) => defaultWith(model, usual));
  expect(defaults).toEqual(["150", "500", "50", "150"]);
});

test("names have labels that read well", () => {
  expect(["set_size", "add-remove"].map(labelOf)).toEqual(["Set size", "Add or remove"]);
});
