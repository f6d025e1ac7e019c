//! Clopper–Pearson limits at many digits.

use super::document::GoldenError;
use super::library::Library;
use super::{Finding, Outcome};
use crate::relative_change;

const HEADING: &str = "trials,events,tail,upper,lower";

pub(super) fn evaluate(
    text: &str,
    file: &str,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some(HEADING) {
        return Err(GoldenError::of_file(file, &format!("neither JSON nor a table of {HEADING}")));
    }
    let mut findings = Vec::new();
    for (index, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let row = index + 2;
        let wrong = |field: &str, cell: &str| {
            let problem = format!("line {row}: {field}: expected a number, found `{cell}`");
            GoldenError::of_file(file, &problem)
        };
        let cells: Vec<&str> = line.trim_end().split(',').collect();
        let [trials, events, tail, upper, lower] = cells[..] else {
            let problem = format!("line {row}: {} cells instead of 5", cells.len());
            return Err(GoldenError::of_file(file, &problem));
        };
        let count = |name, cell: &str| cell.parse::<u64>().map_err(|_| wrong(name, cell));
        let number = |name, cell| real(cell).ok_or_else(|| wrong(name, cell));
        let (trials, events) = (count("trials", trials)?, count("events", events)?);
        let tail_value = number("tail", tail)?;
        let limits = library.clopper_pearson(events, trials, tail_value);
        let case = format!("{events} of {trials} at {tail}");
        let expected = [("lower", number("lower", lower)?), ("upper", number("upper", upper)?)];
        for (name, value) in expected {
            let seen =
                limits.clone().map(|(lower, upper)| if name == "upper" { upper } else { lower });
            let (seen, outcome) = match seen {
                Ok(seen) => (seen, check(seen, value, name == "upper")),
                Err(refusal) => (f64::INFINITY, Outcome::Failed(refusal)),
            };
            findings.push(Finding {
                case: case.clone(),
                value: name.into(),
                distance: (seen - value).abs(),
                relative: relative_change(seen, value),
                outcome,
            });
        }
    }
    if findings.is_empty() {
        return Err(GoldenError::of_file(file, "no rows"));
    }
    Ok(findings)
}

/// A number; mpmath prints some reals as `(x + 0.0j)`.
fn real(cell: &str) -> Option<f64> {
    let plain = cell.strip_prefix('(').and_then(|rest| rest.strip_suffix(" + 0.0j)"));
    plain.unwrap_or(cell).parse().ok().filter(|number: &f64| number.is_finite())
}

/// Outward, and by at most 3e-13 of the smaller of the value and its complement (or two units in the
/// last place).
fn check(seen: f64, value: f64, is_upper: bool) -> Outcome {
    let outward = if is_upper { seen - value } else { value - seen };
    let most = 3e-13 * value.min(1.0 - value) + 2.0 * f64::EPSILON * value;
    if outward >= 0.0 && outward <= most {
        return Outcome::Passed;
    }
    let side = if outward < 0.0 { "inside" } else { "too far outside" };
    Outcome::Failed(format!("expected {value:e}, computed {seen:e}, {side}"))
}
