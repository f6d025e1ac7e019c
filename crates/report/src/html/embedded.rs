//! The report inside a page.

/// What stands before the report in a page, and after it.
pub(super) const JSON_START: &str = "<pre id=\"dpscope-report\" tabindex=\"0\">";
pub(super) const JSON_END: &str = "</pre>";

/// A page without a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddedError {
    /// There is none, or more than one.
    #[error("the page contains {0} reports, not one")]
    NotOne(usize),
    /// The page ends within the report.
    #[error("the page ends within the report: the file is truncated")]
    Truncated,
}

/// The JSON of a report, from its page.
///
/// # Errors
/// A page without a report, with several, or one that was cut off.
pub fn embedded_json(page: &str) -> Result<String, EmbeddedError> {
    let parts: Vec<&str> = page.split(JSON_START).collect();
    let [_, rest] = parts[..] else { return Err(EmbeddedError::NotOne(parts.len() - 1)) };
    let (escaped, end) = rest.split_once(JSON_END).ok_or(EmbeddedError::Truncated)?;
    if !end.trim_end().ends_with("</html>") {
        return Err(EmbeddedError::Truncated);
    }
    Ok(unescaped(escaped))
}

/// The text of escaped markup.
pub(super) fn unescaped(escaped: &str) -> String {
    // `&` last, so that nothing is read twice
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    pairs.iter().fold(escaped.to_owned(), |text, (name, character)| text.replace(name, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_is_read_back() {
        let json = "{\"a\": \"</pre><script>&lt;&amp;'\\\"\"}";
        let page = format!("x{JSON_START}{}{JSON_END}</html>\n", crate::figure::escaped(json));
        assert_eq!(embedded_json(&page).unwrap(), json);
        assert_eq!(embedded_json("<html></html>"), Err(EmbeddedError::NotOne(0)));
        assert_eq!(embedded_json(&page.repeat(2)), Err(EmbeddedError::NotOne(2)));
        for end in 0..page.len() - 2 {
            assert!(embedded_json(&page[..end]).is_err(), "{end}");
        }
    }
}
