//! ε and μ from counts, rates and scores.
//!
//! A key of `expected` names the code or method of its value. Those with the library's definition
//! are compared; all others are skipped.

use std::path::Path;

use dpscope_core::math;
use dpscope_formats::{Limits, read_npy};

use super::Finding;
use super::document::{Case, GoldenError};
use super::library::{Answer, Counts, GuessInput, Library, OneSide, Run};

const OTHER_METHOD: &str = "not computed by the library: another method or definition";
const NO_NUMBER: &str = "the peer reports no number";
const REVERSED: &str = "the peer reverses the scores of an attack that is worse than guessing";

/// Relative error of our own values where the library rounds only.
const ROUNDING: f64 = 1e-10;

/// Groups whose subject the library does not compute yet.
const LATER: [&str; 5] = [
    "e_jeffreys_cosines",
    "e_null_cdf",
    "h2_one_run_kneg_kpos",
    "h3_pairs_game",
    "p_published_in_peer_tests",
];

/// The value of a key of `expected`.
enum Quantity {
    Number(Answer),
    /// A list, or the entries of an object; what is left out is skipped.
    Parts(Vec<(&'static str, Answer)>),
    Skip(&'static str),
}

pub(super) fn evaluate(
    case: &Case<'_>,
    folder: &Path,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let group_field = case.at("group")?;
    let group = group_field.text()?;
    let inputs = case.at("inputs")?;
    let tolerance = Tolerance::of(case)?;
    let mut findings = Vec::new();
    for (key, value) in case.at("expected")?.entries()? {
        let quantity = match group {
            "a_clopper_pearson_counts" => from_counts(key, &inputs, library)?,
            "d_two_gaussians" => two_gaussians(&inputs, library)?,
            "e_jeffreys_perfect_separation" => perfect_separation(key, &inputs, library)?,
            "f_bayesian_joint_beta" => joint_beta(key, &inputs, library)?,
            "g_gdp_mu_to_eps" => {
                let (mu, delta) = (inputs.at("mu")?.number()?, inputs.at("delta")?.number()?);
                Quantity::Number(library.gdp_epsilon(mu, delta))
            }
            "g_eps_to_mu" => {
                let (epsilon, delta) = (inputs.at("eps")?.number()?, inputs.at("delta")?.number()?);
                Quantity::Number(library.gdp_mu_for(epsilon, delta))
            }
            "g_mu_lower_from_rates" => {
                let (fpr, fnr) = (inputs.at("fpr_ub")?.number()?, inputs.at("fnr_ub")?.number()?);
                Quantity::Number(library.gdp_mu_lower_bound(fpr, fnr))
            }
            "h_scores" => from_scores(key, &inputs, folder, library)?,
            "b_steinke_p_value" => {
                let (epsilon, delta) = (inputs.at("eps")?.number()?, inputs.at("delta")?.number()?);
                Quantity::Number(library.steinke_p_value(one_run(&inputs)?, epsilon, delta))
            }
            "b_steinke_eps_lower" => {
                let (delta, p) = (inputs.at("delta")?.number()?, inputs.at("p")?.number()?);
                Quantity::Number(library.steinke_epsilon(one_run(&inputs)?, delta, p))
            }
            "c_fdp_one_run" => recursion(key, &inputs, library)?,
            "x_poisson_pld" => poisson(key, &inputs, library)?,
            later if LATER.contains(&later) => Quantity::Skip("not supported yet"),
            other => {
                let problem = format!("`{other}` is not a group of this format");
                return Err(group_field.error(&problem));
            }
        };
        findings.extend(compared(&value, quantity, &tolerance)?);
    }
    Ok(findings)
}

/// A row of `eps_emp.json`, which has no tolerances.
pub(super) fn evaluate_row(
    row: &Case<'_>,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let per_class = row.at("n_per_class")?.count()?;
    let counts = |name: &str| -> Result<u64, GoldenError> {
        let events = row.at(name)?;
        match events.count()? {
            count if count <= per_class => Ok(count),
            _ => Err(events.error("more than n_per_class")),
        }
    };
    let (false_positives, false_negatives) = (counts("FP")?, counts("FN")?);
    let counts = Counts {
        true_positives: per_class - false_negatives,
        false_negatives,
        false_positives,
        true_negatives: per_class - false_positives,
    };
    let (delta, alpha) = (row.at("delta")?.number()?, row.at("alpha")?.number()?);
    let exact = |value: f64| 1e-9 * value.max(1.0);
    let clopper_pearson = library.epsilon_at_fixed_cut(counts, delta, 0.5 * alpha);
    let jeffreys = rates(counts, 0.25 * alpha, &|k, n, t| jeffreys_of_peer(library, k, n, t))
        .and_then(|[fpr, fnr]| library.epsilon_from_rates(fpr, fnr, delta));
    let credible = library.credible_interval(counts, delta, alpha).map(|[lower, _]| lower);
    let mut findings = Vec::new();
    for (name, value) in row.entries()? {
        findings.push(match name {
            "eps_cp_formula" | "public_cp" => value.compared(clopper_pearson.clone(), exact)?,
            "public_jeff" => value.compared(jeffreys.clone(), exact)?,
            "eps_zb_joint_beta_own" => value.compared(credible.clone(), |_| 1e-6)?,
            _ => continue,
        });
    }
    if findings.is_empty() { Err(row.error("has no expected value")) } else { Ok(findings) }
}

/// Tolerances of a case: absolute and relative ones add up.
struct Tolerance {
    absolute: f64,
    relative: f64,
    peer: f64,
}

impl Tolerance {
    fn of(case: &Case<'_>) -> Result<Self, GoldenError> {
        let stated = case.at("tol")?;
        let number = |name: &str| match stated.find(name) {
            None => Ok(0.0),
            Some(field) => match field.number()? {
                value if value >= 0.0 => Ok(value),
                _ => Err(field.error("is negative")),
            },
        };
        let absolute = number("abs")? + number("accurate_abs")?;
        let tolerance = Tolerance { absolute, relative: number("rel")?, peer: number("peer_abs")? };
        if tolerance.absolute + tolerance.relative > 0.0 {
            Ok(tolerance)
        } else {
            Err(stated.error("expected `abs`, `rel` or `accurate_abs`"))
        }
    }

    fn allowed(&self, key: &str, value: f64) -> f64 {
        let stated = self.absolute + self.relative * value;
        if key.starts_with("rates_upper_bounds") {
            stated.min(ROUNDING * value)
        } else if key.starts_with("privacy-estimates") && self.peer > 0.0 {
            self.peer
        } else {
            stated
        }
    }
}

fn compared(
    value: &Case<'_>,
    quantity: Quantity,
    tolerance: &Tolerance,
) -> Result<Vec<Finding>, GoldenError> {
    let key = value.name();
    let one = |value: &Case<'_>, seen: Answer| -> Result<Finding, GoldenError> {
        value.compared(seen, |stated| tolerance.allowed(&key, stated))
    };
    Ok(match quantity {
        Quantity::Skip(why) => vec![value.skipped(why)],
        _ if value.is_no_number() => vec![value.skipped(NO_NUMBER)],
        Quantity::Number(seen) => vec![one(value, seen)?],
        Quantity::Parts(parts) => {
            let entries: Vec<Case<'_>> = if value.is_object() {
                value.entries()?.into_iter().map(|(_, entry)| entry).collect()
            } else {
                value.list()?
            };
            let mut findings = Vec::new();
            for entry in entries {
                let name = entry.name();
                let part = parts.iter().find(|(part, _)| name.ends_with(&format!(".{part}")));
                findings.push(match part {
                    Some((_, seen)) => one(&entry, seen.clone())?,
                    None => entry.skipped(OTHER_METHOD),
                });
            }
            findings
        }
    })
}

/// Guesses of single canaries: m, r and v.
fn one_run(inputs: &Case<'_>) -> Result<GuessInput, GoldenError> {
    let count = |name: &str| inputs.at(name)?.count();
    let (canaries, guesses, correct) = (count("m")?, count("r")?, count("v")?);
    Ok(GuessInput { canaries, guesses, correct, ..GuessInput::default() })
}

/// The recursion over the count; the peers bisect to 1e-3 on a grid where they are skipped.
fn recursion(key: &str, inputs: &Case<'_>, library: &dyn Library) -> Result<Quantity, GoldenError> {
    let count = |name: &str| inputs.at(name)?.count();
    let set_size = inputs.at("alphabet_s")?;
    let guesses = GuessInput {
        canaries: count("m")?,
        guesses: count("k_guesses")?,
        correct: count("k_prime_correct")?,
        set_size: u32::try_from(set_size.count()?).map_err(|_| set_size.error("is too large"))?,
        is_one_sided: false,
    };
    let (delta, significance) = (inputs.at("delta")?.number()?, inputs.at("tau")?.number()?);
    let mu = library.recursion_mu(guesses, significance);
    let is_mu = key.ends_with("mu_lower");
    let is_gaussian = key.starts_with("jax_privacy _epsilon_one_run_fdp")
        || key.starts_with("... eps(delta) of that mu");
    Ok(if is_mu {
        Quantity::Number(mu)
    } else if is_gaussian {
        Quantity::Number(mu.and_then(|mu| library.gdp_epsilon(mu, delta)))
    } else if key.ends_with("eps_lower") {
        Quantity::Number(library.recursion_epsilon(guesses, delta, significance))
    } else {
        Quantity::Skip(OTHER_METHOD)
    })
}

fn counts(inputs: &Case<'_>) -> Result<Counts, GoldenError> {
    Ok(Counts {
        true_positives: inputs.at("TP")?.count()?,
        false_negatives: inputs.at("FN")?.count()?,
        false_positives: inputs.at("FP")?.count()?,
        true_negatives: inputs.at("TN")?.count()?,
    })
}

type Upper<'a> = &'a dyn Fn(u64, u64, f64) -> Answer;

/// Upper limits of the false positive and the false negative rate.
fn rates(counts: Counts, tail: f64, upper: Upper<'_>) -> Answer<[f64; 2]> {
    let Counts { true_positives, false_negatives, false_positives, true_negatives } = counts;
    let fpr = upper(false_positives, false_positives + true_negatives, tail)?;
    Ok([fpr, upper(false_negatives, false_negatives + true_positives, tail)?])
}

/// The convention of privacy-estimates: 1 where every trial is an event.
fn jeffreys_of_peer(library: &dyn Library, events: u64, trials: u64, tail: f64) -> Answer {
    if events == trials { Ok(1.0) } else { library.jeffreys_upper(events, trials, tail) }
}

/// ln((1 − δ − FNR)/FPR), which is no evidence where the numerator is not positive.
fn forward([fpr, fnr]: [f64; 2], delta: f64) -> f64 {
    let numerator = 1.0 - delta - fnr;
    if numerator > 0.0 { math::ln(numerator / fpr) } else { f64::NEG_INFINITY }
}

fn from_counts(
    key: &str,
    inputs: &Case<'_>,
    library: &dyn Library,
) -> Result<Quantity, GoldenError> {
    let counts = counts(inputs)?;
    let (delta, alpha) = (inputs.at("delta")?.number()?, inputs.at("alpha")?.number()?);
    let exact: Upper<'_> = &|k, n, t| library.clopper_pearson(k, n, t).map(|(_, upper)| upper);
    let jeffreys: Upper<'_> = &|k, n, t| jeffreys_of_peer(library, k, n, t);
    let is_reversed = counts.false_positives > counts.true_positives;
    let best = |tail: f64| {
        rates(counts, tail, jeffreys)
            .and_then(|[fpr, fnr]| library.epsilon_from_rates(fpr, fnr, delta))
    };
    let rates_at = |tail: f64| {
        let both = rates(counts, tail, exact);
        let part = |place: usize| both.clone().map(|both| both[place]);
        Quantity::Parts(vec![("fpr_ub", part(0)), ("fnr_ub", part(1))])
    };
    Ok(match key {
        "jax_privacy one_sided=True" => {
            let limits = rates(counts, 0.5 * alpha, exact);
            Quantity::Number(limits.map(|limits| forward(limits, delta).max(0.0)))
        }
        _ if key.starts_with("rates_upper_bounds tail alpha/2 ") => rates_at(0.5 * alpha),
        _ if key.starts_with("rates_upper_bounds tail alpha ") => rates_at(alpha),
        _ if key.starts_with("dp-sniper lcb/ucb") => {
            let limits = rates(counts, 0.5 * alpha, exact);
            Quantity::Number(limits.map(|limits| forward(limits, 0.0)))
        }
        _ if key.starts_with("tf-privacy RatioBound") => {
            let limits = rates(counts, 0.5 * alpha, exact);
            let value = limits.map(|limits| forward(limits, 0.0));
            Quantity::Parts(vec![("clopper-pearson", value)])
        }
        _ if is_reversed => Quantity::Skip(REVERSED),
        _ if key.starts_with("jax_privacy one_sided=False")
            || key.starts_with("privacy-estimates beta compute_eps_lo (") =>
        {
            Quantity::Number(library.epsilon_at_fixed_cut(counts, delta, alpha))
        }
        _ if key.starts_with("privacy-estimates beta compute_eps_lo_hi (") => {
            Quantity::Parts(vec![("0", library.epsilon_at_fixed_cut(counts, delta, 0.5 * alpha))])
        }
        _ if key.starts_with("privacy-estimates jeffreys compute_eps_lo (") => {
            Quantity::Number(best(0.5 * alpha))
        }
        _ if key.starts_with("privacy-estimates jeffreys compute_eps_lo_hi (") => {
            Quantity::Parts(vec![("0", best(0.25 * alpha))])
        }
        _ => Quantity::Skip(OTHER_METHOD),
    })
}

/// Two Gaussians of the same width are μ-GDP.
fn two_gaussians(inputs: &Case<'_>, library: &dyn Library) -> Result<Quantity, GoldenError> {
    let number = |name: &str| inputs.at(name)?.number();
    let (s0, s1, delta) = (number("s0")?, number("s1")?, number("delta")?);
    let gdp_mu = (number("mu1")? - number("mu0")?).abs() / s0;
    if s0.to_bits() != s1.to_bits() {
        return Ok(Quantity::Skip("not supported yet: Gaussians of different widths"));
    }
    Ok(Quantity::Number(library.gdp_epsilon(gdp_mu, delta)))
}

fn perfect_separation(
    key: &str,
    inputs: &Case<'_>,
    library: &dyn Library,
) -> Result<Quantity, GoldenError> {
    let (misses, trials) = (inputs.at("fn")?.count()?, inputs.at("n")?.count()?);
    let (delta, alpha) = (inputs.at("delta")?.number()?, inputs.at("alpha")?.number()?);
    let limit = library.jeffreys_upper(misses, trials, alpha);
    Ok(if key.starts_with("one_shot_epe _jeffreys_high") {
        Quantity::Number(limit)
    } else if key.starts_with("cap two-sample") {
        Quantity::Number(limit.and_then(|limit| library.epsilon_from_rates(limit, limit, delta)))
    } else {
        Quantity::Skip("not supported yet: exact null")
    })
}

fn joint_beta(
    key: &str,
    inputs: &Case<'_>,
    library: &dyn Library,
) -> Result<Quantity, GoldenError> {
    let counts = counts(inputs)?;
    let (delta, alpha) = (inputs.at("delta")?.number()?, inputs.at("alpha")?.number()?);
    let both = || {
        let ends = library.credible_interval(counts, delta, alpha);
        let end = |place: usize| ends.clone().map(|ends| ends[place]);
        Quantity::Parts(vec![("0", end(0)), ("1", end(1))])
    };
    Ok(match key {
        _ if key.ends_with(" seconds") => Quantity::Skip("a duration"),
        _ if key.starts_with("accurate eps_lo:") || key.contains("joint-beta compute_eps_lo (") => {
            Quantity::Number(library.credible_lower(counts, delta, alpha))
        }
        _ if key.starts_with("accurate eps_lo_hi")
            || key.contains("joint-beta compute_eps_lo_hi (") =>
        {
            both()
        }
        "accurate P_post at eps=0.5,1,2" => {
            let at = |epsilon| library.probability_within(counts, delta, epsilon);
            Quantity::Parts(vec![("0", at(0.5)), ("1", at(1.0)), ("2", at(2.0))])
        }
        _ => Quantity::Skip(OTHER_METHOD),
    })
}

fn from_scores(
    key: &str,
    inputs: &Case<'_>,
    folder: &Path,
    library: &dyn Library,
) -> Result<Quantity, GoldenError> {
    let target = array(&inputs.at("scores_in")?, folder)?;
    let zero_out = array(&inputs.at("scores_out")?, folder)?;
    let (delta, alpha) = (inputs.at("delta")?.number()?, inputs.at("alpha")?.number()?);
    let largest = |significance| library.max_uncorrected([&target, &zero_out], delta, significance);
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
    Ok(match key {
        _ if key.starts_with("jax_privacy CP max over thresholds, NO correction (alpha/2") => {
            Quantity::Number(largest(alpha))
        }
        _ if key.starts_with("jax_privacy CP Explicit(threshold=1.0) one-sided") => {
            let above =
                |scores: &[f64]| scores.iter().filter(|score| **score >= 1.0).count() as u64;
            let (hits, alarms) = (above(&target), above(&zero_out));
            let counts = Counts {
                true_positives: hits,
                false_negatives: target.len() as u64 - hits,
                false_positives: alarms,
                true_negatives: zero_out.len() as u64 - alarms,
            };
            let exact: Upper<'_> =
                &|k, n, t| library.clopper_pearson(k, n, t).map(|(_, upper)| upper);
            let limits = rates(counts, 0.5 * alpha, exact);
            Quantity::Number(limits.map(|limits| forward(limits, delta).max(0.0)))
        }
        _ if key.starts_with("privacy-estimates/pategan-audit sweep: max over thresholds") => {
            if mean(&target) < mean(&zero_out) {
                Quantity::Skip(REVERSED)
            } else {
                Quantity::Number(largest(0.5 * alpha))
            }
        }
        _ => Quantity::Skip(OTHER_METHOD),
    })
}

pub(super) fn array(path: &Case<'_>, folder: &Path) -> Result<Vec<f64>, GoldenError> {
    let file = folder.join(path.text()?);
    let about =
        |problem: &dyn std::fmt::Display| path.error(&format!("{}: {problem}", file.display()));
    let bytes = std::fs::read(&file).map_err(|error| about(&error))?;
    let array = read_npy(&bytes, &Limits::default()).map_err(|error| about(&error))?;
    let (_, scores) = array.into_parts();
    if scores.is_empty() { Err(about(&"no scores")) } else { Ok(scores) }
}

fn poisson(key: &str, inputs: &Case<'_>, library: &dyn Library) -> Result<Quantity, GoldenError> {
    if !key.starts_with("dp_accounting") {
        return Ok(Quantity::Skip("a printed value of another accountant"));
    }
    let run = Run {
        noise_multiplier: inputs.at("sigma")?.number()?,
        steps_per_epoch: inputs.at("steps_per_epoch")?.count()?,
        epochs: inputs.at("epochs")?.count()?,
        sampling_rate: inputs.at("q")?.number()?,
        delta: inputs.at("delta")?.number()?,
    };
    Ok(Quantity::Number(library.poisson(run, OneSide::Max, 1e-4).map(|bracket| bracket.upper)))
}
