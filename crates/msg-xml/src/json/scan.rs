//! The grammar of JSON, byte by byte, with the repairs of XT-27: finds where a value ends. Builds nothing.

/// Where a scan stands after the bytes it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scan {
    More,
    /// One past the value.
    Done(usize),
    /// The first byte that fits no value.
    Error(usize),
    /// The bracket that is one too deep.
    Depth(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Value,
    /// After `[`.
    First,
    /// After a comma in an array.
    Next,
    /// After `{`.
    FirstKey,
    /// After a comma in an object.
    NextKey,
    Colon,
    After,
    Text,
    Escape,
    Hex(u8, u16),
    LowSlash,
    LowU,
    LowHex(u8, u16),
    Number(Num),
    Word(&'static str, u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Num {
    Minus,
    Zero,
    Int,
    Dot,
    Frac,
    Exp,
    ExpSign,
    ExpInt,
}

/// An incremental scan over one value; positions are the caller's.
#[derive(Clone, Debug)]
pub(crate) struct Scanner {
    pub(crate) start: usize,
    /// The next byte to read.
    pub(crate) at: usize,
    state: State,
    stack: Vec<u8>,
    max_depth: usize,
    key: bool,
    pub(crate) repaired: bool,
}

impl Scanner {
    pub(crate) fn new(start: usize, max_depth: usize) -> Self {
        Scanner {
            start,
            at: start,
            state: State::Value,
            stack: Vec::new(),
            max_depth,
            key: false,
            repaired: false,
        }
    }

    /// Reads on; `bytes` are what follows position `at`.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Scan {
        let mut i = 0;
        while i < bytes.len() {
            if self.state == State::Text {
                let n = bytes[i..]
                    .iter()
                    .position(|&b| b < 0x20 || b == b'"' || b == b'\\')
                    .unwrap_or(bytes.len() - i);
                i += n;
                self.at += n;
                if i == bytes.len() {
                    break;
                }
            }
            match self.byte(bytes[i]) {
                Step::Eat => {
                    i += 1;
                    self.at += 1;
                    if self.stack.is_empty() && self.state == State::After {
                        return Scan::Done(self.at);
                    }
                }
                Step::Again if self.stack.is_empty() => return Scan::Done(self.at),
                Step::Again => {}
                Step::Error => return Scan::Error(self.at),
                Step::Depth => return Scan::Depth(self.at),
            }
        }
        Scan::More
    }

    fn byte(&mut self, b: u8) -> Step {
        use State as S;
        let blank = matches!(b, b' ' | b'\t' | b'\r' | b'\n');
        match self.state {
            S::Value | S::First | S::Next | S::FirstKey | S::NextKey | S::Colon | S::After
                if blank =>
            {
                Step::Eat
            }
            S::First if b == b']' => self.close(b),
            S::Next if b == b']' => {
                self.repaired = true;
                self.close(b)
            }
            S::Value | S::First | S::Next => self.value(b),
            S::FirstKey if b == b'}' => self.close(b),
            S::NextKey if b == b'}' => {
                self.repaired = true;
                self.close(b)
            }
            S::FirstKey | S::NextKey if b == b'"' => {
                self.key = true;
                self.to(S::Text)
            }
            S::Colon if b == b':' => self.to(S::Value),
            S::After => match (b, self.stack.last()) {
                (b',', Some(b'[')) => self.to(S::Next),
                (b',', Some(b'{')) => self.to(S::NextKey),
                (b']' | b'}', _) => self.close(b),
                _ => Step::Error,
            },
            S::Text => self.text(b),
            S::Escape => match b {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.to(S::Text),
                b'u' => self.to(S::Hex(0, 0)),
                _ => Step::Error,
            },
            S::Hex(n, v) => match hex(b) {
                Some(d) if n < 3 => self.to(S::Hex(n + 1, v << 4 | d)),
                Some(d) => match v << 4 | d {
                    0xD800..=0xDBFF => self.to(S::LowSlash),
                    0xDC00..=0xDFFF => Step::Error,
                    _ => self.to(S::Text),
                },
                None => Step::Error,
            },
            S::LowSlash if b == b'\\' => self.to(S::LowU),
            S::LowU if b == b'u' => self.to(S::LowHex(0, 0)),
            S::LowHex(n, v) => match hex(b) {
                Some(d) if n < 3 => self.to(S::LowHex(n + 1, v << 4 | d)),
                Some(d) if (0xDC00..=0xDFFF).contains(&(v << 4 | d)) => self.to(S::Text),
                _ => Step::Error,
            },
            S::Number(num) => self.number(num, b),
            S::Word(word, n) => {
                if word.as_bytes().get(usize::from(n)) != Some(&b) {
                    return Step::Error;
                }
                if usize::from(n) + 1 == word.len() {
                    self.to(S::After)
                } else {
                    self.to(S::Word(word, n + 1))
                }
            }
            _ => Step::Error,
        }
    }

    fn to(&mut self, state: State) -> Step {
        self.state = state;
        Step::Eat
    }

    fn text(&mut self, b: u8) -> Step {
        match b {
            b'"' => {
                let next = if std::mem::take(&mut self.key) { State::Colon } else { State::After };
                self.to(next)
            }
            b'\\' => self.to(State::Escape),
            _ => {
                self.repaired |= b < 0x20;
                Step::Eat
            }
        }
    }

    fn value(&mut self, b: u8) -> Step {
        match b {
            b'{' | b'[' => {
                if self.stack.len() >= self.max_depth {
                    return Step::Depth;
                }
                self.stack.push(b);
                self.to(if b == b'{' { State::FirstKey } else { State::First })
            }
            b'"' => {
                self.key = false;
                self.to(State::Text)
            }
            b'-' => self.to(State::Number(Num::Minus)),
            b'0' => self.to(State::Number(Num::Zero)),
            b'1'..=b'9' => self.to(State::Number(Num::Int)),
            b't' => self.to(State::Word("true", 1)),
            b'f' => self.to(State::Word("false", 1)),
            b'n' => self.to(State::Word("null", 1)),
            b'T' | b'F' | b'N' => {
                self.repaired = true;
                self.to(State::Word(
                    if b == b'T' {
                        "True"
                    } else if b == b'F' {
                        "False"
                    } else {
                        "None"
                    },
                    1,
                ))
            }
            _ => Step::Error,
        }
    }

    fn number(&mut self, num: Num, b: u8) -> Step {
        let next = match (num, b) {
            (Num::Minus, b'0') => Num::Zero,
            (Num::Minus, b'1'..=b'9') | (Num::Int, b'0'..=b'9') => Num::Int,
            (Num::Zero | Num::Int, b'.') => Num::Dot,
            (Num::Dot | Num::Frac, b'0'..=b'9') => Num::Frac,
            (Num::Zero | Num::Int | Num::Frac, b'e' | b'E') => Num::Exp,
            (Num::Exp, b'+' | b'-') => Num::ExpSign,
            (Num::Exp | Num::ExpSign | Num::ExpInt, b'0'..=b'9') => Num::ExpInt,
            (Num::Zero | Num::Int | Num::Frac | Num::ExpInt, _) => {
                self.state = State::After;
                return Step::Again;
            }
            _ => return Step::Error,
        };
        self.to(State::Number(next))
    }

    fn close(&mut self, b: u8) -> Step {
        let open = if b == b']' { b'[' } else { b'{' };
        if self.stack.pop() != Some(open) {
            return Step::Error;
        }
        self.to(State::After)
    }
}

enum Step {
    Eat,
    Again,
    Error,
    Depth,
}

fn hex(b: u8) -> Option<u16> {
    char::from(b).to_digit(16).and_then(|d| u16::try_from(d).ok())
}
