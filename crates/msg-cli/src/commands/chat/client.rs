//! The headers that name this client to the provider (OA-13): `--client-header project=P`.

use std::str::FromStr;

use msg_openai::ClientHeaders;

#[derive(Debug, Clone, clap::Args)]
pub(super) struct ClientArgs {
    /// Send the headers that name the client, with a value of your own: app, version, os, arch, project,
    /// session, request or client; may be repeated.
    #[arg(long = "client-header", value_name = "KEY=VALUE")]
    client: Vec<Value>,
}

/// A value of the headers.
#[derive(Debug, Clone)]
struct Value {
    set: Set,
    value: String,
}

/// Sets a value of the headers.
type Set = for<'a> fn(ClientHeaders<'a>, &'a str) -> ClientHeaders<'a>;

const KEYS: [(&str, Set); 8] = [
    ("app", |it, value| it.app(value)),
    ("version", |it, value| it.version(value)),
    ("os", |it, value| it.os(value)),
    ("arch", |it, value| it.arch(value)),
    ("project", |it, value| it.project(value)),
    ("session", |it, value| it.session(value)),
    ("request", |it, value| it.request(value)),
    ("client", |it, value| it.client(value)),
];

impl FromStr for Value {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
        let set = KEYS.iter().find(|it| it.0 == name).map(|it| it.1);
        let names = || KEYS.map(|it| it.0).join(", ");
        let set = set.ok_or_else(|| format!("no value is called {name:?}, only {}", names()))?;
        Ok(Self { set, value: value.to_owned() })
    }
}

impl ClientArgs {
    /// The headers; none if none of their values was named.
    pub(super) fn headers(&self) -> Vec<(&'static str, String)> {
        if self.client.is_empty() {
            return Vec::new();
        }
        let mut headers = ClientHeaders::new();
        for it in &self.client {
            headers = (it.set)(headers, &it.value);
        }
        headers.iter().collect()
    }
}
