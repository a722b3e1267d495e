//! Runs cargo-mutants over chosen mutants, in checkouts of what is committed that stay under `target/mutants` with what they have
//! compiled.

use std::path::PathBuf;
use std::sync::OnceLock;

use super::sample::{Sample, tally};
use super::{folder, program};
use crate::workspace::Workspace;
use crate::{Res, sh};

/// How many checkouts are tested at once.
const LANES: usize = 2;

pub(super) fn run_lanes(
    workspace: &Workspace,
    what: &[&str],
    all: &[String],
    chosen: &[String],
) -> Res<Sample> {
    let lanes = std::thread::scope(|scope| {
        let lane = |number: usize| {
            let own: Vec<&String> = chosen.iter().skip(number).step_by(LANES).collect();
            scope.spawn(move || {
                run_lane(workspace, number, what, all, &own).map_err(|it| it.to_string())
            })
        };
        let started: Vec<_> = (0..LANES).map(lane).collect();
        started.into_iter().map(|it| it.join()).collect::<Vec<_>>()
    });
    let mut res = Sample::default();
    for lane in lanes {
        let found = lane.map_err(|_| "a thread that runs mutants has panicked")??;
        res.killed.extend(found.killed);
        res.unviable.extend(found.unviable);
        res.survived.extend(found.survived);
    }
    Ok(res)
}

/// Runs some mutants in one checkout. Survivors do not fail the task: the table lists them.
fn run_lane(
    workspace: &Workspace,
    number: usize,
    what: &[&str],
    all: &[String],
    own: &[&String],
) -> Res<Sample> {
    if own.is_empty() {
        return Ok(Sample::default());
    }
    let tree = checkout(workspace, number)?;
    let output = folder()?.join(format!("out-{number}"));
    let _ = std::fs::remove_dir_all(&output);
    std::fs::create_dir_all(output.join("mutants.out"))?;
    // What is called caught is not tried.
    let others = all.iter().filter(|it| !own.contains(it));
    let others: String = others.flat_map(|it| [it, "\n"]).collect();
    std::fs::write(output.join("mutants.out/previously_caught.txt"), others)?;
    let place = output.display().to_string();
    let how = ["mutants", "--in-place", "--iterate", "--output", &place, "--timeout", "60"];
    let ran = sh::run(&tree, &program()?, &[&how, what].concat(), &[]);
    let outcomes = output.join("mutants.out/outcomes.json");
    if !outcomes.is_file() {
        return ran.map(|()| Sample::default());
    }
    Ok(tally(&serde_json::from_str(&std::fs::read_to_string(outcomes)?)?))
}

/// A checkout of what was committed when the program began, which keeps what it has compiled.
pub(super) fn checkout(workspace: &Workspace, number: usize) -> Res<PathBuf> {
    static HEAD: OnceLock<String> = OnceLock::new();
    let tree = folder()?.join(format!("tree-{number}"));
    let head = sh::read(&workspace.root, "git", &["rev-parse", "HEAD"])?;
    let head = HEAD.get_or_init(|| head.trim().to_owned()).as_str();
    if tree.join(".git").is_file() {
        sh::run(&tree, "git", &["checkout", "--quiet", "--force", "--detach", head], &[])?;
    } else {
        let place = tree.display().to_string();
        sh::run(&workspace.root, "git", &["worktree", "prune"], &[])?;
        let add = ["worktree", "add", "--quiet", "--detach", &place, head];
        sh::run(&workspace.root, "git", &add, &[])?;
    }
    Ok(tree)
}
