//! Audits of a user's own generator, from files of the page.

use std::collections::BTreeSet;

use dpscope_core::adjacency::World;
use dpscope_formats::table::{Rows, Schema, TableFileError, read_table};
use dpscope_formats::{Array, Limits, write_npy};
use dpscope_report::figure::score_bins;
use dpscope_report::record::GeneratorReport;
use dpscope_report::record::input::GeneratorOptions;
use dpscope_report::record::page::ScoreBin;
use dpscope_synth::attack::{AttackError, AttackOptions, AttackResult, ForestOptions, attack};
use dpscope_synth::generator::{
    BoundsSource, Game, GeneratorPlan, Manifest, ManifestError, Outcome, OutcomeError, Scoring,
    WorldOutcomes, WorldsAttack, canary_scores, columns_from_toml, read_features, schema_of,
    worlds_report,
};

use crate::failure::{Failure, FailureKind};
use crate::seed::seed_or_fresh;

/// The largest file of columns or of a manifest.
const MOST_TEXT: usize = 1 << 22;
/// Runs of features per world.
const MOST_RUNS: usize = 100_000;

/// A report, and scores of the evaluated runs.
pub(super) type Audited = (GeneratorReport, Vec<ScoreBin>);

/// A file of the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageFile<'a> {
    pub(super) name: &'a str,
    pub(super) bytes: &'a [u8],
}

impl PageFile<'_> {
    fn refused(&self, error: &impl std::fmt::Display) -> Failure {
        Failure::of(FailureKind::File, &format!("{} {error}", self.name))
    }

    fn text(&self) -> Result<&str, Failure> {
        if self.bytes.len() > MOST_TEXT {
            return Err(self.refused(&"is larger than 4 MiB; it is no file of settings"));
        }
        std::str::from_utf8(self.bytes).map_err(|_| self.refused(&"is no UTF-8 text"))
    }

    fn rows(&self, schema: &Schema, limits: &Limits) -> Result<Rows, Failure> {
        let remedy = "every table must obey the columns of the manifest: repair what writes it";
        read_table(self.bytes, schema, limits).map_err(|error| self.unusable(&error, remedy))
    }

    fn unusable(&self, error: &TableFileError, remedy: &str) -> Failure {
        let why = match error {
            TableFileError::Limit(error) => error.in_page(),
            error => format!("{error}; {remedy}"),
        };
        self.refused(&format!("cannot be used: {why}"))
    }

    /// The number in its name, as 3 of `with/0003.csv`.
    fn run(&self) -> Result<u64, Failure> {
        let name = self.name.rsplit('/').next().unwrap_or(self.name);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let prefix = stem.trim_end_matches(|c: char| c.is_ascii_digit());
        stem[prefix.len()..]
            .parse()
            .map_err(|_| self.refused(&"has no number of its run in its name; name it as 0003.csv"))
    }
}

const BOUNDS_FROM_DATA: &str = "has bounds that were taken from the data, with which nothing certifies an ε; \
     state bounds that are known without the data, and plan anew";

/// Runs of a manifest, as files come in.
#[derive(Debug)]
pub(super) struct FolderAudit {
    schema: Schema,
    outcomes: WorldOutcomes,
    plan: GeneratorPlan,
    /// Runs of each world that succeeded in a later attempt.
    retried: [BTreeSet<u64>; 2],
    /// How a second execution of a run differed.
    other_rows: Option<String>,
}

impl FolderAudit {
    /// Opens a manifest of many runs.
    pub(super) fn open(file: PageFile<'_>) -> Result<Self, Failure> {
        let manifest = manifest_of(file)?;
        if manifest.game != Game::TwoWorlds {
            let why = "is of one run: add its canaries.csv and the released rows below instead";
            return Err(file.refused(&why));
        }
        if manifest.bounds == BoundsSource::Data {
            return Err(file.refused(&BOUNDS_FROM_DATA));
        }
        let refused = |error: ManifestError| file.refused(&error);
        Ok(FolderAudit {
            schema: manifest.schema().map_err(refused)?,
            plan: GeneratorPlan::from(&manifest),
            outcomes: WorldOutcomes::new(manifest).map_err(refused)?,
            retried: Default::default(),
            other_rows: None,
        })
    }

