"""Every way to many rows says what the command line says: `python benches/exactness.py --msg PATH/TO/msg`.

The conversations of a folder (`--data DIR`, JSON lines with `messages`; the small documents of the tests if not given) are taken
`--times` over, with nulls and torn rows among them, and checked and repaired by the command line. Then by each engine, from
Parquet to Parquet; the tables must be equal, every id once. With `--kill` a worker of the engine is killed when a third is done.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msg
import msg.arrow
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
from msg._engine import Kernel

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import logs

CHECK, REPAIR = Kernel("check").answer_type(), Kernel("repair").answer_type()
FILES = 24
BATCH = 2000


def documents(data: str | None, times: int) -> list[str | None]:
    """The rows: each conversation several times, one in 53 torn and one in 47 null."""
    if data is None:
        # A document with line breaks is not a line, and an empty line is not a row.
        once = [it for it in logs.rows() if it is not None and it.strip() and "\n" not in it]
    else:
        files = sorted(Path(data).glob("*.jsonl"))
        once = [line for file in files for line in file.read_text("utf-8").rstrip("\n").split("\n")]

    def row(at: int, copy: int, text: str) -> str | None:
        if (at + copy) % 47 == 0:
            return None
        torn = text[: len(text) * (copy % 7 + 1) // 9].rstrip()
        return torn if torn and (at + copy) % 53 == 0 else text

    return [row(at, copy, text) for copy in range(times) for at, text in enumerate(once)]


def command_line(program: str, rows: list[str | None], folder: Path) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """The lines of `msg check --jsonl` and `msg repair --jsonl`, and the edits of the latter, one a row that is not null."""
    lines, report = folder / "rows.jsonl", folder / "edits.jsonl"
    lines.write_text("".join(f"{it}\n" for it in rows if it is not None), encoding="utf-8")
    answers = []
    for act in (["check", "--jsonl"], ["repair", "--jsonl", "--report", str(report)]):
        with open(lines, "rb") as file:
            command = [program, *act]
            # It fails where a row does.
            done = subprocess.run(command, check=False, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        answers.append(done.stdout.splitlines())
    return answers[0], answers[1], report.read_bytes().splitlines()


def diagnostic(it: dict[str, Any]) -> dict[str, Any]:
    """A finding of the command line as a row of DIAGNOSTIC."""
    at = it.get("at", {})
    place = {"at_message": at.get("message"), "at_part": at.get("part"), "section": at.get("section")}
    span = {"tool_call_id": at.get("tool_call_id"), "start": at.get("start"), "end": at.get("end")}
    return {"code": it["code"], "severity": it["severity"], "message": it["message"], **place, **span, "fix": it.get("fix")}


def diagnostics(line: dict[str, Any], member: str) -> dict[str, Any]:
    if "error" in line:
        return {"error": diagnostic(line["error"])}
    return {member: [diagnostic(it) for it in line[member]]}


def expected(rows: list[str | None], said: tuple[list[bytes], list[bytes], list[bytes]]) -> Any:
    """What the command line said, as a table of answers."""
    check, repair, edits = map(iter, said)
    checks: list[Any] = []
    repairs: list[Any] = []
    for row in rows:
        if row is None:
            checks.append(None)
            repairs.append(None)
            continue
        line = json.loads(next(check))
        members = {name: line[name] for name in ("ok", "format", "messages") if name in line}
        checks.append({**members, **diagnostics(line, "diagnostics")})
        document, report = next(repair).decode(), json.loads(next(edits))
        if "error" in line:
            # The answer in place of a document.
            repairs.append(diagnostics(json.loads(document), "edits"))
        else:
            found = diagnostics(report, "edits")
            repairs.append({"document": document, "changed": bool(found["edits"]), **found})
    ids = logs.table(rows)["id"].to_pylist()
    return pyarrow.table({"id": ids, "check": pyarrow.array(checks, CHECK), "repair": pyarrow.array(repairs, REPAIR)})


class Marked:
    """Kernels that leave a mark for each batch, with the process that worked on it, so that one can be killed."""

    def __init__(self, marks: Path | None, pause: float) -> None:
        self.marks, self.pause = marks, pause

    def __call__(self, batch: Any) -> Any:
        import msg.arrow  # a worker gets this class without its module

        answers = {act: getattr(msg.arrow, act)(batch["conversation"]).to_pyarrow() for act in ("check", "repair")}
        if self.marks is not None:
            (self.marks / f"{os.getpid()}-{time.monotonic_ns()}").write_text(str(len(batch["id"])))
            time.sleep(self.pause)
        return pyarrow.table({"id": batch["id"], **answers})


def killer(marks: Path, rows: int, victim: Callable[[int], int]) -> threading.Thread:
    """Kills the process that worked last, or the one that `victim` finds above it, when a third is done."""

    def watch() -> None:
        while marks.exists():
            done = [it for it in marks.iterdir()]
            if sum(int(it.read_text() or 0) for it in done) * 3 >= rows:
                return kill(done)
            time.sleep(0.05)

    def kill(done: list[Path]) -> None:
        last = max(done, key=lambda it: int(it.name.split("-")[1]))
        process = victim(int(last.name.split("-")[0]))
        os.kill(process, signal.SIGKILL)
        print(f"    killed process {process} after {len(done)} batches", flush=True)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def executor(process: int) -> int:
    """The executor of Spark above one of its Python workers."""
    while Path(f"/proc/{process}/comm").read_text().strip() != "java":
        process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return process


def over_files(source: Path, out: Path, work: Callable[[Any], Any]) -> None:
    out.mkdir()
    for file in sorted(source.glob("*.parquet")):
        pyarrow.parquet.write_table(work(pyarrow.parquet.read_table(file)), out / file.name)


def kernel(source: Path, out: Path, _: Marked) -> None:
    over_files(source, out, Marked(None, 0))


def single(source: Path, out: Path, _: Marked) -> None:
    """One call of Python a row."""

    def read(text: str | None) -> tuple[Any, Any]:
        if text is None:
            return None, None
        # A line that is not JSON is not recognised as another format, as a single text is.
        is_json = text.lstrip()[:1] in ("[", "{", '"')
        try:
            checked = msg.check(text) if is_json else msg.check(text, from_="openai")
            repaired = msg.repair(text)
        except msg.ParseError as error:
            line = {"error": diagnostic(json.loads(error._line)["error"])}
            return line, line
        found = json.loads(checked._line or '{"diagnostics":[]}')
        said = {"ok": checked.ok, "format": checked.format, "messages": checked.messages}
        edits = diagnostics(json.loads(repaired._line or '{"edits":[]}'), "edits")
        mended = {"document": repaired.document, "changed": repaired.changed}
        return {**said, **diagnostics(found, "diagnostics")}, {**mended, **edits}

    def work(table: Any) -> Any:
        answers = [read(it) for it in table["conversation"].to_pylist()]
        checks, repairs = (pyarrow.array([it[at] for it in answers], kind) for at, kind in enumerate((CHECK, REPAIR)))
        return pyarrow.table({"id": table["id"], "check": checks, "repair": repairs})

    over_files(source, out, work)


def polars(source: Path, out: Path, _: Marked) -> None:
    import msg.polars
    import polars as pl

    text = pl.col("conversation")
    answers = pl.scan_parquet(source).select("id", check=msg.polars.check(text), repair=msg.polars.repair(text))
    out.mkdir()
    answers.sink_parquet(out / "all.parquet")


def duckdb(source: Path, out: Path, _: Marked) -> None:
    import duckdb as db
    import msg.duckdb

    con = db.connect()
    msg.duckdb.register(con)
    out.mkdir()
    answers = f"select id, msg_check(conversation) as check_, msg_repair(conversation) as repair from '{source}/*.parquet'"
    con.sql(f"copy (select id, check_ as \"check\", repair from ({answers})) to '{out}/all.parquet'")


def spark(master: str) -> Callable[[Path, Path, Marked], None]:
    def run(source: Path, out: Path, work: Marked) -> None:
        from pyspark.sql import SparkSession
        from pyspark.sql.pandas.types import from_arrow_schema

        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        options: dict[str, Any] = {
            "spark.ui.enabled": "false",
            "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH),
            "spark.executorEnv.PYTHONPATH": os.pathsep.join(sys.path),
            "spark.driver.memory": "2g",
        }
        session = SparkSession.builder.master(master).config(map=options).getOrCreate()
        answer = from_arrow_schema(pyarrow.schema({"id": pyarrow.string(), "check": CHECK, "repair": REPAIR}))

        def batches(source: Iterator[Any]) -> Iterator[Any]:
            for batch in source:
                yield from work(batch).to_batches()

        try:
            if work.marks is None:
                import msg.spark

                frame = session.read.parquet(str(source))
                answers = frame.select("id", msg.spark.check("conversation").alias("check"), msg.spark.repair("conversation").alias("repair"))
            else:
                frame = session.read.parquet(str(source)).repartition(FILES)
                answers = frame.mapInArrow(batches, answer)
            answers.write.parquet(str(out))
        finally:
            session.stop()

    return run


def ray(source: Path, out: Path, work: Marked) -> None:
    import ray as engine

    engine.init(num_cpus=3, include_dashboard=False, log_to_driver=False, configure_logging=False, logging_level=logging.ERROR)
    engine.data.DataContext.get_current().enable_progress_bars = False
    try:
        table = engine.data.read_parquet(str(source), override_num_blocks=FILES)
        table.map_batches(work, batch_format="pyarrow", batch_size=BATCH, zero_copy_batch=True).write_parquet(str(out))
    finally:
        engine.shutdown()


ENGINES: dict[str, Callable[[Path, Path, Marked], None]] = {
    "kernel": kernel,
    "python": single,
    "polars": polars,
    "duckdb": duckdb,
    "spark": spark("local[2]"),
    "spark-cluster": spark("local-cluster[3,1,1024]"),
    "ray": ray,
}
VICTIMS: dict[str, Callable[[int], int]] = {"spark-cluster": executor, "ray": lambda process: process}


def loose(kind: Any) -> Any:
    """A type that all engines' types of it become: large texts and lists, and nothing that must not be null."""
    types = pyarrow.types
    if types.is_struct(kind):
        return pyarrow.struct([pyarrow.field(it.name, loose(it.type)) for it in kind])
    if types.is_list(kind) or types.is_large_list(kind):
        return pyarrow.large_list(pyarrow.field("item", loose(kind.value_type)))
    return pyarrow.large_string() if types.is_string(kind) else kind


