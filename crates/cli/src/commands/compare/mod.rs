//! `dpscope compare`: claimed, proven and exact ε of one training run.

mod args;

pub(crate) use args::CompareArgs;

use dpscope_core::accounting::{Directions, Kind};
use dpscope_core::adjacency::{Adjacency, Scope};
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::format::given;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::CheckVerdict;
use dpscope_report::figure::{Sampled, curves_of_sampled};
use dpscope_report::number::{confidence, grouped, plain};
use dpscope_report::record::{ComparedQuantity, Comparison, ComparisonLine};
use dpscope_report::text::{Align, row, table};
use dpscope_report::words::{
    Conclusion, KnownBound, PrivacyStatement, epochs_in_words, rounding_sentence,
};

use crate::commands::lines::{DrawContext, OptionalRows, check, lines, title};
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print_json, print_text};

pub(crate) fn run(args: &CompareArgs) -> CommandResult {
    let setting = args.setting.schedule()?;
    let statement = &args.theory.statement;
    check(&setting, statement.delta)?;
    args.plot.check()?;
    if let Some(epsilon) = args.claim {
        let adjacency = Adjacency::ZeroOut;
        PrivacyClaim { epsilon, delta: statement.delta, adjacency }.check()?;
    }
    let other = OptionalRows {
        truncation: args.setting.truncation(args.max_batch_size)?,
        allocated_epochs: args.allocated_epochs,
    };
    if let Some(epochs) = args.allocated_epochs
        && setting.as_whole().is_none_or(|whole| !whole.epochs.is_multiple_of(epochs))
    {
        return Err(Failure::input(format!(
            "--allocated-epochs {epochs} does not divide the epochs of the run; pass a divisor of a \
             whole number of --epochs"
        )));
    }
    let draws = DrawContext::new(&args.theory, args.theory.show.quiet)?;
    let mut quantities = vec![
        ComparedQuantity::Poisson,
        ComparedQuantity::FixedSize,
        ComparedQuantity::BallsInBins,
        ComparedQuantity::ShuffleSum,
        ComparedQuantity::ShuffleMaxSlice,
        ComparedQuantity::PairLower,
        ComparedQuantity::PairEstimate,
        ComparedQuantity::Deterministic,
    ];
    quantities.splice(1..1, other.quantities());
    if args.theory.observations.is_some() {
        quantities.push(ComparedQuantity::Audit);
    }
    let rows = lines(&setting, statement.delta, &quantities, other, Some(&draws))?;
    let Conclusion { sentence, claim, .. } =
        conclusion(&rows, statement.significance(), args.claim);
    let verdict = claim.as_ref().map(|claim| claim.verdict);
    let report = Comparison {
        schema: "dpscope.comparison/1",
        version: env!("CARGO_PKG_VERSION"),
        headline: sentence,
        claim,
        setting,
        delta: statement.delta,
        significance: statement.significance(),
        rows,
        seed: draws.seed.to_string(),
        device: draws.device(),
    };
    let of = |command| PrivacyStatement::of_comparison(&report, command);
    if args.theory.show.json {
        print_json(&report)?;
    } else if !args.privacy_statement.print(of)? {
        print_text(&to_text(&report))?;
    }
    let shuffled = Sampled { setting, sampler: SamplerKind::Shuffle };
    args.plot.write(|| Ok(curves_of_sampled(&shuffled, report.delta)))?;
    Ok(match verdict {
        Some(CheckVerdict::Refuted) => Exit::Refuted,
        Some(CheckVerdict::Inconclusive) => Exit::Inconclusive,
        Some(CheckVerdict::HoldsAsDescribed) | None => Exit::Done,
    })
}

/// The bound in a line, where a conclusion can rest on it.
fn known_bound(quantity: ComparedQuantity) -> Option<KnownBound> {
    Some(match quantity {
        ComparedQuantity::Poisson => KnownBound::Poisson,
        ComparedQuantity::BallsInBins => KnownBound::BallsInBins,
        ComparedQuantity::ShuffleLower => KnownBound::ShuffleBest,
        ComparedQuantity::ShuffleMaxSlice => KnownBound::ShuffleMaxSlice,
        ComparedQuantity::ShuffleSum => KnownBound::ShuffleSum,
        ComparedQuantity::PairLower => KnownBound::PairLower,
        ComparedQuantity::Deterministic => KnownBound::Deterministic,
        ComparedQuantity::TruncatedPoisson
        | ComparedQuantity::FixedSize
        | ComparedQuantity::RandomAllocation
        | ComparedQuantity::PairEstimate
        | ComparedQuantity::Audit => return None,
    })
}

