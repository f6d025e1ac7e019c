//! Calls in a line of Python: paths, keyword arguments and the first argument.

/// Longest text that is read.
const MOST_BYTES: usize = 1000;

/// One call, in lower case and without blanks or quotes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    /// What is called; a call of a result starts with a dot.
    pub(super) path: String,
    /// Keyword arguments.
    keywords: Vec<(String, String)>,
    /// The first argument without a keyword.
    pub(super) first: Option<String>,
}

impl Call {
    /// The value of a keyword argument.
    pub(super) fn keyword(&self, name: &str) -> Option<&str> {
        self.keywords.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether it is a call of this path, possibly within modules.
    pub(super) fn ends_with(&self, path: &str) -> bool {
        let before = self.path.strip_suffix(path);
        before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    }

    fn add(&mut self, argument: &str) {
        if argument.is_empty() {
            return;
        }
        let name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
        match argument.split_once('=') {
            Some((key, value)) if name(key) => {
                self.keywords.push((key.to_owned(), value.to_owned()));
            }
            _ if self.first.is_none() => self.first = Some(argument.to_owned()),
            _ => {}
        }
    }
}

/// The calls of a chain such as `a.b(c, d=e).f(g)`; none if brackets do not match. A path without
/// brackets is a call without arguments.
pub(super) fn calls(text: &str) -> Option<Vec<Call>> {
    if text.len() > MOST_BYTES {
        return None;
    }
    let plain = |c: &char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '`');
    let text: String = text.chars().filter(plain).flat_map(char::to_lowercase).collect();
    let mut found = Vec::new();
    let (mut call, mut argument, mut depth) = (Call::default(), String::new(), 0_u32);
    for character in text.chars() {
        match (character, depth) {
            ('(', 0) => depth = 1,
            (')', 1) => {
                call.add(&std::mem::take(&mut argument));
                found.push(std::mem::take(&mut call));
                depth = 0;
            }
            (',', 1) => call.add(&std::mem::take(&mut argument)),
            (')' | ']' | '}', 0) => return None,
            (_, 0) => call.path.push(if character == '-' { '_' } else { character }),
            _ => {
                match character {
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth -= 1,
                    _ => {}
                }
                argument.push(character);
            }
        }
    }
    if depth > 0 {
        return None;
    }
    if !call.path.is_empty() {
        found.push(call);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_and_nested_calls_are_split() {
        let found = calls("A.b(x, 'y', c = D(e, f=[1, 2])). G(7)").unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].path.as_str(), found[0].first.as_deref()), ("a.b", Some("x")));
        assert_eq!(found[0].keyword("c"), Some("d(e,f=[1,2])"));
        assert_eq!((found[1].path.as_str(), found[1].first.as_deref()), (".g", Some("7")));
        assert_eq!(calls("jax-privacy").unwrap()[0].path, "jax_privacy");
    }

    #[test]
    fn brackets_must_match() {
        for bad in ["a(", "a)", "a((b)", "a(b]c", "]"] {
            let found = calls(bad);
            assert!(found.is_none() || found.is_some_and(|calls| calls.len() < 2), "{bad}");
        }
        assert!(calls(&"a".repeat(MOST_BYTES + 1)).is_none());
    }
}
