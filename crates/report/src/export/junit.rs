//! JUnit XML, for test results.

use dpscope_core::audit::claim::Verdict;

use super::{ExportContext, PROGRAM, value_name};
use crate::figure::escaped;
use crate::summary::{ListedFinding, Summary, TestedClaim};

/// A test suite whose cases are claims and limits.
///
/// A refuted one is a failure. An inconclusive one is an error, as a test that could not be carried out:
/// a skipped test would let a pipeline pass. Without any claim, the suite is empty. Values are properties
/// and findings are the output of the suite; where findings fail the run, each is a failed case too.
#[must_use]
pub fn junit(summary: &Summary, context: &ExportContext<'_>) -> String {
    let count = |outcome| summary.tests.iter().filter(|test| test.outcome == outcome).count();
    let failing = if context.fails_on_finding { &summary.findings[..] } else { &[] };
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\"",
        summary.tests.len() + failing.len(),
        count(Verdict::Refuted) + failing.len(),
        count(Verdict::Inconclusive)
    );
    let title = escaped(&summary.title);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"{PROGRAM}\" {counts}>\n  <testsuite name=\"{title}\" {counts}>\n"
    );
    out.push_str("    <properties>\n");
    let mut property = |name: &str, value: &str| {
        let (name, value) = (escaped(name), escaped(value));
        out.push_str(&format!("      <property name=\"{name}\" value=\"{value}\"/>\n"));
    };
    property("result", &summary.headline);
    property("command", context.command);
    summary
        .values
        .iter()
        .for_each(|value| property(&value_name(value), &value.epsilon.to_string()));
    out.push_str("    </properties>\n");
    summary.tests.iter().for_each(|test| out.push_str(&case(test, &title)));
    failing.iter().for_each(|finding| out.push_str(&failed_case(finding, &title)));
    let findings: String =
        summary.findings.iter().map(|finding| escaped(&finding.sentence) + "\n").collect();
    if !findings.is_empty() {
        out.push_str(&format!("    <system-out>{findings}</system-out>\n"));
    }
    out + "  </testsuite>\n</testsuites>\n"
}

fn case(test: &TestedClaim, title: &str) -> String {
    let TestedClaim { kind, name, outcome, verdict, sentence, .. } = test;
    let [name, verdict, sentence] = [name, *verdict, sentence].map(escaped);
    let kind = kind.name();
    let inside = match outcome {
        Verdict::NotRefuted => String::new(),
        Verdict::Refuted => {
            format!("      <failure message=\"{verdict}\" type=\"refuted\">{sentence}</failure>\n")
        }
        Verdict::Inconclusive => {
            format!("      <error message=\"{verdict}\" type=\"inconclusive\">{sentence}</error>\n")
        }
    };
    let class = format!("{title}: {kind}");
    format!("    <testcase classname=\"{class}\" name=\"{name}\">\n{inside}    </testcase>\n")
}

/// A finding that fails the run.
fn failed_case(finding: &ListedFinding, title: &str) -> String {
    let [code, sentence] = [&finding.code, &finding.sentence].map(|text| escaped(text));
    format!(
        "    <testcase classname=\"{title}: finding\" name=\"{code}\">\n      <failure \
         message=\"{code}\" type=\"finding\">{sentence}</failure>\n    </testcase>\n"
    )
}
