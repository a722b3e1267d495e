"""The recipes of `docs/scale.md`: each block runs, and its tables say what the functions say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msg
import msg.arrow
import pytest

pytest.importorskip("pyarrow")
import logs
import pyarrow.parquet

PAGE = Path(__file__).parents[3] / "docs/scale.md"
# Ray and Spark take minutes to start on a busy machine.
PATIENCE = 900


def blocks(engine: str) -> str:
    """The Python of a section of the page."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n### {engine}\n")[1].split("\n### ")[0]
    return "\n".join(re.findall(r"```python\n(.*?)```", section, re.DOTALL))


def written(folder: Path, name: str) -> list[dict[str, Any]]:
    """A table that a recipe wrote, as a folder or as a file."""
    place = folder / name if (folder / name).exists() else folder / f"{name}.parquet"
    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(place).to_pylist()
    return rows


@pytest.mark.engine
@pytest.mark.parametrize("engine", ["Spark", "Ray", "Polars", "DuckDB"])
def test_recipe(engine: str, tmp_path: Path) -> None:
    documents = logs.rows()
    logs.write(tmp_path / "logs", documents)
    script = tmp_path / "recipe.py"
    script.write_text(blocks(engine), encoding="utf-8")
    environment = os.environ | {"RAY_DEDUP_LOGS": "0", "SPARK_LOCAL_IP": "127.0.0.1"}
    subprocess.run([sys.executable, str(script)], cwd=tmp_path, env=environment, check=True, timeout=PATIENCE)

    texts = pyarrow.array(documents, pyarrow.string())
    ids = [f"log-{at:06}" for at in range(len(documents))]
    checks = msg.arrow.check(texts, profile="openai").to_pyarrow().to_pylist()
    assert {it["id"]: it["check"] for it in written(tmp_path, "checked")} == dict(zip(ids, checks))

    codes = Counter(it["code"] for row in checks if row for it in row["diagnostics"] or ())
    assert {it["code"]: it["count"] for it in written(tmp_path, "codes")} == codes

    repairs = msg.arrow.repair(texts, profile="openai").to_pyarrow().to_pylist()
    mended = {it["id"]: it for it in written(tmp_path, "mended")}
    assert len(mended) == len(documents) and not list(tmp_path.glob("mended.new*"))
    for id, row in zip(ids, repairs):
        expected = row or dict.fromkeys(("document", "edits", "error"))
        assert {name: mended[id][name] for name in ("document", "edits", "error")} == {
            name: expected[name] for name in ("document", "edits", "error")
        }
        assert (mended[id]["msg"], json.loads(mended[id]["options"])) == (msg.__version__, {"profile": "openai"})

    longest = {it["id"] for it in written(tmp_path, "longest")}
    assert set(ids) - longest == set(ids[-3:-1]) | same_as_a_prefix(ids, documents)


@pytest.mark.engine
def test_clickhouse(tmp_path: Path) -> None:
    """Its answers are text, and it only checks."""
    pytest.importorskip("chdb")
    documents = logs.rows()
    logs.write(tmp_path / "logs", documents)
    script = tmp_path / "recipe.py"
    script.write_text(blocks("ClickHouse"), encoding="utf-8")
    subprocess.run([sys.executable, str(script)], cwd=tmp_path, check=True, timeout=PATIENCE)
    checks = msg.arrow.check(pyarrow.array(documents, pyarrow.string()), profile="openai").to_pylist()
    found = {it["id"]: it["verdict"] for it in written(tmp_path, "checked")}
    for at, row in enumerate(checks):
        verdict = found[f"log-{at:06}"] and json.loads(found[f"log-{at:06}"])
        if row is None:
            assert verdict is None
        elif row["error"]:
            # What is not JSON may be another format by itself, and never in a column.
            assert list(verdict) == ["error"]
        else:
            assert verdict == {"ok": row["ok"], "codes": [it["code"] for it in row["diagnostics"]]}
    codes = Counter(it["code"] for row in checks if row for it in row["diagnostics"] or ())
    assert {it["code"]: it["count"] for it in written(tmp_path, "codes")} == codes


def same_as_a_prefix(ids: list[str], documents: list[str | None]) -> set[str]:
    """The other documents that are the beginning of one, by the functions over single documents."""
    keys, shorter = {}, set()
    for id, text in zip(ids, documents):
        try:
            if text is not None:
                keys[id] = msg.key(text)
                shorter.update(msg.prefix_keys(text))
        except msg.MsgError:
            pass
    return {id for id, key in keys.items() if key in shorter}
