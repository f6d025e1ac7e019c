//! `dpscope devices`: lists compute devices.

mod args;

pub(crate) use args::DevicesArgs;

use dpscope_engine::gpu::{Adapter, AdapterFacts};
use dpscope_report::number::grouped;
use dpscope_report::record::{Device, DeviceFacts, Devices};
use dpscope_report::text::{Align, row, table};

use crate::args::DeviceChoice;
use crate::device::{INSTALL, found, kind, pick};
use crate::failure::{CommandResult, Exit};
use crate::output::{print_json, print_text};

pub(crate) fn run(args: &DevicesArgs) -> CommandResult {
    let adapters = found();
    let auto = pick(&DeviceChoice::Auto, &adapters)?.map(|adapter| adapter.facts().index);
    let mut devices = vec![cpu(auto.is_none())];
    devices.extend(adapters.iter().map(|adapter| gpu(adapter, auto)));
    if args.json {
        print_json(&Devices { schema: "dpscope.devices/1", devices })?;
    } else {
        print_text(&to_text(&devices))?;
    }
    Ok(Exit::Done)
}

fn cpu(auto: bool) -> Device {
    let about = DeviceFacts::Cpu {
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        instruction_set: dpscope_shaders::instruction_set(),
        float_mode: "exact",
    };
    Device { index: None, name: "cpu".to_owned(), kind: "cpu", auto, about }
}

fn gpu(adapter: &Adapter, auto: Option<usize>) -> Device {
    let AdapterFacts { index, name, backend, driver, hardware, .. } = adapter.facts().clone();
    let facts = adapter.facts();
    let about = DeviceFacts::Adapter {
        backend,
        driver,
        max_storage_binding_bytes: facts.max_storage_binding_bytes,
        max_workgroups: facts.max_workgroups,
        max_invocations: facts.max_invocations,
    };
    Device { index: Some(index), name, kind: kind(hardware), auto: auto == Some(index), about }
}

fn to_text(devices: &[Device]) -> String {
    let columns = [
        ("index", Align::Right),
        ("name", Align::Left),
        ("kind", Align::Left),
        ("auto", Align::Left),
        ("backend", Align::Left),
        ("about", Align::Left),
    ];
    let cells = |device: &Device| {
        let (backend, about) = match &device.about {
            DeviceFacts::Cpu { threads, instruction_set, float_mode } => {
                let plural = if *threads == 1 { "" } else { "s" };
                let about = format!("{threads} thread{plural}, {instruction_set}, {float_mode}");
                ("-", about)
            }
            DeviceFacts::Adapter {
                backend,
                driver,
                max_storage_binding_bytes,
                max_workgroups,
                ..
            } => {
                let binding = grouped(max_storage_binding_bytes >> 20);
                let workgroups = grouped(u64::from(*max_workgroups));
                let driver = if driver.is_empty() { "unnamed driver" } else { driver };
                let about = format!(
                    "{driver}; {binding} MiB per binding, {workgroups} workgroups per dimension"
                );
                (*backend, about)
            }
        };
        [
            device.index.map_or("-".to_owned(), |index| index.to_string()),
            device.name.clone(),
            device.kind.to_owned(),
            if device.auto { "yes" } else { "" }.to_owned(),
            backend.to_owned(),
            about,
        ]
    };
    let rows: Vec<_> = devices.iter().map(cells).collect();
    let mut out = table(&columns, &rows);
    if !devices.iter().any(|device| device.kind == "hardware") {
        out.push('\n');
        out.push_str(&row("no GPU", &format!("No hardware GPU was found: {INSTALL}.")));
    }
    out
}
