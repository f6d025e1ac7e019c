//! Bounds of one run, as in `one_run.json` and `without_coins.json`.

use std::collections::BTreeMap;

use super::document::{Case, GoldenError};
use super::library::{Answer, CoinInput, GuessInput, Library};
use super::{Finding, Outcome};

const LIST: &str = "a number of another search";

pub(super) fn evaluate(
    case: &Case<'_>,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let group = case.at("group")?;
    let inputs = case.at("inputs")?;
    let expected = case.at("expected")?;
    let within = Tolerance::of(case)?;
    match group.text()? {
        "count_p_value" => p_values(&inputs, &expected, &within, library),
        "count_epsilon" | "sets_epsilon" => epsilons(&inputs, &expected, &within, library),
        "gaussian_mu" => gaussian(&inputs, &expected, &within, library),
        "walk" => walk(&inputs, &expected, &within, library),
        "monotone_test_cost"
        | "e_value"
        | "claim_curve_p_value"
        | "ceiling"
        | "independent_canaries_mu" => {
            one_value(group.text()?, &inputs, &expected, &within, library)
        }
        "plan" => plan(&inputs, &expected, case, library),
        "coins" => coins(&inputs, &expected, library),
        "fixed_size" => fixed_size(&inputs, &expected, &within, library),
        other => Err(group.error(&format!("`{other}` is not a group of this format"))),
    }
}

fn p_values(
    inputs: &Case<'_>,
    expected: &Case<'_>,
    within: &Tolerance,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let guesses = guesses(inputs)?;
    let (epsilon, delta) = (inputs.at("epsilon")?.number()?, inputs.at("delta")?.number()?);
    each(expected, within, |key| match key {
        "p" => Some(library.one_run_p_value(guesses, epsilon, delta)),
        "p_guesses_of_one_side" => {
            Some(library.one_run_p_value(guesses.one_side(), epsilon, delta))
        }
        "steinke" => Some(library.steinke_p_value(guesses, epsilon, delta)),
        _ => None,
    })
}

fn epsilons(
    inputs: &Case<'_>,
    expected: &Case<'_>,
    within: &Tolerance,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let guesses = guesses(inputs)?;
    let (delta, significance) = level(inputs)?;
    each(expected, within, |key| match key {
        "epsilon" => Some(library.one_run_epsilon(guesses, delta, significance)),
        "epsilon_guesses_of_one_side" => {
            Some(library.one_run_epsilon(guesses.one_side(), delta, significance))
        }
        "steinke" => Some(library.steinke_epsilon(guesses, delta, significance)),
        "recursion" => Some(library.recursion_epsilon(guesses, delta, significance)),
        _ => None,
    })
}

/// μ, and its ε at each δ, whose error is up to ten times that of μ.
fn gaussian(
    inputs: &Case<'_>,
    expected: &Case<'_>,
    within: &Tolerance,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let mu = library.recursion_mu(guesses(inputs)?, inputs.at("significance")?.number()?);
    let stated = expected.at("mu")?;
    let mut found = vec![stated.compared_within(mu.clone(), within.below, within.above)?];
    for (delta, value) in expected.at("epsilon_at_delta")?.entries()? {
        let delta = delta.parse().map_err(|_| value.error("its key is no number"))?;
        let epsilon = mu.clone().and_then(|mu| library.gdp_epsilon(mu, delta));
        found.push(value.compared_within(epsilon, within.below * 10.0, within.above * 10.0)?);
    }
    Ok(found)
}

/// Groups with one value of the library, and one that says where or instead of what.
fn one_value(
    group: &str,
    inputs: &Case<'_>,
    expected: &Case<'_>,
    within: &Tolerance,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let number = |name: &str| inputs.at(name)?.number();
    let (keys, seen, other): (&[&str], Answer, Answer) = match group {
        "monotone_test_cost" => {
            let (level, epsilon) = (number("level_at_delta_zero")?, number("epsilon")?);
            let budget = number("canaries_times_delta")?;
            // what holds where the theorem's argument about monotone tests is not used
            let crude = level + budget / (1.0 + dpscope_core::math::exp(epsilon));
            (&["bound"], library.monotone_p_value(level, epsilon, budget), Ok(crude))
        }
        "e_value" => {
            let (sizes, correct) = (counts(inputs, "sizes")?, counts(inputs, "correct")?);
            let canaries = inputs.at("canaries")?.count()?;
            let e_value = library.e_value(canaries, &sizes, &correct, number("epsilon")?);
            (&["e_value"], e_value.clone(), e_value)
        }
        "claim_curve_p_value" => {
            let points = inputs.at("curve_epsilon_delta")?.list()?;
            let curve: Result<Vec<(f64, f64)>, GoldenError> = points.iter().map(pair).collect();
            let (guesses, curve) = (guesses(inputs)?, curve?);
            let p = library.p_value_of_curve(guesses, &curve);
            (&["p"], p, knot_of_smallest_p(guesses, &curve, library))
        }
        "ceiling" => {
            let canaries = inputs.at("canaries")?.count()?;
            let all = GuessInput {
                canaries,
                guesses: canaries,
                correct: canaries,
                ..GuessInput::default()
            };
            let (delta, significance) = level(inputs)?;
            let bound = library.one_run_epsilon(all, delta, significance);
            let most = guesses_of_ceiling(canaries, (delta, significance), library);
            (&["epsilon_all_correct_all_guessed", "best_of_a_grid"], bound, most)
        }
        _ => {
            let mu = library.independent_canaries_mu(guesses(inputs)?, number("significance")?);
            let epsilon = mu.clone().and_then(|mu| library.gdp_epsilon(mu, 1e-5));
            return each(expected, within, |key| match key {
                "mu" => Some(mu.clone()),
                "epsilon_at_1e_5" => Some(epsilon.clone()),
                _ => None,
            });
        }
    };
    each(expected, within, |key| match key {
        "crude_bound" | "at_epsilon" | "guesses_there" => Some(other.clone()),
        _ => keys.contains(&key).then(|| seen.clone()),
    })
}

