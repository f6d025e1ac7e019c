//! Findings about what the code behind recorded outputs did, in words.

use dpscope_core::adjacency::World;
use dpscope_core::audit::Finding;
use dpscope_core::format::rounded;
use dpscope_core::recorded::{OutputParameter, StepNoise};

use super::output_phase::{phase_in_words, step_number, steps_in_words, with_limits};
use crate::number::{counted, grouped};

/// The sentence of such a finding; none for any other.
pub(super) fn output_sentence(finding: &Finding) -> Option<String> {
    Some(match *finding {
        Finding::NoiseBelowStated { epochs, noise, stated, phases } => format!(
            "{}: less noise is added than the accountant assumes",
            other_noise(epochs, &noise, stated, phases)
        ),
        Finding::NoiseAboveStated { epochs, noise, stated, phases } => format!(
            "{}: more noise is added than stated, so the training leaks less than the attack assumes; pass the real noise multiplier",
            other_noise(epochs, &noise, stated, phases)
        ),
        Finding::NoiseDiffersByStep { found } => noise_of_steps(&found),
        Finding::NoNoiseAtSteps { epochs, step, steps, world } => {
            no_noise_at_steps(epochs, step, steps, world)
        }
        Finding::NoNoiseInEmptyBatches { zeros, outputs } => format!(
            "{} of {} outputs are exactly 0: no noise is added where a batch is empty, which shows \
             that it is; add noise in every step",
            grouped(zeros),
            grouped(outputs)
        ),
        Finding::NoiseDiffersByWorld { target, zero_out } => format!(
            "the noise has a standard deviation of {} C in the runs with the target record and of {} C \
             in those without: the same code should record both",
            rounded(target, 3),
            rounded(zero_out, 3)
        ),
        Finding::UsesDiffer { epochs, uses, stated } => format!(
            "the target takes part {} times per epoch{}, stated {}: {}",
            with_limits(&uses, 2),
            in_epochs(epochs),
            rounded(stated, 2),
            match uses.value > stated {
                true => "is it in the data twice?",
                false => "is it left out of some batches?",
            }
        ),
        Finding::OutputsScaled { epochs, factor, noise } => {
            let scaled = format!(
                "all outputs{} are {} times the stated scale",
                in_epochs(epochs),
                with_limits(&factor, digits(&factor))
            );
            match noise {
                None => format!("{scaled}: check clip_norm and the recording"),
                Some(noise) => format!(
                    "{scaled}, or only their noise has another standard deviation than stated, {} C; \
                     these runs cannot distinguish the two: check the noise multiplier, clip_norm, the \
                     recording, and whether batches are drawn as stated",
                    with_limits(&noise, digits(&noise))
                ),
            }
        }
        Finding::RecordsNotClipped { epochs, factor } => format!(
            "each record contributes up to {} C{}: gradients are not clipped per record",
            with_limits(&factor, digits(&factor)),
            in_epochs(epochs)
        ),
        Finding::OutputsDiffer { epochs, noise, stated, uses, size } => format!(
            "the outputs{} fit no single fault: noise {} C, stated {} C; uses per epoch {}; size of the \
             target {} C, stated 1 C: check the threat model, the clip norm and the recording",
            in_epochs(epochs),
            with_limits(&noise, 3),
            rounded(stated, 3),
            with_limits(&uses, 2),
            with_limits(&size, 2)
        ),
        _ => return None,
    })
}

fn other_noise(
    epochs: Option<[u32; 2]>,
    noise: &OutputParameter,
    stated: f64,
    phases: u32,
) -> String {
    let whose = match (epochs, phases) {
        (None, _) => "the noise".to_owned(),
        (Some(epochs), 0 | 1) => format!("the noise of {}", phase_in_words(epochs)),
        (Some(epochs), _) => {
            format!(
                "the noise differs in {phases} parts of the training; that of {}",
                phase_in_words(epochs)
            )
        }
    };
    format!(
        "{whose} has a standard deviation of {} C instead of the stated {} C",
        with_limits(noise, digits(noise)),
        rounded(stated, 3)
    )
}

fn no_noise_at_steps(
    epochs: Option<[u32; 2]>,
    step: u32,
    steps: u32,
    world: Option<World>,
) -> String {
    let first = step_number(step);
    let which = match (steps, epochs) {
        (1, Some(epochs)) => format!("the outputs of step {first} of {}", phase_in_words(epochs)),
        (1, None) => format!("the outputs of step {first}"),
        _ => format!("the outputs of {steps} steps{}, step {first} the first,", in_epochs(epochs)),
    };
    let whose = match world {
        None => "",
        Some(World::Target) => " of the runs with the target record",
        Some(World::ZeroOut) => " of the runs without the target record",
    };
    format!(
        "{which} equal their values without noise{whose}: these steps show whether the target is in \
         their batch; add noise in every step{}",
        match world {
            None => "",
            Some(_) => " of both",
        }
    )
}

fn noise_of_steps(found: &StepNoise) -> String {
    let StepNoise { step, last_step, noise, other_noise, steps } = found;
    format!(
        "the noise differs {}: its standard deviation is {} C at {}, but {} C at most other steps; \
         add the same noise in every step",
        match steps {
            0 => "between the steps of an epoch".to_owned(),
            _ => format!("at {}", counted(u64::from(*steps), "step")),
        },
        with_limits(noise, digits(noise)),
        steps_in_words([*step, *last_step]),
        rounded(*other_noise, 3)
    )
}

fn in_epochs(epochs: Option<[u32; 2]>) -> String {
    epochs.map_or(String::new(), |epochs| format!(" in {}", phase_in_words(epochs)))
}

/// Decimal places: more for small numbers.
fn digits(found: &OutputParameter) -> usize {
    if found.value < 0.05 { 5 } else { 3 }
}
