//! Files of models: one array, or named arrays in one file or several.

use std::path::{Path, PathBuf};

use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::Array;
use dpscope_recorded::ModelLayout;

use super::shards::files_of;
use crate::commands::audit::recorded::with_dataset;
use crate::failure::Failure;

/// The arrays of a model by sorted name.
pub(crate) struct ModelFile {
    arrays: Vec<ModelArray>,
}

/// An array, and the file in which it is.
struct ModelArray {
    name: String,
    array: Array,
    path: PathBuf,
}

impl ModelFile {
    /// Reads all arrays of numbers; a model may be split into several files.
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut arrays = Vec::new();
        for path in paths {
            for part in files_of(path)? {
                let of_part = |(name, array)| ModelArray { name, array, path: part.clone() };
                arrays.extend(arrays_of(&part)?.into_iter().map(of_part));
            }
        }
        arrays.sort_by(|one, other| one.name.cmp(&other.name));
        if let Some([one, other]) =
            arrays.array_windows().find(|[one, other]| one.name == other.name)
        {
            let problem = format!(
                "has array `{}`, which is also in {}; pass each array once",
                ForeignText::new(&other.name),
                ForeignText::new(&one.path)
            );
            return Err(Failure::input(problem).about(&other.path));
        }
        for ModelArray { name, array, path } in &arrays {
            if let Some(bad) = array.non_finite() {
                let array = match name.as_str() {
                    "" => String::new(),
                    name => format!(" in array `{}`", ForeignText::new(name)),
                };
                let problem = format!(
                    "has {}{array} at index {:?}: the training diverged, so it cannot be audited",
                    bad.value, bad.index
                );
                return Err(Failure::input(problem).about(path));
            }
        }
        Ok(Self { arrays })
    }

    /// Refuses a model of another dimension than that of the plan.
    pub(crate) fn check_dimension(&self, dimension: u64) -> Result<(), Failure> {
        let shape = |array: &Array| array.shape().iter().map(|&length| length as u64).collect();
        let of_part = |part: &ModelArray| (part.name.clone(), shape(&part.array));
        let layout = ModelLayout(self.arrays.iter().map(of_part).collect());
        let problem = layout.dimension_problem(dimension);
        problem.map_or(Ok(()), |problem| Err(Failure::input(problem).about(self.path())))
    }

    /// A vector as arrays of this model.
    pub(crate) fn split(&self, vector: &[f64]) -> Result<Vec<(String, Array)>, Failure> {
        let mut rest = vector;
        let mut take = |ModelArray { name, array, .. }: &ModelArray| {
            let (head, tail) = rest.split_at(array.data().len().min(rest.len()));
            rest = tail;
            let part = Array::new(array.shape().to_vec(), head.to_vec()).map_err(Failure::input)?;
            Ok((name.clone(), part))
        };
        self.arrays.iter().map(&mut take).collect()
    }

    /// The file of the first array.
    fn path(&self) -> &Path {
        self.arrays.first().map_or(Path::new(""), |part| &part.path)
    }
}

/// All arrays of a file, by name; the name of an only array is empty.
pub(super) fn arrays_of(path: &Path) -> Result<Vec<(String, Array)>, Failure> {
    with_dataset(path, |dataset| {
        let about = |error| Failure::from(error).about(path);
        let names: Vec<String> = dataset.names().iter().map(|name| (*name).to_owned()).collect();
        if names.is_empty() {
            return Ok(vec![(String::new(), dataset.into_only().map_err(about)?)]);
        }
        let read = |name: String| dataset.array(&name).map_err(about).map(|array| (name, array));
        names.into_iter().map(read).collect()
    })
}
