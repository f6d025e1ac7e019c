//! Runs in company, faithful traces, and what each fault changes.

use dpscope_core::adjacency::World;
use dpscope_core::random::stream_of;
use dpscope_synth::{Mechanism, Settings, Stop};

use crate::tables;

fn settings() -> Settings {
    let stop = Stop::Iterations(6);
    Settings { inverse_scale: 0.5, batch_size: 6, stop, rows: 8, ..Settings::default() }
}

#[test]
fn a_run_does_not_depend_on_its_company() {
    for faults in ["", "S1,O4", "O6,E10"] {
        let table = tables::mixed(23);
        let new = |seed| Mechanism::new(&table, 0, &settings(), faults.parse().unwrap(), seed);
        let mechanism = new(5).unwrap();
        let units: Vec<u64> = (0..21).rev().collect();
        let runs = mechanism.run(&units);
        assert_eq!(runs.iter().map(|run| run.trace.unit).collect::<Vec<_>>(), units);
        let alone = |unit: u64| mechanism.run(&[unit]).remove(0);
        assert!(runs.iter().all(|run| *run == alone(run.trace.unit)), "{faults}");
        assert_ne!(new(6).unwrap().run(&units[..1])[0].rows, runs[0].rows);
        assert_ne!(runs[0].rows, runs[2].rows);
        let threads = std::thread::scope(|scope| {
            let parts: Vec<_> =
                units.chunks(5).map(|units| scope.spawn(|| mechanism.run(units))).collect();
            parts.into_iter().flat_map(|part| part.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(threads, runs, "{faults}");
    }
}

#[test]
fn a_faithful_run_shows_no_trace_of_a_fault() {
    let table = tables::mixed(60);
    let faithful = Mechanism::new(&table, 0, &settings(), "".parse().unwrap(), 1).unwrap();
    for run in faithful.run(&[0, 1, 2, 3]) {
        let trace = &run.trace;
        let mut rows: Vec<u64> = trace.teacher_rows.concat();
        rows.sort_unstable();
        let world = run.trace.unit % 2;
        assert_eq!(rows, (world..60).collect::<Vec<_>>());
        assert_eq!(trace.iterations, 6);
        assert_eq!(trace.votes.votes.iter().sum::<u64>(), 6 * 5 * 6);
        assert_eq!(trace.votes.accounted, trace.votes.votes);
        assert_eq!((trace.label_noise.labels, trace.teacher_age), (0, 30));
        assert_eq!(trace.readers, [dpscope_synth::Reader::Teachers]);
        assert!((trace.training_latent - 1.0 / 3.0).abs() < 0.05);
        assert!((trace.output_latent - 1.0 / 3.0).abs() < 0.15);
        assert_eq!(run.rows.len(), 8);
        for row in run.rows.iter() {
            assert!((-10.0..=10.0).contains(&row[0]) && (0.0..=99.0).contains(&row[1]));
            assert!(row[1].fract() == 0.0 && [0.0, 1.0].contains(&row[2]));
        }
    }
    assert_eq!(faithful.release(World::Target), faithful.release(World::ZeroOut));
    let unit = stream_of(World::Target, 9);
    let [all, less] = [World::Target, World::ZeroOut].map(|w| faithful.teacher_rows(w, unit));
    assert_eq!(all.iter().zip(&less).filter(|(a, b)| a != b).count(), 1);
}
