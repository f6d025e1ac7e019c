//! `manifest.toml`: what is fixed before the first run.

use dpscope_core::adjacency::World;
use dpscope_core::foreign_text::problem_at;
use dpscope_core::random::stream_of;
use dpscope_formats::Limits;
use dpscope_formats::table::{
    Column, ColumnKind, Rows, Schema, SchemaError, read_table, write_table,
};
use serde::{Deserialize, Serialize};

const FORMAT: &str = "dpscope.generator-folder/1";
const MOST_RUNS: u64 = 1_000_000;
const MOST_MEAN: f64 = 1e4;
const MOST_NULL_DRAWS: f64 = 1e7;
const MOST_ROWS: u64 = 100_000_000;

/// Why a manifest, or a file of columns, is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// It is no such file.
    #[error("is not as documented: {reason}")]
    Text {
        /// Line, column and problem.
        reason: String,
    },
    /// It is of another format.
    #[error("its format is not `{FORMAT}`")]
    Format,
    /// A field is outside its domain.
    #[error("{problem}")]
    Field {
        /// Which, and what is allowed.
        problem: &'static str,
    },
    /// The columns.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The target is no row of the columns.
    #[error("the target of manifest.toml: {reason}")]
    Target {
        /// Why.
        reason: String,
    },
}

/// What is random, and what a bound rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Game {
    /// Many runs with the target row and many without.
    TwoWorlds,
    /// One run; each canary row has a fair coin.
    Coins,
    /// One run with a Poisson number of canary rows.
    Poisson,
    /// One run with a Poisson number of canary rows, which are drawn independently from the public
    /// domain, and others after the run.
    PoissonFresh,
    /// One run without canaries: no bound.
    None,
}

/// Where bounds and categories come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundsSource {
    /// They were known without the data.
    Public,
    /// They were taken from the data: no ε is reported.
    Data,
}

/// Whether two runs may have equal rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// Equal rows are a copied file or an ignored seed.
    #[default]
    Refuse,
    /// So few rows of so small a domain coincide by chance.
    Allow,
}

/// How a canary row is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scoring {
    /// Minus the distance to the nearest synthetic row.
    Nearest,
    /// Number of synthetic rows within a tenth of the diameter.
    Count,
    /// Logarithm of the kernel density of synthetic rows, beside that at decoys.
    Density,
    /// Rank of its distance among those of decoys.
    Decoys,
}

/// Canary rows that are drawn independently and uniformly from the public domain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FreshCanaries {
    /// Expected number of the rows in the data.
    pub mean: f64,
    /// Rows that are drawn after the run, whose scores show what chance gives.
    pub null_draws: u64,
}

/// What is fixed before the first run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Name and version of the file.
    pub format: String,
    /// What is random.
    pub game: Game,
    /// The claimed ε.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// δ of the bound.
    pub delta: f64,
    /// Chance that the bound is wrong.
    pub significance: f64,
    /// N′, which never follows from the data.
    pub rows: u64,
    /// Runs of each world.
    pub runs: u64,
    /// Where bounds and categories come from.
    pub bounds: BoundsSource,
    /// The seeds of runs follow from it.
    pub seed: u64,
    /// How often a failed run is repeated, with a seed of its own.
    #[serde(default)]
    pub retries: u32,
    /// Whether two runs may have equal rows.
    #[serde(default)]
    pub duplicates: Duplicates,
    /// How a canary row is scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scoring: Option<Scoring>,
    /// The target row, cell by cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Vec<String>>,
    /// Canary rows of [`Game::PoissonFresh`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh_canaries: Option<FreshCanaries>,
    /// The columns.
    pub columns: Vec<ColumnEntry>,
}

/// A column; kinds differ in what they need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ColumnEntry {
    /// Real numbers.
    Number {
        /// Its name.
        name: String,
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// Integers.
    Integer {
        /// Its name.
        name: String,
        /// Lower bound.
        low: i32,
        /// Upper bound.
        high: i32,
    },
    /// One of several names.
    Category {
        /// Its name.
        name: String,
        /// All categories.
        names: Vec<String>,
    },
}

