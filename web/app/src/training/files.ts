/** What a file of a data set contains, by its name: labels are `train-labels…`, `labels.npy` or `y.npy`. */
export type DataRole = "data" | "labels";

export function dataRoleOf(name: string): DataRole {
  return /label|^y[._]/i.test(name) ? "labels" : "data";
}
