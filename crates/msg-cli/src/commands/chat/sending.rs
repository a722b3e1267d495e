//! The thread that sends a request and reads what comes, asking again where the endpoint says later.

use std::io::{self, Read};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use ureq::BodyReader;

use crate::endpoint::{Endpoint, Unanswered};

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