/// The columns alone, as a file of their own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaFile {
    columns: Vec<ColumnEntry>,
}

fn parse<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, ManifestError> {
    toml::from_str(text).map_err(|error| {
        let reason = problem_at(text, error.span(), error.message());
        ManifestError::Text { reason }
    })
}

/// The columns of a file of columns.
///
/// # Errors
/// Another file, or columns that are no schema.
pub fn columns_from_toml(text: &str) -> Result<Vec<ColumnEntry>, ManifestError> {
    let file: SchemaFile = parse(text)?;
    schema_of(&file.columns)?;
    Ok(file.columns)
}

/// The schema of columns.
///
/// # Errors
/// [`SchemaError`].
pub fn schema_of(columns: &[ColumnEntry]) -> Result<Schema, SchemaError> {
    let column = |entry: &ColumnEntry| {
        let (name, kind) = match entry.clone() {
            ColumnEntry::Number { name, low, high } => (name, ColumnKind::Number { low, high }),
            ColumnEntry::Integer { name, low, high } => (name, ColumnKind::Integer { low, high }),
            ColumnEntry::Category { name, names } => (name, ColumnKind::Category { names }),
        };
        Column { name, kind }
    };
    Schema::new(columns.iter().map(column).collect())
}

/// The row of these cells.
///
/// # Errors
/// A cell that its column cannot have, in words.
pub fn row_of(cells: &[String], schema: &Schema) -> Result<Vec<f64>, String> {
    let none = Rows { columns: schema.columns().len(), values: Vec::new() };
    let quoted: Vec<String> =
        cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
    let text = format!("{}{}\n", write_table(schema, &none), quoted.join(","));
    let rows = read_table(text.as_bytes(), schema, &Limits::default());
    Ok(rows.map_err(|error| error.to_string())?.values)
}

impl FreshCanaries {
    /// Whether a bound may come of it.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        let draws = self.null_draws as f64;
        self.mean > 0.0
            && self.mean <= MOST_MEAN
            && (100.0 * self.mean..=MOST_NULL_DRAWS).contains(&draws)
    }
}

impl Manifest {
    /// The format of manifests that this version writes.
    #[must_use]
    pub fn format() -> String {
        FORMAT.to_owned()
    }

    /// Reads and checks a manifest.
    ///
    /// # Errors
    /// [`ManifestError`].
    pub fn from_toml(text: &str) -> Result<Self, ManifestError> {
        let manifest: Manifest = parse(text)?;
        manifest.check()?;
        Ok(manifest)
    }

    /// The text of a manifest.
    ///
    /// # Errors
    /// [`ManifestError`]: a manifest that would be refused.
    pub fn to_toml(&self) -> Result<String, ManifestError> {
        self.check()?;
        toml::to_string(self).map_err(|error| ManifestError::Text { reason: error.to_string() })
    }

