//! Utility of synthetic rows against the privacy of their generators.

use dpscope_core::format::{given, rounded};
use dpscope_core::math::log10;

use super::panel::TEXT;
use super::svg::{Anchor, Place, SVG_MARK, Stroke, coordinate, escaped, polyline, text};
use crate::record::{GeneratorUtility, Utility, UtilityFigure, UtilityFigures};

const WIDTH: f64 = 1240.0;
const HEIGHT: f64 = 660.0;
const TOP: f64 = 90.0;
const SIDE: f64 = 420.0;
const LEFTS: [f64; 2] = [90.0, 710.0];
/// The smallest ε of the axis is 10 to this power; smaller ones are drawn there.
const LEAST: i32 = -2;
/// The largest; larger ones are drawn at the right.
const MOST: i32 = 6;

const CLAIMED: &str = "#D55E00";
const MEASURED: &str = "#0072B2";
const FRAME: Stroke = Stroke { colour: "#000", width: 1.5, dashes: "" };
const GRID: Stroke = Stroke { colour: "#ddd", width: 1.0, dashes: "" };
const NOTHING: Stroke = Stroke { colour: "#000", width: 1.5, dashes: "2 4" };
const REAL: Stroke = Stroke { colour: "#009E73", width: 2.0, dashes: "8 4" };

const TITLE: &str = "Utility of synthetic rows, and ε of their generator";

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
    let mut out = format!(
        "{SVG_MARK} viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-labelledby=\"dpscope-title dpscope-desc\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" fill=\"#000\">\n\
         <title id=\"dpscope-title\">{TITLE}</title>\n\
         <desc id=\"dpscope-desc\">{}</desc>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n",
        escaped(&description)
    );
    out.push_str(&text((0.5 * WIDTH, 40.0), Anchor::Middle, 26, TITLE));
    let areas: [(&str, f64, Area); 2] = [
        ("AUROC", 0.5, |figures| figures.auroc),
        ("AUPRC", utility.positive_share, |figures| figures.auprc),
    ];
    for (left, (name, nothing, area)) in LEFTS.into_iter().zip(areas) {
        let panel = Panel { left, most: most_power(utility) };
        out.push_str(&panel.axes(name));
        out.push_str(&panel.level(nothing, NOTHING));
        let real = utility.real.as_ref().map(|real| panel.level(area(real).mean, REAL));
        out.push_str(&real.unwrap_or_default());
        for generator in &utility.generators {
            out.push_str(&panel.generator(generator, area));
        }
    }
    out.push_str(&legend(utility.real.is_some()));
    out.push_str("</svg>\n");
    out
}

/// The largest ε of the axis is 10 to this power.
fn most_power(utility: &Utility) -> i32 {
    let all = utility.generators.iter().flat_map(|generator| {
        [generator.claimed_epsilon, generator.measured_epsilon].into_iter().flatten()
    });
    let most = all.filter(|epsilon| epsilon.is_finite()).fold(1.0, f64::max);
    (log10(most).ceil() as i32).clamp(1, MOST)
}

struct Panel {
    left: f64,
    most: i32,
}

impl Panel {
    /// ε across, at least 10^[`LEAST`], and an area upwards.
    fn place(&self, epsilon: f64, area: f64) -> Place {
        let (least, most) = (f64::from(LEAST), f64::from(self.most));
        let power = if epsilon > 0.0 { log10(epsilon).clamp(least, most) } else { least };
        let across = (power - least) / (most - least);
        (self.left + SIDE * across, TOP + SIDE * (1.0 - area.clamp(0.0, 1.0)))
    }

    fn level(&self, area: f64, stroke: Stroke) -> String {
        let y = self.place(0.0, area).1;
        polyline(&[(self.left, y), (self.left + SIDE, y)], stroke)
    }

