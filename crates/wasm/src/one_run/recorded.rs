//! The report of scores and coins of one run.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::audit::one_run::{
    CanaryError, CanaryFeature, CanaryGame, CanaryScores, GuessRule, OneRunFinding, OneRunQuestion,
};
use dpscope_core::random::content_seed;
use dpscope_formats::CoinSeed;
use dpscope_report::record::input::OneRunOptions;
use dpscope_report::record::{ClaimTest, OneRunReport, ScoreDirection};
use dpscope_report::text::one_run_text;
use dpscope_report::words::{CanaryGameKind, CoinsStatus, GuessRuleKind, OneRunDesign};
use js_sys::{Object, Uint8Array};
use serde_json::json;
use wasm_bindgen::prelude::*;

use super::files::{CommittedPlan, RoleFile, RunFiles, check_count};
use crate::failure::{Failure, FailureKind};
use crate::file::{File, unreadable};
use crate::input::read;
use crate::output::{object, to_js};

impl From<CanaryError> for Failure {
    fn from(error: CanaryError) -> Self {
        Failure::rejected(&error)
    }
}

/// What the options ask, or the plan.
struct Asked {
    rule: GuessRule,
    direction: ScoreDirection,
    set_size: Option<u32>,
    deltas: Vec<f64>,
    significance: f64,
    adjacency: Option<Adjacency>,
}

impl Asked {
    fn new(options: &OneRunOptions, committed: Option<&CommittedPlan>) -> Self {
        match committed {
            Some(CommittedPlan { plan, .. }) => Asked {
                rule: plan.rule.into(),
                direction: plan.direction,
                set_size: plan.game.set_size(),
                deltas: plan.deltas.clone(),
                significance: plan.significance,
                adjacency: Some(plan.adjacency),
            },
            None => Asked {
                rule: options.guesses.map_or(GuessRule::Walk, GuessRule::Most),
                direction: match options.lower {
                    Some(true) => ScoreDirection::Lower,
                    _ => ScoreDirection::Higher,
                },
                set_size: options.pairs.filter(|&pairs| pairs).map(|_| 2),
                deltas: vec![options.delta],
                significance: options.significance,
                adjacency: None,
            },
        }
    }
}

/// Canaries with coins, in sets, or matched where exactly half of them are included.
fn canaries_of<'a>(
    scores: &'a [f64],
    coins: &'a [bool],
    set_size: Option<u32>,
    is_committed: bool,
) -> Result<CanaryScores<'a>, CanaryError> {
    if let Some(size) = set_size {
        let sets: Vec<u64> =
            (0..coins.len() as u64).map(|canary| canary / u64::from(size)).collect();
        return CanaryScores::sets(scores, coins, &sets);
    }
    if !is_committed && 2 * included(coins) == coins.len() {
        let bits: Vec<f64> = coins.iter().map(|&coin| f64::from(u8::from(coin))).collect();
        return CanaryScores::matched(scores, coins, content_seed([scores, &bits]));
    }
    CanaryScores::coins(scores, coins)
}

fn design(
    canaries: &CanaryScores<'_>,
    game: CanaryGame,
    asked: &Asked,
    is_committed: bool,
) -> OneRunDesign {
    let (kind, of_kind) = match () {
        () if canaries.is_matching() => (CanaryGameKind::MatchedPairs, Adjacency::Replace),
        () if canaries.is_sets() => (CanaryGameKind::Sets, Adjacency::Replace),
        () => (CanaryGameKind::Coins, Adjacency::AddRemove),
    };
    OneRunDesign {
        game: kind,
        canaries: game.canaries(),
        set_size: game.set_size(),
        adjacency: asked.adjacency.unwrap_or(of_kind),
        rule: rule_kind(asked.rule),
        coins: if is_committed { CoinsStatus::Committed } else { CoinsStatus::NotCommitted },
    }
}