def difference(found: Any, said: Any) -> str | None:
    """How the table of an engine differs from the command line's."""
    found = found.sort_by("id")
    if found["id"].to_pylist() != said["id"].to_pylist():
        return f"{len(found)} rows, {len(set(found['id'].to_pylist()))} ids, expected {len(said)}"
    for name in ("check", "repair"):
        ours, theirs = (it[name].cast(loose(it[name].type)).combine_chunks() for it in (found, said))
        if not ours.equals(theirs):
            wrong = [at for at in range(len(said)) if ours[at].as_py() != theirs[at].as_py()]
            if wrong:
                return f"{len(wrong)} rows of {name}, the first {ours[wrong[0]]} instead of {theirs[wrong[0]]}"
    return None


def ordered(out: Path) -> Any:
    schema = pyarrow.schema({"id": pyarrow.string(), "check": CHECK, "repair": REPAIR})
    table = pyarrow.dataset.dataset(sorted(out.rglob("*.parquet"))).to_table(columns=schema.names)
    return table


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--msg", required=True, help="the program `msg`")
    parser.add_argument("--data", help="a folder of JSON lines")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--kill", action="store_true", help="kill a worker of spark-cluster and ray")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds that a batch takes longer, to be killed in")
    parser.add_argument("--batch", type=int, default=BATCH)
    given = parser.parse_args(args)
    globals()["BATCH"] = given.batch
    folder = Path(tempfile.mkdtemp(prefix="msg-exactness-"))
    try:
        return compared(given, folder)
    finally:
        shutil.rmtree(folder)


def compared(given: argparse.Namespace, folder: Path) -> int:
    rows = documents(given.data, given.times)
    logs.write(folder / "logs", rows, FILES)
    said = expected(rows, command_line(given.msg, rows, folder))
    torn = said["check"].combine_chunks().field("error").drop_null()
    print(f"{len(rows)} rows, {rows.count(None)} null, {len(torn)} not read, {sum(len(it or '') for it in rows) / 1e6:.0f} MB")
    wrong = 0
    for name in given.engines.split(","):
        for kill in (False, True)[: 1 + (given.kill and name in VICTIMS)]:
            out, marks = folder / f"out-{name}-{kill}", folder / f"marks-{name}"
            marks.mkdir(exist_ok=True)
            if kill:
                killer(marks, len(rows), VICTIMS[name])
            start = time.perf_counter()
            ENGINES[name](folder / "logs", out, Marked(marks if kill else None, given.pause))
            seconds = time.perf_counter() - start
            found = difference(ordered(out), said)
            wrong += found is not None
            print(f"{name}{' with a worker killed' if kill else ''}: {found or 'equal'} ({seconds:.1f} s)", flush=True)
            shutil.rmtree(out)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
