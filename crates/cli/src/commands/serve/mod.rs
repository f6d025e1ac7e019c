//! `dpscope serve`: serves the web app on loopback only.
//!
//! Written by hand: tiny_http and its like have no deadline for a request, so slow clients would hold
//! their threads instead of receiving 408.

mod args;
mod connection;
mod request;
mod site;

pub(crate) use args::ServeArgs;

use std::io::IsTerminal;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use dpscope_report::record::Serving;

use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print, print_json, print_note};
use connection::answer;
use site::Site;

/// The default port, fixed so that links and bookmarks stay valid.
const PORT: u16 = 8417;

/// Most simultaneous connections; browsers open six.
const MAX_CONNECTIONS: usize = 64;

pub(crate) fn run(args: &ServeArgs) -> CommandResult {
    let site = match &args.dir {
        Some(folder) => Site::folder(folder)?,
        None => Site::embedded()?,
    };
    let (listener, port) = listen(args.port)?;
    let (stop, stopped) = mpsc::channel();
    // If no handler can be set, Ctrl-C ends the program at once, which loses nothing; the second sender
    // keeps `recv` waiting then.
    let _other = stop.clone();
    let _ = ctrlc::set_handler(move || {
        let _ = stop.send(());
    });
    let site = Arc::new(site);
    let open = Arc::new(AtomicUsize::new(0));
    let same_port = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).ok();
    for listener in [Some(listener), same_port].into_iter().flatten() {
        let (site, open) = (Arc::clone(&site), Arc::clone(&open));
        std::thread::spawn(move || accept(&listener, port, &site, &open));
    }

    let url = format!("http://127.0.0.1:{port}/");
    if args.json {
        print_json(&Serving { schema: "dpscope.serve/1", url: url.clone(), port })?;
    } else {
        print(&format!("{url}\n"))?;
    }
    if std::io::stderr().is_terminal() {
        print_note("press Ctrl-C to stop");
    }
    if !args.no_open && has_display() && !open_browser(&url) {
        print_note("cannot open a browser; open the address above");
    }
    let _ = stopped.recv();
    Ok(Exit::Done)
}

fn listen(port: Option<u16>) -> Result<(TcpListener, u16), Failure> {
    let bind = |port: u16| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let listener = match port {
        Some(port) => bind(port).map_err(|error| {
            Failure::input(format!("--port {port}: {error}; choose another port"))
        }),
        None => bind(PORT)
            .or_else(|_| bind(0))
            .map_err(|error| Failure::with(Exit::Internal, format!("no free port: {error}"))),
    }?;
    let port = listener.local_addr().map_err(|error| Failure::with(Exit::Internal, error))?.port();
    Ok((listener, port))
}

fn accept(listener: &TcpListener, port: u16, site: &Arc<Site>, open: &Arc<AtomicUsize>) {
    loop {
        let Ok((stream, _)) = listener.accept() else {
            // A temporary error, for example too many open files.
            std::thread::park_timeout(Duration::from_millis(50));
            continue;
        };
        if open.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
            open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (site, count) = (Arc::clone(site), Arc::clone(open));
        let work = move || {
            answer(stream, port, &site);
            count.fetch_sub(1, Ordering::SeqCst);
        };
        if std::thread::Builder::new().spawn(work).is_err() {
            open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Whether a browser could open on this machine.
fn has_display() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

fn open_browser(url: &str) -> bool {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(url);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
