//! `dpscope bench`: measures the throughput of each device.

mod args;
mod meter;
mod workload;

pub(crate) use args::BenchArgs;

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_engine::FloatMode;
use dpscope_engine::gpu::Adapter;
use dpscope_report::number::short;
use dpscope_report::record::{Bench, BenchRate, BenchRow};
use dpscope_report::text::{Align, row, table};
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Backend, Layout, Plan};

use self::meter::{Measurement, measure};
use self::workload::BenchPlan;
use crate::args::DeviceChoice;
use crate::device::{cpu, found, kind, open, pick};
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print_json, print_note, print_text};
use crate::progress::{is_drawn, is_interrupted};

pub(crate) fn run(args: &BenchArgs) -> CommandResult {
    let plan = plan(args)?.validated()?;
    let adapters = if args.device.device == DeviceChoice::Cpu { Vec::new() } else { found() };
    let chosen: Vec<&Adapter> = match &args.device.device {
        DeviceChoice::Auto => adapters.iter().filter(|adapter| adapter.facts().hardware).collect(),
        named => pick(named, &adapters)?.into_iter().collect(),
    };
    let cpu = cpu(&args.device)?;
    let layout = Layout::of(&plan, &cpu, &|| !is_interrupted())?;
    let work = BenchPlan { plan, layout, seconds: args.seconds };
    let modes = match args.device.float_mode {
        Some(mode) => vec![mode.into()],
        None => vec![FloatMode::Fast, FloatMode::Exact],
    };
    let mut rows = vec![cpu_row(args, &work, cpu)?];
    for adapter in chosen {
        for &mode in &modes {
            rows.push(gpu_row(args, &work, adapter, mode)?);
        }
    }
    compare(&mut rows);
    let report = Bench {
        schema: "dpscope.bench/1",
        version: env!("CARGO_PKG_VERSION"),
        mechanism: work.plan.plan().mechanism,
        normals_per_observation: work.plan.distribution().normals_per_observation(),
        seconds: args.seconds,
        rows,
    };
    if args.show.json {
        print_json(&report)?;
    } else {
        print_text(&to_text(&report))?;
    }
    Ok(Exit::Done)
}

/// A run too long to finish: the clock ends it.
fn plan(args: &BenchArgs) -> Result<Plan, Failure> {
    Ok(Plan {
        mechanism: args.mechanism.mechanism()?,
        observations: 1 << 53,
        delta: 1e-5,
        significance: 0.05,
        threshold_rule: ThresholdRule::Split,
        cuts: Plan::DEFAULT_CUTS,
        seed: 1,
        training: None,
    })
}

fn cpu_row(args: &BenchArgs, work: &BenchPlan, cpu: CpuBackend) -> Result<BenchRow, Failure> {
    announce(args, "cpu", FloatMode::Exact);
    let backend = Backend::Cpu(cpu);
    let measured = measure(work, &backend)?;
    let row = BenchRow {
        device: "cpu".to_owned(),
        description: backend.device().name,
        kind: "cpu",
        float_mode: backend.float_mode().to_string(),
        rate: None,
        problem: None,
    };
    Ok(with_rate(row, measured, work))
}

fn gpu_row(
    args: &BenchArgs,
    work: &BenchPlan,
    adapter: &Adapter,
    mode: FloatMode,
) -> Result<BenchRow, Failure> {
    let facts = adapter.facts();
    announce(args, &facts.name, mode);
    let mut row = BenchRow {
        device: facts.name.clone(),
        description: facts.device(),
        kind: kind(facts.hardware),
        float_mode: mode.to_string(),
        rate: None,
        problem: None,
    };
    let measured = open(adapter, mode, &args.device).and_then(|backend| {
        row.description = backend.device().name;
        measure(work, &backend)
    });
    match measured {
        Ok(measured) => Ok(with_rate(row, measured, work)),
        Err(failure) if failure.code == Exit::Interrupted => Err(failure),
        Err(failure) => Ok(BenchRow { problem: Some(format!("{:#}", failure.error)), ..row }),
    }
}

/// The row with what was measured.
fn with_rate(mut row: BenchRow, measured: Measurement, work: &BenchPlan) -> BenchRow {
    if measured.fallback_shards > 0 {
        let why = measured.warnings.join("; ");
        row.problem = Some(format!("fell back to the CPU: {why}"));
        return row;
    }
    let rate = measured.observations as f64 / (measured.elapsed_ms / 1e3);
    row.rate = Some(BenchRate {
        observations: measured.observations,
        elapsed_ms: measured.elapsed_ms,
        observations_per_second: rate,
        normals_per_second: rate * work.plan.distribution().normals_per_observation() as f64,
        ratio_to_cpu: 1.0,
    });
    row
}

/// Computes ratios to the first row, which is the CPU.
fn compare(rows: &mut [BenchRow]) {
    let rate = |row: &BenchRow| row.rate.as_ref().map(|rate| rate.observations_per_second);
    let Some(of_cpu) = rows.first().and_then(rate) else { return };
    for rate in rows.iter_mut().filter_map(|row| row.rate.as_mut()) {
        rate.ratio_to_cpu = rate.observations_per_second / of_cpu;
    }
}

fn announce(args: &BenchArgs, device: &str, mode: FloatMode) {
    if is_drawn(args.show.quiet) {
        print_note(&format!("measuring {device}, float mode {mode}"));
    }
}

fn to_text(report: &Bench) -> String {
    let columns = [
        ("device", Align::Left),
        ("float mode", Align::Left),
        ("normals/s", Align::Right),
        ("observations/s", Align::Right),
        ("vs. CPU", Align::Right),
    ];
    let cells = |row: &BenchRow| {
        let rate =
            |value: fn(&BenchRate) -> String| row.rate.as_ref().map_or("-".to_owned(), value);
        [
            row.device.clone(),
            row.float_mode.clone(),
            rate(|r| short(r.normals_per_second)),
            rate(|r| short(r.observations_per_second)),
            rate(|r| format!("{:.2}", r.ratio_to_cpu)),
        ]
    };
    let normals = report.normals_per_observation;
    let mut out = format!("{}: {normals} normals per observation\n\n", report.mechanism);
    out.push_str(&table(&columns, &report.rows.iter().map(cells).collect::<Vec<_>>()));
    out.push('\n');
    let mut described = "";
    for measured in &report.rows {
        if measured.description != described {
            out.push_str(&row(measured.kind, &measured.description));
            described = &measured.description;
        }
        if let Some(problem) = &measured.problem {
            out.push_str(&row("", &format!("float mode {}: {problem}", measured.float_mode)));
        }
    }
    out
}
