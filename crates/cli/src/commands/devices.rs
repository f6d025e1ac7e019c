//! `dpscope devices`: what can compute.

use serde::Serialize;

use crate::args::DevicesArgs;
use crate::failure::{Done, Exit};
use crate::report::{print, print_json};

#[derive(Serialize)]
struct Device {
    name: &'static str,
    kind: &'static str,
    threads: usize,
    instruction_set: &'static str,
    float_mode: &'static str,
}

#[derive(Serialize)]
struct Devices {
    schema: &'static str,
    devices: Vec<Device>,
}

pub(crate) fn run(args: &DevicesArgs) -> Done {
    let cpu = Device {
        name: "cpu",
        kind: "cpu",
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        instruction_set: dpscope_shaders::instruction_set(),
        float_mode: "exact",
    };
    if args.json {
        print_json(&Devices { schema: "dpscope.devices/1", devices: vec![cpu] })?;
    } else {
        let Device { name, threads, instruction_set, float_mode, .. } = cpu;
        let plural = if threads == 1 { "" } else { "s" };
        let about = format!("{threads} thread{plural}, {instruction_set}, float mode {float_mode}");
        print(&format!("{name}   {about}\n"))?;
    }
    Ok(Exit::Done)
}
