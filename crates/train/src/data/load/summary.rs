/// How a file was read: what is there, what was kept, and where it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadSummary {
    /// The format that was found.
    pub format: &'static str,
    /// Records in the file.
    pub records: usize,
    /// Records whose class is not kept.
    pub other_classes: usize,
    /// The label in the file of each class, and how many records have it.
    pub classes: Vec<(u32, usize)>,
    /// Records to train on.
    pub trained: usize,
    /// Records held out.
    pub held_out: usize,
    /// How features are stored.
    pub features: &'static str,
}

impl LoadSummary {
    /// The same in sentences for a report.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let LoadSummary { format, records, trained, held_out, .. } = *self;
        let mut told = vec![format!("{format}: {records} records, features {}", self.features)];
        if self.other_classes > 0 {
            told.push(format!("{} records of other classes were dropped", self.other_classes));
        }
        let moved =
            self.classes.iter().enumerate().any(|(class, &(label, _))| class != label as usize);
        if moved && self.classes.len() <= 10 {
            let labels = self.classes.iter().enumerate();
            let shown: Vec<String> =
                labels.map(|(class, (label, _))| format!("{label} became {class}")).collect();
            told.push(format!("labels were mapped: {}", shown.join(", ")));
        } else if moved {
            told.push(format!(
                "labels were mapped: {} to {} became 0 to {}",
                self.classes.first().map_or(0, |class| class.0),
                self.classes.last().map_or(0, |class| class.0),
                self.classes.len() - 1
            ));
        }
        let counts = self.classes.iter().map(|class| class.1);
        let (least, most) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
        let each = if least == most { format!("{least}") } else { format!("{least} to {most}") };
        told.push(format!("{} classes of {each} records each", self.classes.len()));
        told.push(format!(
            "in a fixed shuffled order {trained} records are trained on and {held_out} held out"
        ));
        told
    }
}
