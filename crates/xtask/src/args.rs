//! The few shapes of command-line options that the tasks use.

use anyhow::{Context, Result, bail};

/// Arguments after the task's name, taken one option at a time; what is left over is refused.
#[derive(Debug)]
pub(crate) struct Arguments {
    left: Vec<String>,
}

impl Arguments {
    /// The arguments of a task; none where they asked for help, which is printed then.
    pub(crate) fn parse_or_help(arguments: Vec<String>, help: &str) -> Option<Self> {
        let mut arguments = Self { left: arguments };
        if arguments.flag("--help") | arguments.flag("-h") {
            print!("{help}");
            return None;
        }
        Some(arguments)
    }

    /// True when `name` was given; takes every occurrence.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.left.len();
        self.left.retain(|argument| argument != name);
        self.left.len() != before
    }

    /// Every value of `--name VALUE` and `--name=VALUE`, in order.
    pub(crate) fn values(&mut self, name: &str) -> Result<Vec<String>> {
        let mut values = Vec::new();
        let mut rest = Vec::new();
        let mut arguments = std::mem::take(&mut self.left).into_iter();
        while let Some(argument) = arguments.next() {
            if argument == name {
                values.push(arguments.next().with_context(|| format!("{name} needs a value"))?);
            } else if let Some(value) =
                argument.strip_prefix(name).and_then(|tail| tail.strip_prefix('='))
            {
                values.push(value.to_string());
            } else {
                rest.push(argument);
            }
        }
        self.left = rest;
        Ok(values)
    }

    /// A whole number ≥ 1, or `default`; the last one given counts.
    pub(crate) fn count(&mut self, name: &str, default: u32) -> Result<u32> {
        let Some(text) = self.values(name)?.pop() else { return Ok(default) };
        match text.parse() {
            Ok(count) if count >= 1 => Ok(count),
            _ => bail!("{name} {text}: expected a whole number of at least 1"),
        }
    }

    /// The next argument that is no option, if there is one.
    pub(crate) fn positional(&mut self) -> Option<String> {
        let at = self.left.iter().position(|argument| !argument.starts_with('-'))?;
        Some(self.left.remove(at))
    }

    /// Refuses whatever was not taken.
    pub(crate) fn finish(self) -> Result<()> {
        match self.left.first() {
            None => Ok(()),
            Some(argument) => bail!("unknown argument `{argument}` (see --help)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    fn arguments(text: &str) -> Arguments {
        let left = text.split_whitespace().map(str::to_string).collect();
        Arguments::parse_or_help(left, "").unwrap()
    }

    #[test]
    fn both_spellings_of_options_are_parsed() {
        let mut given = arguments("npy --seconds 5 --keep-going --only=a --only b");
        assert_eq!(given.count("--seconds", 60).unwrap(), 5);
        assert_eq!(given.values("--only").unwrap(), ["a", "b"]);
        assert!(given.flag("--keep-going"));
        assert!(!given.flag("--keep-going"));
        assert_eq!(given.positional().as_deref(), Some("npy"));
        given.finish().unwrap();
    }

    #[test]
    fn help_ends_a_task() {
        for word in ["--help", "-h"] {
            assert!(Arguments::parse_or_help(vec!["x".into(), word.into()], "").is_none());
        }
    }

    #[test]
    fn invalid_input_is_refused_with_the_reason() {
        assert!(arguments("--only").values("--only").is_err());
        let zero = arguments("--seconds 0").count("--seconds", 60).unwrap_err().to_string();
        assert!(zero.contains("--seconds 0"), "{zero}");
        let rest = arguments("--onyl fmt").finish().unwrap_err().to_string();
        assert!(rest.contains("--onyl"), "{rest}");
    }
}
