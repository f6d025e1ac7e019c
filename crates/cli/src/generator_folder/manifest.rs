//! `manifest.toml`: what is fixed before the first run.

use std::path::Path;

use clap::ValueEnum;
use dpscope_core::adjacency::World;
use dpscope_core::random::stream_of;
use dpscope_formats::table::{Column, ColumnKind, Schema};
use serde::{Deserialize, Serialize};

use crate::failure::{Exit, Failure};
use crate::files::{read_text, write_text};

pub(crate) const MANIFEST: &str = "manifest.toml";
const FORMAT: &str = "dpscope.generator-folder/1";
/// Larger files are no manifests.
const MOST_BYTES: u64 = 1 << 22;
const MOST_RUNS: u64 = 1_000_000;
const MOST_MEAN: f64 = 1e4;
const MOST_NULL_DRAWS: f64 = 1e7;
const MOST_ROWS: u64 = 100_000_000;

/// What is random, and what a bound rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Game {
    /// Many runs with the target row and many without.
    TwoWorlds,
    /// One run; each canary row has a fair coin.
    Coins,
    /// One run with a Poisson number of canary rows.
    Poisson,
    /// The same, with canary rows drawn independently from the public domain, and others after the run.
    PoissonFresh,
    /// One run without canaries: no bound.
    None,
}

/// Where bounds and categories come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BoundsSource {
    /// They were known without the data.
    Public,
    /// They were taken from the data: no ε is reported.
    Data,
}

/// Whether two runs may have equal rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Duplicates {
    /// Equal rows are a copied file or an ignored seed.
    #[default]
    Refuse,
    /// So few rows of so small a domain coincide by chance.
    Allow,
}

/// How a canary row is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scoring {
    /// Minus the distance to the nearest synthetic row.
    Nearest,
    /// Number of synthetic rows within a tenth of the diameter.
    Count,
}

/// Canary rows that are drawn independently and uniformly from the public domain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FreshCanaries {
    /// Expected number of the rows in the data.
    pub(crate) mean: f64,
    /// Rows that are drawn after the run, whose scores show what chance gives.
    pub(crate) null_draws: u64,
}

/// The manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    pub(crate) format: String,
    pub(crate) game: Game,
    /// The claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) epsilon: Option<f64>,
    pub(crate) delta: f64,
    pub(crate) significance: f64,
    /// N′, which never follows from the data.
    pub(crate) rows: u64,
    /// Runs of each world.
    pub(crate) runs: u64,
    pub(crate) bounds: BoundsSource,
    /// The seeds of runs follow from it.
    pub(crate) seed: u64,
    /// How often a failed run is repeated, with a seed of its own.
    #[serde(default)]
    pub(crate) retries: u32,
    #[serde(default)]
    pub(crate) duplicates: Duplicates,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scoring: Option<Scoring>,
    /// The target row, cell by cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fresh_canaries: Option<FreshCanaries>,
    pub(crate) columns: Vec<ColumnEntry>,
}

/// A column; kinds differ in what they need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum ColumnEntry {
    Number { name: String, low: f64, high: f64 },
    Integer { name: String, low: i32, high: i32 },
    Category { name: String, names: Vec<String> },
}

/// The columns alone, as a file of their own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaFile {
    columns: Vec<ColumnEntry>,
}

fn parse<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, Failure> {
    let text = read_text(path, MOST_BYTES)?;
    toml::from_str(&text).map_err(|error| {
        let message = error.to_string();
        Failure::input(format!("is not as documented: {}", message.trim())).about(path)
    })
}

/// The columns of a schema file.
pub(crate) fn read_columns(path: &Path) -> Result<Vec<ColumnEntry>, Failure> {
    let file: SchemaFile = parse(path)?;
    schema_of(&file.columns).map_err(|failure| failure.about(path))?;
    Ok(file.columns)
}

pub(crate) fn schema_of(columns: &[ColumnEntry]) -> Result<Schema, Failure> {
    let column = |entry: &ColumnEntry| {
        let (name, kind) = match entry.clone() {
            ColumnEntry::Number { name, low, high } => (name, ColumnKind::Number { low, high }),
            ColumnEntry::Integer { name, low, high } => (name, ColumnKind::Integer { low, high }),
            ColumnEntry::Category { name, names } => (name, ColumnKind::Category { names }),
        };
        Column { name, kind }
    };
    Schema::new(columns.iter().map(column).collect()).map_err(Failure::input)
}

impl FreshCanaries {
    /// Whether a bound may come of it.
    pub(crate) fn is_possible(&self) -> bool {
        let draws = self.null_draws as f64;
        self.mean > 0.0
            && self.mean <= MOST_MEAN
            && (100.0 * self.mean..=MOST_NULL_DRAWS).contains(&draws)
    }
}

impl Manifest {
    pub(crate) fn format() -> String {
        FORMAT.to_owned()
    }

    /// Reads and checks the manifest of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(MANIFEST);
        let manifest: Manifest = parse(&path)?;
        manifest.check().map_err(|failure| failure.about(&path))?;
        Ok(manifest)
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), Failure> {
        self.check()?;
        let text = toml::to_string(self);
        let text = text.map_err(|error| Failure::with(Exit::Internal, error))?;
        write_text(&folder.join(MANIFEST), &text)
    }

    fn check(&self) -> Result<(), Failure> {
        if self.format != FORMAT {
            return Err(Failure::input(format!("its format is not `{FORMAT}`")));
        }
        let is_one_run = self.game != Game::TwoWorlds;
        let has_canaries = matches!(self.game, Game::Coins | Game::Poisson | Game::PoissonFresh);
        let is_fresh = self.game == Game::PoissonFresh;
        let is_claim = |epsilon: f64| epsilon >= 0.0 && epsilon.is_finite();
        Failure::first_of(&[
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
            (has_canaries && self.scoring.is_none(), "scoring is missing: state nearest or count"),
        ])?;
        self.schema().map(|_| ())
    }

    pub(crate) fn schema(&self) -> Result<Schema, Failure> {
        schema_of(&self.columns)
    }

    /// The worlds that have runs.
    pub(crate) fn worlds(&self) -> &'static [World] {
        match self.game {
            Game::TwoWorlds => &World::BOTH,
            Game::Coins | Game::Poisson | Game::PoissonFresh | Game::None => &[World::Target],
        }
    }

    /// The seed of an attempt, below 2³¹: all of one folder differ.
    pub(crate) fn seed_of(&self, world: World, run: u64, attempt: u32) -> u64 {
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
