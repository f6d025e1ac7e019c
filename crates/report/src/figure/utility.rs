//! Utility of synthetic rows against the privacy of their generators.

use dpscope_core::format::{given, rounded};
use dpscope_core::math::{log10, powi};

use super::chart::{
    Axis, BLACK, BLUE, Chart, Entry, GREEN, Mark, Panel, Point, Shape, Symbol, VERMILION,
};
use super::svg::{Anchor, Stroke};
use super::writer;
use crate::record::{GeneratorUtility, Utility, UtilityFigure, UtilityFigures};

const TOP: f64 = 90.0;
const SIDE: f64 = 420.0;
const LEFTS: [f64; 2] = [90.0, 690.0];
/// The smallest ε of the axis is 10 to this power; smaller ones are drawn there.
const LEAST: i32 = -2;
/// The largest; larger ones are drawn at the right.
const MOST: i32 = 6;

const CLAIMED: Symbol = Symbol { shape: Shape::Circle, colour: VERMILION, is_filled: false };
const MEASURED: Symbol = Symbol { shape: Shape::Circle, colour: BLUE, is_filled: true };
const BETWEEN: Stroke = Stroke { colour: BLACK, width: 1.5, dashes: "" };
const NOTHING: Stroke = Stroke { colour: BLACK, width: 1.5, dashes: "2 4" };
const REAL: Stroke = Stroke { colour: GREEN, width: 2.0, dashes: "8 4" };

/// One of the two areas of figures.
type Area = fn(&UtilityFigures) -> UtilityFigure;

/// A self-contained SVG: AUROC and AUPRC against ε, claimed and measured.
#[must_use]
pub fn utility_svg(utility: &Utility) -> String {
    let best = utility.generators.iter().map(|generator| generator.figures.auroc.mean);
    let description = format!(
        "Means over classifiers and runs with standard errors, of {} generators; the largest mean AUROC is \
         {}.",
        utility.generators.len(),
        rounded(best.fold(0.0, f64::max), 3)
    );
    let mut auroc = panel(utility, ("AUROC", LEFTS[0], 0.5), |figures| figures.auroc);
    let share = utility.positive_share;
    let auprc = panel(utility, ("AUPRC", LEFTS[1], share), |figures| figures.auprc);
    auroc.legend = vec![
        Entry::point(MEASURED, "ε ≥, by an attack"),
        Entry::point(CLAIMED, "ε ≤, claimed or accounted for"),
    ];
    writer::to_svg(&Chart {
        title: "Utility of synthetic rows, and ε of their generator",
        description,
        panels: &[auroc, auprc],
        caption: Vec::new(),
    })
}

/// The largest ε of the axis is 10 to this power.
fn most_power(utility: &Utility) -> i32 {
    let all = utility.generators.iter().flat_map(|generator| {
        [generator.claimed_epsilon, generator.measured_epsilon].into_iter().flatten()
    });
    let most = all.filter(|epsilon| epsilon.is_finite()).fold(1.0, f64::max);
    (log10(most).ceil() as i32).clamp(1, MOST)
}

/// An area upwards, with its value for constant scores, and ε across.
fn panel(utility: &Utility, (name, left, nothing): (&str, f64, f64), area: Area) -> Panel {
    let most = most_power(utility);
    let tick = |power: i32| {
        let epsilon = powi(10.0, power);
        let words = match power {
            LEAST => format!("≤ {}", rounded(epsilon, 2)),
            // many decades leave no room for all
            _ if most >= 4 && (power - LEAST) % 2 != 0 => String::new(),
            MOST => "≥ 1e6".to_owned(),
            -1 => rounded(epsilon, 1),
            _ => given(epsilon),
        };
        (epsilon, words)
    };
    let range = [powi(10.0, LEAST), powi(10.0, most)];
    let ticks = [0.0, 0.25, 0.5, 0.75, 1.0].map(|tick| (tick, given(tick)));
    let mut panel = Panel::new(
        [left, TOP, SIDE, SIDE],
        Axis::logarithmic(range, "ε", (LEAST..=most).map(tick).collect()),
        Axis::linear([0.0, 1.0], "", ticks.to_vec()),
    );
    panel.title = name.to_owned();
    let level = |area: f64| range.map(|epsilon| (epsilon, area)).to_vec();
    panel.line(level(nothing), NOTHING, "constant scores");
    if let Some(real) = &utility.real {
        panel.line(level(area(real).mean), REAL, "trained on real rows");
    }
    for generator in &utility.generators {
        push_generator(&mut panel, generator, area(&generator.figures));
    }
    panel
}

