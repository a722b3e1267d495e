//! Whether the names of what is released are ours: each registry is asked by its own client.
//!
//! A name that the table does not call published has to be free. One that is published has to be there, with an owner
//! of the table.

use std::process::Command;

use toml::Table;

use crate::Res;
use crate::workspace::Workspace;

const TABLE: &str = "xtask/names.toml";

/// A registry and its client.
struct Registry {
    name: &'static str,
    /// The command that shows a package; the name follows.
    show: &'static [&'static str],
    /// What the client says of a name that is free.
    free: &'static [&'static str],
    /// The command that lists the owners, where the client has one.
    owners: &'static [&'static str],
}

const REGISTRIES: &[Registry] = &[
    Registry {
        name: "crates.io",
        show: &["cargo", "info", "--quiet", "--registry", "crates-io"],
        free: &["could not find"],
        owners: &["cargo", "owner", "--list"],
    },
    Registry {
        name: "npm",
        show: &["npm", "view", "--json"],
        free: &["E404"],
        owners: &["npm", "owner", "ls"],
    },
    Registry {
        name: "PyPI",
        show: &["python3", "-m", "pip", "index", "versions"],
        free: &["No matching distribution found"],
        owners: &[],
    },
];

/// What a registry says of a name.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Free,
    Taken,
    /// It cannot be asked: the client is not there, or the network.
    Unknown(String),
}

/// Fails for a name that another has, and for one that the table lacks.
pub(super) fn check(workspace: &Workspace) -> Res {
    let table: Table = workspace.read(TABLE)?.parse()?;
    let published = listed(&table, "published");
    let owners = listed(&table, "owners");
    let mut bad = Vec::new();
    for registry in REGISTRIES {
        let names = match registry.name {
            "crates.io" => super::published_crates(workspace)?,
            _ => vec![super::DISTRIBUTION.to_owned()],
        };
        for name in names {
            let is_ours = published.contains(&format!("{}:{name}", registry.name));
            match (registry.ask(&name), is_ours) {
                (Answer::Free, false) => println!("{}: {name} is free", registry.name),
                (Answer::Taken, true) if registry.is_owned(&name, &owners) => {
                    println!("{}: {name} is ours", registry.name);
                }
                (Answer::Free, true) => {
                    bad.push(format!("{}: {name} is called published and is not", registry.name));
                }
                (Answer::Taken, _) => {
                    bad.push(format!("{}: {name} is taken by another", registry.name));
                }
                (Answer::Unknown(reason), _) => {
                    println!("{}: {name} was not looked up: {reason}", registry.name);
                }
            }
        }
    }
    if bad.is_empty() { Ok(()) } else { Err(bad.join("\n").into()) }
}

fn listed(table: &Table, name: &str) -> Vec<String> {
    let list = table.get(name).and_then(|it| it.as_array());
    let texts = list.into_iter().flatten().filter_map(|it| it.as_str());
    texts.map(str::to_owned).collect()
}

impl Registry {
    fn ask(&self, name: &str) -> Answer {
        match said(self.show, name) {
            Err(error) => Answer::Unknown(error),
            Ok((true, _)) => Answer::Taken,
            Ok((false, text)) => self.refused(&text),
        }
    }

    /// A client fails for a name that is free, and for a network that is not there.
    fn refused(&self, text: &str) -> Answer {
        let last = || text.trim().lines().last().unwrap_or_default().to_owned();
        match self.free.iter().any(|it| text.contains(it)) {
            true => Answer::Free,
            false => Answer::Unknown(last()),
        }
    }

    fn is_owned(&self, name: &str, owners: &[String]) -> bool {
        if self.owners.is_empty() {
            return true;
        }
        let found = said(self.owners, name).map(|it| it.1).unwrap_or_default();
        let mut words = found.split_whitespace();
        words.any(|it| owners.iter().any(|owner| owner == it))
    }
}

/// Whether a command succeeds for a name, and all that it prints. It runs outside of the workspace, whose packages
/// cargo would find first.
fn said(command: &[&str], name: &str) -> Result<(bool, String), String> {
    let (program, args) = command.split_first().ok_or("no client")?;
    let output = Command::new(program)
        .args(args)
        .arg(name)
        .current_dir(std::env::temp_dir())
        .output()
        .map_err(|err| format!("{program} does not start: {err}"))?;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::{Answer, REGISTRIES};

    #[test]
    fn a_network_that_is_not_there_is_not_a_free_name() {
        let [crates, npm, pypi] = REGISTRIES else { panic!("three registries") };
        assert_eq!(crates.refused("error: could not find `x` in registry"), Answer::Free);
        assert_eq!(npm.refused("npm error code E404"), Answer::Free);
        assert_eq!(pypi.refused("ERROR: No matching distribution found for x"), Answer::Free);
        for it in REGISTRIES {
            let answer = it.refused("failed to resolve host\n");
            assert_eq!(answer, Answer::Unknown("failed to resolve host".to_owned()));
        }
    }
}
