//! The report of cosines, or of two models.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::OneRunFinding;
use dpscope_core::audit::one_shot::CosineNull;
use dpscope_recorded::{
    CommittedFederatedPlan, Cosines, FederatedPlanFiles, FederatedScores, FederatedSettings,
    check_flattening, model_scores,
};
use dpscope_report::record::input::FederatedOptions;
use dpscope_report::record::{OneShotFiles, OneShotReport};
use dpscope_report::words::{OneShotAttacker, OneShotDesign};
use js_sys::{Object, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::canary_files::{PageFiles, RoleFile, RoleFiles, drawn};
use crate::claim::claim_test;
use crate::failure::Failure;
use crate::file::limits;
use crate::input::read;
use crate::reported::reported;

/// The report of these files, as the program's.
///
/// # Errors
/// A file that cannot be read, or data without a valid bound.
pub fn recorded_federated(
    files: &[RoleFile<'_>],
    options: &FederatedOptions,
) -> Result<OneShotReport, Failure> {
    let limits = limits();
    let files = RoleFiles { files, limits: &limits };
    let plan = plan(&files)?;
    let settings = match &plan {
        Some(committed) => FederatedSettings::from(committed),
        None => stated(options)?,
    };
    let null = CosineNull::new(settings.dimension)
        .map_err(|error| Failure { field: Some("dimension"), ..Failure::rejected(&error) })?;
    let read = |file| Cosines::read(&file).map_err(|error| files.refused(error));
    let unseen = files.get("unseen").map(read).transpose()?;
    if unseen.is_some() && settings.server_rounds != 1 {
        let why =
            "has cosines of one server round, and the others are maxima over several; remove it";
        return Err(Failure::input("unseen", &[why]));
    }
    if let Some(control) = files.get("control") {
        let committed = plan.as_ref().ok_or_else(|| Failure::missing("plan"))?;
        check_flattening(&control, committed).map_err(|error| files.refused(error))?;
    }
    let (mut scores, digest) = match files.get("cosines") {
        Some(file) => {
            let cosines = read(file)?;
            let scores = FederatedScores::of_cosines(&cosines, &null, &settings, plan.as_ref());
            (scores.map_err(|error| files.rejected(error))?, cosines.digest())
        }
        None => of_models(&files, &null, plan.as_ref())?,
    };
    let is_second = settings.is_committed && files.audited().iter().any(|found| *found != digest);
    scores.findings.extend(is_second.then_some(OneRunFinding::SecondScores));
    check_control(options, &settings, &null, &mut scores)?;
    let test = claim_test(options.claim, settings.delta);
    let report = scores.report(&settings, &null, unseen.as_ref(), &test);
    let name = |role| files.name(role).map(str::to_owned);
    let input = OneShotFiles {
        scores: name("cosines"),
        model: name("final_model"),
        initial_model: name("initial_model"),
        unseen: name("unseen"),
        plan: name("plan"),
        control: name("control"),
        ..OneShotFiles::default()
    };
    Ok(OneShotReport { input, ..report.map_err(|error| files.rejected(error))? })
}

/// Scores from the models before and after the training, and their digest.
fn of_models(
    files: &RoleFiles<'_>,
    null: &CosineNull,
    plan: Option<&CommittedFederatedPlan>,
) -> Result<(FederatedScores, String), Failure> {
    let Some(last) = files.get("final_model") else { return Err(Failure::missing("cosines")) };
    let initial = files.wanted("initial_model")?;
    let plan = plan.ok_or_else(|| Failure::missing("plan"))?;
    if plan.plan.attacker != OneShotAttacker::FinalModel {
        let why = "has an attacker who sees every update; audit the updates with the program, or \
            add their cosines";
        return Err(Failure::input("plan", &[why]));
    }
    model_scores(&initial, &last, null, plan).map_err(|error| files.rejected(error))
}

/// Whether the control client is seen as it must be.
fn check_control(
    options: &FederatedOptions,
    settings: &FederatedSettings,
    null: &CosineNull,
    scores: &mut FederatedScores,
) -> Result<(), Failure> {
    let Some(took_part) = options.control_included else { return Ok(()) };
    if scores.control.is_none() && options.control_cosine.is_none() {
        return Err(Failure::missing("control_cosine"));
    }
    let stated = options.control_cosine.map(|cosine| (cosine, settings.server_rounds));
    scores
        .check_control(null, took_part, stated)
        .map_err(|error| Failure { field: Some("control_cosine"), ..Failure::rejected(&error) })
}

/// The plan with its seed; the commitment is compared.
fn plan(files: &RoleFiles<'_>) -> Result<Option<CommittedFederatedPlan>, Failure> {
    let Some(plan) = files.get("plan") else { return Ok(None) };
    let (seed, commitment) = (files.wanted("seed")?, files.wanted("commitment")?);
    let found = CommittedFederatedPlan::open(&FederatedPlanFiles { plan, seed, commitment });
    found.map(Some).map_err(|error| files.refused(error))
}

/// What the page states without a plan.
fn stated(options: &FederatedOptions) -> Result<FederatedSettings, Failure> {
    let design = drawn(options.mean, options.slots, options.inclusion)?;
    let attacker = options.attacker.unwrap_or(OneShotAttacker::FinalModel);
    let server_rounds = match (attacker, options.server_rounds) {
        (OneShotAttacker::AllUpdates, None) => return Err(Failure::missing("server_rounds")),
        (OneShotAttacker::AllUpdates, Some(rounds)) => rounds,
        (OneShotAttacker::NoisySum | OneShotAttacker::Scores, _) => {
            return Err(Failure::input("attacker", &["has no cosines; choose one that has"]));
        }
        (_, Some(_)) => {
            let why = "is of the attacker that sees every update; leave it out";
            return Err(Failure::input("server_rounds", &[why]));
        }
        (_, None) => 1,
    };
    Ok(FederatedSettings {
        dimension: options.dimension.ok_or_else(|| Failure::missing("dimension"))?,
        design,
        inserted: options.canaries,
        attacker,
        server_rounds,
        delta: options.delta,
        significance: options.significance,
        adjacency: design.map_or(Adjacency::AddRemove, OneShotDesign::certified),
        is_committed: false,
    })
}

/// Audits canary clients, as `dpscope audit federated` does with `--cosines`, or with `--initial` and
/// `--final`.
///
/// `roles` names what each file contains: `cosines`, or `initial_model` and `final_model`; `unseen`; and
/// of a committed plan `plan`, `seed`, `commitment`, `audited`, and `control`, the update of canary 0.
///
/// # Errors
/// A file that cannot be read, or data without a valid bound.
#[wasm_bindgen(unchecked_return_type = "FederatedAudit")]
pub fn audit_federated(
    roles: Vec<String>,
    names: Vec<String>,
    contents: Vec<Uint8Array>,
    #[wasm_bindgen(unchecked_param_type = "FederatedOptions")] options: &JsValue,
) -> Result<Object, Failure> {
    let started = js_sys::Date::now();
    let files = PageFiles::new(roles, names, &contents)?;
    let report = recorded_federated(&files.files(), &read(options, "options")?)?;
    let report = OneShotReport { elapsed_ms: js_sys::Date::now() - started, ..report };
    reported(&report)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn options() -> FederatedOptions {
        FederatedOptions {
            dimension: Some(1_000),
            delta: 1e-5,
            significance: 0.05,
            attacker: None,
            server_rounds: None,
            canaries: None,
            mean: None,
            slots: None,
            inclusion: None,
            control_included: None,
            control_cosine: None,
            claim: None,
        }
    }

    fn audited(csv: &str, options: &FederatedOptions) -> Result<OneShotReport, Failure> {
        let file = RoleFile { role: "cosines", name: "cosines.csv", bytes: csv.as_bytes() };
        recorded_federated(&[file], options)
    }

    /// Cosines of about three standard deviations.
    fn large() -> String {
        (0..60).fold("canary,cosine\n".to_owned(), |text, i| {
            format!("{text}{i},{}\n", 0.08 + 0.001 * f64::from(i))
        })
    }

    pub(crate) fn example() -> OneShotReport {
        audited(&large(), &options()).unwrap()
    }

    #[test]
    fn settings_without_a_plan_are_complete_or_refused() {
        let field = |change: FederatedOptions| audited(&large(), &change).unwrap_err().field;
        assert_eq!(field(FederatedOptions { dimension: None, ..options() }), Some("dimension"));
        assert_eq!(field(FederatedOptions { dimension: Some(1), ..options() }), Some("dimension"));
        assert_eq!(
            field(FederatedOptions { server_rounds: Some(3), ..options() }),
            Some("server_rounds")
        );
        let maximum = FederatedOptions { attacker: Some(OneShotAttacker::AllUpdates), ..options() };
        assert_eq!(field(maximum.clone()), Some("server_rounds"));
        let of_three = FederatedOptions { server_rounds: Some(3), ..maximum };
        let (one, three) = (example(), audited(&large(), &of_three).unwrap());
        assert!(three.bounds.epsilon < one.bounds.epsilon && three.bounds.epsilon > 0.0);
        let sum = FederatedOptions { attacker: Some(OneShotAttacker::NoisySum), ..options() };
        assert_eq!(field(sum), Some("attacker"));
        assert_eq!(field(FederatedOptions { slots: Some(9), ..options() }), Some("mean"));
        let control = FederatedOptions { control_included: Some(true), ..options() };
        assert_eq!(field(control.clone()), Some("control_cosine"));
        let beyond = FederatedOptions { control_cosine: Some(1.5), ..control };
        assert_eq!(field(beyond), Some("control_cosine"));
    }
}
