//! Faults that published implementations have, or could have, as named switches.

use std::fmt;
use std::str::FromStr;

/// Where a fault was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The authors' first implementation.
    Original,
    /// Their corrected implementation.
    Updated,
    /// synthcity.
    Synthcity,
    /// A reimplementation by the Alan Turing Institute.
    Turing,
    /// A library by Borealis AI.
    Borealis,
    /// SmartNoise.
    Smartnoise,
    /// In none of the published lists.
    Own,
}

impl Source {
    /// All of them.
    pub const ALL: [Source; 7] = [
        Source::Original,
        Source::Updated,
        Source::Synthcity,
        Source::Turing,
        Source::Borealis,
        Source::Smartnoise,
        Source::Own,
    ];

    /// A short name, as "turing".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Source::Original => "original",
            Source::Updated => "updated",
            Source::Synthcity => "synthcity",
            Source::Turing => "turing",
            Source::Borealis => "borealis",
            Source::Smartnoise => "smartnoise",
            Source::Own => "own",
        }
    }

    /// What it is, in words.
    #[must_use]
    pub const fn describes(self) -> &'static str {
        match self {
            Source::Original => "the authors' first implementation",
            Source::Updated => "their corrected implementation",
            Source::Synthcity => "a library of generators, synthcity",
            Source::Turing => "a reimplementation by the Alan Turing Institute",
            Source::Borealis => "a library by Borealis AI",
            Source::Smartnoise => "SmartNoise",
            Source::Own => "in none of the published lists",
        }
    }
}

/// A family of checks, each of which sees some faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detector {
    /// M1: rows that each teacher has access to.
    TeacherRows,
    /// M2: losses of teachers on their own rows; supports M1, and has no fault of its own.
    TeacherLosses,
    /// M3: moments of the accountant, and when it was asked.
    Moments,
    /// M4: noisy labels given the votes, and noise of training labels.
    LabelChannel,
    /// M5: what is released besides the rows; needs no run.
    ReleaseSchema,
    /// M6: what was computed from real rows without a noisy vote.
    Taint,
    /// M7: values of the rows, latent noise and age of the teachers.
    OutputValues,
}

impl Detector {
    /// The name, as "M3".
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Detector::TeacherRows => "M1",
            Detector::TeacherLosses => "M2",
            Detector::Moments => "M3",
            Detector::LabelChannel => "M4",
            Detector::ReleaseSchema => "M5",
            Detector::Taint => "M6",
            Detector::OutputValues => "M7",
        }
    }
}

/// What is known of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultDescription {
    /// The name, as "U1".
    pub id: &'static str,
    /// Where it was found.
    pub source: Source,
    /// The switch that it turns; itself, except where another implementation has the same fault.
    pub switch: Fault,
    /// The detector that must report it.
    pub detector: Detector,
    /// One sentence.
    pub sentence: &'static str,
}

macro_rules! faults {
    ($($id:ident $source:ident $switch:ident $detector:ident $sentence:literal;)*) => {
        /// A fault; its name is that of the description.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fault {
            $(#[doc = $sentence] $id,)*
        }

        impl Fault {
            /// All of them.
            pub const ALL: [Fault; [$(Fault::$id),*].len()] = [$(Fault::$id),*];

            /// What is known of it.
            #[must_use]
            pub const fn description(self) -> FaultDescription {
                match self {
                    $(Fault::$id => FaultDescription {
                        id: stringify!($id),
                        source: Source::$source,
                        switch: Fault::$switch,
                        detector: Detector::$detector,
                        sentence: $sentence,
                    },)*
                }
            }
        }
    };
}

faults! {
    O1 Original O1 Taint "One discriminator is trained on real rows, without teachers, student or accountant.";
    O2 Original O2 TeacherRows "Every teacher samples from all rows.";
    O3 Original O3 ReleaseSchema "Bounds of the columns are the extremes of the data.";
    O4 Original O4 LabelChannel "Gaussian noise is added to the labels that teachers are trained with, in place of noise on votes.";
    O5 Original O5 LabelChannel "As O4, with the standard deviation √(2 ln(1.25 (10 xor e)))/ε for δ = 10^−e.";
    O6 Original O6 ReleaseSchema "The generator is conditioned on the training labels, and the released labels are those of the real rows.";
    U1 Updated U1 TeacherRows "All teachers have the rows of the last one.";
    U2 Updated O3 ReleaseSchema "Bounds of the columns are the extremes of the data.";
    U3 Updated U3 LabelChannel "The Laplace noise has scale γ in place of 1/γ.";
    U4 Updated U4 OutputValues "Teachers are refitted from scratch in each iteration.";
    U5 Updated U5 OutputValues "Released numbers stay scaled.";
    S1 Synthcity S1 TeacherRows "Rows are divided among the teachers anew in each iteration.";
    S2 Synthcity S2 Moments "The data-dependent moment has e^(2γ(l − 1) + 1) in place of e^(2γl).";
    S3 Synthcity S3 ReleaseSchema "Columns are encoded by mixtures that are fitted to the data.";
    S4 Synthcity U4 OutputValues "Teachers are refitted from scratch in each iteration.";
    T1 Turing O1 Taint "One discriminator is trained on real rows, without teachers, student or accountant.";
    T2 Turing O2 TeacherRows "Every teacher samples from all rows.";
    T3 Turing O4 LabelChannel "Gaussian noise is added to the labels that teachers are trained with, in place of noise on votes.";
    T4 Turing T4 LabelChannel "As O4, with the standard deviation √(2 ln(1.25·10^δ))/ε.";
    T5 Turing T5 OutputValues "Released integers are truncated, not rounded.";
    B1 Borealis B1 Moments "The data-dependent moment lacks its logarithm.";
    B2 Borealis O3 ReleaseSchema "Bounds of the columns are the extremes of the data.";
    B3 Borealis U5 OutputValues "Released numbers stay scaled.";
    N1 Smartnoise B1 Moments "The data-dependent moment lacks its logarithm.";
    E1 Own E1 ReleaseSchema "As many rows are released as the data have.";
    E2 Own E2 TeacherRows "Rows are divided among the teachers by position.";
    E3 Own E3 Taint "The student is also trained on real rows.";
    E4 Own E4 Moments "Where half of the noisy labels of a step are 1, all become 0 and none is accounted for.";
    E5 Own E5 LabelChannel "One count of a vote has noise, and the accountant assumes both.";
    E6 Own E6 Moments "The accountant is asked after spending.";
    E7 Own E7 Moments "The data-dependent moment is used without its condition on q.";
    E8 Own E8 Moments "The data-dependent ε decides when to stop.";
    E9 Own E9 ReleaseSchema "δ is one over the number of rows.";
    E10 Own E10 Taint "The output is the best of many, chosen on real data.";
    E11 Own E11 OutputValues "The rows are sampled with another latent distribution than the training.";
    E12 Own E12 ReleaseSchema "The batch size depends on the number of rows.";
}

