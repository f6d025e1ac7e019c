//! A folder of runs of a generator, made without running one.

use crate::Folder;

/// The columns of [`write_generated`].
pub(crate) const COLUMNS: &str =
    "[[columns]]\nname = \"x\"\nkind = \"integer\"\nlow = 0\nhigh = 1000000\n";

/// Twenty runs in each world, with a leak.
pub(crate) fn write_generated(folder: &Folder, name: &str) {
    let head = "format = \"dpscope.generator-folder/1\"\ngame = \"two-worlds\"\nepsilon = 0.1\n\
                delta = 0.0\nsignificance = 0.05\nrows = 1\nruns = 20\nbounds = \"public\"\nseed = 1\n\
                target = [\"7\"]\n\n";
    folder.write(&format!("{name}/manifest.toml"), format!("{head}{COLUMNS}"));
    for run in 0..20 {
        folder.write(&format!("{name}/with/{run:04}.csv"), format!("x\n{run}\n"));
        folder.write(&format!("{name}/without/{run:04}.csv"), format!("x\n{}\n", 1000 + run));
    }
    folder.write(&format!("{name}/with/0000.failed"), "");
    std::fs::remove_file(folder.at(&format!("{name}/with/0000.csv"))).unwrap();
}

/// [`write_generated`] with a label, and rows of no world in a file beside the folder.
pub(crate) fn write_labelled(folder: &Folder, name: &str) {
    write_generated(folder, name);
    let label = "\n[[columns]]\nname = \"c\"\nkind = \"category\"\nnames = [\"no\", \"yes\"]\n";
    let manifest = String::from_utf8(folder.read(&format!("{name}/manifest.toml"))).unwrap();
    let manifest = manifest.replace("[\"7\"]", "[\"7\", \"no\"]").replace("rows = 1", "rows = 2");
    folder.write(&format!("{name}/manifest.toml"), manifest + label);
    for (world, first) in [("with", 0), ("without", 1000)] {
        for run in first..first + 20 {
            let file = format!("{name}/{world}/{:04}.csv", run - first);
            folder.write(&file, format!("x,c\n{run},no\n{},yes\n", run + 5000));
        }
    }
    std::fs::remove_file(folder.at(&format!("{name}/with/0000.failed"))).unwrap();
    folder.write(&format!("{name}.csv"), "x,c\n3,no\n9000,yes\n");
}
