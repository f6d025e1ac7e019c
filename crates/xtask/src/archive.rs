//! `cargo xtask archive`: archives of the program for each platform, and an image.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;

use crate::args::Arguments;
use crate::notices::{self, LIBRARY, Linked, NOTICES};
use crate::process::{
    cargo, cargo_home, for_release, in_root, output_of, root, succeed, target_folder,
};
use crate::toolchain::ensure_target;
use crate::trial::{self, Start};
use crate::wheel::PROGRAM;
use crate::{web, zig};

const HELP: &str = "\
Archives of the program, each with completions, manual pages, licences and notices of third parties

Usage: cargo xtask archive [--target TRIPLE]… [--built] [--image]

Options:
  --target TRIPLE  one of the targets below; otherwise all of them
  --built          take web/dist as it is; otherwise `cargo xtask web` builds it
  --image          also an OCI image from scratch with the program for this machine's processor;
                   needs buildah

On Linux, zig links for every Linux, and for Windows with the libraries of MinGW. Programs for another
processor or system run under qemu-user or Wine, where these are installed, and must print the numbers of
the first one. A target that cannot be linked on this machine is only compiled, and named as such.
Archives and SHA256SUMS are written to target/archives.
";

/// Platforms of the releases.
const TARGETS: [Target; 8] = [
    Target { triple: "x86_64-unknown-linux-gnu", system: "linux" },
    Target { triple: "aarch64-unknown-linux-gnu", system: "linux" },
    Target { triple: "x86_64-unknown-linux-musl", system: "linux" },
    Target { triple: "aarch64-unknown-linux-musl", system: "linux" },
    Target { triple: "x86_64-pc-windows-gnu", system: "windows" },
    Target { triple: "x86_64-pc-windows-msvc", system: "windows" },
    Target { triple: "x86_64-apple-darwin", system: "macos" },
    Target { triple: "aarch64-apple-darwin", system: "macos" },
];

const SHELLS: [(&str, &str); 5] = [
    ("bash", "dpscope.bash"),
    ("zsh", "_dpscope"),
    ("fish", "dpscope.fish"),
    ("powershell", "dpscope.ps1"),
    ("elvish", "dpscope.elv"),
];

/// Files of the root that every archive has.
const DOCUMENTS: [&str; 5] =
    ["README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE-APACHE", "LICENSE-MIT"];

struct Target {
    triple: &'static str,
    system: &'static str,
}

impl Target {
    /// Whether zig links the program on this machine, for either processor.
    fn is_linked_by_zig(&self) -> bool {
        let is_of_zig = self.system == "linux" || self.triple.ends_with("-windows-gnu");
        cfg!(target_os = "linux") && is_of_zig
    }

    /// Whether this machine links the program.
    fn is_linked_here(&self) -> bool {
        let is_own = self.system == std::env::consts::OS && !self.triple.ends_with("-windows-gnu");
        is_own || self.is_linked_by_zig()
    }

    /// Whether this machine runs the program.
    fn runs_here(&self) -> bool {
        self.system == std::env::consts::OS && self.processor() == std::env::consts::ARCH
    }

    /// How this machine starts the program.
    fn start(&self) -> Result<Start> {
        if self.runs_here() {
            return Ok(Start::Directly);
        }
        let program = self.program();
        match self.system {
            "windows" => Start::by_wine(&program),
            _ => Start::by_qemu(&program, self.processor(), self.is_static()),
        }
    }

    fn processor(&self) -> &'static str {
        self.triple.split('-').next().unwrap_or_default()
    }

    /// Whether the program needs no library of the system.
    fn is_static(&self) -> bool {
        self.triple.ends_with("-musl")
    }

    fn program_name(&self) -> &'static str {
        if self.system == "windows" { "dpscope.exe" } else { "dpscope" }
    }

    fn program(&self) -> PathBuf {
        target_folder().join(self.triple).join("release").join(self.program_name())
    }

    /// Builds the program, or compiles it where it cannot be linked.
    fn build(&self) -> Result<()> {
        if self.is_linked_by_zig() {
            return zig::build(&PROGRAM[..3], self.triple);
        }
        ensure_target(self.triple)?;
        let task = if self.is_linked_here() { "build" } else { "check" };
        let mut build = cargo();
        build.args([task, "--release", "--locked", "-p", "dpscope", "--target", self.triple]);
        succeed(for_release(&mut build))
    }
}

pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    let names = TARGETS.map(|target| format!("  {}\n", target.triple)).concat();
    let help = format!("{HELP}\nTargets:\n{names}");
    let Some(mut arguments) = Arguments::parse_or_help(arguments, &help) else {
        return Ok(());
    };
    let is_built = arguments.flag("--built");
    let has_image = arguments.flag("--image");
    let targets = selected(&arguments.values("--target")?)?;
    arguments.finish()?;
    if !is_built {
        web::run(Vec::new())?;
    }
    web::check_app(&root().join("web/dist"))?;

    targets.iter().try_for_each(|target| target.build())?;
    let folder = target_folder().join("archives");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    let documents = documents(&folder.join("documents"), &targets)?;
    let mut sums = String::new();
    let mut numbers = Vec::new();
    for target in &targets {
        if !target.is_linked_here() {
            println!("{}: compiled, not linked on this machine", target.triple);
            continue;
        }
        let path = write(target, &documents, &folder)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let megabytes = fs::metadata(&path)?.len() as f64 / 1e6;
        let program = fs::read(target.program())?;
        ensure!(!names_home(&program), "{name}: the program names cargo's folder of this machine");
        let ran = trial::run(&target.program(), &target.start()?, &mut numbers)?;
        println!("{name}: {megabytes:.1} MB{}; {ran}", requirement(&program));
        sums.push_str(&format!("{}  {name}\n", digest(&path)?));
    }
    fs::write(folder.join("SHA256SUMS"), sums)?;
    if has_image {
        image(&targets, &folder)?;
    }
    fs::remove_dir_all(folder.join("documents"))?;
    Ok(())
}

fn selected(names: &[String]) -> Result<Vec<&'static Target>> {
    let find = |name: &String| {
        let known = TARGETS.iter().find(|target| target.triple == name);
        known.with_context(|| format!("no target `{name}` (see --help)"))
    };
    if names.is_empty() { Ok(TARGETS.iter().collect()) } else { names.iter().map(find).collect() }
}

/// Names in an archive, with the files that have their content.
type Files = Vec<(String, PathBuf)>;

/// Documents of the root, notices, completions and manual pages, in the order of their names.
fn documents(folder: &Path, targets: &[&Target]) -> Result<Files> {
    let Some(program) = targets.iter().find(|target| target.runs_here()) else {
        bail!("completions come from a program that runs here; pass a --target that does")
    };
    let program = program.program();
    let mut files: Files = DOCUMENTS.map(|name| (name.to_owned(), root().join(name))).into();
    let (scripts, pages) = (folder.join("completions"), folder.join("man"));
    fs::create_dir_all(&scripts).with_context(|| scripts.display().to_string())?;
    for (shell, name) in SHELLS {
        let script = output_of(in_root(&program).args(["completions", shell]))?;
        fs::write(scripts.join(name), script)?;
        files.push((format!("completions/{name}"), scripts.join(name)));
    }
    output_of(in_root(&program).arg("man-pages").arg(&pages))?;
    let linked: Vec<Linked<'_>> =
        targets.iter().map(|target| Linked { package: "dpscope", target: target.triple }).collect();
    notices::write(&linked, folder)?;
    files.extend([NOTICES, LIBRARY].map(|name| (name.to_owned(), folder.join(name))));
    for page in fs::read_dir(&pages)? {
        let page = page?;
        files.push((format!("man/{}", page.file_name().to_string_lossy()), page.path()));
    }
    files.sort();
    Ok(files)
}

/// Writes the archive of a target: a folder of its name, with the program.
fn write(target: &Target, documents: &[(String, PathBuf)], folder: &Path) -> Result<PathBuf> {
    let stem = format!("dpscope-{}-{}", env!("CARGO_PKG_VERSION"), target.triple);
    let program = (target.program_name().to_owned(), target.program());
    if target.is_static() {
        ensure!(is_static(&fs::read(&program.1)?), "{} is not static", program.1.display());
    }
    let files = [program].into_iter().chain(documents.iter().cloned()).map(|(name, path)| {
        let content = fs::read(&path).with_context(|| path.display().to_string())?;
        Ok((format!("{stem}/{name}"), content))
    });
    let files: Vec<(String, Vec<u8>)> = files.collect::<Result<_>>()?;
    let (path, bytes) = if target.system == "windows" {
        (folder.join(format!("{stem}.zip")), zipped(&files)?)
    } else {
        (folder.join(format!("{stem}.tar.gz")), tarred(&files)?)
    };
    fs::write(&path, bytes).with_context(|| path.display().to_string())?;
    Ok(path)
}

/// Whether an ELF program needs no loader.
fn is_static(program: &[u8]) -> bool {
    let names_a_loader = |name: &[u8]| program.windows(name.len()).any(|window| window == name);
    program.starts_with(b"\x7fELF")
        && !names_a_loader(b"/ld-musl-")
        && !names_a_loader(b"/ld-linux-")
}

/// The newest glibc whose symbols a program uses, in words; nothing where it uses none.
fn requirement(program: &[u8]) -> String {
    const MARK: &[u8] = b"GLIBC_2.";
    let versions = program.windows(MARK.len() + 2).filter(|window| window.starts_with(MARK));
    let minor = versions.filter_map(|window| {
        let digits = window[MARK.len()..].iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold(None, |sum, byte| Some(10 * sum.unwrap_or(0) + u32::from(byte - b'0')))
    });
    minor.max().map_or(String::new(), |minor| format!(", needs glibc 2.{minor} or newer"))
}

