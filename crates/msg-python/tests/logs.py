"""Conversations for tests of engines: every kind of document, nulls and torn ones among them, and one that grows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

DOCUMENTS = Path(__file__).parents[2] / "msg-arrow/test_data/documents.jsonl"
GROWING = [{"role": ("user", "assistant")[at % 2], "content": f"turn {at}"} for at in range(6)]


def rows() -> list[str | None]:
    """The documents of the tests of `msg-arrow`, and one conversation after each of its turns."""
    with open(DOCUMENTS, encoding="utf-8") as file:
        documents: list[str | None] = [json.loads(line)["text"] for line in file]
    return documents + [json.dumps(GROWING[:turns]) for turns in (2, 4, 6)]


def table(documents: list[str | None]) -> Any:
    ids = [f"log-{at:06}" for at in range(len(documents))]
    return pyarrow.table({"id": ids, "conversation": pyarrow.array(documents, pyarrow.string())})


def write(folder: Path, documents: list[str | None], files: int = 3) -> None:
    """The documents in some Parquet files."""
    folder.mkdir(parents=True)
    whole, size = table(documents), -(-len(documents) // files)
    for at in range(files):
        pyarrow.parquet.write_table(whole.slice(at * size, size), folder / f"part-{at}.parquet")
