//! A statement about the privacy of one training, to paste into a paper, a model card or a README.

use dpscope_core::accounting::{Accounted, KnownBound, Schedule, Training};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::format::given;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::{CheckVerdict, EpsilonBounds, LoaderKind};

use super::described::has_claimed_adjacency;
use super::explained::ZERO_OUT;
use super::one_run::adjacency_in_words;
use super::{InWords, loader_batches};
use crate::number::{counted, delta, grouped};
use crate::record::{CheckReport, ComparedQuantity, ComparedValue, Comparison, PrivacyUnit};

/// A training with what is claimed and proven of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivacyStatement {
    /// How batches are drawn.
    pub loader: LoaderKind,
    /// Noise, steps and epochs.
    pub training: Schedule,
    /// Whose participation is protected.
    pub unit: PrivacyUnit,
    /// Records and records per batch, where they are known; of clients, their number and those of a
    /// round.
    pub sizes: Option<(u64, u64)>,
    /// δ of all values.
    pub delta: f64,
    /// Adjacency of the bounds.
    pub adjacency: Adjacency,
    /// The claim; none for that of Poisson accounting.
    pub claim: Option<PrivacyClaim>,
    /// ε of Poisson accounting.
    pub poisson: Option<Accounted>,
    /// ε that these batches leak at least.
    pub lower: Option<Accounted>,
    /// ε that they leak at most.
    pub upper: Option<Accounted>,
    /// Reproduces the numbers.
    pub command: String,
}

/// A format of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementFormat {
    /// A list with a command in backticks.
    Markdown,
    /// A `description` environment.
    Latex,
    /// Lines.
    Plain,
}

impl PrivacyStatement {
    /// The statement of a described training.
    #[must_use]
    pub fn of_check(report: &CheckReport, command: String) -> Self {
        let setup = &report.setup;
        PrivacyStatement {
            loader: setup.loader.kind(),
            training: Schedule {
                whole: Training {
                    noise_multiplier: report.noise_multiplier,
                    steps_per_epoch: report.steps_per_epoch,
                    epochs: setup.epochs,
                    sampling_rate: Some(report.sampling_rate),
                },
                partial_epoch_steps: setup.partial_epoch_steps,
            },
            unit: match report.library_loader {
                Some(loader) if loader.draws_clients() => PrivacyUnit::User,
                _ => PrivacyUnit::Record,
            },
            sizes: Some((setup.dataset_size, setup.batch_size)),
            delta: report.claim.target.delta,
            adjacency: report.claim.target.adjacency,
            claim: report.claim.target.claim(),
            poisson: report.poisson,
            lower: report.lower,
            upper: report.upper,
            command,
        }
    }

    /// The statement of a training with shuffled batches.
    #[must_use]
    pub fn of_comparison(report: &Comparison, command: String) -> Self {
        let value = |bound| {
            let wanted = ComparedQuantity::Bound(bound);
            let row = report.rows.iter().find(|row| row.quantity == wanted)?;
            match &row.value {
                ComparedValue::Theory(cell) => cell.value().copied(),
                ComparedValue::Audit(_) => None,
            }
        };
        let lower = [KnownBound::ShuffleMaxSlice, KnownBound::ShuffleSum];
        PrivacyStatement {
            loader: SamplerKind::Shuffle.into(),
            training: report.setting,
            unit: PrivacyUnit::Record,
            sizes: None,
            delta: report.delta,
            adjacency: Adjacency::ZeroOut,
            claim: report.claim.as_ref().map(|claim| PrivacyClaim {
                epsilon: claim.epsilon,
                delta: report.delta,
                adjacency: claim.adjacency,
            }),
            poisson: value(KnownBound::Poisson),
            lower: lower
                .into_iter()
                .filter_map(value)
                .max_by(|one, other| one.epsilon.total_cmp(&other.epsilon)),
            upper: value(KnownBound::Deterministic),
            command,
        }
    }

