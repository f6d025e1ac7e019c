import { expect, test } from "vitest";
import { byName, DroppedFiles } from "./dropped";

test("files of several runs are in the order of their numbers", () => {
  const names = ["scores_10.npy", "scores_9.npy", "scores_1.npy"];
  const files = names.map((name) => ({ name })).sort(byName);
  expect(files.map(({ name }) => name)).toEqual(["scores_1.npy", "scores_9.npy", "scores_10.npy"]);
});

test("a file replaces that of its role, or of its name where several are read", async () => {
  const files = new DroppedFiles<"many" | "one">(
    (name) => (name.startsWith("m") ? "many" : name.startsWith("o") ? "one" : undefined),
    (role) => role === "many",
  );
  const of = (name: string, size = 1) => new File([new Uint8Array(size)], name);
  await files.add([of("m2"), of("m1"), of("o1"), of("x.md")]);
  await files.add([of("m1"), of("o2")]);
  expect(files.list.map(({ name }) => name)).toEqual(["m2", "m1", "o2", "x.md"]);
  expect(files.namesOf("many")).toEqual(["m1", "m2"]);
  expect(files.namesOf("one")).toEqual(["o2"]);
  expect(files.list[3]?.refused).toContain("Not a file");
  // the same name comes before the same role
  const [first] = files.list;
  if (first !== undefined) first.role = "one";
  const [, , second] = files.list;
  if (second !== undefined) second.role = "many";
  await files.add([of("o2", 2)]);
  expect(files.list.map(({ role }) => role)).toEqual(["one", "many", "many", undefined]);
  expect(files.list[2]?.bytes).toHaveLength(2);
  await files.add([of("o3")]);
  expect(files.list.map(({ name }) => name)).toEqual(["o3", "m1", "o2", "x.md"]);
  const huge = of("o4");
  Object.defineProperty(huge, "size", { value: 65 * 2 ** 20 });
  await files.add([huge]);
  expect(files.namesOf("one")).toEqual([]);
  expect(files.list[0]?.refused).toContain("64 MiB");
});
