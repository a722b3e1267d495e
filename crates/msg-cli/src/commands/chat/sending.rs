//! The thread that sends a request and reads what comes, asking again where the endpoint says later.

use std::io::Read;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use std::{io, thread};

use msg_openai::ClientHeaders;
use signal_hook::consts::SIGINT;
use ureq::BodyReader;

use crate::endpoint::{Endpoint, Unanswered};
use crate::signals::is_ignored;
#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGTERM};

/// The longest that is waited before a request is sent again.
const LONGEST: Duration = Duration::from_secs(60);
/// The first wait where the endpoint names none; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(500);

/// What this thread has to say.
pub(super) enum Piece {
    Bytes(Vec<u8>),
    /// No reply so far; the request is repeated after a while.
    Waits(String, Duration),
    /// The reply is over.
    End,
    /// No reply, or a truncated one.
    Broken(String),
}

/// Sends a request and reads the reply to its end, or until the reader stops.
pub(super) fn send(endpoint: &Endpoint, body: &[u8], retries: u32, pieces: &SyncSender<Piece>) {
    match answered(endpoint, body, retries, pieces) {
        Ok(reply) => read(endpoint, reply, pieces),
        Err(why) => drop(pieces.send(Piece::Broken(why))),
    }
}

/// The reply, asked for again while the endpoint says later.
fn answered(
    endpoint: &Endpoint,
    body: &[u8],
    retries: u32,
    pieces: &SyncSender<Piece>,
) -> Result<BodyReader<'static>, String> {
    for tried in 0.. {
        let (why, after) = match endpoint.post(body) {
            Ok(reply) => return Ok(reply.into_body().into_reader()),
            Err(Unanswered::Later { what, after }) if tried < retries => (what, after),
            Err(it) => return Err(it.to_string()),
        };
        let pause = after.unwrap_or_else(|| (FIRST * 2u32.saturating_pow(tried)).min(LONGEST));
        if pause > LONGEST {
            return Err(format!(
                "{why}; it is to be asked again in {} s, and {} s are the longest that is waited",
                pause.as_secs(),
                LONGEST.as_secs()
            ));
        }
        if pieces.send(Piece::Waits(why, pause)).is_err() {
            break;
        }
        thread::sleep(pause);
    }
    Err("the reader of the reply is gone".to_owned())
}

fn read(endpoint: &Endpoint, mut reply: BodyReader<'static>, pieces: &SyncSender<Piece>) {
    let mut block = vec![0; 16 << 10];
    let mut masking = endpoint.masking();
    loop {
        let piece = match reply.read(&mut block) {
            Ok(0) => {
                let _ = pieces.send(Piece::Bytes(masking.rest_of_bytes()));
                Piece::End
            }
            // Before anything is read from it, so that no member of the reply holds the key.
            Ok(n) => Piece::Bytes(masking.bytes(&block[..n])),
            Err(it) if it.kind() == io::ErrorKind::Interrupted => continue,
            Err(it) => Piece::Broken(endpoint.masked(it.to_string())),
        };
        let is_last = !matches!(piece, Piece::Bytes(_));
        if pieces.send(piece).is_err() || is_last {
            return;
        }
    }
}

// The headers that name this client to the provider (OA-13): `--client-header project=P`.

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

// Whether somebody wants the run to end: Ctrl-C, or a signal that ends programs.
//
// The first one is a wish, so that what has come can be kept; a second one ends the program as it
// always does. A signal that whoever started the program chose to ignore (`nohup`) stays ignored.

#[cfg(unix)]
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
#[cfg(not(unix))]
const SIGNALS: [i32; 1] = [SIGINT];

/// A wish to end.
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Catches the signals from now on.
    pub(super) fn on_signals() -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in SIGNALS.into_iter().filter(|it| !is_ignored(*it)) {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))?;
            signal_hook::flag::register(signal, Arc::clone(&stop))?;
        }
        Ok(Self(stop))
    }

    /// Whether a signal came.
    pub(super) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
