//! The lists of CONTRIBUTING, followed: a copy of the tree gets one sampler, one command, one finding and
//! one layer, the patches of `tests/additions`. That each patch touches the files of its list is a test of
//! the tree (`tests/repo/additions.rs`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::args::Arguments;
use crate::process::{cargo, in_root, output_of, root, shown, succeed, target_folder};

const FOLDER: &str = "tests/additions";
/// How the first lines of a patch state the exit code of a command that does not succeed.
const EXIT_CODE: &str = "exit code ";

/// Appended to the configuration of cargo: optimised, the program would take minutes more to compile.
const UNOPTIMISED: &str = "
[profile.dev]
opt-level = 0
debug = 0

[profile.dev.package]
dpscope-core.opt-level = 0
dpscope-shaders.opt-level = 0
dpscope-simulation.opt-level = 0
dpscope-synth.opt-level = 0
dpscope-train.opt-level = 0
matrixmultiply.opt-level = 0
";

const HELP: &str = "\
Add a sampler, command, finding and layer to a copy of the tree by the lists of CONTRIBUTING

Usage: cargo xtask lists [--refresh]

Options:
  --refresh  write the patches of tests/additions again, for the tree as it is now; compiles nothing

The first lines of a patch say what has to fail before all of it is applied, and what commands print
after that, with their exit code unless it is 0.
";

pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    let Some(mut arguments) = Arguments::parse_or_help(arguments, HELP) else {
        return Ok(());
    };
    let refresh = arguments.flag("--refresh");
    arguments.finish()?;
    let additions = additions()?;
    let copy = TreeCopy::new()?;
    if refresh { refresh_patches(&copy, &additions) } else { follow(&copy, &additions) }
}

/// Applies every patch, and checks what its first lines say.
fn follow(copy: &TreeCopy, additions: &[Addition]) -> Result<()> {
    for addition in additions {
        let last = addition.value("unseen without").map(|file| format!("--exclude={file}"));
        let Some(file) = addition.value("refused with only") else {
            copy.apply(addition, last.as_deref())?;
            continue;
        };
        copy.apply(addition, Some(&format!("--include={file}")))?;
        let why = addition.value("refused because").context("why is it refused?")?;
        let mut check = copy.cargo(&["check", "--quiet", "--workspace"]);
        println!("$ {}, which must fail with only {file}: {why}", shown(&check));
        let refusal = check.output().with_context(|| shown(&check))?;
        let said = String::from_utf8_lossy(&refusal.stderr);
        let is_refused = !refusal.status.success() && said.contains(why);
        ensure!(is_refused, "{addition}: with only {file}, `{why}` is not said, but {said}");
        copy.apply(addition, Some(&format!("--exclude={file}")))?;
    }
    let build = ["build", "--package", "dpscope", "--bin", "dpscope"];
    succeed(&mut copy.cargo(&build))?;
    for addition in additions {
        if let Some(file) = addition.value("unseen without") {
            ensure!(copy.check_answers(addition).is_err(), "{addition}: is seen without {file}");
            copy.apply(addition, Some(&format!("--include={file}")))?;
        }
    }
    succeed(&mut copy.cargo(&["check", "--workspace", "--all-targets"]))?;
    succeed(&mut copy.cargo(&build))?;
    additions.iter().try_for_each(|addition| copy.check_answers(addition))
}

/// Writes every patch as git has it after a merge with the tree.
fn refresh_patches(copy: &TreeCopy, additions: &[Addition]) -> Result<()> {
    for addition in additions {
        let before = output_of(copy.git().arg("write-tree"))?;
        copy.apply(addition, None)?;
        let mut diff = copy.git();
        diff.args(["diff", "--cached", "--full-index", "--no-renames", before.trim()]);
        let first: String = addition.first_lines().map(|line| format!("{line}\n")).collect();
        fs::write(&addition.patch, first + &output_of(&mut diff)?)?;
    }
    Ok(())
}

/// A patch, whose first lines git skips.
struct Addition {
    patch: PathBuf,
    text: String,
}

fn additions() -> Result<Vec<Addition>> {
    let folder = root().join(FOLDER);
    let entries = fs::read_dir(&folder).with_context(|| format!("no {FOLDER}"))?;
    let mut patches: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "patch"))
        .collect();
    patches.sort();
    let read = |patch: PathBuf| Ok(Addition { text: fs::read_to_string(&patch)?, patch });
    patches.into_iter().map(read).collect()
}

