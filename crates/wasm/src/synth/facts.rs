//! What is known of faults, for switches.

use dpscope_report::record::page::{FaultFacts, FaultGroup, ImplementationFacts, PateGanFacts};
use dpscope_synth::{Fault, IMPLEMENTATIONS, Source};

pub(crate) fn facts() -> PateGanFacts {
    let fault = |fault: Fault| {
        let known = fault.description();
        FaultFacts {
            name: known.id,
            switch: known.switch.description().id,
            detector: known.detector.id(),
            says: known.sentence,
            needs_epsilon: fault.needs_epsilon(),
        }
    };
    let group = |source: Source| {
        let faults = Fault::ALL.into_iter().filter(|fault| fault.description().source == source);
        FaultGroup {
            name: source.name(),
            says: source.describes(),
            faults: faults.map(fault).collect(),
        }
    };
    let implementations = IMPLEMENTATIONS.iter().map(|implementation| ImplementationFacts {
        name: implementation.name,
        faults: implementation.switches().to_string(),
        published: implementation.published,
    });
    PateGanFacts {
        groups: Source::ALL.into_iter().map(group).collect(),
        implementations: implementations.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_in_one_group() {
        let facts = facts();
        let names: Vec<&str> =
            facts.groups.iter().flat_map(|group| &group.faults).map(|fault| fault.name).collect();
        assert_eq!(names, Fault::ALL.map(|fault| fault.description().id));
        assert!(facts.groups.iter().all(|group| !group.faults.is_empty()));
        let updated = &facts.implementations[2];
        assert_eq!((updated.name, &updated.faults[..]), ("updated", "O3,U1,U3,U4,U5"));
    }
}
