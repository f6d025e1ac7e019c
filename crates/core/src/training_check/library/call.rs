//! Calls in a line of Python: paths and arguments.

use super::argument::Argument;

/// Longest text that is read.
const MOST_BYTES: usize = 1000;

/// One call, in lower case and without blanks or quotes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    /// What is called; a call of a result starts with a dot.
    pub(super) path: String,
    /// In the order of the call.
    pub(super) arguments: Vec<Argument>,
}

/// Names of arguments without keyword, of functions whose path ends so; the first match counts.
const PLACES: &[(&str, &[&str])] = &[
    ("dataloader", &["dataset", "batch_size", "shuffle", "sampler", "batch_sampler"]),
    ("randomsampler", &["data_source", "replacement", "num_samples"]),
    ("weightedrandomsampler", &["weights", "num_samples", "replacement"]),
    ("distributedsampler", &["dataset", "num_replicas", "rank"]),
    (
        "cyclicpoissonsampling",
        &["sampling_prob", "iterations", "truncated_batch_size", "cycle_length"],
    ),
    ("ballsinbinssampling", &["iterations", "cycle_length"]),
    ("fixedbatchsampling", &["batch_size", "iterations", "replace"]),
    ("indexsampler", &["num_records"]),
    ("model.fit", &["x", "y", "batch_size", "epochs"]),
    ("iterabledataset.shuffle", &["seed", "generator", "buffer_size"]),
    ("datasets.dataset.shuffle", &["seed"]),
    ("shuffle", &["buffer_size", "seed", "reshuffle_each_iteration"]),
    ("batch", &["batch_size", "drop_remainder"]),
    ("repeat", &["epochs"]),
];

impl Call {
    /// The value of an argument.
    pub(super) fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.iter().find(|it| it.name == name).map(|it| it.value.as_str())
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
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) if name.chars().all(is_name) => (name, value),
            _ => {
                let places = PLACES.iter().find(|(path, _)| self.ends_with(path));
                let name = places.and_then(|(_, names)| names.get(self.arguments.len()));
                (name.copied().unwrap_or_default(), argument)
            }
        };
        let function = self.path.rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
        self.arguments.push(Argument {
            name: name.to_owned(),
            value: value.to_owned(),
            function: function.to_owned(),
        });
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
        assert_eq!((found[0].path.as_str(), found[0].argument("c")), ("a.b", Some("d(e,f=[1,2])")));
        assert_eq!((found[1].path.as_str(), found[1].arguments[0].shown()), (".g", "g(7)".into()));
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