    fn axes(&self, name: &str) -> String {
        let (right, bottom) = (self.left + SIDE, TOP + SIDE);
        let mut out = String::new();
        for power in LEAST..=self.most {
            let epsilon = dpscope_core::math::powi(10.0, power);
            let x = self.place(epsilon, 0.0).0;
            out.push_str(&polyline(&[(x, TOP), (x, bottom)], GRID));
            let words = match power {
                LEAST => format!("≤ {}", rounded(epsilon, 2)),
                MOST => "≥ 1e6".to_owned(),
                -1 => rounded(epsilon, 1),
                _ => given(epsilon),
            };
            // many decades leave no room for all
            if power == LEAST || self.most < 4 || (power - LEAST) % 2 == 0 {
                out.push_str(&text((x, bottom + 26.0), Anchor::Middle, TEXT, &words));
            }
        }
        for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
            out.push_str(&self.level(tick, GRID));
            let y = self.place(0.0, tick).1 + 6.0;
            out.push_str(&text((self.left - 10.0, y), Anchor::End, TEXT, &given(tick)));
        }
        let corners = [
            (self.left, TOP),
            (right, TOP),
            (right, bottom),
            (self.left, bottom),
            (self.left, TOP),
        ];
        out.push_str(&polyline(&corners, FRAME));
        out.push_str(&text((self.left + 0.5 * SIDE, TOP - 14.0), Anchor::Middle, TEXT, name));
        out + &text((self.left + 0.5 * SIDE, bottom + 54.0), Anchor::Middle, TEXT, "ε")
    }

    fn generator(&self, generator: &GeneratorUtility, area: Area) -> String {
        let figure = area(&generator.figures);
        let error = figure.standard_error.unwrap_or(0.0);
        let marks = [
            (generator.measured_epsilon, MEASURED, true),
            (generator.claimed_epsilon, CLAIMED, false),
        ];
        let places: Vec<Place> = marks
            .iter()
            .filter_map(|(epsilon, ..)| Some(self.place((*epsilon)?, figure.mean)))
            .collect();
        let mut out = polyline(&places, FRAME);
        for (epsilon, colour, is_filled) in marks {
            let Some(epsilon) = epsilon else { continue };
            let [low, high] =
                [-error, error].map(|change| self.place(epsilon, figure.mean + change));
            out.push_str(&polyline(&[low, high], Stroke { colour, width: 3.0, dashes: "" }));
            out.push_str(&dot(self.place(epsilon, figure.mean), colour, is_filled));
        }
        let last = places.last().copied().unwrap_or(self.place(0.0, figure.mean));
        let (anchor, aside) = match last.0 > self.left + 0.7 * SIDE {
            true => (Anchor::End, -10.0),
            false => (Anchor::Start, 10.0),
        };
        out + &text((last.0 + aside, last.1 - 10.0), anchor, 16, &generator.name)
    }
}

fn dot((x, y): Place, colour: &str, is_filled: bool) -> String {
    let fill = if is_filled { colour } else { "#fff" };
    let [x, y] = [x, y].map(coordinate);
    format!(
        "<circle cx=\"{x}\" cy=\"{y}\" r=\"6\" stroke=\"{colour}\" stroke-width=\"2\" fill=\"{fill}\"/>\n"
    )
}

fn legend(has_real: bool) -> String {
    let y = TOP + SIDE + 92.0;
    let words = |x: f64, words: &str| text((x + 20.0, y + 6.0), Anchor::Start, TEXT, words);
    let line = |x: f64, stroke: Stroke| polyline(&[(x - 14.0, y), (x + 10.0, y)], stroke);
    let mut out = dot((90.0, y), MEASURED, true) + &words(90.0, "ε ≥, by an attack");
    out += &dot((330.0, y), CLAIMED, false);
    out += &words(330.0, "ε ≤, claimed or accounted for");
    out += &line(680.0, NOTHING);
    out += &words(680.0, "constant scores");
    if has_real {
        out += &line(900.0, REAL);
        out += &words(900.0, "trained on real rows");
    }
    out
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
        assert!(drawn.contains(&format!("cx=\"{}\" cy=\"{}\"", coordinate(x), coordinate(y))));
        assert!(drawn.contains(&format!(
            "cx=\"{}\" cy=\"{}\"",
            coordinate(LEFTS[0]),
            coordinate(y)
        )));
        assert!(drawn.contains("γ = &lt;1&gt;") && drawn.contains("trained on real rows"));
        for epsilons in [[None, None], [Some(f64::INFINITY), Some(1e300)], [Some(0.0), None]] {
            let drawn = utility_svg(&utility(epsilons));
            assert!(drawn.ends_with("</svg>\n") && !drawn.contains("NaN"), "{epsilons:?}");
            assert!(drawn.len() < 60_000, "{}", drawn.len());
        }
    }
}