    /// The outcome of a run, the mark of a run that was repeated, or the check of seeds.
    pub(super) fn add(&mut self, world: World, file: PageFile<'_>) -> Result<(), Failure> {
        if file.name.ends_with("seed-check.txt") {
            let text = file.text()?;
            self.other_rows = text.starts_with("different").then(|| text.to_owned());
            return Ok(());
        }
        let run = file.run()?;
        if file.name.ends_with(".retried") {
            self.retried[world.index()].insert(run);
            return Ok(());
        }
        let outcome = if file.name.ends_with(".failed") {
            let reason = String::from_utf8_lossy(&file.bytes[..file.bytes.len().min(MOST_TEXT)]);
            Outcome::Failed(reason.lines().next().unwrap_or_default().to_owned())
        } else {
            Outcome::Rows(file.rows(&self.schema, &Limits::for_page())?)
        };
        let name = format!("{}/{run:04}", side(world));
        let added = self.outcomes.add((world, run), &name, &outcome);
        added.map_err(|error: OutcomeError| file.refused(&error))
    }

    pub(super) fn report(self, elapsed_ms: f64) -> Result<Audited, Failure> {
        if let Some((world, run)) = self.outcomes.missing() {
            let message = format!(
                "{}/{run:04}.csv is missing: the manifest has {} runs of each world; add it, or, for a run \
                 that failed, a file {run:04}.failed with the reason",
                side(world),
                self.plan.runs
            );
            return Err(Failure::of(FailureKind::File, &message));
        }
        let found = WorldsAttack {
            retried: self.retried.map(|runs| runs.len() as u64),
            other_rows: self.other_rows,
            ..self.outcomes.attack().map_err(of_attack)?
        };
        Ok(audited(&self.plan, &found, elapsed_ms))
    }
}

const fn side(world: World) -> &'static str {
    match world {
        World::Target => "with",
        World::ZeroOut => "without",
    }
}

fn of_attack(error: AttackError) -> Failure {
    match error {
        AttackError::TooFew { .. } => {
            let message = format!("{error}; `dpscope plan generator` says how many a claim needs");
            Failure::of(FailureKind::Input, &message)
        }
        error => Failure::rejected(&error),
    }
}

fn audited(plan: &GeneratorPlan, found: &WorldsAttack, elapsed_ms: f64) -> Audited {
    let [with, without] = &found.attack.scores;
    (worlds_report(plan, found, elapsed_ms), score_bins([with, without]))
}

fn manifest_of(file: PageFile<'_>) -> Result<Manifest, Failure> {
    Manifest::from_toml(file.text()?).map_err(|error| file.refused(&error))
}