fn reported(files: &RunFiles<'_>, options: &OneRunOptions) -> Result<OneRunReport, Failure> {
    let mut scores = files.scores("scores")?;
    let committed = files.plan()?;
    let is_committed = committed.is_some();
    let asked = Asked::new(options, committed.as_ref());
    if asked.direction == ScoreDirection::Lower {
        scores.iter_mut().for_each(|score| *score = -*score);
    }
    let coins = match &committed {
        Some(found) => found.coins(),
        None => files.coins()?,
    };
    check_count("scores", files.name("scores").unwrap_or_default(), scores.len(), coins.len())?;
    let baseline = baseline(files, coins.len())?;
    let features: Vec<_> =
        baseline.iter().map(|values| (CanaryFeature::Baseline, &values[..])).collect();
    let canaries = canaries_of(&scores, &coins, asked.set_size, is_committed)?;
    let question = OneRunQuestion {
        deltas: &asked.deltas,
        significance: asked.significance,
        rule: asked.rule,
        is_committed,
    };
    let ties = committed.as_ref().map_or(CoinSeed::new([0; 32]), |found| found.seed.clone());
    let tie = |index: u64| {
        let first = ties.tie_breaker(index);
        first.iter().take(8).fold(0, |value, &byte| value << 8 | u64::from(byte))
    };
    let second = files.is_second(&scores).then_some(OneRunFinding::SecondScores);
    let result = canaries.audit(&question, &features, tie)?.with_findings(second);
    let design = design(&canaries, result.game(), &asked, is_committed);
    let delta = result.bounds()[0].delta;
    let adjacency = Adjacency::AddRemove;
    let claim = options.claim.map(|epsilon| PrivacyClaim { epsilon, delta, adjacency });
    let report = OneRunReport::new(result, design, &ClaimTest { claim, fail_above: None });
    let report =
        report.map_err(|error| Failure { field: Some("claim"), ..Failure::rejected(&error) })?;
    let input = json!({
        "scores": files.name("scores"),
        "coins": if is_committed { None } else { files.name("coins") },
        "plan": files.name("plan"),
        "sets": null,
        "baseline": files.name("baseline"),
        "base_data": null,
        "direction": asked.direction,
    });
    Ok(OneRunReport { auc: canaries.auc(), input: Some(input), ..report })
}

fn included(coins: &[bool]) -> usize {
    coins.iter().filter(|&&coin| coin).count()
}

fn rule_kind(rule: GuessRule) -> GuessRuleKind {
    match rule {
        GuessRule::Walk => GuessRuleKind::Walk,
        GuessRule::Sides { included: 0, .. } | GuessRule::Sides { excluded: 0, .. } => {
            GuessRuleKind::OneSide
        }
        GuessRule::Most(_) | GuessRule::Sides { .. } => GuessRuleKind::Fixed,
    }
}

/// Scores of the same canaries by a model without them.
fn baseline(files: &RunFiles<'_>, canaries: usize) -> Result<Option<Vec<f64>>, Failure> {
    let Some(name) = files.name("baseline") else { return Ok(None) };
    let baseline = files.scores("baseline")?;
    check_count("baseline", name, baseline.len(), canaries)?;
    if let Some(index) = baseline.iter().position(|score| !score.is_finite()) {
        let why = format!("the baseline score at index {index} is not finite");
        return Err(unreadable("baseline", name, &why));
    }
    Ok(Some(baseline))
}

/// Audits the scores of the canaries of one run, as `dpscope audit one-run` does.
///
/// `roles` names what each file contains: `scores`, `coins`, `baseline`, or of a committed plan `plan`,
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
    if roles.len() != names.len() || roles.len() != contents.len() {
        return Err(Failure::of(FailureKind::Internal, "each file needs a role and a name"));
    }
    let contents: Vec<Vec<u8>> = contents.iter().map(Uint8Array::to_vec).collect();
    let files: Vec<RoleFile<'_>> = roles
        .iter()
        .zip(names.iter().zip(&contents))
        .map(|(role, (name, bytes))| RoleFile { role, file: File { bytes, name } })
        .collect();
    let report = reported(&RunFiles(&files), &read(options, "options")?)?;
    let report = OneRunReport { elapsed_ms: js_sys::Date::now() - started, ..report };
    object([("text", one_run_text(&report).into()), ("report", to_js(&report)?)])
}

#[cfg(test)]
pub(crate) mod tests {
    use dpscope_core::random::{Purpose, Words};
    use dpscope_formats::{Array, write_coins, write_npy};

    use super::*;

    fn options() -> OneRunOptions {
        OneRunOptions {
            delta: 1e-5,
            significance: 0.05,
            guesses: None,
            pairs: None,
            lower: None,
            claim: None,
        }
    }

    /// Scores and coins of an attack that finds most canaries.
    fn run(shift: f64) -> (Vec<u8>, Vec<u8>, Vec<bool>) {
        let mut words = Words::new(5, Purpose::Test, 77);
        let coins: Vec<bool> = (0..401).map(|_| words.next_word() & 1 == 1).collect();
        scored(coins, shift)
    }

