//! `dpscope compare`: what is claimed, what is proven and what can be seen of one training.

mod args;

pub(crate) use args::CompareArgs;

use dpscope_core::accounting::{Directions, Kind, Training};
use dpscope_core::adjacency::Scope;
use dpscope_core::format::given;
use dpscope_core::mechanism::SamplerKind;
use dpscope_report::figure::{Sampled, curves_of_sampled};
use dpscope_report::number::{confidence, grouped, plain};
use dpscope_report::text::{Align, row, table};
use serde::Serialize;

use crate::commands::lines::{Drawing, Line, What, check, lines};
use crate::failure::{Done, Exit};
use crate::output::{print, print_json};

#[derive(Serialize)]
struct Comparison {
    schema: &'static str,
    version: &'static str,
    headline: String,
    #[serde(flatten)]
    setting: Training,
    delta: f64,
    significance: f64,
    rows: Vec<Line>,
    seed: String,
    device: String,
}

pub(crate) fn run(args: &CompareArgs) -> Done {
    let setting = args.setting.setting();
    let statement = &args.theory.statement;
    check(setting, statement.delta)?;
    args.plot.check()?;
    let drawing = Drawing::new(&args.theory, args.theory.show.quiet)?;
    let mut wanted = vec![
        What::Poisson,
        What::BallsInBins,
        What::ShuffleSum,
        What::ShuffleMaxSlice,
        What::PairLower,
        What::PairEstimate,
        What::Deterministic,
    ];
    if args.theory.observations.is_some() {
        wanted.push(What::Audit);
    }
    let rows = lines(setting, statement.delta, &wanted, Some(&drawing))?;
    let report = Comparison {
        schema: "dpscope.comparison/1",
        version: env!("CARGO_PKG_VERSION"),
        headline: headline(&rows, &confidence(statement.significance)),
        setting,
        delta: statement.delta,
        significance: statement.significance,
        rows,
        seed: drawing.seed.to_string(),
        device: drawing.device(),
    };
    if args.theory.show.json {
        print_json(&report)?;
    } else {
        print(&to_text(&report))?;
    }
    let shuffled = Sampled { setting, sampler: SamplerKind::Shuffle };
    args.plot.write(|| Ok(curves_of_sampled(&shuffled, report.delta)))?;
    Ok(Exit::Done)
}

/// What a user should take from the table.
fn headline(rows: &[Line], confidence: &str) -> String {
    let epsilon = |what: What| {
        let line = rows.iter().find(|line| line.what == what);
        line.and_then(Line::shown).map(|shown| shown.epsilon)
    };
    let larger = |one: Option<f64>, other: Option<f64>| match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    };
    let proven = larger(epsilon(What::ShuffleMaxSlice), epsilon(What::ShuffleSum));
    let (Some(claimed), Some(proven)) = (epsilon(What::Poisson), proven) else {
        return "Poisson accounting or the proven bounds have no value here; see below.".to_owned();
    };
    // A drawn limit is told only where it says what the proof cannot.
    let drawn = epsilon(What::PairLower).filter(|limit| proven <= claimed && *limit > claimed);
    let (least, standing) = match drawn {
        Some(limit) => (limit, format!(" ({confidence} confidence)")),
        None => (proven, " (proven)".to_owned()),
    };
    let mut text = format!(
        "Poisson accounting claims ε = {}; shuffled, the pair leaks at least {}{standing}",
        plain(claimed, Kind::Upper, 2),
        plain(least, Kind::Lower, 2)
    );
    let most = epsilon(What::Deterministic);
    if let Some(most) = most {
        let most = plain(most, Kind::Upper, 2);
        text.push_str(&format!(", and no data leak more than {most} (proven)"));
    }
    text.push_str(&if least > claimed {
        let factor = plain(least / claimed, Kind::Lower, 1);
        format!(". That is at least {factor} times the claim.")
    } else if most.is_some_and(|most| most <= claimed) {
        ". So the claim holds.".to_owned()
    } else {
        ". That neither refutes the claim nor supports it.".to_owned()
    });
    text
}

fn to_text(report: &Comparison) -> String {
    let Training { noise_multiplier, steps_per_epoch, epochs, .. } = report.setting;
    let mut out = crate::commands::wrapped(&report.headline);
    out.push_str(&format!(
        "\n  σ = {}, T = {} steps an epoch, E = {}, δ = {:e}\n\n",
        given(noise_multiplier),
        grouped(steps_per_epoch),
        grouped(epochs),
        report.delta
    ));
    let columns = [
        ("what", Align::Left),
        ("ε", Align::Right),
        ("kind", Align::Left),
        ("scope", Align::Left),
        ("covers", Align::Left),
        ("method", Align::Left),
        ("ratio", Align::Right),
    ];
    let cells: Vec<[String; 7]> = report.rows.iter().map(cells).collect();
    out.push_str(&table(&columns, &cells));
    let missing: Vec<(&str, &str)> =
        report.rows.iter().filter_map(|line| Some((line.what.title(), line.reason()?))).collect();
    let open: Vec<(&str, f64)> =
        report.rows.iter().filter_map(|line| Some((line.what.title(), line.at_least()?))).collect();
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
    for (label, text) in [
        ("kind", format!("upper and lower are proven, drawn ones with {confidence} confidence")),
        ("scope", "an upper value of the pair bounds no mechanism; a lower one does".to_owned()),
        ("covers", "remove: with the record against without it; add: the reverse".to_owned()),
        ("method", "PLD: privacy loss distribution; formula: of the Gaussian mechanism".to_owned()),
        ("ratio", "to the epsilon that Poisson accounting claims".to_owned()),
        ("draws", format!("seed {}; {}", report.seed, report.device)),
    ] {
        out.push_str(&row(label, &text));
    }
    out
}

fn cells(line: &Line) -> [String; 7] {
    let title = line.what.title().to_owned();
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

impl What {
    /// The name of a line.
    pub(super) fn title(self) -> &'static str {
        match self {
            What::Poisson => "Poisson accounting",
            What::BallsInBins => "balls-in-bins",
            What::ShuffleLower => "shuffle",
            What::ShuffleMaxSlice => "shuffle, max-slice",
            What::ShuffleSum => "shuffle, sum",
            What::PairLower => "pair, limit",
            What::PairEstimate => "pair, estimate",
            What::Deterministic => "deterministic",
            What::Audit => "audit",
        }
    }
}
