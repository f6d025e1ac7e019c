//! What a page says first: its title, the result, and a line for each claim and limit.

use dpscope_core::accounting::Schedule;
use dpscope_core::audit::claim::Verdict;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::CheckVerdict;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::section::{escaped, paragraphs};
use crate::document::Document;
use crate::summary::{
    Summary, claim_name, limit_name, limit_verdict, outcome_of, title_of, training_name,
};
use crate::words::{Subject, check_verdict_in_words, outcome_name, verdict_in_words};

/// The first part of a page.
pub(super) struct Heading {
    title: String,
    pub(super) headline: String,
    /// Each with the class of its verdict.
    tests: Vec<(String, &'static str)>,
    sentences: Vec<String>,
}

impl Heading {
    pub(super) fn new(summary: &Summary, document: &Document) -> Self {
        let tests = summary.tests.iter();
        Heading {
            title: summary.title.clone(),
            headline: summary.headline.clone(),
            tests: tests.map(|test| line(&test.name, test.verdict, test.outcome)).collect(),
            sentences: paragraphs(document).cloned().collect(),
        }
    }

    /// That of a report in its JSON form; none of a document without these fields.
    pub(super) fn of_json(report: &Value) -> Option<Self> {
        let stated = Stated(report);
        let schema = stated.text("/schema")?;
        let mut tests: Vec<_> = stated.claim(schema).into_iter().collect();
        tests.extend(stated.limit());
        tests.extend(stated.training());
        let first = tests.first().map(|(text, _)| text.as_str());
        let headline = stated.text("/headline").or(first).or(stated.text("/says"))?.to_owned();
        let title = match schema {
            "dpscope.report/2" => {
                title_of(schema).to_owned() + stated.parsed::<Subject>("/subject")?.name()
            }
            _ => title_of(schema).to_owned(),
        };
        let sentences = match schema {
            "dpscope.comparison/1" => {
                let texts = [stated.text("/headline"), stated.text("/claim/sentence")];
                texts.into_iter().flatten().map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        Some(Heading { title, headline, tests, sentences })
    }

    pub(super) fn to_html(&self) -> String {
        let Heading { title, headline, tests, sentences } = self;
        let mut out = format!("<header>\n<p class=\"kind\">{}</p>\n", escaped(title));
        let mut line = |element: &str, class: &str, text: &str| {
            let text = escaped(text);
            out.push_str(&format!("<{element} class=\"{class}\">{text}</{element}>\n"));
        };
        let own = tests.iter().find(|(text, _)| text == headline);
        line("h1", own.map_or("result", |(_, class)| class), headline);
        for (text, class) in tests.iter().filter(|(text, _)| text != headline) {
            line("p", &format!("verdict {class}"), text);
        }
        sentences.iter().filter(|text| *text != headline).for_each(|text| line("p", "claim", text));
        out + "</header>\n"
    }
}

/// A test with the class of its verdict.
fn line(name: &str, verdict: &str, outcome: Verdict) -> (String, &'static str) {
    (format!("{name}: {verdict}"), outcome_name(outcome))
}

/// A report as JSON.
struct Stated<'a>(&'a Value);

impl<'a> Stated<'a> {
    fn text(&self, pointer: &str) -> Option<&'a str> {
        self.0.pointer(pointer)?.as_str()
    }

    fn number(&self, pointer: &str) -> Option<f64> {
        self.0.pointer(pointer)?.as_f64()
    }

    fn parsed<T: DeserializeOwned>(&self, pointer: &str) -> Option<T> {
        serde_json::from_value(self.0.pointer(pointer)?.clone()).ok()
    }

    fn outcome(&self, pointer: &str) -> Option<Verdict> {
        let stated = self.text(pointer)?;
        let all = [Verdict::Refuted, Verdict::NotRefuted, Verdict::Inconclusive];
        all.into_iter().find(|outcome| outcome_name(*outcome) == stated)
    }

    fn claim(&self, schema: &str) -> Option<(String, &'static str)> {
        let (epsilon, delta) = match schema {
            "dpscope.pategan/1" => ("/accounted_epsilon", "/delta"),
            "dpscope.generator/1" => ("/claimed_epsilon", "/delta"),
            "dpscope.comparison/1" => ("/claim/epsilon", "/delta"),
            _ => ("/claim/epsilon", "/claim/delta"),
        };
        let name = claim_name(self.number(epsilon)?, self.number(delta)?);
        match schema {
            "dpscope.check/1" | "dpscope.imported/1" | "dpscope.comparison/1" => {
                let stated = self.text("/claim/verdict")?;
                let all = [
                    CheckVerdict::Refuted,
                    CheckVerdict::HoldsAsDescribed,
                    CheckVerdict::Inconclusive,
                ];
                let is_stated = |verdict: &CheckVerdict| {
                    serde_json::to_value(verdict).is_ok_and(|verdict| verdict == stated)
                };
                let verdict = all.into_iter().find(is_stated)?;
                Some(line(&name, check_verdict_in_words(verdict), outcome_of(verdict)))
            }
            _ => {
                let is_single = ["dpscope.pategan/1", "dpscope.generator/1"].contains(&schema);
                let pointer = if is_single { "/verdict" } else { "/claim/verdict/outcome" };
                let outcome = self.outcome(pointer)?;
                Some(line(&name, verdict_in_words(outcome), outcome))
            }
        }
    }

    fn limit(&self) -> Option<(String, &'static str)> {
        let name = limit_name(self.number("/fail_above/epsilon")?);
        let outcome = self.outcome("/fail_above/verdict/outcome")?;
        let verdict = limit_verdict(self.parsed("/fail_above/verdict/reason")?);
        Some(line(&name, verdict, outcome))
    }

    fn training(&self) -> Option<(String, &'static str)> {
        let sampler: SamplerKind = self.parsed("/claimed_training/sampler")?;
        let schedule: Schedule = self.parsed("/claimed_training")?;
        let outcome = self.outcome("/claimed_training/test/verdict/outcome")?;
        Some(line(&training_name(sampler, &schedule), verdict_in_words(outcome), outcome))
    }
}
