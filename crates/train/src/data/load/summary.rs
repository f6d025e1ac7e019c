/// How a file was loaded: its format and how its records were used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadSummary {
    /// Format of the file.
    pub format: &'static str,
    /// Number of records in the file.
    pub records: usize,
    /// Number of records of classes that were not selected.
    pub other_classes: usize,
    /// For each class its label in the file and its number of records.
    pub classes: Vec<(u32, usize)>,
    /// Number of training records.
    pub trained: usize,
    /// Number of held-out records.
    pub held_out: usize,
    /// Encoding of the features.
    pub features: &'static str,
}

impl LoadSummary {
    /// The summary as sentences for a report.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let LoadSummary { format, records, trained, held_out, .. } = *self;
        let mut sentences =
            vec![format!("{format}: {records} records, features {}", self.features)];
        if self.other_classes > 0 {
            sentences.push(format!("{} records of other classes were dropped", self.other_classes));
        }
        let is_mapped =
            self.classes.iter().enumerate().any(|(class, &(label, _))| class != label as usize);
        if is_mapped && self.classes.len() <= 10 {
            let labels = self.classes.iter().enumerate();
            let pairs: Vec<String> =
                labels.map(|(class, (label, _))| format!("{label} → {class}")).collect();
            sentences.push(format!("labels were mapped: {}", pairs.join(", ")));
        } else if is_mapped {
            sentences.push(format!(
                "labels were mapped: {}–{} → 0–{}",
                self.classes.first().map_or(0, |class| class.0),
                self.classes.last().map_or(0, |class| class.0),
                self.classes.len() - 1
            ));
        }
        let counts = self.classes.iter().map(|class| class.1);
        let (min, max) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
        let each = if min == max { format!("{min}") } else { format!("{min} to {max}") };
        sentences.push(format!("{} classes of {each} records each", self.classes.len()));
        sentences.push(format!(
            "after a fixed shuffle, {trained} records are used for training and {held_out} are held out"
        ));
        sentences
    }
}
