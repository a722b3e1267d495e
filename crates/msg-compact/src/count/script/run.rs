//! A run of characters of one class, and the table of prices (CP-53): what a class is, what a run of it costs, and
//! what a character costs that is in no run.

/// The run that the text ends in.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Run {
    pub(super) class: Class,
    len: u64,
    /// Of a word: letters beyond A–Z and a–z.
    extended: u64,
    /// Of a word: letters that are A–Z.
    upper: u64,
    /// Of a word: whether its last letter is A–Z.
    ends_upper: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Class {
    /// No run: characters that are priced one by one.
    #[default]
    None,
    Lower,
    Upper,
    Extended,
    Digit,
    Space,
    Break,
    Sign,
    /// U+0370–052F: Greek and Cyrillic.
    Greek,
    /// U+0590–08FF: Hebrew, Arabic and their neighbours.
    Hebrew,
}

impl Run {
    #[inline]
    pub(super) fn goes_on_with(&self, class: Class) -> bool {
        match class {
            // A word ends before an A–Z that follows a letter that is none.
            Class::Upper => self.class == Class::Lower && self.ends_upper,
            Class::Lower | Class::Extended => self.class == Class::Lower,
            other => self.class == other,
        }
    }

    #[inline]
    pub(super) fn extend(&mut self, class: Class, len: u64) {
        self.len += len;
        match class {
            Class::Upper => {
                self.class = Class::Lower;
                self.upper += len;
                self.ends_upper = true;
            }
            Class::Extended => {
                self.class = Class::Lower;
                self.extended += len;
                self.ends_upper = false;
            }
            other => {
                self.class = other;
                self.ends_upper = false;
            }
        }
    }

    /// Hundredths of a token (the table of CP-53).
    #[inline]
    pub(super) fn price(&self) -> u64 {
        let len = self.len;
        match self.class {
            Class::None => 0,
            Class::Lower | Class::Upper | Class::Extended => self.word_price(),
            Class::Digit => 145 * len.div_ceil(3),
            Class::Space => {
                if len == 1 {
                    20
                } else {
                    85
                }
            }
            Class::Break => 60,
            Class::Sign => 80 + 11 * (len - 1),
            Class::Greek => 80 + 20 * len,
            Class::Hebrew => 80 + 35 * len,
        }
    }

    #[inline]
    fn word_price(&self) -> u64 {
        let len = self.len;
        let is_capitals = self.upper == len && len >= 2;
        let letters = if is_capitals { capitals_price(len) } else { mixed_price(len) };
        letters + 55 * self.extended
    }
}

/// Price of a word of capitals, two at least.
pub(super) fn capitals_price(len: u64) -> u64 {
    90 + 10 * len
}

/// Price of any other word.
pub(super) fn mixed_price(len: u64) -> u64 {
    match len {
        ..=6 => 80,
        7..=9 => 100,
        _ => 120 + 10 * (len - 9),
    }
}

/// Price of a character of no class.
pub(super) const OTHER: u64 = 50;

/// The class of the runs that a character beyond ASCII belongs to.
pub(super) const fn run_class(code: u32) -> Class {
    match code {
        0x00C0..=0x024F | 0x1E00..=0x1EFF => Class::Extended,
        0x0370..=0x052F => Class::Greek,
        0x0590..=0x08FF => Class::Hebrew,
        _ => Class::None,
    }
}

/// The price of a character that is in no run.
pub(super) const fn price_of_one(code: u32) -> u64 {
    match code {
        0x0900..=0x10FF => 40,
        0x1100..=0x11FF | 0xAC00..=0xD7AF => 85,
        0x3000..=0x303F | 0xFF00..=0xFFEF => 30,
        0x3040..=0x30FF | 0x31F0..=0x31FF => 80,
        0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF => 90,
        0x0080..=0x00BF | 0x2000..=0x206F => 125,
        0x1F000..=0x1FFFF => 150,
        _ => OTHER,
    }
}

/// The class of each ASCII character.
pub(super) static ASCII: [Class; 128] = {
    let mut table = [Class::None; 128];
    let mut at = 0;
    while at < 128 {
        table[at] = match at as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b' ' | b'\t' => Class::Space,
            b'\r' | b'\n' => Class::Break,
            0x21..=0x7E => Class::Sign,
            _ => Class::None,
        };
        at += 1;
    }
    table
};

/// Prices of the characters of three bytes by their first two; 0 where the third decides, or a run.
pub(super) static WIDE: [u8; 1024] = {
    let mut table = [0; 1024];
    let mut block = 0;
    while block < table.len() {
        let first = (block as u32) << 6;
        let price = price_of_one(first);
        let mut n = 0;
        while n < 64
            && price_of_one(first + n) == price
            && matches!(run_class(first + n), Class::None)
        {
            n += 1;
        }
        if n == 64 {
            table[block] = price as u8;
        }
        block += 1;
    }
    table
};
