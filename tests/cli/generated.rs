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
