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
    key: Key,
    value: String,
}

#[derive(Debug, Clone, Copy)]
enum Key {
    App,
    Version,
    Os,
    Arch,
    Project,
    Session,
    Request,
    Client,
}

const KEYS: [(&str, Key); 8] = [
    ("app", Key::App),
    ("version", Key::Version),
    ("os", Key::Os),
    ("arch", Key::Arch),
    ("project", Key::Project),
    ("session", Key::Session),
    ("request", Key::Request),
    ("client", Key::Client),
];

impl FromStr for Value {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
        let key = KEYS.iter().find(|it| it.0 == name).map(|it| it.1);
        let names = || KEYS.map(|it| it.0).join(", ");
        let key = key.ok_or_else(|| format!("no value is called {name:?}, only {}", names()))?;
        Ok(Self { key, value: value.to_owned() })
    }
}

impl ClientArgs {
    /// The headers; none if none of their values was named.
    pub(super) fn headers(&self) -> Vec<(&'static str, String)> {
        if self.client.is_empty() {
            return Vec::new();
        }
        self.client.iter().fold(ClientHeaders::new(), with).iter().collect()
    }
}

fn with<'a>(headers: ClientHeaders<'a>, it: &'a Value) -> ClientHeaders<'a> {
    let value = it.value.as_str();
    match it.key {
        Key::App => headers.app(value),
        Key::Version => headers.version(value),
        Key::Os => headers.os(value),
        Key::Arch => headers.arch(value),
        Key::Project => headers.project(value),
        Key::Session => headers.session(value),
        Key::Request => headers.request(value),
        Key::Client => headers.client(value),
    }
}
