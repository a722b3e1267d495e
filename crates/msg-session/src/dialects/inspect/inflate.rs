//! Inflating a deflated file (RFC 1951), into no more bytes than the archive says that it has.

/// Unpacks; fails at the first thing that is not right.
pub(super) fn inflate(packed: &[u8], size: usize) -> Result<Vec<u8>, &'static str> {
    let mut bits = Bits { bytes: packed, at: 0, buffer: 0, count: 0 };
    let mut out = Vec::with_capacity(size.min(1 << 24));
    loop {
        let is_last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out, size)?,
            1 => {
                let (literals, distances) = fixed();
                block(&mut bits, &mut out, size, &literals, &distances)?;
            }
            2 => {
                let (literals, distances) = dynamic(&mut bits)?;
                block(&mut bits, &mut out, size, &literals, &distances)?;
            }
            _ => return Err("a block of no known kind"),
        }
        if is_last {
            return Ok(out);
        }
    }
}

struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    buffer: u32,
    count: u32,
}

impl Bits<'_> {
    /// The next bits, the lowest first; at most 16.
    fn take(&mut self, count: u32) -> Result<usize, &'static str> {
        while self.count < count {
            let byte = *self.bytes.get(self.at).ok_or("the data is cut off")?;
            self.at += 1;
            self.buffer |= u32::from(byte) << self.count;
            self.count += 8;
        }
        let res = self.buffer & ((1 << count) - 1);
        self.buffer >>= count;
        self.count -= count;
        Ok(res as usize)
    }
}

fn stored(bits: &mut Bits<'_>, out: &mut Vec<u8>, size: usize) -> Result<(), &'static str> {
    // What is left of the byte goes; whole bytes in the buffer are given back.
    bits.at -= (bits.count / 8) as usize;
    (bits.buffer, bits.count) = (0, 0);
    let header = bits.bytes.get(bits.at..bits.at + 4).ok_or("the data is cut off")?;
    let len = usize::from(header[0]) | usize::from(header[1]) << 8;
    let start = bits.at + 4;
    let data = bits.bytes.get(start..start + len).ok_or("the data is cut off")?;
    if out.len() + len > size {
        return Err("there is more data than announced");
    }
    out.extend_from_slice(data);
    bits.at = start + len;
    Ok(())
}

const MAX_BITS: usize = 15;

/// A Huffman code: how many codes there are of each length, and the symbols in the order of their codes.
struct Code {
    counts: [u16; MAX_BITS + 1],
    symbols: Vec<u16>,
}

impl Code {
    fn new(lengths: &[u8]) -> Self {
        let mut counts = [0; MAX_BITS + 1];
        for len in lengths {
            counts[usize::from(*len)] += 1;
        }
        let mut symbols: Vec<u16> =
            (0..lengths.len() as u16).filter(|it| lengths[usize::from(*it)] > 0).collect();
        symbols.sort_by_key(|it| lengths[usize::from(*it)]);
        counts[0] = 0;
        Self { counts, symbols }
    }

    fn read(&self, bits: &mut Bits<'_>) -> Result<usize, &'static str> {
        let (mut code, mut first, mut index) = (0i32, 0i32, 0i32);
        for len in 1..=MAX_BITS {
            code |= bits.take(1)? as i32;
            let count = i32::from(self.counts[len]);
            if code - count < first {
                let at = usize::try_from(index + code - first).unwrap_or(usize::MAX);
                return self.symbols.get(at).map(|it| usize::from(*it)).ok_or("no such code");
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        Err("no such code")
    }
}

fn fixed() -> (Code, Code) {
    let length = |it: usize| match it {
        0..=143 | 280..=287 => 8,
        144..=255 => 9,
        _ => 7,
    };
    let lengths: Vec<u8> = (0..288).map(length).collect();
    (Code::new(&lengths), Code::new(&[5; 30]))
}

fn dynamic(bits: &mut Bits<'_>) -> Result<(Code, Code), &'static str> {
    const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    let (literals, distances) = (bits.take(5)? + 257, bits.take(5)? + 1);
    let mut lengths = [0; 19];
    for it in ORDER.iter().take(bits.take(4)? + 4) {
        lengths[*it] = bits.take(3)? as u8;
    }
    let code = Code::new(&lengths);
    let mut lengths: Vec<u8> = Vec::with_capacity(literals + distances);
    while lengths.len() < literals + distances {
        let (value, count) = match code.read(bits)? {
            16 => (*lengths.last().ok_or("a repetition of nothing")?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            len => (len as u8, 1),
        };
        lengths.resize(lengths.len() + count, value);
    }
    let distances = lengths.split_off(literals.min(lengths.len()));
    Ok((Code::new(&lengths), Code::new(&distances)))
}

fn block(
    bits: &mut Bits<'_>,
    out: &mut Vec<u8>,
    size: usize,
    literals: &Code,
    distances: &Code,
) -> Result<(), &'static str> {
    loop {
        let symbol = literals.read(bits)?;
        match symbol {
            0..=255 => out.push(symbol as u8),
            256 => return Ok(()),
            _ => {
                let len = length(bits, symbol - 257)?;
                let code = distances.read(bits)?;
                let distance = distance(bits, code)?;
                let start =
                    out.len().checked_sub(distance).ok_or("a copy from before the start")?;
                for at in start..start + len {
                    out.push(out[at]);
                }
            }
        }
        if out.len() > size {
            return Err("there is more data than announced");
        }
    }
}

fn length(bits: &mut Bits<'_>, code: usize) -> Result<usize, &'static str> {
    match code {
        0..=7 => Ok(code + 3),
        28 => Ok(258),
        8..=27 => {
            let extra = code / 4 - 1;
            Ok(((4 + code % 4) << extra) + 3 + bits.take(extra as u32)?)
        }
        _ => Err("no such length"),
    }
}

fn distance(bits: &mut Bits<'_>, code: usize) -> Result<usize, &'static str> {
    match code {
        0..=3 => Ok(code + 1),
        4..=29 => {
            let extra = code / 2 - 1;
            Ok(((2 + code % 2) << extra) + 1 + bits.take(extra as u32)?)
        }
        _ => Err("no such distance"),
    }
}
