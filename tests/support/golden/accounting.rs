//! ε of training runs: a case's `interval` contains the truth, its `value` is one code's answer.

use super::document::{Case, GoldenError};
use super::library::{Answer, Bracket, Library, OneSide, Run};
use super::{Finding, Outcome};

/// Fields with results of other codes or methods; the interval is derived from them.
const OTHER_CODES: [&str; 13] = [
    "by_discretisation",
    "optimistic_lower",
    "cross_check",
    "value_default_code_grid",
    "slice_pld_lower",
    "slice_pld_upper_for_this_pair",
    "upper_for_this_pair",
    "same_permutation_every_epoch",
    "monte_carlo",
    "google_bnb_mc",
    "numerical",
    "add_direction",
    "simulated_eps_emp",
];

/// Standard errors that an estimate may lie outside of an interval.
const MOST_ERRORS: f64 = 4.0;

pub(super) fn evaluate(
    case: &Case<'_>,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let group = case.at("group")?;
    let run = run(case)?;
    let interval = case.at("interval")?;
    let mut findings = match group.text()? {
        "a_poisson" => {
            let sides = [("remove", OneSide::Remove), ("add", OneSide::Add), ("max", OneSide::Max)];
            let mut findings = Vec::new();
            for (name, side) in sides {
                let ends = interval.at(name)?;
                findings.push(poisson(&ends, run, side, library)?);
            }
            findings
        }
        "b_shuffle_lower_single" | "b_shuffle_lower_multi" => {
            vec![inside(&interval, library.shuffle_max_slice(run))?]
        }
        "c_deterministic" => deterministic(case, &interval, run, library)?,
        "d_balls_in_bins" => vec![balls_in_bins(&interval, run, library)?],
        "e_calibrated_sigma" => {
            let epsilon = case.at("settings")?.at("target_epsilon")?.number()?;
            vec![inside(&interval, library.poisson_noise(run, epsilon, 2e-6 * epsilon))?]
        }
        "f_exact_pair_single" | "f_exact_pair_plugin_pld" => vec![pair(&interval, run, library)?],
        other => return Err(group.error(&format!("`{other}` is not a group of this format"))),
    };
    let others = OTHER_CODES.iter().filter_map(|name| case.find(name));
    findings.extend(others.map(|field| field.skipped("result of another code or method")));
    Ok(findings)
}

fn run(case: &Case<'_>) -> Result<Run, GoldenError> {
    let settings = case.at("settings")?;
    let steps_per_epoch = settings.at("steps_per_epoch")?.count()?;
    // A calibration has no σ to start from.
    let noise_multiplier = match case.at("group")?.text()? {
        "e_calibrated_sigma" => f64::NAN,
        _ => settings.at("sigma")?.number()?,
    };
    let sampling_rate = match settings.find("q") {
        Some(rate) => rate.number()?,
        None => 1.0 / steps_per_epoch as f64,
    };
    let epochs = settings.at("epochs")?.count()?;
    if steps_per_epoch.checked_mul(epochs).is_none() {
        return Err(settings.error("too many steps"));
    }
    let delta = settings.at("delta")?.number()?;
    Ok(Run { noise_multiplier, steps_per_epoch, epochs, sampling_rate, delta })
}

/// The result of `check` on the library's answer, as a finding; an empty text is agreement.
fn judged<T>(
    interval: &Case<'_>,
    answer: Answer<T>,
    check: impl Fn(T, f64, f64) -> Option<String>,
) -> Result<Finding, GoldenError> {
    let (low, high) = interval.interval()?;
    let problem = match answer {
        Ok(value) => check(value, low, high),
        Err(refusal) => Some(refusal),
    };
    Ok(match problem {
        None => interval.finding(0.0, Outcome::Passed),
        Some(problem) => interval.finding(f64::INFINITY, Outcome::Failed(problem)),
    })
}

/// The value lies in the interval.
fn inside(interval: &Case<'_>, answer: Answer) -> Result<Finding, GoldenError> {
    judged(interval, answer, |seen, low, high| {
        let passed = low <= seen && seen <= high;
        (!passed).then(|| format!("expected [{low:?}, {high:?}], computed {seen:?}"))
    })
}

fn bracket_problem(bracket: Bracket, low: f64, high: f64) -> String {
    let Bracket { lower, upper } = bracket;
    format!("expected [{low:?}, {high:?}], computed bounds {lower:?} and {upper:?}")
}

/// Both bounds are on their sides of the truth, and close to the interval.
fn poisson(
    interval: &Case<'_>,
    run: Run,
    side: OneSide,
    library: &dyn Library,
) -> Result<Finding, GoldenError> {
    let (low, high) = interval.interval()?;
    let error = (0.4 * (high - low)).clamp(2e-6, 1e-4);
    judged(interval, library.poisson(run, side, error), |bracket, low, high| {
        let Bracket { lower, upper } = bracket;
        let is_valid = lower <= upper && upper >= low && lower <= high;
        let is_tight = upper <= high + error && lower >= low - error;
        (!(is_valid && is_tight)).then(|| bracket_problem(bracket, low, high))
    })
}

/// Both bounds lie in the interval and agree to 1e-10, with each other and with the analytic value.
fn deterministic(
    case: &Case<'_>,
    interval: &Case<'_>,
    run: Run,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let answer = library.deterministic(run);
    let upper = answer.clone().map(|bracket| bracket.upper);
    let mut findings = vec![judged(interval, answer, |bracket, low, high| {
        let Bracket { lower, upper } = bracket;
        let passed = low < lower && lower < upper && upper < high && upper - lower < 1e-10 * upper;
        (!passed).then(|| bracket_problem(bracket, low, high))
    })?];
    if let Some(analytic) = case.find("analytic") {
        findings.push(analytic.compared(upper, |value| 1e-10 * value)?);
    }
    Ok(findings)
}

/// The lower bound is not below the interval, the upper one not above, and both are close.
fn balls_in_bins(
    interval: &Case<'_>,
    run: Run,
    library: &dyn Library,
) -> Result<Finding, GoldenError> {
    let (_, high) = interval.interval()?;
    let answer = library.balls_in_bins(run, 5e-4 / high.max(1.0));
    judged(interval, answer, |bracket, low, high| {
        let Bracket { lower, upper } = bracket;
        let passed = low <= lower && lower <= upper && upper <= high && upper - lower <= 1e-3;
        (!passed).then(|| bracket_problem(bracket, low, high))
    })
}

/// The estimate lies within 4 standard errors of the interval, the lower bound not above it.
fn pair(interval: &Case<'_>, run: Run, library: &dyn Library) -> Result<Finding, GoldenError> {
    judged(interval, library.pair(run), |seen, low, high| {
        let outside = (low - seen.estimate).max(seen.estimate - high).max(0.0);
        let passed = outside < MOST_ERRORS * seen.standard_error.max(1e-9) && seen.lower <= high;
        (!passed).then(|| {
            let (estimate, error) = (seen.estimate, seen.standard_error);
            let lower = seen.lower;
            format!("expected [{low:?}, {high:?}], computed {estimate:?} ± {error:.1e}, at least {lower:?}")
        })
    })
}