/// A generator's area at its measured and its claimed ε, and its name.
fn push_generator(panel: &mut Panel, generator: &GeneratorUtility, figure: UtilityFigure) {
    let [least, most] = panel.x.range;
    let error = figure.standard_error.unwrap_or(0.0);
    let both = [(generator.measured_epsilon, MEASURED), (generator.claimed_epsilon, CLAIMED)];
    let mut places: Vec<Point> = Vec::new();
    for (epsilon, symbol) in both {
        let Some(epsilon) = epsilon.map(|epsilon| epsilon.max(least).min(most)) else { continue };
        let range = [-error, error].map(|change| (epsilon, figure.mean + change));
        let stroke = Stroke { colour: symbol.colour, width: 3.0, dashes: "" };
        panel.line(range.to_vec(), stroke, "");
        panel.marks.push(Mark::Point((epsilon, figure.mean), symbol));
        places.push((epsilon, figure.mean));
    }
    let at = places.last().copied().unwrap_or((least, figure.mean));
    let (anchor, aside) = match panel.x.share(at.0) > 0.7 {
        true => (Anchor::End, (-10.0, -10.0)),
        false => (Anchor::Start, (10.0, -10.0)),
    };
    panel.line(places, BETWEEN, "");
    panel.words(at, aside, anchor, &generator.name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::ClassifierFigures;

    fn utility(epsilons: [Option<f64>; 2]) -> Utility {
        let figure = UtilityFigure { mean: 0.75, standard_error: Some(0.1), largest: 0.9 };
        let classifiers =
            vec![ClassifierFigures { name: "a".into(), auroc: figure, auprc: figure }];
        let figures = UtilityFigures { auroc: figure, auprc: figure, classifiers };
        let [claimed_epsilon, measured_epsilon] = epsilons;
        let name = "γ = <1>".to_owned();
        let generator = GeneratorUtility {
            name,
            claimed_epsilon,
            measured_epsilon,
            runs: 2,
            figures: figures.clone(),
        };
        Utility {
            label: "ill".to_owned(),
            positive: "yes".to_owned(),
            tested_rows: 9,
            positive_share: 0.25,
            significance: 0.05,
            generators: vec![generator],
            real: Some(figures),
        }
    }

    #[test]
    fn marks_are_at_their_epsilon_and_area() {
        let drawn = utility_svg(&utility([Some(1.0), Some(0.0)]));
        // 0 at the left, 1 after two of three decades; three quarters up
        let (x, y) = (LEFTS[0] + SIDE * 2.0 / 3.0, TOP + SIDE / 4.0);
        for x in [x, LEFTS[0]] {
            assert!(drawn.contains(&format!("cx=\"{x:.0}\" cy=\"{y:.0}\"")), "{drawn}");
        }
        assert!(drawn.contains("γ = &lt;1&gt;") && drawn.contains("trained on real rows"));
        for epsilons in [[None, None], [Some(f64::INFINITY), Some(1e300)], [Some(0.0), None]] {
            let drawn = utility_svg(&utility(epsilons));
            assert!(drawn.ends_with("</svg>\n") && !drawn.contains("NaN"), "{epsilons:?}");
            assert!(drawn.len() < 60_000, "{}", drawn.len());
        }
    }
}