fn names_home(program: &[u8]) -> bool {
    cargo_home().is_some_and(|home| {
        let home = home.as_os_str().as_encoded_bytes();
        !home.is_empty() && program.windows(home.len()).any(|window| window == home)
    })
}

/// The first file is a program. Times and owners are fixed, so that the same files give the same
/// bytes.
fn tarred(files: &[(String, Vec<u8>)]) -> Result<Vec<u8>> {
    let compressed = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    let mut archive = tar::Builder::new(compressed);
    for (place, (name, content)) in files.iter().enumerate() {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(if place == 0 { 0o755 } else { 0o644 });
        header.set_mtime(0);
        archive.append_data(&mut header, name, &content[..])?;
    }
    Ok(archive.into_inner()?.finish()?)
}

fn zipped(files: &[(String, Vec<u8>)]) -> Result<Vec<u8>> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(name, SimpleFileOptions::default())?;
        archive.write_all(content)?;
    }
    Ok(archive.finish()?.into_inner())
}

fn digest(path: &Path) -> Result<String> {
    let (mut hash, mut file, mut buffer) = (Sha256::new(), File::open(path)?, vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Builds the image and runs an audit in it.
fn image(targets: &[&Target], folder: &Path) -> Result<()> {
    let Some(target) = targets.iter().find(|target| target.runs_here() && target.is_static())
    else {
        bail!("an image needs a static program that runs here; pass the --target with musl");
    };
    let context = folder.join("image");
    fs::create_dir_all(&context)?;
    let licences = ["LICENSE-APACHE", "LICENSE-MIT"].map(|name| root().join(name));
    let notices = [NOTICES, LIBRARY].map(|name| folder.join("documents").join(name));
    for path in [target.program()].into_iter().chain(licences).chain(notices) {
        fs::copy(&path, context.join(path.file_name().unwrap_or_default()))?;
    }
    let name = format!("dpscope:{}", env!("CARGO_PKG_VERSION"));
    let file = root().join("crates/xtask/Containerfile");
    let isolated = ["--isolation", "chroot"];
    let mut build = in_root("buildah");
    build.arg("build").args(isolated).args(["--timestamp", "0", "--tag", &name, "--file"]);
    succeed(build.arg(file).arg(&context))?;
    let container = output_of(in_root("buildah").args(["from", &name]))?;
    let container = container.trim();
    let audit = ["/dpscope", "audit", "bgm", "--noise-multiplier", "1", "--steps", "100"];
    let mut run = in_root("buildah");
    run.arg("run").args(isolated).args([container, "--"]).args(audit);
    let audited = succeed(run.args(["--observations", "1e6", "--brief"]));
    output_of(in_root("buildah").args(["rm", container]))?;
    audited?;
    let path = folder.join(format!("dpscope-{}.oci.tar", env!("CARGO_PKG_VERSION")));
    let archive = format!("oci-archive:{}:{name}", path.display());
    succeed(in_root("buildah").args(["push", &name, &archive]))?;
    fs::remove_dir_all(&context)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{is_static, requirement, selected, tarred, zipped};

    fn files() -> Vec<(String, Vec<u8>)> {
        vec![("a/dpscope".to_owned(), vec![1; 5000]), ("a/man/dpscope.1".to_owned(), vec![2; 10])]
    }

    #[test]
    fn archives_hold_their_files_and_depend_on_these_alone() {
        let bytes = tarred(&files()).unwrap();
        assert_eq!(bytes, tarred(&files()).unwrap());
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..]));
        let seen: Vec<(String, u32, u64)> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let path = entry.path().unwrap().to_string_lossy().into_owned();
                (path, entry.header().mode().unwrap(), entry.size())
            })
            .collect();
        let expected = [("a/dpscope", 0o755, 5000), ("a/man/dpscope.1", 0o644, 10)];
        assert_eq!(seen, expected.map(|(name, mode, size)| (name.to_owned(), mode, size)));

        let bytes = zipped(&files()).unwrap();
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        let sizes = (0..archive.len()).map(|place| archive.by_index(place).unwrap().size());
        assert_eq!(sizes.collect::<Vec<_>>(), [5000, 10]);
    }

    #[test]
    fn a_program_that_names_a_loader_is_not_static() {
        assert!(is_static(b"\x7fELF and so on"));
        assert!(!is_static(b"\x7fELF /lib64/ld-linux-x86-64.so.2"));
        assert!(!is_static(b"\x7fELF /lib/ld-musl-aarch64.so.1"));
        assert!(!is_static(b"MZ"));
    }

    #[test]
    fn the_newest_glibc_is_named() {
        let program = b"GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.17\0GLIBC_PRIVATE\0";
        assert_eq!(requirement(program), ", needs glibc 2.34 or newer");
        assert_eq!(requirement(b"MZ"), "");
    }

    #[test]
    fn unknown_targets_are_refused_by_name() {
        let Err(error) = selected(&["x86_64-unknown-haiku".to_owned()]) else { panic!() };
        assert!(error.to_string().contains("haiku"), "{error}");
        assert_eq!(selected(&[]).unwrap().len(), 8);
    }
}
