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
    name: String,
    value: String,
}

impl FromStr for Value {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
        let names = ClientHeaders::VALUES.map(|it| it.0);
        if !names.contains(&name) {
            return Err(format!("no value is called {name:?}, only {}", names.join(", ")));
        }
        Ok(Self { name: name.to_owned(), value: value.to_owned() })
    }
}

impl ClientArgs {
    /// The headers; none if none of their values was named.
    pub(super) fn headers(&self) -> Vec<(&'static str, String)> {
        if self.client.is_empty() {
            return Vec::new();
        }
        let headers = ClientHeaders::new();
        let headers = self.client.iter().try_fold(headers, |all, it| all.with(&it.name, &it.value));
        headers.expect("because the names were checked when they were read").iter().collect()
    }
}