    /// The statement in a format.
    #[must_use]
    pub fn text(&self, format: StatementFormat) -> String {
        let (rows, scope) = (self.rows(), STATEMENT_SCOPE);
        let version = concat!("dpscope ", env!("CARGO_PKG_VERSION"));
        match format {
            StatementFormat::Markdown => {
                let row = |(name, text): &(&str, String)| format!("- **{name}:** {text}\n");
                let rows: String = rows.iter().map(row).collect();
                let command = &self.command;
                format!("{rows}- **Computed with:** {version}, `{command}`\n\n{scope}\n")
            }
            StatementFormat::Latex => {
                let row =
                    |(name, text): &(&str, String)| format!("  \\item[{name}] {}\n", latex(text));
                let rows: String = rows.iter().map(row).collect();
                let command = latex(&self.command).replace("--", "-{}-"); // else a dash
                format!(
                    "\\begin{{description}}\n{rows}  \\item[Computed with] {version}, \
                     \\texttt{{{command}}}\n\\end{{description}}\n{}\n",
                    latex(scope)
                )
            }
            StatementFormat::Plain => {
                let row = |(name, text): &(&str, String)| format!("{name}: {text}\n");
                let rows: String = rows.iter().map(row).collect();
                format!("{rows}Computed with: {version}, {}\n\n{scope}\n", self.command)
            }
        }
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let is_poisson = self.loader == SamplerKind::Poisson.into();
        let mut rows = vec![
            ("Training", self.training_in_words()),
            ("Privacy unit", self.unit_in_words().to_owned()),
            ("Adjacency", self.adjacency().to_owned()),
        ];
        if let Some(claim) = self.claim {
            let at = delta(self.delta);
            rows.push(("Claimed", format!("ε = {} at δ = {at}", given(claim.epsilon))));
        }
        let assumed = if is_poisson { "" } else { " for Poisson-sampled batches only" };
        rows.push(("Poisson accounting", value(self.poisson, assumed)));
        if !is_poisson {
            rows.push(("Proven upper bound", value(self.upper, "")));
        }
        if !is_poisson || self.claim.is_some() {
            rows.push(("Proven lower bound", value(self.lower, "")));
        }
        rows.push(("Verdict", self.verdict()));
        rows
    }

    fn unit_in_words(&self) -> &'static str {
        match self.unit {
            PrivacyUnit::Record => "one training record",
            PrivacyUnit::User => "one client, with all of its records",
        }
    }

    fn training_in_words(&self) -> String {
        let Training { noise_multiplier, steps_per_epoch, epochs, .. } = self.training.whole;
        let (whole, epoch) = (counted(epochs, "epoch"), counted(steps_per_epoch, "step"));
        let total = counted(self.training.steps(), "step");
        let length = match (epochs, self.training.partial_epoch_steps) {
            (_, 0) => format!("{whole} of {epoch}"),
            (0, _) => format!("{total} of an epoch of {epoch}"),
            (_, rest) => format!("{total}: {whole} of {epoch} and {} more", grouped(rest)),
        };
        let of = |(records, batch)| match self.unit {
            PrivacyUnit::Record => {
                format!("{} in batches of {}, ", counted(records, "record"), grouped(batch))
            }
            PrivacyUnit::User => {
                format!("{}, {} in each step, ", counted(records, "client"), grouped(batch))
            }
        };
        let sizes = self.sizes.map_or_else(String::new, of);
        let has_uses = self.loader.sampler().is_some_and(SamplerKind::has_uses);
        let uses = self.training.whole.uses_per_epoch().ok().filter(|_| has_uses);
        let uses = uses.map_or_else(String::new, |uses| {
            format!(" (each record in {} per epoch)", counted(uses, "step"))
        });
        format!(
            "DP-SGD with noise multiplier σ = {}, {sizes}{length}, {}{uses}",
            given(noise_multiplier),
            loader_batches(self.loader)
        )
    }

    /// The adjacency of the claim and of the bounds, which are the same for batches of fixed size.
    fn adjacency(&self) -> &'static str {
        if !has_claimed_adjacency(self.loader) {
            return adjacency(self.claim.map(|claim| claim.adjacency));
        }
        let is_truncated = self.loader.sampler().is_some_and(SamplerKind::truncates);
        match self.adjacency {
            Adjacency::ZeroOut => ZERO_OUT,
            Adjacency::AddRemove if is_truncated => {
                "remove one record, with the same sampling rate and maximum batch size"
            }
            Adjacency::AddRemove => "add or remove one record, with the same batch size",
            Adjacency::Replace => "replace one record",
        }
    }

    /// Whether the claim is refuted, proven, or neither.
    fn verdict(&self) -> String {
        let claimed = self.claim.map(|claim| claim.epsilon);
        let claimed = claimed.or(self.poisson.map(|poisson| poisson.epsilon));
        let Some(claimed) = claimed else { return "there is no claim to compare".to_owned() };
        let subject = match self.claim {
            Some(_) => "the claim",
            None => "the value of Poisson accounting",
        };
        let batches = loader_batches(self.loader);
        let is_own_accountant = self.claim.is_none() && self.loader == SamplerKind::Poisson.into();
        let adjacency = self.claim.map_or(Adjacency::AddRemove, |claim| claim.adjacency);
        let upper = if is_own_accountant { self.poisson } else { self.upper };
        let [lower, upper] = [self.lower, upper].map(|bound| bound.map(|bound| bound.epsilon));
        let bounds = EpsilonBounds::new(self.loader, (self.adjacency, adjacency), lower, upper);
        match bounds.verdict(claimed) {
            CheckVerdict::Refuted => {
                format!("{subject} is refuted for {batches}: the proven lower bound exceeds it")
            }
            CheckVerdict::HoldsAsDescribed => {
                let is_for_zero_out = !self.loader.has_zero_out_bound_under(Adjacency::AddRemove);
                let under = match adjacency {
                    Adjacency::ZeroOut if is_for_zero_out => " under zero-out adjacency",
                    _ => "",
                };
                format!("{subject} is proven for {batches}{under}")
            }
            CheckVerdict::Inconclusive if bounds.holds_for_zero_out_alone(claimed) => format!(
                "{subject} is proven for {batches} under zero-out adjacency, and neither proven nor \
                 refuted under {} adjacency",
                adjacency_in_words(adjacency)
            ),
            CheckVerdict::Inconclusive => {
                format!("{subject} is neither proven nor refuted for {batches}")
            }
        }
    }
}

