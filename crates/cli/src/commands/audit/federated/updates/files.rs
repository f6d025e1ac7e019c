//! The files of every server round.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::{Array, FormatError, StoredArray};
use dpscope_recorded::ModelLayout;

use crate::commands::audit::federated::model::arrays_of;
use crate::commands::audit::federated::shards::{INDEX, files_of};
use crate::failure::Failure;
use crate::files::{limits, name_of, remember_input};

/// The most server rounds of one audit.
pub(super) const MOST_ROUNDS: u64 = 4_096;

pub(super) fn too_many(rounds: u64) -> Failure {
    Failure::input(format!(
        "--updates has {rounds} server rounds; at most {MOST_ROUNDS} are audited: plan with \
         --attacker final-model"
    ))
}

/// An array and the file in which it is.
#[derive(Debug, Clone)]
pub(super) struct Part {
    path: PathBuf,
    array: Values,
}

/// The place of an array in its file; or its values, if it is compressed or in Fortran order, so that no
/// part can be read alone.
#[derive(Debug, Clone)]
enum Values {
    Stored(StoredArray),
    Loaded { name: String, shape: Vec<u64>, first: usize, all: Arc<[f64]> },
}

impl Values {
    fn loaded(name: String, array: &Array) -> Self {
        let shape = array.shape().iter().map(|&length| length as u64).collect();
        Self::Loaded { name, shape, first: 0, all: array.data().into() }
    }

    fn name(&self) -> &str {
        match self {
            Self::Stored(array) => array.name(),
            Self::Loaded { name, .. } => name,
        }
    }

    fn shape(&self) -> &[u64] {
        match self {
            Self::Stored(array) => array.shape(),
            Self::Loaded { shape, .. } => shape,
        }
    }

    fn elements(&self) -> u64 {
        match self {
            Self::Stored(array) => array.elements(),
            Self::Loaded { shape, .. } => shape.iter().product(),
        }
    }

    /// Row `index` of an array with two axes.
    fn row(&self, index: u64) -> Option<Self> {
        match self {
            Self::Stored(array) => array.row(index).map(Self::Stored),
            Self::Loaded { name, shape, first, all } => {
                let &[rows, columns] = &shape[..] else { return None };
                (index < rows).then(|| Self::Loaded {
                    name: name.clone(),
                    shape: vec![columns],
                    first: first + (index * columns) as usize,
                    all: Arc::clone(all),
                })
            }
        }
    }

    /// Elements `from`, `from` + 1, … of the array.
    fn read(&self, path: &Path, from: u64, count: usize) -> Result<Vec<f64>, Failure> {
        match self {
            Self::Stored(array) => {
                let mut file = File::open(path).map_err(|error| unreadable(path, &error))?;
                let values = array.read(&mut file, from, count);
                values.map_err(|error| Failure::from(error).about(path))
            }
            Self::Loaded { first, all, .. } => {
                Ok(all.iter().skip(first + from as usize).take(count).copied().collect())
            }
        }
    }
}

/// The arrays of one server round, sorted by name.
#[derive(Debug, Clone)]
pub(super) struct Release {
    /// A file or a folder.
    pub(super) path: PathBuf,
    pub(super) parts: Vec<Part>,
}

/// The releases of the server rounds, in the order of the paths, and in folders in that of names.
pub(super) fn releases_of(paths: &[PathBuf], dimension: u64) -> Result<Vec<Release>, Failure> {
    let mut releases = Vec::new();
    for path in paths {
        if path.is_dir() && index_in(path)?.is_none() {
            for entry in entries(path)? {
                releases.push(Release::open(&entry)?);
            }
        } else {
            releases.push(Release::open(path)?);
        }
    }
    match &releases[..] {
        [only] if only.len() != dimension => only.rows(dimension),
        _ => Ok(releases),
    }
}