impl Fault {
    /// Whether it concerns when training stops, and so needs an ε at which to stop.
    #[must_use]
    pub const fn needs_epsilon(self) -> bool {
        matches!(self, Fault::E6 | Fault::E8)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.description().id)
    }
}

/// No fault has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no fault is named `{name}`; names are O1 to O6, U1 to U5, S1 to S4, T1 to T5, B1 to B3, N1 and E1 to E12"
)]
pub struct UnknownFault {
    /// The name.
    pub name: String,
}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(name: &str) -> Result<Self, UnknownFault> {
        let found = Fault::ALL.into_iter().find(|fault| fault.description().id == name);
        found.ok_or_else(|| UnknownFault { name: name.to_string() })
    }
}

/// The switches of a mechanism that are on. The faithful mechanism has none.
///
/// # Example
/// ```
/// use dpscope_synth::{Fault, FaultSet};
/// let faults: FaultSet = "U1,S4".parse()?;
/// assert!(faults.has(Fault::U4)); // the same switch
/// assert_eq!(faults.to_string(), "U1,U4");
/// # Ok::<(), dpscope_synth::UnknownFault>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "workload", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "workload", serde(try_from = "String", into = "String"))]
pub struct FaultSet(u64);

impl FaultSet {
    /// The faithful mechanism.
    pub const NONE: FaultSet = FaultSet(0);

    /// This set with a fault added.
    #[must_use]
    pub const fn with(self, fault: Fault) -> Self {
        FaultSet(self.0 | 1 << fault.description().switch as u64)
    }

    /// Whether the switch of a fault is on.
    #[must_use]
    pub const fn has(self, fault: Fault) -> bool {
        self.0 >> fault.description().switch as u64 & 1 == 1
    }

    /// The switches that are on.
    pub fn iter(self) -> impl Iterator<Item = Fault> {
        Fault::ALL.into_iter().filter(move |fault| self.0 >> *fault as u64 & 1 == 1)
    }
}

impl FromStr for FaultSet {
    type Err = UnknownFault;

    /// Names with commas between them; an empty text is the faithful mechanism.
    fn from_str(names: &str) -> Result<Self, UnknownFault> {
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.map(str::parse).try_fold(FaultSet::NONE, |set, fault| Ok(set.with(fault?)))
    }
}

impl TryFrom<String> for FaultSet {
    type Error = UnknownFault;

    fn try_from(names: String) -> Result<Self, UnknownFault> {
        names.parse()
    }
}

impl From<FaultSet> for String {
    fn from(faults: FaultSet) -> Self {
        faults.to_string()
    }
}

impl fmt::Display for FaultSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter().map(|fault| fault.to_string()).collect();
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_found_and_turns_its_switch_alone() {
        assert_eq!(Fault::ALL.len(), 36);
        for fault in Fault::ALL {
            let set: FaultSet = fault.to_string().parse().unwrap();
            let switch = fault.description().switch;
            assert_eq!(set.iter().collect::<Vec<_>>(), [switch]);
            assert_eq!(switch.description().switch, switch, "{fault}");
            assert_eq!(switch.description().sentence, fault.description().sentence, "{fault}");
            assert_eq!(switch.description().detector, fault.description().detector, "{fault}");
        }
        let switches = Fault::ALL.into_iter().filter(|fault| fault.description().switch == *fault);
        assert_eq!(switches.count(), 28);
    }

    #[test]
    fn sets_are_lists_of_names() {
        assert_eq!("".parse(), Ok(FaultSet::NONE));
        let set: FaultSet = " E12, T1".parse().unwrap();
        assert!(set.has(Fault::O1) && set.has(Fault::E12) && !set.has(Fault::E1));
        assert_eq!(set.to_string().parse(), Ok(set));
        let unknown = "U1,X9".parse::<FaultSet>().unwrap_err();
        assert!(unknown.to_string().starts_with("no fault is named `X9`"));
    }
}