fn level(inputs: &Case<'_>) -> Result<(f64, f64), GoldenError> {
    Ok((inputs.at("delta")?.number()?, inputs.at("significance")?.number()?))
}

/// The smallest p, the joint p and the bound at each ε, and ε itself.
fn walk(
    inputs: &Case<'_>,
    expected: &Case<'_>,
    within: &Tolerance,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let (sizes, correct) = (counts(inputs, "sizes")?, counts(inputs, "correct")?);
    let canaries = inputs.at("canaries")?.count()?;
    let (delta, significance) = level(inputs)?;
    let mut found = Vec::new();
    for (key, value) in expected.entries()? {
        match key {
            "epsilon" => {
                let bound = library.walk_epsilon(canaries, &sizes, &correct, delta, significance);
                found.push(value.compared_within(bound, within.below, within.above)?);
            }
            "smallest_p_global_p_and_bound_at_epsilon" => {
                for (epsilon, row) in value.entries()? {
                    let epsilon = epsilon.parse().map_err(|_| row.error("its key is no number"))?;
                    let seen = library.walk_p_values(canaries, &sizes, &correct, epsilon, delta);
                    for (index, cell) in row.list()?.iter().enumerate() {
                        let seen = seen.clone().map(|values| values[index.min(2)]);
                        found.push(cell.compared_within(seen, within.below, within.above)?);
                    }
                }
            }
            _ => {
                let root = bisected(canaries, &sizes, &correct, (delta, significance), library);
                found.push(value.compared_within(root, within.below, within.above)?);
            }
        }
    }
    Ok(found)
}

/// The root of the p-value within the grid's cell above the bound: no bound, since the tests of a cell
/// are not nested.
fn bisected(
    canaries: u64,
    sizes: &[u64],
    correct: &[u64],
    (delta, significance): (f64, f64),
    library: &dyn Library,
) -> Answer {
    let mut low = library.walk_epsilon(canaries, sizes, correct, delta, significance)?;
    if low == 0.0 {
        return Ok(0.0);
    }
    let mut high = low + 0.005;
    while high - low > 1e-12 {
        let middle = f64::midpoint(low, high);
        let [_, _, p] = library.walk_p_values(canaries, sizes, correct, middle, delta)?;
        if p < significance { low = middle } else { high = middle }
    }
    Ok(low)
}

/// The ε of a curve whose p-value is the smallest.
fn knot_of_smallest_p(guesses: GuessInput, curve: &[(f64, f64)], library: &dyn Library) -> Answer {
    let mut best = (f64::INFINITY, 0.0);
    for &(epsilon, delta) in curve {
        let p = library.one_run_p_value(guesses, epsilon, delta)?;
        if p < best.0 {
            best = (p, epsilon);
        }
    }
    Ok(best.1)
}

/// The number of guesses, all correct, whose bound is the largest: of m, m/2, m/4, …
fn guesses_of_ceiling(
    canaries: u64,
    (delta, significance): (f64, f64),
    library: &dyn Library,
) -> Answer {
    let (mut best, mut guesses) = ((f64::NEG_INFINITY, 0), canaries);
    while guesses > 0 {
        let all = GuessInput { canaries, guesses, correct: guesses, ..GuessInput::default() };
        let bound = library.one_run_epsilon(all, delta, significance)?;
        if bound > best.0 {
            best = (bound, guesses);
        }
        guesses /= 2;
    }
    Ok(best.1 as f64)
}

fn plan(
    inputs: &Case<'_>,
    expected: &Case<'_>,
    case: &Case<'_>,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let tolerance = case.at("tol")?;
    let accuracy = tolerance.at("accuracy")?.number()?;
    let below = tolerance.at("epsilon_below")?.number()?;
    let (canaries, mu) = (inputs.at("canaries")?.count()?, inputs.at("mu")?.number()?);
    let (delta, significance) = level(inputs)?;
    let mut found = Vec::new();
    for row in expected.at("rows")?.list()? {
        let cells = row.list()?;
        let [guesses, share, correct, epsilon] = &cells[..] else {
            return Err(row.error("expected four cells"));
        };
        let seen = library.ideal_attack(canaries, mu, guesses.count()?, delta, significance);
        let part = |pick: fn(&[f64; 3]) -> f64| seen.clone().map(|values| pick(&values));
        found.push(share.compared_within(part(|values| values[0]), accuracy, accuracy)?);
        found.push(correct.compared_within(part(|values| values[1]), 0.0, 0.0)?);
        found.push(epsilon.compared_within(part(|values| values[2]), below, 1e-12)?);
    }
    let truth = expected.at("true_epsilon")?;
    found.push(truth.compared_within(library.gdp_epsilon(mu, delta), 1e-9, 1e-9)?);
    Ok(found)
}