    fn scored(coins: Vec<bool>, shift: f64) -> (Vec<u8>, Vec<u8>, Vec<bool>) {
        let mut words = Words::new(5, Purpose::Test, 78);
        let mut score = |&coin: &bool| words.uniform() + if coin { shift } else { 0.0 };
        let scores: Vec<f64> = coins.iter().map(&mut score).collect();
        let scores = write_npy(&Array::new(vec![coins.len()], scores).unwrap());
        (scores, write_coins(std::slice::from_ref(&coins)), coins)
    }

    fn audited(files: &[(&str, &[u8])], options: &OneRunOptions) -> Result<OneRunReport, Failure> {
        let names: Vec<String> = files.iter().map(|(role, _)| format!("{role}.npy")).collect();
        let files: Vec<RoleFile<'_>> = files
            .iter()
            .zip(&names)
            .map(|(&(role, bytes), name)| RoleFile { role, file: File { bytes, name } })
            .collect();
        reported(&RunFiles(&files), options)
    }

    pub(crate) fn example() -> OneRunReport {
        let (scores, coins, _) = run(0.5);
        audited(&[("scores", &scores), ("coins", &coins)], &options()).unwrap()
    }

    #[test]
    fn a_claim_below_the_bound_is_refuted() {
        let (scores, coins, _) = run(0.5);
        let files: [(&str, &[u8]); 2] = [("scores", &scores), ("coins", &coins)];
        let claimed = OneRunOptions { claim: Some(0.5), ..options() };
        let report = audited(&files, &claimed).unwrap();
        assert!(report.bounds[0].epsilon > 0.5 && report.auc > Some(0.8), "{report:?}");
        assert!(report.verdict.is_some());
        let lower = OneRunOptions { lower: Some(true), ..claimed };
        assert_eq!(audited(&files, &lower).unwrap().bounds[0].epsilon, 0.0);
        let fixed = OneRunOptions { guesses: Some(100), ..options() };
        assert_eq!(audited(&files, &fixed).unwrap().bounds[0].guesses, 100);
    }

    /// The files of a plan for 400 canaries, with the scores.
    fn plan(change: impl Fn(String) -> String) -> Result<OneRunReport, Failure> {
        let seed = CoinSeed::new([9; 32]);
        let plan = format!(
            "{{\"schema\":\"dpscope.one_run_plan/1\",\"game\":\"coins\",\"adjacency\":\"add-remove\",\
             \"canaries\":400,\"canaries_digest\":\"{}\",\"rule\":{{\"most\":80}},\"deltas\":[1e-5],\
             \"significance\":0.05,\"direction\":\"higher\"}}\n",
            "07".repeat(32)
        );
        let commitment = seed.commitment(&[7; 32], plan.as_bytes());
        let commitment: String = commitment.iter().map(|byte| format!("{byte:02x}")).collect();
        let (scores, coins, _) = scored(seed.coins(400, &[]), 0.5);
        let (plan, secret) = (change(plan), change("09".repeat(32)));
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
    fn a_committed_plan_is_verified() {
        let report = plan(|text| text).unwrap();
        assert_eq!(report.design.coins, CoinsStatus::Committed);
        assert_eq!((report.bounds[0].guesses, report.design.rule), (80, GuessRuleKind::Fixed));
        let refused = |from: &str, to: &str| plan(|text| text.replace(from, to)).unwrap_err();
        assert!(refused("\"most\":80", "\"most\":90").message.contains("commitment"));
        assert!(refused("0909", "0908").message.contains("commitment"));
        assert!(refused("one_run_plan/1", "one_run_plan/9").message.contains("version"));
        assert!(refused("\"game\"", "\"games\"").message.contains("not a plan"));
    }

    #[test]
    fn bad_files_are_refused_by_name() {
        let (scores, coins, _) = run(0.5);
        let refused = |files: &[(&str, &[u8])]| audited(files, &options()).unwrap_err();
        assert_eq!(refused(&[("scores", &scores)]).field, Some("coins"));
        assert_eq!(refused(&[("coins", &coins)]).field, Some("scores"));
        let short = write_coins(&[vec![true; 7]]);
        assert!(refused(&[("scores", &scores), ("coins", &short)]).message.contains("7 coins"));
        let not_coins = refused(&[("scores", &scores), ("coins", &scores)]);
        assert!(not_coins.message.contains("coins are 0 or 1"), "{}", not_coins.message);
        let garbage = refused(&[("scores", b"\x93NUMPY"), ("coins", &coins)]);
        assert!(garbage.message.starts_with("scores.npy"), "{}", garbage.message);
    }
}
