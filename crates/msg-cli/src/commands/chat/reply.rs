//! The reply of an endpoint while it comes, until it ends, falls silent or is stopped by Ctrl-C.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use msg_wire::{Assembled, StreamOptions, StreamReader};
use signal_hook::consts::SIGINT;

use super::show::Show;
use crate::endpoint::Endpoint;
use crate::families;

/// How often Ctrl-C is looked for while nothing comes.
const TICK: Duration = Duration::from_millis(100);

/// What the reading thread has to say.
enum Piece {
    Bytes(Vec<u8>),
    /// The reply is over.
    End,
    /// There is no reply, or it broke off.
    Broken(String),
}

/// Sends a request and shows the reply while it comes. What came before an interruption is given,
/// as interrupted; the error says why nothing came at all.
pub(super) fn receive(
    endpoint: Endpoint,
    body: Vec<u8>,
    silence: Duration,
    show: &mut Show,
) -> Result<Assembled, String> {
    let stop = stop_on_ctrl_c().map_err(|it| format!("Ctrl-C cannot be caught: {it}"))?;
    let mut reader = StreamReader::new(&families::ALL, StreamOptions::default());
    let (sender, pieces) = sync_channel(16);
    // The thread outlives an interruption, blocked in a read: nobody waits for it.
    thread::spawn(move || read(&endpoint, &body, &sender));
    let ended = take(&pieces, &mut reader, silence, &stop, show);
    let mut sink = |it: msg_core::StreamEvent<'_>| show.event(&it);
    let Err(why) = ended else { return Ok(reader.finish(&mut sink)) };
    let mut res = reader.interrupt(&mut sink);
    if res.choices.is_empty() && res.error.is_none() {
        return Err(why);
    }
    res.complete = false;
    Ok(res)
}

/// A flag that Ctrl-C sets; a second one ends the program as it always does.
fn stop_on_ctrl_c() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&stop))?;
    signal_hook::flag::register(SIGINT, Arc::clone(&stop))?;
    Ok(stop)
}

/// Feeds what comes to the reader; the error says why the reply is not whole.
fn take(
    pieces: &Receiver<Piece>,
    reader: &mut StreamReader,
    silence: Duration,
    stop: &AtomicBool,
    show: &mut Show,
) -> Result<(), String> {
    let mut last = Instant::now();
    while !reader.is_finished() {
        if stop.load(Ordering::Relaxed) {
            return Err("stopped".to_owned());
        }
        match pieces.recv_timeout(TICK) {
            Ok(Piece::Bytes(bytes)) => {
                reader.feed(&bytes, &mut |it| show.event(&it));
                last = Instant::now();
            }
            Ok(Piece::End) => return Ok(()),
            Ok(Piece::Broken(why)) => return Err(why),
            Err(RecvTimeoutError::Timeout) if last.elapsed() < silence => {}
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!("the endpoint was silent for {} s", silence.as_secs()));
            }
            Err(RecvTimeoutError::Disconnected) => return Err("the reply broke off".to_owned()),
        }
    }
    Ok(())
}

/// Reads a reply to its end, or until nobody wants more.
fn read(endpoint: &Endpoint, body: &[u8], sender: &SyncSender<Piece>) {
    let mut reply = match endpoint.post(body) {
        Ok(reply) => reply.into_body().into_reader(),
        Err(why) => return drop(sender.send(Piece::Broken(why))),
    };
    let mut block = vec![0; 16 << 10];
    loop {
        let piece = match reply.read(&mut block) {
            Ok(0) => Piece::End,
            Ok(n) => Piece::Bytes(block[..n].to_vec()),
            Err(it) if it.kind() == io::ErrorKind::Interrupted => continue,
            Err(it) => Piece::Broken(it.to_string()),
        };
        let is_last = !matches!(piece, Piece::Bytes(_));
        if sender.send(piece).is_err() || is_last {
            return;
        }
    }
}
