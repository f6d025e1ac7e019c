//! Models in several safetensors files, with an index of their arrays.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use dpscope_core::foreign_text::ForeignText;
use serde::Deserialize;

use crate::failure::Failure;
use crate::files::read_text;

/// The end of the name of an index.
pub(super) const INDEX: &str = ".index.json";

/// The largest index that is read.
const MOST_BYTES: u64 = 16 << 20;

/// What an index says.
#[derive(Deserialize)]
struct ShardIndex {
    /// The file of each array.
    weight_map: BTreeMap<String, String>,
}

/// The files of a model: those of an index, or the file itself.
pub(super) fn files_of(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let is_index = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(INDEX));
    if !is_index {
        return Ok(vec![path.to_owned()]);
    }
    let text = read_text(path, MOST_BYTES)?;
    let refuse = |problem: String| Failure::input(problem).about(path);
    let index: ShardIndex = serde_json::from_str(&text).map_err(|error| {
        refuse(format!(
            "is not an index of safetensors files: {}; save the model again",
            ForeignText::of(error)
        ))
    })?;
    let names: BTreeSet<String> = index.weight_map.into_values().collect();
    if names.is_empty() {
        return Err(refuse("names no file; save the model again".to_owned()));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let file = |name: String| {
        let mut parts = Path::new(&name).components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(_)), None) => Ok(folder.join(name)),
            _ => Err(refuse(format!(
                "names the file `{}`, which is not beside it; put all files in one folder",
                ForeignText::new(&name)
            ))),
        }
    };
    names.into_iter().map(file).collect()
}
