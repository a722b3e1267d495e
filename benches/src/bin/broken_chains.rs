//! Prints the chains of the public bench of repair, one a line: every way of [`MUTATIONS`](benches::mutations::MUTATIONS), twenty seeds each, in the
//! form of OpenAI. Ways that leave this chain as it was are left out.
//!
//! ```text
//! {"id":"result dropped/3","messages":[{"role":"user","content":"user 1"},…]}
//! ```

#![allow(clippy::disallowed_macros, reason = "a program that prints lines")]

fn main() {
    for (name, messages) in benches::mutations::broken() {
        println!(r#"{{"id":"{name}","messages":{messages}}}"#);
    }
}
