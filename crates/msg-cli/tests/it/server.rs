//! A server on the loopback interface that answers JSON requests, for as long as the test lives.

use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::Value;

/// A request that was read, and the stream for the answer.
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) json: Value,
    pub(crate) stream: TcpStream,
}

/// Starts a server; gives its URL. Each request has a thread of its own.
pub(crate) fn serve(answer: impl Fn(Request) + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            thread::spawn(move || read(stream).map(answer));
        }
    });
    url
}

/// None if the client went away.
fn read(stream: TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length, mut line) = (String::new(), 0, String::new());
    while reader.read_line(&mut line).is_ok_and(|it| it > 2) {
        line.make_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { head, json: serde_json::from_slice(&body).unwrap(), stream })
}
