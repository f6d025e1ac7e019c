//! The report of files of canaries.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::{CanaryError, GuessRule};
use dpscope_recorded::{
    CommittedPlan, NullFile, OneRunSettings, PoolScores, PoolSettings, RecordedRuns,
};
use dpscope_report::record::input::OneRunOptions;
use dpscope_report::record::{
    OneRunReport, OneShotFiles, OneShotReport, PlannedGame, ScoreDirection,
};
use dpscope_report::words::CanaryGameKind;
use js_sys::{Object, Uint8Array};
use serde_json::json;
use wasm_bindgen::prelude::*;

use super::files::{only, plan as plan_of, with_coins as files_with_coins};
use crate::canary_files::{PageFiles, RoleFile, RoleFiles, drawn};
use crate::claim::{claim_test, of_claim};
use crate::failure::Failure;
use crate::file::limits;
use crate::input::read;
use crate::reported::reported;

impl From<CanaryError> for Failure {
    fn from(error: CanaryError) -> Self {
        Failure::rejected(&error)
    }
}

/// The report of an audit of canaries.
#[derive(Debug)]
pub enum CanaryReport {
    /// Each canary has a coin, or each set.
    Coins(Box<OneRunReport>),
    /// The scores of canaries that were not included are known.
    Pool(Box<OneShotReport>),
}

