//! A drawing of one run: guesses along the ranking, and the scores by coin.

use dpscope_core::audit::one_run::{CanaryScores, OneRunResult, RankedGuess};
use dpscope_core::format::given;
use dpscope_core::math::{ln, powf};

use super::svg::{Anchor, Place, SVG_MARK, Stroke, area, escaped, polyline, text, upright_text};
use crate::number::{confidence, delta, grouped};
use crate::record::OneRunReport;
use crate::record::page::CanaryScoreBin;

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 640.0;
const TOP: f64 = 70.0;
const SIDE: f64 = 400.0;
const LEFT: f64 = 95.0;
const RIGHT: f64 = 720.0;
const TEXT: u32 = 20;
const BINS: usize = 40;

const INCLUDED: Stroke = Stroke { colour: "#0072B2", width: 3.0, dashes: "" };
const EXCLUDED: Stroke = Stroke { colour: "#D55E00", width: 3.0, dashes: "14 5" };
const BOUNDARY: Stroke = Stroke { colour: "#009E73", width: 3.0, dashes: "7 5" };
const CHANCE: Stroke = Stroke { colour: "#777777", width: 1.5, dashes: "" };
const FRAME: Stroke = Stroke { colour: "#000", width: 1.5, dashes: "" };
const GRID: Stroke = Stroke { colour: "#ddd", width: 1.0, dashes: "" };

/// What the drawing shows besides the report.
#[derive(Debug)]
pub struct OneRunFigure {
    /// Number of guesses, and the share of them that is correct.
    path: Vec<(f64, f64)>,
    /// Number of guesses and share of correct ones, at the steps that are tested.
    steps: Vec<(f64, f64)>,
    /// The share at which a step alone rejects ε = 0.
    boundary: Vec<(f64, f64)>,
    chance: f64,
    range: [f64; 2],
    included: Vec<f64>,
    excluded: Vec<f64>,
}

impl OneRunFigure {
    /// The ranking and the scores.
    #[must_use]
    pub fn new(
        canaries: &CanaryScores<'_>,
        ranking: &[RankedGuess],
        result: &OneRunResult,
        scores: &[f64],
        coins: &[bool],
    ) -> Self {
        let mut path = Vec::new();
        let (mut correct, mut next) = (0_u32, 5.0);
        for (place, guess) in ranking.iter().enumerate() {
            correct += u32::from(guess.is_correct);
            let guesses = place as f64 + 1.0;
            if guesses >= next || place + 1 == ranking.len() {
                path.push((guesses, f64::from(correct) / guesses));
                next = (guesses * 1.01).max(guesses + 1.0);
            }
        }
        let steps = result.evidence().steps();
        let share = |count: u64, guesses: u64| (guesses as f64, count as f64 / guesses as f64);
        let first = result.bounds()[0];
        let boundary = result.evidence().boundary(0.0, first.delta, result.level());
        let boundary = boundary.unwrap_or_default();
        let range = score_range(scores.iter().copied()).unwrap_or_default();
        let bins = canary_score_bins(scores, coins, range);
        let histogram =
            |coin: usize| bins.iter().map(|bin| bin.canaries[coin] as f64).collect::<Vec<f64>>();
        let chance = match canaries.is_sets() {
            true => 1.0 / f64::from(result.game().set_size()),
            false => 0.5,
        };
        Self {
            path,
            steps: steps.iter().map(|k| share(k.correct(), k.guesses())).collect(),
            boundary: steps
                .iter()
                .zip(boundary)
                .filter_map(|(k, fewest)| Some(share(fewest?, k.guesses())))
                .collect(),
            chance,
            range,
            included: histogram(0),
            excluded: histogram(1),
        }
    }
}

/// The smallest and the largest score; none of none.
#[must_use]
pub fn score_range(scores: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    let known = scores.into_iter().filter(|score| !score.is_nan());
    known.fold(None, |range, score| {
        let [low, high] = range.unwrap_or([score, score]);
        Some([low.min(score), high.max(score)])
    })
}

/// Histograms of the scores of included and other canaries, in 40 equal intervals of a range.
#[must_use]
pub fn canary_score_bins(
    scores: &[f64],
    coins: &[bool],
    [low, high]: [f64; 2],
) -> Vec<CanaryScoreBin> {
    let end = |place: usize| low + (high - low) * place as f64 / BINS as f64;
    let mut bins: Vec<CanaryScoreBin> = (0..BINS)
        .map(|place| CanaryScoreBin { from: end(place), to: end(place + 1), canaries: [0, 0] })
        .collect();
    for (score, &coin) in scores.iter().zip(coins) {
        let place = (score - low) / (high - low) * BINS as f64;
        if place.is_finite() {
            bins[(place as usize).min(BINS - 1)].canaries[usize::from(!coin)] += 1;
        }
    }
    bins
}

/// A self-contained SVG.
#[must_use]
pub fn one_run_svg(figure: &OneRunFigure, report: &OneRunReport) -> String {
    let title = escaped(&report.headline);
    let mut out = format!(
        "{SVG_MARK} viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-labelledby=\"dpscope-title dpscope-desc\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" fill=\"#000\">\n\
         <title id=\"dpscope-title\">{title}</title>\n\
         <desc id=\"dpscope-desc\">{title}. Left: share of correct guesses against the number of \
         guesses, most confident first, and the share that shows a leak. Right: histograms of the \
         scores of included and other canaries.</desc>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
    );
    out.push_str(&text((0.5 * WIDTH, 36.0), Anchor::Middle, 24, &report.headline));
    out.push_str(&ranking(figure));
    out.push_str(&histograms(figure));
    out.push_str(&legend(report));
    out.push_str("</svg>\n");
    out
}

