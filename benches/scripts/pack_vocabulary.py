#!/usr/bin/env python3
"""Packs the vocabularies of `toktok-rs`, which are OpenAI's, for crates/msg-compact/src/count/tables.

    pack_vocabulary.py DATA OUT      DATA: the folder `data` of the crate's sources

A packed vocabulary is deflated: how many tokens, the length of each, the bytes of all, in the order of their ranks.
"""

import pathlib
import shutil
import struct
import sys
import zlib


def tokens(raw):
    count = struct.unpack_from("<I", raw)[0]
    res, at = [b""] * count, 4
    for _ in range(count):
        length = struct.unpack_from("<H", raw, at)[0]
        token = raw[at + 2 : at + 2 + length]
        res[struct.unpack_from("<I", raw, at + 2 + length)[0]] = token
        at += length + 6
    if at != len(raw):
        sys.exit("the vocabulary has more than tokens")
    return res


def packed(all_tokens):
    lengths = bytes(len(it) for it in all_tokens)
    plain = struct.pack("<I", len(all_tokens)) + lengths + b"".join(all_tokens)
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return deflate.compress(plain) + deflate.flush()


def main():
    data, out = (pathlib.Path(it) for it in sys.argv[1:3])
    for name, classes in [("o200k", "uniclass_o200k.bin"), ("cl100k", "uniclass.bin")]:
        found = tokens((data / f"{name}.vocab").read_bytes())
        (out / f"{name}.deflate").write_bytes(packed(found))
        shutil.copyfile(data / classes, out / f"{name}.classes")


if __name__ == "__main__":
    main()