/// The report of these files, as the program's.
///
/// # Errors
/// A file that cannot be read, or data without a valid bound.
pub fn recorded(files: &[RoleFile<'_>], options: &OneRunOptions) -> Result<CanaryReport, Failure> {
    let limits = limits();
    let files = RoleFiles { files, limits: &limits };
    let committed = plan_of(&files)?;
    if let Some(plan) = &committed
        && let PlannedGame::Poisson(mean) = plan.plan.game
    {
        let report = planned_pool(&files, plan, mean, options)?;
        return Ok(CanaryReport::Pool(Box::new(report)));
    }
    if files.get("null_scores").is_some() || files.get("pool_scores").is_some() {
        return Ok(CanaryReport::Pool(Box::new(pool(&files, options)?)));
    }
    Ok(CanaryReport::Coins(Box::new(with_coins(&files, committed.as_ref(), options)?)))
}

const fn direction(options: &OneRunOptions) -> ScoreDirection {
    match options.lower {
        Some(true) => ScoreDirection::Lower,
        _ => ScoreDirection::Higher,
    }
}

fn with_coins(
    files: &RoleFiles<'_>,
    committed: Option<&CommittedPlan>,
    options: &OneRunOptions,
) -> Result<OneRunReport, Failure> {
    files.wanted("scores")?;
    let settings = OneRunSettings {
        direction: direction(options),
        set_size: options.pairs.filter(|&pairs| pairs).map(|_| 2),
        inclusion_probability: None,
        independent_coins: false,
        deltas: vec![options.delta],
        significance: options.significance,
        rule: options.guesses.map_or(GuessRule::Walk, GuessRule::Most),
    };
    let loaded = RecordedRuns::read(&files_with_coins(files), committed, settings);
    let mut loaded = loaded.map_err(|error| files.rejected(error))?;
    loaded.compare_with_audited(&files.audited());
    let runs = loaded.scored()?;
    let result = loaded.result(&runs)?;
    let game = loaded.kind(&runs[0]);
    let adjacency = loaded.adjacency.unwrap_or(match game {
        CanaryGameKind::Sets | CanaryGameKind::MatchedPairs => Adjacency::Replace,
        CanaryGameKind::Coins | CanaryGameKind::UnfairCoins | CanaryGameKind::FixedSize => {
            Adjacency::AddRemove
        }
    });
    let design = loaded.design(game, &result, adjacency);
    let test = claim_test(options.claim, result.bounds()[0].delta);
    let report = OneRunReport::new(result, design, &test).map_err(of_claim)?;
    let scores: Vec<&str> = files.all("scores").map(|file| file.name).collect();
    let input = json!({
        "scores": match &scores[..] {
            [one] => json!(one),
            several => json!(several),
        },
        "coins": files.name("coins").filter(|_| committed.is_none()),
        "plan": files.name("plan"),
        "nonce": committed.and_then(CommittedPlan::nonce),
        "sets": files.name("sets"),
        "baseline": files.name("baseline"),
        "base_data": files.name("base_data"),
        "direction": loaded.settings.direction,
    });
    Ok(OneRunReport { input: Some(input), ..loaded.completed(report, &runs) })
}

fn pool(files: &RoleFiles<'_>, options: &OneRunOptions) -> Result<OneShotReport, Failure> {
    let scores = only(files, "scores")?;
    let with_coins = ["coins", "sets", "canaries", "base_data", "baseline", "plan"];
    if let Some(name) = with_coins.iter().find_map(|role| files.name(role)) {
        let why = [name, " is of audits with coins, which null scores replace; remove one of them"];
        return Err(Failure::input("null_scores", &[&why.concat()]));
    }
    let null = match (files.get("pool_scores"), files.get("null_scores")) {
        (Some(_), Some(_)) => {
            let why = "and pool_scores exclude each other; remove one of them";
            return Err(Failure::input("null_scores", &[why]));
        }
        (Some(file), None) => NullFile::Pool(file),
        (None, _) => NullFile::FreshDraws(files.wanted("null_scores")?),
    };
    let settings = PoolSettings {
        direction: direction(options),
        design: drawn(options.mean, options.slots, options.inclusion)?,
        delta: options.delta,
        significance: options.significance,
    };
    let found = PoolScores::read(&scores, &null, settings);
    let found = found.map_err(|error| files.refused(error))?;
    let unseen = files.name("pool_scores").or(files.name("null_scores")).map(str::to_owned);
    one_shot(&found, OneShotFiles { unseen, ..named(scores.name) }, options)
}

/// A plan that drew its canaries from a pool.
fn planned_pool(
    files: &RoleFiles<'_>,
    plan: &CommittedPlan,
    mean: f64,
    options: &OneRunOptions,
) -> Result<OneShotReport, Failure> {
    let scores = only(files, "scores")?;
    let with_coins = ["sets", "base_data", "baseline", "null_scores", "pool_scores"];
    if let Some(name) = with_coins.iter().find_map(|role| files.name(role)) {
        let why = [name, " is not of a plan that draws canaries of a pool; remove it"];
        return Err(Failure::input("plan", &[&why.concat()]));
    }
    if let Some(canaries) = files.get("canaries") {
        CommittedPlan::check_canaries(&plan.plan, &canaries)
            .map_err(|error| files.refused(error))?;
    }
    let found = PoolScores::planned(&scores, plan, mean);
    let mut found = found.map_err(|error| files.refused(error))?;
    found.compare_with_audited(&files.audited());
    let plan = files.name("plan").map(str::to_owned);
    one_shot(&found, OneShotFiles { plan, ..named(scores.name) }, options)
}

fn named(scores: &str) -> OneShotFiles {
    OneShotFiles { scores: Some(scores.to_owned()), ..OneShotFiles::default() }
}

fn one_shot(
    found: &PoolScores,
    input: OneShotFiles,
    options: &OneRunOptions,
) -> Result<OneShotReport, Failure> {
    let result = found.result().map_err(|error| Failure::rejected(&error))?;
    let report =
        found.report(result, &claim_test(options.claim, found.delta())).map_err(of_claim)?;
    Ok(OneShotReport { input, ..report })
}

/// Audits the scores of canaries, as `dpscope audit one-run` does.
///
/// `roles` names what each file contains: `scores` (of several runs in their order), `coins`, `sets`,
/// `baseline`, `canaries`, `base_data`, `null_scores`, `pool_scores`, or of a committed plan `plan`,
/// `seed`, `commitment`, `nonce`, `audited`.
///
/// # Errors
/// A file that cannot be read, or data without a valid bound.
#[wasm_bindgen(unchecked_return_type = "RecordedRun")]
pub fn audit_one_run(
    roles: Vec<String>,
    names: Vec<String>,
    contents: Vec<Uint8Array>,
    #[wasm_bindgen(unchecked_param_type = "OneRunOptions")] options: &JsValue,
) -> Result<Object, Failure> {
    let started = js_sys::Date::now();
    let files = PageFiles::new(roles, names, &contents)?;
    let report = recorded(&files.files(), &read(options, "options")?)?;
    let elapsed_ms = js_sys::Date::now() - started;
    match report {
        CanaryReport::Coins(report) => reported(&OneRunReport { elapsed_ms, ..*report }),
        CanaryReport::Pool(report) => reported(&OneShotReport { elapsed_ms, ..*report }),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use dpscope_core::random::{Purpose, Words};
    use dpscope_formats::{Array, CoinSeed, write_coins, write_npy};

    use super::*;

    fn options() -> OneRunOptions {
        OneRunOptions {
            delta: 1e-5,
            significance: 0.05,
            guesses: None,
            pairs: None,
            mean: None,
            slots: None,
            inclusion: None,
            lower: None,
            claim: None,
        }
    }

    /// Scores and coins of an attack that finds most canaries.
    fn run() -> (Vec<u8>, Vec<u8>) {
        let mut words = Words::new(5, Purpose::Test, 77);
        scored((0..401).map(|_| words.next_word() & 1 == 1).collect())
    }

    fn scored(coins: Vec<bool>) -> (Vec<u8>, Vec<u8>) {
        let mut words = Words::new(5, Purpose::Test, 78);
        let mut score = |&coin: &bool| words.uniform() + if coin { 0.5 } else { 0.0 };
        let scores: Vec<f64> = coins.iter().map(&mut score).collect();
        let scores = write_npy(&Array::new(vec![coins.len()], scores).unwrap());
        (scores, write_coins(&[coins]))
    }

    fn audited(files: &[(&str, &[u8])], options: &OneRunOptions) -> Result<OneRunReport, Failure> {
        let names: Vec<String> = files.iter().map(|(role, _)| format!("{role}.npy")).collect();
        let files: Vec<RoleFile<'_>> = files
            .iter()
            .zip(&names)
            .map(|(&(role, bytes), name)| RoleFile { role, name, bytes })
            .collect();
        match recorded(&files, options)? {
            CanaryReport::Coins(report) => Ok(*report),
            CanaryReport::Pool(_) => unreachable!(),
        }
    }

    pub(crate) fn example() -> OneRunReport {
        let (scores, coins) = run();
        audited(&[("scores", &scores), ("coins", &coins)], &options()).unwrap()
    }

    /// The report on a plan with a seed of equal bytes, and on the scores.
    fn plan_of(byte: u8, canaries: usize) -> Result<OneRunReport, Failure> {
        let seed = CoinSeed::new([byte; 32]);
        let plan = format!(
            "{{\"schema\":\"dpscope.one_run_plan/1\",\"game\":\"coins\",\"adjacency\":\"add-remove\",\
             \"canaries\":{canaries},\"canaries_digest\":\"{}\",\"rule\":{{\"most\":{}}},\"deltas\":[1e-5],\
             \"significance\":0.05,\"direction\":\"higher\"}}\n",
            "07".repeat(32),
            canaries / 5
        );
        let commitment = seed.commitment(&[7; 32], plan.as_bytes());
        let commitment: String = commitment.iter().map(|byte| format!("{byte:02x}")).collect();
        let (scores, coins) = scored(seed.coins(canaries, &[]));
        let secret = format!("{byte:02x}").repeat(32);
        let files: [(&str, &[u8]); 5] = [
            ("scores", &scores),
            ("coins", &coins),
            ("plan", plan.as_bytes()),
            ("seed", secret.as_bytes()),
            ("commitment", commitment.as_bytes()),
        ];
        audited(&files, &options())
    }

    #[test]
    fn committed_coins_that_include_exactly_half_are_coins() {
        let is_half = |byte: &u8| {
            let coins = CoinSeed::new([*byte; 32]).coins(40, &[]);
            coins.iter().filter(|&&coin| coin).count() == 20
        };
        let byte = (0..=255).find(is_half).unwrap();
        let report = plan_of(byte, 40).unwrap();
        assert_eq!(report.design.game, CanaryGameKind::Coins);
        assert_eq!((report.design.canaries, report.findings.len()), (40, 0), "{report:?}");
    }
}