fn fixed_size(
    inputs: &Case<'_>,
    expected: &Case<'_>,
    within: &Tolerance,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let (canaries, included) = (inputs.at("canaries")?.count()?, inputs.at("included")?.count()?);
    let inclusion = inputs.at("inclusion_probability")?.number()?;
    let seen = library.fixed_size(canaries, included, inclusion);
    let suspicion = expected.at("is_fixed_size")?;
    let is_right = seen.clone().map(|seen| seen.is_suspected) == Ok(suspicion.parsed()?);
    let outcome = match is_right {
        true => Outcome::Passed,
        false => Outcome::Failed(format!("computed {seen:?}")),
    };
    let mut found = vec![suspicion.finding(0.0, outcome)];
    for (key, value) in [
        ("chance_with_coins", seen.clone().map(|seen| seen.chance_with_coins)),
        ("significance_factor", seen.map(|seen| seen.significance_factor)),
    ] {
        found.push(compared(&expected.at(key)?, within, value)?);
    }
    Ok(found)
}

fn coins(
    inputs: &Case<'_>,
    expected: &Case<'_>,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let seed = inputs.at("seed_hex")?;
    let digits = seed.text()?;
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..32).map(|index| byte(2 * index)).collect();
    let bytes = bytes.ok_or_else(|| seed.error("expected 64 hexadecimal digits"))?;
    let canaries = inputs.at("canaries")?.count()?;
    let plan = inputs.at("plan_bytes_ascii")?.text()?;
    let input = CoinInput { seed: bytes, canaries, plan: plan.as_bytes().to_vec() };
    let seen: BTreeMap<&str, String> = library.coins(&input);
    let mut found = Vec::new();
    for (key, value) in expected.entries()? {
        found.push(match seen.get(key) {
            Some(seen) => value.compared_text(seen)?,
            None => value.skipped(LIST),
        });
    }
    Ok(found)
}

/// Compares each expected value with the library's; without one it is skipped.
pub(super) fn each(
    expected: &Case<'_>,
    within: &Tolerance,
    seen: impl Fn(&str) -> Option<Answer>,
) -> Result<Vec<Finding>, GoldenError> {
    let mut found = Vec::new();
    for (key, value) in expected.entries()? {
        found.push(match seen(key) {
            Some(seen) => compared(&value, within, seen)?,
            None => value.skipped(LIST),
        });
    }
    Ok(found)
}

/// Compares an expected value with the library's.
pub(super) fn compared(
    expected: &Case<'_>,
    within: &Tolerance,
    seen: Answer,
) -> Result<Finding, GoldenError> {
    let relative = within.relative * expected.number()?.abs();
    expected.compared_within(seen, within.below + relative, within.above + relative)
}

/// How far a value may lie below and above; `rel` and `abs` hold on both sides.
pub(super) struct Tolerance {
    pub(super) below: f64,
    pub(super) above: f64,
    pub(super) relative: f64,
}

impl Tolerance {
    pub(super) fn of(case: &Case<'_>) -> Result<Self, GoldenError> {
        let stated = case.at("tol")?;
        if !stated.is_object() {
            return Ok(Self { below: 0.0, above: 0.0, relative: 0.0 });
        }
        let number = |name: &str| stated.find(name).map_or(Ok(0.0), |field| field.number());
        let both = number("abs")?;
        Ok(Self {
            below: both + number("below")?,
            above: both + number("above")?,
            relative: number("rel")?,
        })
    }
}

fn guesses(inputs: &Case<'_>) -> Result<GuessInput, GoldenError> {
    let canaries = match inputs.find("sets") {
        Some(sets) => sets.count()?,
        None => inputs.at("canaries")?.count()?,
    };
    let set_size = inputs.find("set_size").map_or(Ok(2), |size| size.count())?;
    Ok(GuessInput {
        canaries,
        set_size: u32::try_from(set_size).map_err(|_| inputs.error("set_size is too large"))?,
        guesses: inputs.at("guesses")?.count()?,
        correct: inputs.at("correct")?.count()?,
        is_one_sided: false,
    })
}

fn counts(inputs: &Case<'_>, name: &str) -> Result<Vec<u64>, GoldenError> {
    inputs.at(name)?.list()?.iter().map(Case::count).collect()
}

fn pair(point: &Case<'_>) -> Result<(f64, f64), GoldenError> {
    match &point.list()?[..] {
        [epsilon, delta] => Ok((epsilon.number()?, delta.number()?)),
        _ => Err(point.error("expected a pair of ε and δ")),
    }
}
