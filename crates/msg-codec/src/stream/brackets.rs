//! Follows the brackets of argument text while it arrives, so that it is known when a call's
//! object has ended without ever parsing it again (OA-19). It judges nothing.

use memchr::memchr2;

/// Where in a JSON text its reader stands, fragment by fragment.
#[derive(Debug, Clone, Default)]
pub struct Brackets {
    depth: usize,
    in_string: bool,
    escaped: bool,
    closed: bool,
}

impl Brackets {
    /// Whether one top-level object or array has ended.
    pub fn closed(&self) -> bool {
        self.closed
    }

    /// Takes the next fragment. Each byte is looked at once.
    pub fn feed(&mut self, fragment: &[u8]) {
        let mut rest = fragment;
        while let Some((&byte, behind)) = rest.split_first() {
            if self.escaped {
                self.escaped = false;
                rest = behind;
            } else if self.in_string {
                rest = self.pass_string(rest);
            } else {
                self.bracket(byte);
                rest = behind;
            }
        }
    }

    /// Passes over a string's inside up to and with the byte that changes something.
    fn pass_string<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(at) = memchr2(b'"', b'\\', bytes) else {
            return &[];
        };
        self.escaped = bytes[at] == b'\\';
        self.in_string = self.escaped;
        &bytes[at + 1..]
    }

    fn bracket(&mut self, byte: u8) {
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                self.closed |= self.depth == 0;
            }
            _ => {}
        }
    }
}
