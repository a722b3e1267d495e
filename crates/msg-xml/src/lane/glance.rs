//! One glance at a chunk: whether a byte is in it that matters where it stands. Which byte and where is not said; the
//! loop is written so that the compiler compares all bytes of a piece at once.

/// Four bytes that matter, each as a row of the same.
#[derive(Debug)]
pub(super) struct Stops([[u8; 16]; 4]);

impl Stops {
    pub(super) const fn new([a, b, c, d]: [u8; 4]) -> Self {
        Stops([[a; 16], [b; 16], [c; 16], [d; 16]])
    }

    /// Whether one of them is in `bytes`. What does not fill a piece is looked at together with bytes before it once
    /// more, so that few are looked at alone. Inlined in any case: for a chunk of a token a call would cost as much again.
    #[inline(always)]
    pub(super) fn hit(&self, bytes: &[u8]) -> bool {
        match (bytes.try_into(), bytes.try_into()) {
            (Ok(all), _) => self.piece::<16>(all),
            (_, Ok(all)) => self.piece::<4>(all),
            _ => self.hit_any(bytes),
        }
    }

    fn hit_any(&self, bytes: &[u8]) -> bool {
        let (pieces, rest) = bytes.as_chunks();
        pieces.iter().any(|it| self.piece::<16>(it))
            || match (bytes.last_chunk(), bytes.first_chunk(), bytes.last_chunk()) {
                _ if rest.is_empty() => false,
                (Some(last), ..) => self.piece::<16>(last),
                (_, Some(first), Some(last)) => self.piece::<8>(first) | self.piece::<8>(last),
                _ => bytes.iter().any(|&b| self.piece(&[b])),
            }
    }

    #[inline]
    fn piece<const N: usize>(&self, bytes: &[u8; N]) -> bool {
        let [a, b, c, d] = &self.0;
        let mut hit = 0;
        for (i, &byte) in bytes.iter().enumerate() {
            hit |= u8::from(byte == a[i]) | u8::from(byte == b[i]);
            hit |= u8::from(byte == c[i]) | u8::from(byte == d[i]);
        }
        hit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::Stops;

    #[test]
    fn every_place_of_every_length_is_seen() {
        let stops = Stops::new(*b"<`\n\r");
        for len in 0..70 {
            assert!(!stops.hit(&vec![b'x'; len]));
            for (place, b) in (0..len).flat_map(|place| b"<`\n\r".map(|b| (place, b))) {
                let mut bytes = vec![b'x'; len];
                bytes[place] = b;
                assert!(stops.hit(&bytes), "{b} at {place} of {len}");
            }
        }
    }
}