impl Release {
    /// A file, an index of files, or a folder of files.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        Self::of_paths(std::slice::from_ref(&path.to_owned()))
    }

    /// One model in several of these.
    pub(super) fn of_paths(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut parts = Vec::new();
        for path in paths {
            let files = match (path.is_dir(), index_in(path)?) {
                (false, _) => files_of(path)?,
                (true, Some(index)) => files_of(&index)?,
                (true, None) => entries(path)?,
            };
            for file in &files {
                parts.extend(parts_of(file)?);
            }
        }
        parts.sort_by(|one: &Part, other| one.array.name().cmp(other.array.name()));
        let is_same = |[one, other]: &&[Part; 2]| one.array.name() == other.array.name();
        if let Some([one, other]) = parts.array_windows().find(is_same) {
            let problem = format!(
                "has array `{}`, which is also in {}; pass each array once",
                ForeignText::new(other.array.name()),
                ForeignText::new(&one.path)
            );
            return Err(Failure::input(problem).about(&other.path));
        }
        Ok(Self { path: paths.first().cloned().unwrap_or_default(), parts })
    }

    /// Number of parameters.
    pub(super) fn len(&self) -> u64 {
        self.parts.iter().map(|part| part.array.elements()).sum()
    }

    /// The rows of one array as releases.
    fn rows(&self, dimension: u64) -> Result<Vec<Self>, Failure> {
        let [Part { path, array }] = &self.parts[..] else { return Ok(vec![self.clone()]) };
        let &[rows, columns] = array.shape() else { return Ok(vec![self.clone()]) };
        if columns != dimension {
            let problem = format!(
                "has shape ({rows}, {columns}), but the plan has {dimension} parameters; pass one \
                 row of {dimension} per server round"
            );
            return Err(Failure::input(problem).about(path));
        }
        if rows > MOST_ROUNDS {
            return Err(too_many(rows));
        }
        let row =
            |array| Self { path: path.clone(), parts: vec![Part { path: path.clone(), array }] };
        Ok((0..rows).filter_map(|index| array.row(index)).map(row).collect())
    }

    /// Refuses a release of another dimension, or with other arrays than the first one.
    pub(super) fn check(&self, first: &Self, dimension: u64) -> Result<(), Failure> {
        self.check_dimension(dimension)?;
        self.check_same(first)
    }

    /// Refuses a release of another dimension.
    pub(super) fn check_dimension(&self, dimension: u64) -> Result<(), Failure> {
        self.refused(self.layout().dimension_problem(dimension))
    }

    /// Refuses a release with other arrays than the first one.
    pub(super) fn check_same(&self, first: &Self) -> Result<(), Failure> {
        let name = ForeignText::new(&first.path).to_string();
        self.refused(self.layout().difference(&first.layout(), &name))
    }

    fn refused(&self, problem: Option<String>) -> Result<(), Failure> {
        problem.map_or(Ok(()), |problem| Err(Failure::input(problem).about(&self.path)))
    }

    fn layout(&self) -> ModelLayout {
        let shape = |part: &Part| (part.array.name().to_owned(), part.array.shape().to_vec());
        ModelLayout(self.parts.iter().map(shape).collect())
    }

    /// Reads parameters `first`, `first` + 1, … array by array.
    pub(super) fn read(&self, first: u64, count: usize) -> Result<Vec<f64>, Failure> {
        let mut values = Vec::with_capacity(count);
        let mut start = 0;
        for Part { path, array } in &self.parts {
            let end = start + array.elements();
            let from = first.max(start);
            let to = (first + count as u64).min(end);
            if from < to {
                values.extend(array.read(path, from - start, (to - from) as usize)?);
            }
            start = end;
        }
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            return Err(self.non_finite(first + place as u64, values[place]));
        }
        Ok(values)
    }

    fn non_finite(&self, mut index: u64, value: f64) -> Failure {
        for Part { path, array } in &self.parts {
            if index < array.elements() {
                let name = match array.name() {
                    "" => String::new(),
                    name => format!(" of array `{}`", ForeignText::new(name)),
                };
                let problem = format!(
                    "has {value} at element {index}{name}: the training diverged, so it cannot be \
                     audited"
                );
                return Failure::input(problem).about(path);
            }
            index -= array.elements();
        }
        Failure::input("has a value that is not finite").about(&self.path)
    }
}

fn parts_of(path: &Path) -> Result<Vec<Part>, Failure> {
    let part = |array| Part { path: path.to_owned(), array };
    let mut file = File::open(path).map_err(|error| unreadable(path, &error))?;
    remember_input(path);
    match StoredArray::all_of(&mut file, &name_of(path), &limits()) {
        Ok(arrays) => Ok(arrays.into_iter().map(Values::Stored).map(part).collect()),
        Err(FormatError::NotInParts { .. }) => {
            let arrays = arrays_of(path)?;
            Ok(arrays
                .iter()
                .map(|(name, array)| part(Values::loaded(name.clone(), array)))
                .collect())
        }
        Err(error) => Err(Failure::from(error).about(path)),
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("cannot be read: {error}")).about(path)
}

/// The index of a folder of safetensors files.
fn index_in(folder: &Path) -> Result<Option<PathBuf>, Failure> {
    if !folder.is_dir() {
        return Ok(None);
    }
    let is_index =
        |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().ends_with(INDEX));
    Ok(entries(folder)?.into_iter().find(is_index))
}

/// The entries of a folder, numbers in their names by value; hidden ones are left out.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
        let entry = entry.map_err(|error| unreadable(folder, &error))?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let path = entry.path();
        if entry.file_type().map_err(|error| unreadable(&path, &error))?.is_symlink() {
            return Err(Failure::input(
                "is a symbolic link in a folder of updates; copy the file, or pass it by its name",
            )
            .about(&path));
        }
        if found.len() as u64 >= MOST_ROUNDS {
            return Err(too_many(found.len() as u64 + 1));
        }
        found.push(path);
    }
    if found.is_empty() {
        return Err(Failure::input("is empty; save the update of every server round").about(folder));
    }
    found.sort_by_cached_key(|path| natural_key(&name_of(path)));
    Ok(found)
}

/// Text and numbers by turns: `round-10` comes after `round-9`.
fn natural_key(name: &str) -> Vec<(String, u64)> {
    let mut key = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, after) = rest.split_at(text);
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (digits, after) = after.split_at(digits);
        key.push((text.to_owned(), digits.parse().unwrap_or(0)));
        rest = after;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_compared_by_value() {
        let mut names = ["r10.npy", "r9.npy", "r1-2.npy", "a.npy", "r1-10.npy", "r007.npy"];
        names.sort_by_cached_key(|name| natural_key(name));
        assert_eq!(names, ["a.npy", "r1-2.npy", "r1-10.npy", "r007.npy", "r9.npy", "r10.npy"]);
    }
}