/// Features that the user computed, with the target and without.
pub(super) fn audit_features(
    files: [PageFile<'_>; 2],
    options: &GeneratorOptions,
    elapsed_ms: f64,
) -> Result<Audited, Failure> {
    let limits = Limits::for_page();
    let remedy = "write a line of names, then one line of numbers per run";
    let with = read_features(files[0].bytes, None, &limits);
    let with = with.map_err(|error| files[0].unusable(&error, remedy))?;
    let without = read_features(files[1].bytes, Some(&with.names), &limits);
    let without = without.map_err(|error| files[1].unusable(&error, remedy))?;
    for (file, table) in files.into_iter().zip([&with, &without]) {
        if table.runs.len() > MOST_RUNS {
            let why = format!("has more than {MOST_RUNS} runs; use fewer");
            return Err(file.refused(&why));
        }
    }
    if let Some(claim) = options.claim.filter(|claim| !(0.0..f64::INFINITY).contains(claim)) {
        return Err(Failure::outside("claim", claim, "a finite number from 0"));
    }
    let attack_options = AttackOptions {
        delta: options.delta,
        significance: options.significance,
        forest: ForestOptions { seed: seed_or_fresh(&options.seed)?, ..ForestOptions::default() },
    };
    let attack: AttackResult =
        attack([&with.runs, &without.runs], &attack_options).map_err(of_attack)?;
    let plan = GeneratorPlan {
        epsilon: options.claim,
        delta: options.delta,
        significance: options.significance,
        runs: with.runs.len().min(without.runs.len()) as u64,
        rows: 1,
        columns: with.names.len() as u64,
    };
    let failed = [(0, None), (0, None)];
    let found = WorldsAttack {
        attack,
        failed,
        checked_data: false,
        retried: [0; 2],
        other_rows: None,
        is_constant: false,
    };
    Ok(audited(&plan, &found, elapsed_ms))
}

/// Scores of canary rows as an array of `dpscope audit one-run`, and the claim of the manifest.
///
/// `columns` is a manifest, whose rule replaces `scoring`, or a file of columns.
pub(super) fn scores_of(
    columns: PageFile<'_>,
    canaries: PageFile<'_>,
    released: PageFile<'_>,
    scoring: &str,
) -> Result<(Vec<u8>, Option<f64>), Failure> {
    let text = columns.text()?;
    let stated = match scoring {
        "nearest" => Scoring::Nearest,
        "count" => Scoring::Count,
        "density" => Scoring::Density,
        "decoys" => Scoring::Decoys,
        _ => {
            let known = "must be nearest, count, density or decoys";
            return Err(Failure::input("scoring", &[known]));
        }
    };
    let (schema, (rule, seed), claim) = if text
        .lines()
        .any(|line| line.trim_start().starts_with("format"))
    {
        let manifest = manifest_of(columns)?;
        if manifest.game == Game::TwoWorlds {
            return Err(columns.refused(&"is of many runs in two worlds: add them above instead"));
        }
        if manifest.game == Game::PoissonFresh {
            let why = "draws rows after the run as the null, which the page does not; audit its folder with \
                       `dpscope audit generator`";
            return Err(columns.refused(&why));
        }
        if manifest.bounds == BoundsSource::Data {
            return Err(columns.refused(&BOUNDS_FROM_DATA));
        }
        let schema = manifest.schema().map_err(|error| columns.refused(&error))?;
        let rows = released.rows(&schema, &Limits::for_page())?;
        manifest.check_rows(&rows).map_err(|problem| {
            released.refused(&format!("{problem}; add the rows that the run released, all of them"))
        })?;
        (schema, (manifest.scoring.unwrap_or(stated), manifest.seed), manifest.epsilon)
    } else {
        let columns_of = columns_from_toml(text).map_err(|error| columns.refused(&error))?;
        (schema_of(&columns_of).map_err(|error| columns.refused(&error))?, (stated, 0), None)
    };
    let limits = Limits::for_page();
    let (canaries, synthetic) =
        (canaries.rows(&schema, &limits)?, released.rows(&schema, &limits)?);
    if synthetic.is_empty() {
        return Err(released.refused(&"has no rows, so that no canary has a score"));
    }
    let scores = canary_scores((rule, seed), &schema, &canaries, &synthetic);
    let array = Array::new(vec![scores.len()], scores);
    Ok((write_npy(&array.map_err(|error| Failure::rejected(&error))?), claim))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const COLUMNS: &str = "\n[[columns]]\nkind = \"integer\"\nname = \"a\"\nlow = 0\nhigh = 1000\n";

    fn manifest(runs: u64) -> String {
        format!(
            "format = \"dpscope.generator-folder/1\"\ngame = \"two-worlds\"\nepsilon = 0.1\n\
             delta = 0.0\nsignificance = 0.05\nrows = 2\nruns = {runs}\nbounds = \"public\"\nseed = 3\n\
             target = [\"9\"]\n{COLUMNS}"
        )
    }

    fn file<'a>(name: &'a str, text: &'a str) -> PageFile<'a> {
        PageFile { name, bytes: text.as_bytes() }
    }

    fn opened(runs: u64) -> FolderAudit {
        FolderAudit::open(file("manifest.toml", &manifest(runs))).unwrap()
    }

    fn run(world: World, run: u64) -> (String, String) {
        let first = if world == World::Target { 900 } else { 3 };
        (format!("{}/{run:04}.csv", side(world)), format!("a\n{}\n{}\n", first + run, 7 * run))
    }

    pub(crate) fn example() -> GeneratorReport {
        let mut audit = opened(30);
        for world in World::BOTH {
            for at in 0..30 {
                let (name, text) = run(world, at);
                audit.add(world, file(&name, &text)).unwrap();
            }
        }
        audit.report(0.0).unwrap().0
    }

    #[test]
    fn runs_that_differ_are_told_apart() {
        let report = example();
        assert!(report.attack.is_some_and(|attack| attack.auc.value > 0.99));
        assert_eq!((report.runs, report.rows, report.columns), (30, 2, 1));
    }

    #[test]
    fn repeated_runs_and_ignored_seeds_are_findings() {
        let found = |files: &[(&str, &str)]| {
            let mut audit = opened(30);
            for world in World::BOTH {
                for at in 0..30 {
                    let (name, text) = run(world, at);
                    audit.add(world, file(&name, &text)).unwrap();
                }
            }
            for (name, text) in files {
                audit.add(World::Target, file(name, text)).unwrap();
            }
            let (report, _) = audit.report(0.0).unwrap();
            report.findings.into_iter().map(|finding| finding.name).collect::<Vec<_>>()
        };
        let retried = ("with/0003.retried", "");
        assert_eq!(found(&[retried, retried]), ["retried-runs"]);
        assert_eq!(found(&[("seed-check.txt", "equal\n")]), Vec::<&str>::new());
        let differs = ("seed-check.txt", "different rows of with/0000");
        assert_eq!(found(&[differs, retried]), ["retried-runs", "seed-ignored"]);
    }

    #[test]
    fn files_are_refused_by_name_with_a_remedy() {
        let message = |result: Result<(), Failure>| result.unwrap_err().message;
        let mut audit = opened(30);
        let mut add = |name: &str, text: &str| audit.add(World::Target, file(name, text));
        let range = message(add("with/0000.csv", "a\n5\n1001\n"));
        assert!(range.starts_with("with/0000.csv cannot be used: line 3, column `a`"), "{range}");
        assert!(message(add("x.csv", "a\n1\n2\n")).contains("0003.csv"));
        assert!(message(add("0001.csv", "a\n1\n")).contains("the manifest says 2"));
        assert!(message(add("0030.csv", "a\n1\n2\n")).contains("one run more than the 30"));
        assert!(add("0000.csv", "a\n1\n2\n").is_ok());
        assert!(message(add("0001.csv", "a\n1\n2\n")).contains("has the rows of with/0000"));
        assert!(add("0002.failed", "no memory\nat all").is_ok());
        let missing = audit.report(0.0).unwrap_err().message;
        assert!(missing.starts_with("with/0001.csv is missing"), "{missing}");
        let text = manifest(30).replace("public", "data");
        let data = FolderAudit::open(file("manifest.toml", &text)).unwrap_err().message;
        assert!(data.contains("taken from the data"), "{data}");
    }

    fn table(shift: f64) -> String {
        (0..60).fold("a,b\n".to_owned(), |text, run| {
            format!("{text}{},{}\n", shift + f64::from(run % 7), run % 5)
        })
    }

    fn options() -> GeneratorOptions {
        GeneratorOptions { delta: 0.0, significance: 0.05, claim: Some(0.1), seed: "3".to_owned() }
    }

    #[test]
    fn features_are_attacked_as_they_are() {
        let audit = |with: &str, without: &str| {
            audit_features([file("with.csv", with), file("without.csv", without)], &options(), 0.0)
        };
        let (far, near) = (table(9.0), table(0.0));
        let (report, scores) = audit(&far, &near).unwrap();
        assert_eq!(report.verdict, Some(dpscope_core::audit::claim::Verdict::Refuted));
        assert!(!scores.is_empty());
        let (report, _) = audit(&near, &near).unwrap();
        assert_ne!(report.verdict, Some(dpscope_core::audit::claim::Verdict::Refuted));
        let other = near.replace("a,b", "a,c");
        assert!(audit(&far, &other).unwrap_err().message.starts_with("without.csv cannot be used"));
        assert!(audit("a,b\n1,x\n", &near).unwrap_err().message.contains("line 2, column `b`"));
        assert!(audit("a\n1\n", "a\n2\n").unwrap_err().message.contains("too few"));
    }

    #[test]
    fn canaries_are_scored_by_the_rule_of_the_manifest() {
        let canaries = file("canaries.csv", "a\n3\n500\n");
        let released = file("0000.csv", "a\n3\n4\n");
        let scores = |columns: &str, scoring: &str| {
            scores_of(file("c.toml", columns), canaries, released, scoring)
        };
        let one_run = manifest(1)
            .replace("two-worlds", "coins")
            .replace("target = [\"9\"]", "scoring = \"count\"");
        let [nearest, count] = ["nearest", "count"].map(|rule| scores(COLUMNS, rule).unwrap());
        assert_ne!(nearest, count);
        let (scored, claim) = scores(&one_run, "nearest").unwrap();
        assert_eq!((scored, claim), (count.0, Some(0.1)));
        assert!(scores(&manifest(30), "nearest").unwrap_err().message.contains("many runs"));
        let from_data = one_run.replace("public", "data");
        assert!(scores(&from_data, "nearest").unwrap_err().message.contains("taken from the data"));
        let fresh = "game = \"poisson-fresh\"\nfresh_canaries = { mean = 5.0, null_draws = 500 }";
        let fresh = one_run.replace("game = \"coins\"", fresh);
        assert!(scores(&fresh, "nearest").unwrap_err().message.contains("dpscope audit generator"));
        assert!(scores("columns = 3", "nearest").unwrap_err().message.starts_with("c.toml is not"));
        assert_eq!(scores(COLUMNS, "best").unwrap_err().field, Some("scoring"));
        let none = scores_of(file("c", COLUMNS), canaries, file("r.csv", "a\n"), "count");
        assert!(none.unwrap_err().message.contains("has no rows"));
    }
}