impl Addition {
    fn first_lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines().take_while(|line| !line.starts_with("diff "))
    }

    /// What follows `key: ` in the first lines.
    fn value(&self, key: &str) -> Option<&str> {
        self.first_lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
    }

    /// Commands of `dpscope`, each with lines that it prints, of which `exit code 2` is none.
    fn commands(&self) -> Vec<(&str, Vec<&str>)> {
        let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in self.first_lines().skip_while(|line| !line.starts_with("$ ")) {
            match (line.strip_prefix("$ dpscope "), commands.last_mut()) {
                (Some(words), _) => commands.push((words, Vec::new())),
                (None, Some((_, printed))) if !line.is_empty() => printed.push(line),
                _ => {}
            }
        }
        commands
    }
}

impl std::fmt::Display for Addition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.patch.file_name().unwrap_or_default().to_string_lossy())
    }
}

/// A copy of the tree with an index of its own; of what is compiled for it, dependencies stay for the next
/// time.
struct TreeCopy {
    folder: PathBuf,
    target: PathBuf,
}

impl TreeCopy {
    fn new() -> Result<Self> {
        let built = target_folder().join("lists");
        let copy = Self { folder: built.join("tree"), target: built.join("target") };
        if copy.folder.exists() {
            fs::remove_dir_all(&copy.folder)?;
        }
        let mut listed = in_root("git");
        listed.args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others"]);
        for path in output_of(listed.arg("--exclude-standard"))?.split_terminator('\0') {
            let (from, to) = (root().join(path), copy.folder.join(path));
            if from.is_file() {
                fs::create_dir_all(to.parent().unwrap_or(Path::new(".")))?;
                fs::copy(from, to)?;
            }
        }
        let config = copy.folder.join(".cargo/config.toml");
        fs::write(&config, fs::read_to_string(&config)? + UNOPTIMISED)?;
        output_of(copy.git().args(["init", "--quiet"]))?;
        // The merges of patches need the files that they were made for.
        let mut objects = in_root("git");
        objects.args(["-c", "safe.directory=*", "rev-parse", "--path-format=absolute"]);
        let objects = output_of(objects.args(["--git-path", "objects"]))?;
        fs::write(copy.folder.join(".git/objects/info/alternates"), objects)?;
        // Prose that others write next to that of a patch is no conflict.
        fs::write(copy.folder.join(".git/info/attributes"), "*.md merge=union\n")?;
        output_of(copy.git().args(["add", "--all"]))?;
        Ok(copy)
    }

    fn git(&self) -> Command {
        let mut git = in_root("git");
        git.current_dir(&self.folder);
        git
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut cargo = cargo();
        cargo.current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target).args(arguments);
        cargo
    }

    fn apply(&self, addition: &Addition, part: Option<&str>) -> Result<()> {
        let mut apply = self.git();
        apply.args(["apply", "--3way"]).args(part).arg(&addition.patch);
        let conflict = || format!("{addition}: the tree has moved; see {}", self.folder.display());
        output_of(&mut apply).map(drop).with_context(conflict)
    }

    /// Runs the commands of the addition, which print what it says, and exit as it says.
    fn check_answers(&self, addition: &Addition) -> Result<()> {
        let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for (words, printed) in addition.commands() {
            let program = format!("debug/dpscope{}", std::env::consts::EXE_SUFFIX);
            let mut command = Command::new(self.target.join(program));
            command.args(words.split(' ')).current_dir(self.folder.join(FOLDER));
            println!("$ dpscope {words}");
            let output = command.output()?;
            let text = [output.stdout, output.stderr].concat();
            let text = on_one_line(&String::from_utf8_lossy(&text));
            let code = output.status.code().map(|code| format!("{EXIT_CODE}{code}"));
            let stated = printed.iter().find(|line| line.starts_with(EXIT_CODE));
            let expected = stated.map_or_else(|| format!("{EXIT_CODE}0"), ToString::to_string);
            ensure!(
                code.as_ref() == Some(&expected),
                "{addition}: `dpscope {words}` has {code:?} where {expected} is stated: {text}"
            );
            for line in printed.iter().filter(|line| !line.starts_with(EXIT_CODE)) {
                ensure!(
                    text.contains(&on_one_line(line)),
                    "{addition}: `dpscope {words}` does not print `{line}`, but {text}"
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Addition;

    #[test]
    fn the_first_lines_say_what_is_checked() {
        let text = "Adds.\n\nrefused with only: a.rs\n\n$ dpscope bound x\nε ≤ 1\nproven\n$ dpscope x\n\n\
                    diff --git a/a.rs b/a.rs\n$ dpscope no\n";
        let addition = Addition { patch: "x.patch".into(), text: text.into() };
        assert_eq!(addition.value("refused with only"), Some("a.rs"));
        assert_eq!(addition.value("unseen without"), None);
        let expected = [("bound x", vec!["ε ≤ 1", "proven"]), ("x", vec![])];
        assert_eq!(addition.commands(), expected);
    }
}