    fn check(&self) -> Result<(), ManifestError> {
        if self.format != FORMAT {
            return Err(ManifestError::Format);
        }
        let is_one_run = self.game != Game::TwoWorlds;
        let has_canaries = matches!(self.game, Game::Coins | Game::Poisson | Game::PoissonFresh);
        let is_fresh = self.game == Game::PoissonFresh;
        let is_claim = |epsilon: f64| epsilon >= 0.0 && epsilon.is_finite();
        let problems = [
            (!self.epsilon.is_none_or(is_claim), "epsilon must be finite and at least 0"),
            (!(0.0..1.0).contains(&self.delta), "delta must lie in [0, 1)"),
            (
                !(self.significance > 0.0 && self.significance < 0.5),
                "significance must lie between 0 and 0.5",
            ),
            (!(1..=MOST_ROWS).contains(&self.rows), "rows must lie between 1 and 100000000"),
            (!(1..=MOST_RUNS).contains(&self.runs), "runs must lie between 1 and 1000000"),
            (is_one_run && self.runs != 1, "runs must be 1 in a game of one run"),
            (self.seed >= 1 << 53, "seed must be below 2^53"),
            (self.retries > 100, "retries must be at most 100"),
            (
                self.target.is_none() && !is_one_run,
                "target is missing: state the target row, cell by cell, before the first run",
            ),
            (is_fresh && self.fresh_canaries.is_none(), "fresh_canaries is missing"),
            (
                self.fresh_canaries.is_some_and(|fresh| !fresh.is_possible()),
                "fresh_canaries: mean must be above 0 and at most 10000, and null_draws at least 100 times \
                 as many and at most 10000000",
            ),
            (
                has_canaries && self.scoring.is_none(),
                "scoring is missing: state nearest, count, density or decoys",
            ),
        ];
        if let Some((_, problem)) = problems.into_iter().find(|(is_problem, _)| *is_problem) {
            return Err(ManifestError::Field { problem });
        }
        self.schema().map(|_| ())
    }

    /// The schema of its columns.
    ///
    /// # Errors
    /// Columns that are no schema.
    pub fn schema(&self) -> Result<Schema, ManifestError> {
        Ok(schema_of(&self.columns)?)
    }

    /// The target row.
    ///
    /// # Errors
    /// A target that is no row of the columns.
    pub fn target_row(&self, schema: &Schema) -> Result<Vec<f64>, ManifestError> {
        let cells = self.target.as_deref().unwrap_or_default();
        row_of(cells, schema).map_err(|reason| ManifestError::Target { reason })
    }

    /// Whether released rows have the public number.
    ///
    /// # Errors
    /// Another number, in words.
    pub fn check_rows(&self, rows: &Rows) -> Result<(), String> {
        let found = rows.len() as u64;
        match found == self.rows {
            true => Ok(()),
            false => Err(format!("has {found} rows, and the manifest says {}", self.rows)),
        }
    }

    /// The worlds that have runs.
    #[must_use]
    pub fn worlds(&self) -> &'static [World] {
        match self.game {
            Game::TwoWorlds => &World::BOTH,
            Game::Coins | Game::Poisson | Game::PoissonFresh | Game::None => &[World::Target],
        }
    }

    /// The seed of an attempt, below 2³¹: all of one folder differ.
    #[must_use]
    pub fn seed_of(&self, world: World, run: u64, attempt: u32) -> u64 {
        let per_attempt = self.runs.saturating_mul(2);
        let index =
            u64::from(attempt).wrapping_mul(per_attempt).wrapping_add(stream_of(world, run));
        // an odd factor permutes the numbers below 2³¹
        index.wrapping_mul(0x9e37_79b1).wrapping_add(self.seed) & 0x7fff_ffff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_of_all_attempts_differ() {
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            game: Game::TwoWorlds,
            epsilon: Some(1.0),
            delta: 0.0,
            significance: 0.05,
            rows: 10,
            runs: 500,
            bounds: BoundsSource::Public,
            seed: (1 << 53) - 1,
            retries: 2,
            duplicates: Duplicates::Refuse,
            scoring: None,
            target: Some(vec!["1".to_owned()]),
            fresh_canaries: None,
            columns: vec![ColumnEntry::Integer { name: "a".to_owned(), low: 0, high: 1 }],
        };
        let mut seeds: Vec<u64> = World::BOTH
            .into_iter()
            .flat_map(|world| (0..500).map(move |run| (world, run)))
            .flat_map(|(world, run)| (0..3).map(move |attempt| (world, run, attempt)))
            .map(|(world, run, attempt)| manifest.seed_of(world, run, attempt))
            .collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 3000);
        let again: Manifest = toml::from_str(&toml::to_string(&manifest).unwrap()).unwrap();
        assert_eq!(again, manifest);
    }
}
