//! Files of models: one array, or named arrays in one file or several.

use std::path::{Path, PathBuf};

use dpscope_formats::Array;

use crate::commands::audit::recorded::with_dataset;
use crate::failure::Failure;

/// The arrays of a model by sorted name.
pub(crate) struct ModelFile {
    path: PathBuf,
    arrays: Vec<(String, Array)>,
}

impl ModelFile {
    /// Reads all arrays of numbers; a model may be split into several files.
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut arrays: Vec<(String, Array)> = Vec::new();
        for path in paths {
            arrays.extend(read_one(path)?);
        }
        arrays.sort_by(|one, other| one.0.cmp(&other.0));
        let path = paths.first().cloned().unwrap_or_default();
        if let Some(pair) = arrays.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let problem = format!(
                "is part of a model in which several files have array `{}`; pass each array once",
                pair[0].0
            );
            return Err(Failure::input(problem).about(&path));
        }
        let found = Self { path, arrays };
        for (name, array) in &found.arrays {
            if let Some(bad) = array.non_finite() {
                let array = match name.as_str() {
                    "" => String::new(),
                    name => format!(" in array `{name}`"),
                };
                let problem = format!(
                    "has {}{array} at index {:?}: the training diverged, so it cannot be audited",
                    bad.value, bad.index
                );
                return Err(Failure::input(problem).about(&found.path));
            }
        }
        Ok(found)
    }

    /// Number of parameters.
    pub(crate) fn len(&self) -> usize {
        self.arrays.iter().map(|(_, array)| array.data().len()).sum()
    }

    /// All parameters, array by array.
    pub(crate) fn parameters(&self) -> Vec<f64> {
        self.arrays.iter().flat_map(|(_, array)| array.data().iter().copied()).collect()
    }

    /// Refuses a model of another dimension than that of the plan.
    pub(crate) fn check_dimension(&self, dimension: u64) -> Result<(), Failure> {
        if self.len() as u64 == dimension {
            return Ok(());
        }
        let problem = format!(
            "has {} parameters ({}), but the plan has {dimension}; save only trained parameters",
            self.len(),
            self.layout()
        );
        Err(Failure::input(problem).about(&self.path))
    }

    /// Refuses a model with other arrays.
    pub(crate) fn check_same(&self, other: &Self) -> Result<(), Failure> {
        let shape = |(name, array): &(String, Array)| (name.clone(), array.shape().to_vec());
        if self.arrays.iter().map(shape).eq(other.arrays.iter().map(shape)) {
            return Ok(());
        }
        let problem = format!(
            "has different arrays ({}) from {} ({}); save the same parameters of both",
            self.layout(),
            other.path.display(),
            other.layout()
        );
        Err(Failure::input(problem).about(&self.path))
    }

    /// A vector as arrays of this model.
    pub(crate) fn split(&self, vector: &[f64]) -> Result<Vec<(String, Array)>, Failure> {
        let mut rest = vector;
        let mut take = |(name, array): &(String, Array)| {
            let (head, tail) = rest.split_at(array.data().len().min(rest.len()));
            rest = tail;
            let part = Array::new(array.shape().to_vec(), head.to_vec()).map_err(Failure::input)?;
            Ok((name.clone(), part))
        };
        self.arrays.iter().map(&mut take).collect()
    }

    /// The first arrays with their shapes.
    fn layout(&self) -> String {
        let shown = |(name, array): &(String, Array)| {
            let name = if name.is_empty() { "one array" } else { name };
            format!("{name} {:?}", array.shape())
        };
        let mut shown: Vec<String> = self.arrays.iter().take(6).map(shown).collect();
        if self.arrays.len() > 6 {
            shown.push("…".to_owned());
        }
        shown.join(", ")
    }
}

fn read_one(path: &Path) -> Result<Vec<(String, Array)>, Failure> {
    with_dataset(path, |dataset| {
        let about = |error| Failure::from(error).about(path);
        let names: Vec<String> = dataset.names().iter().map(|name| (*name).to_owned()).collect();
        if names.is_empty() {
            return Ok(vec![(String::new(), dataset.into_only().map_err(about)?)]);
        }
        let read = |name: String| Ok((name.clone(), dataset.array(&name).map_err(about)?));
        names.into_iter().map(read).collect()
    })
}
