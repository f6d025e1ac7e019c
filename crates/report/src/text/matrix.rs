//! ε of matrix mechanisms as text.

use dpscope_core::accounting::Kind;
use dpscope_core::accounting::matrix::{MatrixParticipation, ParticipantEpsilon};
use dpscope_core::format::{given, rounded};

use super::{Align, row, table};
use crate::number::{counted, delta, plain};
use crate::record::{MatrixReport, MatrixStrategyKind, MatrixStrategyRecord, MatrixValue};

/// The bound of one strategy with what it is made of, or a table of several.
#[must_use]
pub fn matrix_text(report: &MatrixReport) -> String {
    match &report.strategies[..] {
        [one] => one_strategy(report, one),
        all => compared(report, all),
    }
}

fn upper(value: f64) -> String {
    plain(value, Kind::Upper, 4)
}

fn one_strategy(report: &MatrixReport, record: &MatrixStrategyRecord) -> String {
    let Some(value) = &record.value else {
        return record.reason.clone().unwrap_or_default() + "\n";
    };
    let bound = format!("ε ≤ {} at δ = {}", upper(value.account.epsilon), delta(report.delta));
    let sigma = plain(value.noise_multiplier, Kind::Upper, 4);
    let mut out = match report.target_epsilon {
        Some(_) => format!("noise multiplier {sigma}: {bound}, proven\n\n"),
        None => format!("{bound}, proven\n\n"),
    };
    out += &row("of", &format!("{} with {}", counted(report.steps, "step"), described(record)));
    let noise = format!(
        "noise multiplier {}: the standard deviation of z over the clipping norm; the releases are \
         x + C⁻¹z",
        given(value.noise_multiplier)
    );
    out += &row("noise", &noise);
    if let Some(epsilon) = report.target_epsilon {
        out += &row("target", &format!("ε = {}", given(epsilon)));
    }
    out += &row("takes part", &participation_in_words(&report.participation));
    out += &row("change", &change(value));
    out += &row("worst", &worst(value));
    if let Some(last) = &value.account.last {
        let text = format!("{} for the participant whose steps are the latest", shown(last));
        out += &row("last", &text);
    }
    if let Some(participant) = &value.participant {
        let text =
            format!("{} for the participant in the steps that you named", shown(participant));
        out += &row("named", &text);
    }
    out += &row("error", &errors(value));
    out += &row("unit", UNIT);
    out
}

const UNIT: &str = "the updates of one participant are replaced by 0, each of norm at most the clipping \
                    norm; the steps of the others do not depend on it";

fn change(value: &MatrixValue) -> String {
    let norms = upper(value.l2_sensitivity);
    if value.is_exact {
        format!(
            "Cx changes by {norms} clipping norms, exactly: equal updates of the worst participant do"
        )
    } else {
        format!(
            "Cx changes by at most {norms} clipping norms: an upper bound, no participant may \
             change it as much"
        )
    }
}

fn worst(value: &MatrixValue) -> String {
    let account = &value.account;
    let shown = match account.gdp_mu {
        Some(gdp_mu) => shown(&ParticipantEpsilon { gdp_mu, epsilon: account.epsilon }),
        None => format!(
            "ε ≤ {} by the privacy loss distribution of sampled steps",
            upper(account.epsilon)
        ),
    };
    match account.epsilon_lower {
        Some(lower) => {
            format!("{shown}; some participant has ε ≥ {}", plain(lower, Kind::Lower, 4))
        }
        None => shown,
    }
}

fn shown(participant: &ParticipantEpsilon) -> String {
    format!("ε ≤ {}, μ ≤ {}", upper(participant.epsilon), upper(participant.gdp_mu))
}

fn errors(value: &MatrixValue) -> String {
    format!(
        "noise of prefix sums, per coordinate, in clipping norms: {} root mean square, {} at most",
        rounded(value.mean_error, 4),
        rounded(value.largest_error, 4)
    )
}

fn name(kind: MatrixStrategyKind) -> &'static str {
    match kind {
        MatrixStrategyKind::Identity => "identity",
        MatrixStrategyKind::Tree => "tree",
        MatrixStrategyKind::BandedSquareRoot => "banded-square-root",
        MatrixStrategyKind::BandedOptimised => "banded-optimised",
        MatrixStrategyKind::Blt => "blt",
        MatrixStrategyKind::File => "file",
    }
}