/// What the numbers are about, and what not.
pub const STATEMENT_SCOPE: &str = "These values are about DP-SGD with these parameters, releasing every noisy sum. \
    The code and the trained model were not examined.";

fn adjacency(adjacency: Option<Adjacency>) -> &'static str {
    match adjacency {
        None | Some(Adjacency::ZeroOut) => ZERO_OUT,
        Some(Adjacency::AddRemove) => {
            "claim: add or remove one record; bounds: zero-out (the gradient of one record is \
             replaced by zero)"
        }
        Some(Adjacency::Replace) => {
            "claim: replace one record; bounds: zero-out (the gradient of one record is replaced by \
             zero)"
        }
    }
}

fn value(found: Option<Accounted>, assumed: &str) -> String {
    found.map_or("none".to_owned(), |found| {
        format!("{}{assumed} ({})", found.sentence(false), found.method_in_words())
    })
}

/// Text as LaTeX: relations such as ε ≤ 0.72 in mathematics, other characters escaped.
fn latex(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let relation = (symbol(word), words.get(at + 1).and_then(|it| sign(it)), words.get(at + 2));
        if let (Some(symbol), Some(sign), Some(number)) = relation {
            let value = number.trim_end_matches([',', ':', ')', '.']);
            out.push(format!("${symbol} {sign} {}${}", power(value), &number[value.len()..]));
            at += 3;
        } else {
            out.push(word.chars().map(escaped).collect());
            at += 1;
        }
    }
    out.join(" ")
}

fn symbol(word: &str) -> Option<&'static str> {
    match word {
        "ε" => Some("\\varepsilon"),
        "δ" => Some("\\delta"),
        "σ" => Some("\\sigma"),
        _ => None,
    }
}

fn sign(word: &str) -> Option<&'static str> {
    match word {
        "=" => Some("="),
        "≤" => Some("\\leq"),
        "≥" => Some("\\geq"),
        "≈" => Some("\\approx"),
        _ => None,
    }
}

/// 1e-5 as 10^{-5}.
fn power(number: &str) -> String {
    match number.split_once('e') {
        Some(("1", power)) => format!("10^{{{power}}}"),
        Some((mantissa, power)) => format!("{mantissa} \\cdot 10^{{{power}}}"),
        None => number.replace('∞', "\\infty"),
    }
}

