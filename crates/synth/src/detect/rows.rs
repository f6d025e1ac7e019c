//! M1: division of rows. M3: moments, and when the accountant is asked.

use dpscope_core::accounting::AccountingError;
use dpscope_core::adjacency::World;

use super::check::{Check, Observation, fired, is_target};
use super::outputs::released_changes;
use crate::accountant::{MomentTable, VoteAccountant, accounted_vote};
use crate::fault::{Detector, Fault};
use crate::mechanism::Mechanism;
use crate::settings::{Settings, Stop};
use crate::trace::Trace;

/// Divisions that are compared with and without the target.
const DIVISIONS: u64 = 20;

/// M1: which rows each teacher has, over a run and where the target is removed.
pub(super) fn division(mechanism: &Mechanism, runs: &[&Trace]) -> Check {
    let runs: Vec<&Trace> = runs.iter().copied().filter(|run| is_target(run)).collect();
    let observation = match runs.first() {
        Some(first) => division_of(mechanism, &runs, &first.teacher_rows),
        None => Observation::Untestable { reason: "no run has the target" },
    };
    Check {
        detector: Detector::TeacherRows,
        name: "division of rows",
        observation,
        p_value: None,
        remedy: "give each row to one teacher, once, by a hash of its identifier",
    }
}

fn division_of(mechanism: &Mechanism, runs: &[&Trace], rows: &[Vec<u64>]) -> Observation {
    if mechanism.settings().teachers < 2 {
        return Observation::Untestable { reason: "one teacher has all rows" };
    }
    if rows.len() < 2 {
        return Observation::Untestable { reason: "there are no teachers" };
    }
    let all = mechanism.row_count(World::Target);
    let rows_of = |count: usize| format!("{count} of {all} rows");
    let (mut faults, mut seen) = (Vec::new(), Vec::new());
    let most = rows.iter().map(Vec::len).max().unwrap_or(0);
    // of few rows, one run may draw the first division again
    let changes =
        |run: &&Trace| mechanism.teacher_rows(World::Target, run.unit) != run.teacher_rows;
    if runs.iter().any(changes) {
        faults.push(Fault::S1);
        seen.push(format!("rows change in a run, over which a teacher has {}", rows_of(most)));
    }
    let units = || (0..DIVISIONS).map(|run| 2 * run);
    let divisions = || units().map(|unit| mechanism.teacher_rows(World::Target, unit));
    let changed = |unit| {
        let [all, less] = World::BOTH.map(|world| mechanism.teacher_rows(world, unit));
        all.iter().zip(&less).filter(|(all, less)| all != less).count()
    };
    let changed = units().map(changed).max().unwrap_or(0);
    if divisions().all(|rows| rows.iter().all(|rows| rows.len() == all)) {
        faults.push(Fault::O2);
        seen.push(format!("each teacher has {}", rows_of(all)));
    } else if divisions().all(|rows| rows.windows(2).all(|pair| pair[0] == pair[1])) {
        faults.push(Fault::U1);
        seen.push("all teachers have the same rows".to_owned());
    } else if changed > 1 {
        faults.push(Fault::E2);
        seen.push(format!("one removed row changes {changed} teachers"));
    }
    if faults.is_empty() { Observation::Clear } else { fired(&faults, seen.join("; ")) }
}

fn agree(found: &[f64], expected: &[f64]) -> bool {
    let near = |(a, b): (&f64, &f64)| (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * b.abs();
    found.len() == expected.len() && found.iter().zip(expected).all(near)
}

/// M3: the moments of the votes.
pub(super) fn moments(mechanism: &Mechanism, runs: &[&Trace]) -> Result<Check, AccountingError> {
    let Settings { teachers, inverse_scale, orders, .. } = *mechanism.settings();
    let vote = accounted_vote(teachers, inverse_scale)?;
    let table = |accountant| MomentTable::new(accountant, &vote, orders);
    let valid = table(VoteAccountant::Valid)?;
    let others = [
        (table(VoteAccountant::OneOrderLess)?, Fault::S2),
        (table(VoteAccountant::NoLogarithm)?, Fault::B1),
        (table(VoteAccountant::ConditionIgnored)?, Fault::E7),
    ];
    let reason =
        "correct and faulty moments of these votes are equal; the stated noise is too large";
    let mut observation = Observation::Untestable { reason };
    // accountants that explain the moments of all runs
    let mut possible = vec![true; others.len()];
    for run in runs {
        let trace = *run;
        if trace.votes.votes != trace.votes.accounted {
            let [all, told] =
                [&trace.votes.votes, &trace.votes.accounted].map(|n| n.iter().sum::<u64>());
            let seen = format!("the accountant knows of {told} of {all} votes");
            observation = fired(&[Fault::E4], seen);
            break;
        }
        let expected = valid.sums(&trace.votes.votes);
        let claimed = others.each_ref().map(|(table, _)| table.sums(&trace.votes.votes));
        for (possible, claimed) in possible.iter_mut().zip(&claimed) {
            *possible &= agree(&trace.moments, claimed);
        }
        if !agree(&trace.moments, &expected) || matches!(observation, Observation::Fired { .. }) {
            let faults = others.iter().zip(&possible).filter(|(_, possible)| **possible);
            let faults: Vec<Fault> = faults.map(|((_, fault), _)| *fault).collect();
            observation = fired(&faults, "the moments are not those of the votes".to_owned());
        } else if claimed.iter().all(|claimed| !agree(claimed, &expected)) {
            observation = Observation::Clear;
        }
    }
    Ok(Check {
        detector: Detector::Moments,
        name: "moments",
        observation,
        p_value: None,
        remedy: "account for every vote with ln((1 - q)((1 - q)/(1 - e^(2γ) q))^l + q e^(2γl)) where \
                 q < 1/(1 + e^(2γ)), and with the bounds for all votes elsewhere",
    })
}

/// M3: when the accountant is asked.
pub(super) fn stopping(mechanism: &Mechanism, runs: &[&Trace]) -> Result<Check, AccountingError> {
    let settings = mechanism.settings();
    let observation = match (settings.stop, settings.plan()) {
        (Stop::Iterations(_), _) | (_, Err(_)) => {
            Observation::Untestable { reason: "the number of iterations is fixed" }
        }
        (Stop::Epsilon { .. }, Ok(plan)) => {
            let found = || runs.iter().map(|run| run.iterations);
            let seen = format!(
                "runs have {} to {} iterations where {} are within ε",
                found().min().unwrap_or(0),
                found().max().unwrap_or(0),
                plan.iterations
            );
            match () {
                () if found().all(|count| count == plan.iterations) => Observation::Clear,
                // how many rows and votes an iteration has is part of the release
                () if released_changes(mechanism).contains(&Fault::E12) => {
                    Observation::Untestable { reason: "the batch size depends on the data" }
                }
                () if found().all(|count| count == plan.iterations + 1) => {
                    fired(&[Fault::E6], seen)
                }
                () if released_changes(mechanism).contains(&Fault::E9) => {
                    Observation::Untestable { reason: "δ depends on the data" }
                }
                () => fired(&[Fault::E8], seen),
            }
        }
    };
    Ok(Check {
        detector: Detector::Moments,
        name: "stopping",
        observation,
        p_value: None,
        remedy: "fix the number of iterations beforehand, from bounds that hold for all votes",
    })
}