fn frame(left: f64, across: &str, upward: &str) -> String {
    let (right, bottom) = (left + SIDE, TOP + SIDE);
    let corners = [(left, TOP), (right, TOP), (right, bottom), (left, bottom), (left, TOP)];
    let mut out = polyline(&corners, FRAME);
    out.push_str(&text((left + 0.5 * SIDE, bottom + 58.0), Anchor::Middle, TEXT, across));
    out.push_str(&upright_text((left - 66.0, TOP + 0.5 * SIDE), TEXT, upward));
    out
}

fn ranking(figure: &OneRunFigure) -> String {
    let most = figure.path.last().map_or(10.0, |&(guesses, _)| guesses);
    let least = figure.path.first().map_or(1.0, |&(guesses, _)| guesses).min(8.0);
    let all = figure.path.iter().chain(&figure.boundary).map(|&(_, share)| share);
    let bottom = (10.0 * all.fold(figure.chance - 0.1, f64::min).max(0.0)).floor() / 10.0;
    let at = |&(guesses, share): &(f64, f64)| -> Place {
        let x = ln(guesses / least) / ln(most / least);
        (LEFT + SIDE * x, TOP + SIDE * (1.0 - (share - bottom) / (1.0 - bottom)))
    };
    let mut out = String::new();
    for power in 0..10 {
        let guesses = powf(10.0, f64::from(power));
        if guesses >= least && guesses <= most {
            let (x, _) = at(&(guesses, 1.0));
            out.push_str(&polyline(&[(x, TOP), (x, TOP + SIDE)], GRID));
            let words = grouped(guesses as u64);
            out.push_str(&text((x, TOP + SIDE + 28.0), Anchor::Middle, TEXT, &words));
        }
    }
    for tenth in 0..=10 {
        let share = f64::from(tenth) / 10.0;
        if share >= bottom - 1e-9 {
            let (_, y) = at(&(least, share));
            out.push_str(&polyline(&[(LEFT, y), (LEFT + SIDE, y)], GRID));
            let words = format!("{}", tenth * 10);
            out.push_str(&text((LEFT - 10.0, y + 7.0), Anchor::End, TEXT, &words));
        }
    }
    out.push_str(&frame(LEFT, "guesses, most confident first", "correct guesses (%)"));
    let chance = [(least, figure.chance), (most, figure.chance)];
    out.push_str(&polyline(&chance.each_ref().map(at), CHANCE));
    let line = |points: &[(f64, f64)], stroke| {
        polyline(&points.iter().map(at).collect::<Vec<_>>(), stroke)
    };
    out.push_str(&line(&figure.boundary, BOUNDARY));
    for point in &figure.boundary {
        out.push_str(&diamond(at(point), BOUNDARY.colour));
    }
    out.push_str(&line(&figure.path, INCLUDED));
    for step in &figure.steps {
        out.push_str(&diamond(at(step), INCLUDED.colour));
    }
    out
}

fn diamond((x, y): Place, colour: &str) -> String {
    area(&[(x - 6.0, y), (x, y - 6.0), (x + 6.0, y), (x, y + 6.0)], colour, 1.0)
}

fn histograms(figure: &OneRunFigure) -> String {
    let most = figure.included.iter().chain(&figure.excluded).copied().fold(1.0, f64::max);
    let outline = |bins: &[f64]| -> Vec<Place> {
        let corner = |bin: usize, count: f64| {
            let x = RIGHT + SIDE * bin as f64 / BINS as f64;
            (x, TOP + SIDE * (1.0 - count / (1.05 * most)))
        };
        let tops = bins.iter().enumerate();
        let tops = tops.flat_map(|(bin, &count)| [corner(bin, count), corner(bin + 1, count)]);
        [corner(0, 0.0)].into_iter().chain(tops).chain([corner(BINS, 0.0)]).collect()
    };
    let mut out = String::new();
    for (bins, stroke) in [(&figure.included, INCLUDED), (&figure.excluded, EXCLUDED)] {
        let outline = outline(bins);
        out.push_str(&area(&outline, stroke.colour, 0.15));
        out.push_str(&polyline(&outline, stroke));
    }
    out.push_str(&frame(RIGHT, "score", "canaries"));
    for (place, anchor, value) in
        [(RIGHT, Anchor::Start, figure.range[0]), (RIGHT + SIDE, Anchor::End, figure.range[1])]
    {
        let words = given((value * 1e4).round() / 1e4);
        out.push_str(&text((place, TOP + SIDE + 28.0), anchor, TEXT, &words));
    }
    let words = grouped((1.05 * most) as u64);
    out.push_str(&text((RIGHT - 10.0, TOP + 7.0), Anchor::End, TEXT, &words));
    out.push_str(&text((RIGHT - 10.0, TOP + SIDE + 7.0), Anchor::End, TEXT, "0"));
    out
}

fn legend(report: &OneRunReport) -> String {
    let mut out = String::new();
    let first = report.bounds[0];
    let level = confidence(report.significance_per_delta);
    let shows =
        format!("needed to show ε > 0 at δ = {} with {level} confidence", delta(first.delta));
    for (x, line, stroke, words) in [
        (LEFT, 0.0, INCLUDED, "share of correct guesses; tested at the marks"),
        (LEFT, 1.0, BOUNDARY, &*shows),
        (RIGHT, 0.0, INCLUDED, "included canaries"),
        (RIGHT, 1.0, EXCLUDED, "other canaries"),
    ] {
        let y = TOP + SIDE + 100.0 + 30.0 * line;
        out.push_str(&polyline(&[(x, y), (x + 50.0, y)], stroke));
        out.push_str(&text((x + 62.0, y + 6.0), Anchor::Start, 18, words));
    }
    out
}
