//! Prints the chains of the public bench of repair, one a line: every way of [`MUTATIONS`], twenty seeds each, in the
//! form of OpenAI. Ways that leave this chain as it was are left out.
//!
//! ```text
//! {"id":"result dropped/3","messages":[{"role":"user","content":"user 1"},…]}
//! ```

#![allow(clippy::disallowed_macros, reason = "a program that prints lines")]

use benches::mutations::{Dice, MUTATIONS, valid};
use msg_openai::{WriteOptions, chat};

const CHAINS: u64 = 20;

fn main() {
    for (name, mutation) in MUTATIONS {
        for seed in 0..CHAINS {
            let mut dice = Dice::new(seed);
            let sound = valid(&mut dice);
            let mut chain = sound.clone();
            mutation(&mut chain, &mut dice);
            if chain != sound {
                let messages =
                    String::from_utf8(chat::to_chat_messages(&chain, &WriteOptions::new()));
                let messages = messages.expect("because JSON is UTF-8");
                println!(r#"{{"id":"{name}/{seed}","messages":{messages}}}"#);
            }
        }
    }
}