/// The conclusion from the table.
fn conclusion(rows: &[ComparisonLine], significance: f64, claim: Option<f64>) -> Conclusion {
    let epsilon = |bound: KnownBound| {
        let line = rows.iter().find(|line| known_bound(line.quantity) == Some(bound));
        line.and_then(ComparisonLine::shown).map(|shown| shown.epsilon)
    };
    Conclusion::new(SamplerKind::Shuffle, significance, claim, epsilon)
}

fn to_text(report: &Comparison) -> String {
    let Comparison { setting, .. } = report;
    let mut out = textwrap::fill(&report.headline, 80) + "\n";
    if let Some(claim) = &report.claim {
        out.push_str(&(textwrap::fill(&claim.sentence, 80) + "\n"));
    }
    out.push_str(&format!(
        "\n  σ = {}, T = {} steps per epoch, E = {}, δ = {:e}\n\n",
        given(setting.whole.noise_multiplier),
        grouped(setting.whole.steps_per_epoch),
        epochs_in_words(setting),
        report.delta
    ));
    let columns = [
        ("value", Align::Left),
        ("ε", Align::Right),
        ("kind", Align::Left),
        ("scope", Align::Left),
        ("covers", Align::Left),
        ("method", Align::Left),
        ("ratio", Align::Right),
    ];
    let cells: Vec<[String; 7]> = report.rows.iter().map(cells).collect();
    out.push_str(&table(&columns, &cells));
    let missing: Vec<(&str, &str)> = report
        .rows
        .iter()
        .filter_map(|line| Some((title(line.quantity), line.reason()?)))
        .collect();
    let open: Vec<(&str, f64)> = report
        .rows
        .iter()
        .filter_map(|line| Some((title(line.quantity), line.at_least()?)))
        .collect();
    if !(missing.is_empty() && open.is_empty()) {
        out.push('\n');
    }
    for (title, reason) in &missing {
        out.push_str(&row("missing", &format!("{title}: {reason}")));
    }
    for (title, at_least) in &open {
        let at_least = plain(*at_least, Kind::Lower, 4);
        out.push_str(&row(
            "loose",
            &format!("{title}: the exact value may be as low as {at_least}"),
        ));
    }
    let confidence = confidence(report.significance);
    out.push('\n');
    if let Some(rounding) = rounding_sentence(setting) {
        out.push_str(&row("epochs", &rounding));
    }
    for (label, text) in [
        (
            "kind",
            format!("upper and lower values are proven; drawn ones have {confidence} confidence"),
        ),
        ("scope", "lower values of the pair bound the mechanism; upper values do not".to_owned()),
        ("covers", "remove: with the record against without it; add: the reverse".to_owned()),
        ("method", "PLD: privacy loss distribution; formula: Gaussian mechanism".to_owned()),
        ("ratio", "relative to the epsilon that Poisson accounting claims".to_owned()),
        ("draws", format!("seed {}; {}", report.seed, report.device)),
    ] {
        out.push_str(&row(label, &text));
    }
    out
}

fn cells(line: &ComparisonLine) -> [String; 7] {
    let title = title(line.quantity).to_owned();
    let Some(shown) = line.shown() else {
        return [title, "-".into(), "".into(), "".into(), "".into(), "".into(), "".into()];
    };
    let scope = match shown.scope {
        Scope::Pair => "pair",
        Scope::Mechanism => "mechanism",
    };
    let covers = match shown.direction {
        Directions::Remove => "remove",
        Directions::Add => "add",
        Directions::Both => "both",
    };
    let ratio = |ratio: f64| plain(ratio, shown.kind, 2);
    [
        title,
        plain(shown.epsilon, shown.kind, 4),
        shown.kind.name().to_owned(),
        scope.to_owned(),
        covers.to_owned(),
        shown.method.to_owned(),
        line.ratio_to_poisson.map_or(String::new(), ratio),
    ]
}