fn escaped(character: char) -> String {
    let mut buffer = [0; 4];
    if let Some(symbol) = symbol(character.encode_utf8(&mut buffer)) {
        return format!("${symbol}$");
    }
    match character {
        '\\' => "\\textbackslash{}".to_owned(),
        '~' => "\\textasciitilde{}".to_owned(),
        '^' => "\\textasciicircum{}".to_owned(),
        '\'' => "\\textquotesingle{}".to_owned(),
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{character}"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::accounting::{
        Accountant, Deterministic, Given, Poisson, Query, Shuffle, ShuffleMethod,
    };

    fn statement(sampler: SamplerKind) -> PrivacyStatement {
        let training = Training {
            noise_multiplier: 1.0,
            steps_per_epoch: 100,
            epochs: 1,
            sampling_rate: None,
        };
        let (upper, lower) = (
            Query::upper(training, Given::Delta(1e-5)),
            Query::lower(training, Given::Delta(1e-5)),
        );
        PrivacyStatement {
            loader: sampler.into(),
            training: training.into(),
            unit: PrivacyUnit::Record,
            sizes: None,
            delta: 1e-5,
            adjacency: Adjacency::ZeroOut,
            claim: None,
            poisson: Poisson.account(&upper).ok(),
            lower: Shuffle(ShuffleMethod::Best).account(&lower).ok(),
            upper: Deterministic.account(&upper).ok(),
            command: "dpscope compare --noise-multiplier 1 --steps 100 --delta 1e-5".to_owned(),
        }
    }

    #[test]
    fn a_plain_statement_has_parameters_bounds_verdict_and_command() {
        let expected = format!(
            "Training: DP-SGD with noise multiplier σ = 1, 1 epoch of 100 steps, shuffled batches\n\
             Privacy unit: one training record\n\
             Adjacency: zero-out (the gradient of one record is replaced by zero)\n\
             Poisson accounting: ε ≤ 0.7181 at δ = 1e-5, proven for Poisson-sampled batches only \
             (privacy loss distribution)\n\
             Proven upper bound: ε ≤ 4.3772 at δ = 1e-5, proven (closed Gaussian formula)\n\
             Proven lower bound: ε ≥ 4.0631 at δ = 1e-5, proven (largest output of each epoch)\n\
             Verdict: the value of Poisson accounting is refuted for shuffled batches: the proven \
             lower bound exceeds it\n\
             Computed with: dpscope {}, dpscope compare --noise-multiplier 1 --steps 100 --delta \
             1e-5\n\n{STATEMENT_SCOPE}\n",
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(statement(SamplerKind::Shuffle).text(StatementFormat::Plain), expected);
    }

    #[test]
    fn relations_are_mathematics_in_latex_and_text_cannot_leave_its_argument() {
        let mut shown = statement(SamplerKind::Shuffle);
        shown.command = "dpscope check 'a_$x%.toml' --claim 2".to_owned();
        let text = shown.text(StatementFormat::Latex);
        for part in [
            "$\\sigma = 1$, 1 epoch",
            "$\\varepsilon \\leq 0.7181$ at $\\delta = 10^{-5}$, proven",
            "$\\varepsilon \\geq 4.0631$",
            "\\textquotesingle{}a\\_\\$x\\%.toml\\textquotesingle{} -{}-claim 2",
            "\\begin{description}\n  \\item[Training]",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(text.is_ascii(), "{text}");
        assert_eq!(latex("δ = 2.5e-7)"), "$\\delta = 2.5 \\cdot 10^{-7}$)");
    }

    #[test]
    fn an_incomplete_epoch_is_stated_with_all_steps() {
        let length = |epochs, partial_epoch_steps| {
            let mut shown = statement(SamplerKind::Shuffle);
            shown.training.whole.epochs = epochs;
            shown.training.partial_epoch_steps = partial_epoch_steps;
            shown.training_in_words()
        };
        assert!(length(3, 0).contains("σ = 1, 3 epochs of 100 steps, shuffled"));
        assert!(length(9, 6).contains("σ = 1, 906 steps: 9 epochs of 100 steps and 6 more, "));
        assert!(length(0, 40).contains("σ = 1, 40 steps of an epoch of 100 steps, shuffled"));
    }

    #[test]
    fn markdown_is_a_list_with_the_command_as_code() {
        let text = statement(SamplerKind::Shuffle).text(StatementFormat::Markdown);
        assert!(text.starts_with("- **Training:** DP-SGD"), "{text}");
        assert!(text.contains("`dpscope compare --noise-multiplier 1"), "{text}");
    }

    #[test]
    fn the_verdict_follows_the_bounds() {
        let verdict = |sampler, claim: Option<f64>| {
            let adjacency = Adjacency::AddRemove;
            let claim = claim.map(|epsilon| PrivacyClaim { epsilon, delta: 1e-5, adjacency });
            let shown = PrivacyStatement { claim, ..statement(sampler) };
            shown.text(StatementFormat::Plain)
        };
        let shuffle = SamplerKind::Shuffle;
        assert!(verdict(shuffle, Some(4.0)).contains("Verdict: the claim is refuted"));
        assert!(verdict(shuffle, Some(4.2)).contains("the claim is neither proven nor refuted"));
        let proven = "the claim is proven for shuffled batches under zero-out adjacency, and \
                      neither proven nor refuted under add/remove adjacency\n";
        assert!(verdict(shuffle, Some(4.4)).contains(proven));
        let balls = verdict(SamplerKind::BallsInBins, Some(4.4));
        assert!(balls.contains("the claim is proven for balls-in-bins batches\n"), "{balls}");
        let own = PrivacyStatement { lower: None, upper: None, ..statement(SamplerKind::Poisson) };
        let own = own.text(StatementFormat::Plain);
        assert!(own.contains("Poisson accounting is proven for Poisson-sampled"), "{own}");
        assert!(!own.contains("upper bound:"), "{own}");
    }

    #[test]
    fn what_is_not_proven_is_stated() {
        let none = PrivacyStatement {
            poisson: None,
            lower: None,
            upper: None,
            ..statement(SamplerKind::PartialShuffle)
        };
        let text = none.text(StatementFormat::Plain);
        assert!(text.contains("Proven upper bound: none"), "{text}");
        assert!(text.contains("no claim to compare"), "{text}");
    }
}
