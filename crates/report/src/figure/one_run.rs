//! A drawing of one run: guesses along the ranking, and the scores by coin.

use dpscope_core::audit::one_run::{CanaryScores, OneRunResult, RankedGuess};
use dpscope_core::format::given;
use dpscope_core::math::powf;

use super::chart::{Axis, BLUE, Chart, GREEN, GREY, Mark, Panel, Point, Shape, Symbol, VERMILION};
use super::svg::Stroke;
use super::writer;
use crate::number::{self, confidence, grouped};
use crate::record::OneRunReport;
use crate::record::page::CanaryScoreBin;

const TOP: f64 = 70.0;
const SIDE: f64 = 400.0;
const BINS: usize = 40;

const INCLUDED: Stroke = Stroke { colour: BLUE, width: 3.0, dashes: "" };
const EXCLUDED: Stroke = Stroke { colour: VERMILION, width: 3.0, dashes: "14 5" };
const BOUNDARY: Stroke = Stroke { colour: GREEN, width: 3.0, dashes: "7 5" };
const CHANCE: Stroke = Stroke { colour: GREY, width: 1.5, dashes: "" };

/// A drawing of one run, without its title.
#[derive(Debug)]
pub struct OneRunFigure {
    panels: [Panel; 2],
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
        let chance = match canaries.is_sets() {
            true => 1.0 / f64::from(result.game().set_size()),
            false => 0.5,
        };
        Self { panels: [ranking_panel(ranking, result, chance), score_panel(scores, coins)] }
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
    writer::to_svg(&Chart {
        title: &report.headline,
        description: format!(
            "{}. Left: share of correct guesses against the number of guesses, most confident first, \
             and the share that shows a leak. Right: histograms of the scores of included and other \
             canaries.",
            report.headline
        ),
        panels: &figure.panels,
        caption: Vec::new(),
    })
}

/// Number of guesses, and the share of them that is correct.
fn path(ranking: &[RankedGuess]) -> Vec<Point> {
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
    path
}

fn ranking_panel(ranking: &[RankedGuess], result: &OneRunResult, chance: f64) -> Panel {
    let path = path(ranking);
    let share = |count: u64, guesses: u64| (guesses as f64, count as f64 / guesses as f64);
    let steps = result.evidence().steps();
    let tested = steps.iter().map(|step| share(step.correct(), step.guesses()));
    let delta = result.bounds()[0].delta;
    let fewest = result.evidence().boundary(0.0, delta, result.level()).unwrap_or_default();
    // the share at which a step alone rejects ε = 0
    let needed = steps.iter().zip(fewest);
    let needed: Vec<Point> =
        needed.filter_map(|(step, fewest)| Some(share(fewest?, step.guesses()))).collect();

    let most = path.last().map_or(10.0, |&(guesses, _)| guesses);
    let least = path.first().map_or(1.0, |&(guesses, _)| guesses).min(8.0);
    let all = path.iter().chain(&needed).map(|&(_, share)| share);
    let bottom = (10.0 * all.fold(chance - 0.1, f64::min).max(0.0)).floor() / 10.0;
    let powers = (0..10).map(|power| powf(10.0, f64::from(power)));
    let powers = powers.filter(|guesses| (least..=most).contains(guesses));
    let across = powers.map(|guesses| (guesses, grouped(guesses as u64))).collect();
    let tenths = (0..=10).map(|tenth| (f64::from(tenth) / 10.0, (tenth * 10).to_string()));
    let upward = tenths.filter(|(share, _)| *share >= bottom - 1e-9).collect();
    let mut panel = Panel::new(
        [95.0, TOP, SIDE, SIDE],
        Axis::logarithmic([least, most], "guesses, most confident first", across),
        Axis::linear([bottom, 1.0], "correct guesses (%)", upward),
    );
    let shows = format!(
        "needed to show ε > 0 at δ = {} with {} confidence",
        number::delta(delta),
        confidence(result.level())
    );
    let diamond = |colour| Symbol { shape: Shape::Diamond, colour, is_filled: true };
    panel.marks.extend(needed.iter().map(|at| Mark::Point(*at, diamond(BOUNDARY.colour))));
    panel.marks.extend(tested.map(|at| Mark::Point(at, diamond(INCLUDED.colour))));
    panel.line(vec![(least, chance), (most, chance)], CHANCE, "");
    panel.line(path, INCLUDED, "share of correct guesses; tested at the marks");
    panel.line(needed, BOUNDARY, &shows);
    panel
}

fn score_panel(scores: &[f64], coins: &[bool]) -> Panel {
    let range = score_range(scores.iter().copied()).unwrap_or_default();
    let bins = canary_score_bins(scores, coins, range);
    let counts =
        [0, 1].map(|coin| bins.iter().map(|bin| bin.canaries[coin] as f64).collect::<Vec<f64>>());
    let top = 1.05 * counts.iter().flatten().copied().fold(1.0, f64::max);
    // bins have equal widths, also where all scores are equal
    let edges = [0.0, BINS as f64];
    let end = |place: usize| (edges[place], given((range[place] * 1e4).round() / 1e4));
    let mut panel = Panel::new(
        [720.0, TOP, SIDE, SIDE],
        Axis::linear(edges, "score", vec![end(0), end(1)]),
        Axis::linear(
            [0.0, top],
            "canaries",
            vec![(0.0, "0".to_owned()), (top, grouped(top as u64))],
        ),
    );
    panel.histogram(&counts[0], INCLUDED, "included canaries");
    panel.histogram(&counts[1], EXCLUDED, "other canaries");
    panel
}