fn described(record: &MatrixStrategyRecord) -> String {
    let bands = || counted(record.bands.unwrap_or_default(), "band");
    match record.strategy {
        MatrixStrategyKind::Identity => "independent noise (DP-SGD, DP-FedAvg)".to_owned(),
        MatrixStrategyKind::Tree => "tree aggregation without restarts (DP-FTRL)".to_owned(),
        MatrixStrategyKind::BandedSquareRoot => {
            format!("{} of the square root of the matrix of prefix sums, of norm 1", bands())
        }
        MatrixStrategyKind::BandedOptimised => {
            format!("{} that minimise the error of prefix sums, of norm 1", bands())
        }
        MatrixStrategyKind::Blt => {
            let list = |numbers: &[f64]| {
                numbers.iter().map(|number| rounded(*number, 6)).collect::<Vec<_>>().join(", ")
            };
            record.buffers.as_ref().map_or_else(String::new, |buffers| {
                format!(
                    "a buffered linear Toeplitz matrix: decays {}; output scales {}",
                    list(buffers.decays()),
                    list(buffers.output_scales())
                )
            })
        }
        MatrixStrategyKind::File => format!("the matrix of a file, with {}", bands()),
    }
}

/// Who takes part when.
fn participation_in_words(participation: &MatrixParticipation) -> String {
    match *participation {
        MatrixParticipation::Single => "in one step".to_owned(),
        MatrixParticipation::Epochs { epochs } => {
            format!("once in each of {}, in the same order", counted(epochs.into(), "epoch"))
        }
        MatrixParticipation::Shuffled { epochs } => {
            format!("once in each of {}, in any order", counted(epochs.into(), "epoch"))
        }
        MatrixParticipation::MinSeparation { separation, participations } => {
            let most =
                participations.map_or_else(String::new, |most| format!(", at most {most} times"));
            format!("in steps that are at least {separation} apart{most}")
        }
        MatrixParticipation::CyclicPoisson { groups, sampling_rate } => format!(
            "with probability {} whenever its group has its turn, every {} steps (Poisson sampling)",
            given(sampling_rate),
            groups
        ),
    }
}

fn compared(report: &MatrixReport, all: &[MatrixStrategyRecord]) -> String {
    let steps = counted(report.steps, "step");
    let mut out = match report.target_epsilon {
        Some(epsilon) => {
            format!("{steps}, ε ≤ {} at δ = {}\n\n", given(epsilon), delta(report.delta))
        }
        None => format!("{steps}, δ = {}\n\n", delta(report.delta)),
    };
    let right = |heading| (heading, Align::Right);
    let columns = [
        ("strategy", Align::Left),
        right("bands"),
        right("σ"),
        right("change"),
        right("ε worst"),
        right("ε last"),
        right("error"),
        right("largest"),
    ];
    let cells = |record: &MatrixStrategyRecord| {
        let bands = record.bands.map_or_else(|| "-".to_owned(), |bands| bands.to_string());
        let title = [name(record.strategy).to_owned(), bands];
        let numbers = record.value.as_ref().map_or_else(
            || ["-"; 6].map(str::to_owned),
            |value| {
                let last = value.account.last.map(|last| upper(last.epsilon));
                let sign = if value.is_exact { "" } else { "≤ " };
                [
                    upper(value.noise_multiplier),
                    format!("{sign}{}", upper(value.l2_sensitivity)),
                    upper(value.account.epsilon),
                    last.unwrap_or_else(|| "-".to_owned()),
                    rounded(value.mean_error, 4),
                    rounded(value.largest_error, 4),
                ]
            },
        );
        title.into_iter().chain(numbers).collect::<Vec<String>>()
    };
    out += &table(&columns, &all.iter().map(cells).collect::<Vec<_>>());
    out.push('\n');
    for record in all {
        if let Some(reason) = &record.reason {
            out += &row("missing", &format!("{}: {reason}", name(record.strategy)));
        }
    }
    out += &row("takes part", &participation_in_words(&report.participation));
    out += &row("σ", "noise multiplier: standard deviation of z over the clipping norm");
    out += &row("change", "the most that one participant changes Cx, in clipping norms");
    out += &row("error", "noise of prefix sums per coordinate, root mean square and largest");
    if report.target_epsilon.is_none() {
        let text = "these strategies have unequal ε: `calibrate matrix` compares errors at one ε";
        out += &row("note", text);
    }
    out += &row("unit", UNIT);
    out
}
