//! Pages of `--report`.

use dpscope_report::html::{HTML_MARK, embedded_json};
use serde_json::Value;

use super::pages_of_commands;
use crate::schemas::{Document, inputs, problems};
use crate::{Folder, SMALL};

const COUNTS: &str = "audit counts --false-positives 12 --target-trials 1000 --false-negatives 480 \
                      --zero-out-trials 1000";

fn page(folder: &Folder, words: &str) -> String {
    folder.run(&format!("{words} --report page.html"));
    String::from_utf8(folder.read("page.html")).unwrap()
}

/// The text of an element without markup inside.
fn between<'p>(page: &'p str, start: &str, end: &str) -> &'p str {
    page.split_once(start).unwrap().1.split_once(end).unwrap().0
}

#[test]
fn every_report_has_a_page_with_its_document() {
    for (Document { kind, words, json, .. }, page) in pages_of_commands() {
        assert!(page.starts_with(HTML_MARK) && page.ends_with("</html>\n"), "{words}");
        let document: Value = serde_json::from_str(&embedded_json(page).unwrap()).unwrap();
        assert_eq!(problems(kind, &document), Vec::<String>::new(), "{words}");
        assert_eq!(&document, json, "{words}");
        assert!(page.contains("<h2 id=\"how-to-reproduce-this\">"), "{words}");
        assert!(page.contains("<figure>") || page.contains("No drawing: "), "{words}");
    }
}

#[test]
fn pages_are_accessible_and_load_nothing() {
    let folder = Folder::new();
    let page = page(&folder, &format!("{SMALL} --claim 0.5 --fail-above 20 --metrics"));
    for part in [
        "<html lang=\"en\"",
        "default-src 'none'; style-src 'sha256-",
        "<th scope=\"col\"",
        "<th scope=\"row\"",
        "role=\"img\"",
        "@media print",
        "prefers-color-scheme: dark",
        "REFUTED",
        "threat model",
        "SHA-256 of the histograms",
        "dpscope audit bgm",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<h1 ").count(), 1);
    let lower = page.to_lowercase();
    for part in ["<script", "<link", "<img", "<iframe", "src=", "href=", "@import", " onload"] {
        assert!(!lower.contains(part), "{part}");
    }
    assert!(!lower.replace("http://www.w3.org/2000/svg", "").contains("://"), "no address");
    let css = between(&page, "<style>", "</style>");
    assert!(!css.contains("url("), "{css}");
    assert!(!page.replace(css, "").contains(" style="), "the policy forbids style attributes");
}

#[test]
fn a_page_says_what_the_text_says() {
    let folder = Folder::new();
    let words = format!("{COUNTS} --claim 5");
    let text = folder.run(&words).exits(0).stdout;
    let page = page(&folder, &words);
    let plain: String =
        page.split('<').filter_map(|part| part.split_once('>')).map(|(_, it)| it).collect();
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = squeezed(&plain.replace("&gt;", ">").replace("&#39;", "'"));
    // rows of the text, without their labels and line ends
    let mut rows: Vec<String> = Vec::new();
    for line in text.lines().skip(2).filter(|line| !line.starts_with("  run")) {
        match rows.last_mut() {
            Some(row) if line.starts_with("              ") => row.push_str(line),
            _ => rows.push(line.get(14..).unwrap_or_default().to_owned()),
        }
    }
    for row in rows {
        assert!(plain.contains(&squeezed(&row)), "{row} is missing in {plain}");
    }
}

#[cfg(unix)]
#[test]
fn hostile_text_stays_text() {
    let folder = inputs();
    let name = "<script>alert(1)&\"'x.npy";
    folder.write(name, folder.read("scores.npy"));
    let page = page(&folder, &format!("audit scores --target {name} --zero-out scores-out.npy"));
    assert!(!page.contains("<script>") && !page.contains(name));
    assert!(page.contains("&lt;script&gt;alert(1)&amp;"));
    let json: Value = serde_json::from_str(&embedded_json(&page).unwrap()).unwrap();
    assert!(json["input"].to_string().contains("<script>alert(1)&"));
}

#[test]
fn pages_that_cannot_be_written_are_refused_before_any_work() {
    let folder = Folder::new();
    folder.write("other.html", "<p>mine</p>");
    for (file, part) in [
        ("page.txt", "must end in .html"),
        ("absent/page.html", "cannot be written"),
        ("other.html", "has other content"),
    ] {
        let words = "audit bgm --noise-multiplier 1 --steps 100 --observations 1e12 --quiet";
        folder.run(&format!("{words} --report {file}")).refuses(2, &[file, part]);
        folder.run(&format!("{COUNTS} --report {file}")).refuses(2, &[file, part]);
    }
    assert_eq!(folder.names(), ["other.html"]);
    folder.run(&format!("{COUNTS} --report same.svg --plot same.svg")).refuses(2, &["both write"]);
    folder.run(&format!("{COUNTS} --report page.html")).exits(0);
    folder.run(&format!("{COUNTS} --report page.html")).exits(0);
    assert_eq!(folder.names(), ["other.html", "page.html"]);
}
