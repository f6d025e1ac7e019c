//! Counting tests from the lines that libtest (and libtest-mimic) closes each binary with.

/// Tests seen so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) ignored: u64,
}

impl Counts {
    /// Adds the counts of a line such as
    /// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; …`;
    /// any other line changes nothing.
    pub(super) fn read(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else { return };
        let words: Vec<&str> = result.split_whitespace().collect();
        for pair in words.windows(2) {
            let Ok(number) = pair[0].parse::<u64>() else { continue };
            match pair[1].trim_end_matches(';') {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }

    pub(super) fn add(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn result_lines_add_up() {
        let mut counts = Counts::default();
        counts.read("test result: ok. 31 passed; 0 failed; 2 ignored; 0 measured; 4 filtered out; finished in 0.03s\n");
        counts
            .read("test result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out");
        assert_eq!(counts, Counts { passed: 32, failed: 3, ignored: 2 });
    }

    #[test]
    fn other_lines_change_nothing() {
        let mut counts = Counts::default();
        for line in ["running 7 passed", "test a ... ok", "7 passed; 1 failed", ""] {
            counts.read(line);
        }
        assert_eq!(counts, Counts::default());
    }
}
