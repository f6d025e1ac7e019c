//! The audit that was planned, for `dpscope launch`.

use dpscope_report::record::PlanTarget;

use super::BgmPlanArgs;
use crate::given::{given_options, innermost, matched};
use crate::shell::arguments as own_arguments;

/// Options of the plan that its audit does not take over.
const OF_PLAN: [&str; 4] = ["epsilon", "observations", "seed", "json"];

/// Arguments of the audit: as many observations as the target is predicted to need, or as were planned.
pub(super) fn arguments(args: &BgmPlanArgs, target: Option<&PlanTarget>) -> Option<Vec<String>> {
    args.noise_multiplier?;
    let observations = match target {
        Some(target) => target.observations_predicted?,
        None => args.observations?,
    };
    let (program, matches) = matched(own_arguments()).ok()?;
    let (_, command, matches) = innermost(&program, &matches);
    let options = given_options(command, matches).into_iter();
    // as in Python, which passes every option
    let kept = options.filter(|option| !OF_PLAN.contains(&option.id()) && !option.is_default());
    let start = ["audit", "bgm"].map(str::to_owned).into_iter();
    let size = ["--observations".to_owned(), observations.to_string()];
    Some(start.chain(kept.flat_map(|option| option.words)).chain(size).collect())
}
