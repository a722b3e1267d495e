"""Columns: every row is the answer to its document, however the column is laid out."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import msg
import msg.arrow
import pytest

pyarrow = pytest.importorskip("pyarrow")

ROWS = [
    json.dumps([{"role": "user", "content": "hi"}]),
    None,
    "[",
    json.dumps([{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "c", "content": "4"}]),
]
OK = [True, None, None, False]


@pytest.mark.parametrize("kind", ["string", "large_string", "binary", "large_binary", "string_view"])
def test_layouts_and_slices(kind: str) -> None:
    column = pyarrow.array(ROWS, pyarrow.string()).cast(getattr(pyarrow, kind)())
    answers = msg.arrow.check(column).to_pyarrow()
    assert [it and it["ok"] for it in answers.to_pylist()] == OK
    assert answers[2]["error"]["code"].as_py() and answers[1].as_py() is None
    part = msg.arrow.check(column.slice(2, 2)).to_pyarrow()
    assert part.to_pylist() == answers.to_pylist()[2:]


def test_chunks_and_dictionaries() -> None:
    chunked = pyarrow.chunked_array([ROWS[:1], ROWS[1:]], pyarrow.string())
    answers = msg.arrow.check(chunked)
    assert len(answers) == 4 and answers.to_pyarrow().num_chunks == 2
    coded = pyarrow.array(ROWS).dictionary_encode()
    assert msg.arrow.is_valid(coded).to_pyarrow().to_pylist() == OK


def test_rows_are_what_the_functions_say() -> None:
    repaired = msg.arrow.repair(pyarrow.array(ROWS), profile="openai").to_pyarrow().to_pylist()
    assert repaired[3]["document"] == msg.repair(ROWS[3] or "", profile="openai").document
    assert msg.arrow.key(pyarrow.array(ROWS[:1])).to_pyarrow().to_pylist() == [msg.key(ROWS[0] or "")]


def test_threads_and_streams_change_nothing() -> None:
    rows = (ROWS * 20)[:-1]
    column = pyarrow.array(rows)
    for act in (msg.arrow.check, msg.arrow.repair, msg.arrow.key):
        one = act(column).to_pyarrow()
        assert act(column, threads=3).to_pyarrow().equals(one)
        assert pyarrow.chunked_array(act(pyarrow.chunked_array([rows[:5], rows[5:]]))).combine_chunks().equals(one)
    with pytest.raises(msg.OptionError):
        msg.arrow.check(column, threads=2, profile="openia")  # type: ignore[arg-type]


def test_two_columns() -> None:
    halves = pyarrow.array(["hi", None, ROWS[0]]), pyarrow.array(["hello", None, None])
    joined = msg.arrow.join(*halves).to_pyarrow().to_pylist()
    assert joined == [msg.join(*[it.as_py() for it in pair]) for pair in zip(*halves)] and joined[1] is None
    assert msg.arrow.join(*halves, threads=2).to_pyarrow().to_pylist() == joined
    assert msg.arrow.recognise(pyarrow.array(ROWS)).to_pyarrow().to_pylist()[0] == "openai"
    assert msg.arrow.to_text(pyarrow.array(ROWS)).to_pyarrow().to_pylist() == ROWS
    assert len(msg.arrow.tools(pyarrow.array(["hi"])).to_pyarrow()) == 1
    with pytest.raises(ValueError, match="same length"):
        msg.arrow.join(halves[0], halves[1].slice(1))
    cut = [pyarrow.chunked_array([it.slice(0, at), it.slice(at)]) for at, it in enumerate(halves, 1)]
    assert msg.arrow.join(*cut).to_pyarrow().to_pylist() == joined


def test_calls_that_are_wrong_fail_before_a_row_is_read() -> None:
    with pytest.raises(msg.OptionError):
        msg.arrow.check(pyarrow.array(ROWS), profile="openia")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        msg.arrow.check(pyarrow.array([1, 2]))
    with pytest.raises(TypeError):
        msg.arrow.check([1])


def test_a_stream_without_a_chunk() -> None:
    empty = pyarrow.chunked_array([], pyarrow.string())
    assert len(msg.arrow.check(empty)) == 0 and msg.arrow.summary(empty).to_pylist()[0]["rows"] == 0


def test_answers_as_objects() -> None:
    for act in (msg.arrow.check, msg.arrow.repair, msg.arrow.key, msg.arrow.messages, msg.arrow.tokens, msg.arrow.stats, msg.arrow.is_valid):
        answers = act(pyarrow.array(ROWS))
        assert answers.to_pylist() == answers.to_pyarrow().to_pylist(), act
    assert repr(msg.arrow.tokens(pyarrow.array(ROWS))) == "Answers(rows=4, type=Int64)"


def test_who_judged() -> None:
    answers = msg.arrow.check(pyarrow.array(ROWS), key=True, profile="openai").to_pylist()
    key = msg.options_key("check", profile="openai")
    assert [it and it["key"] for it in answers] == [key, None, key, key]
    converted = msg.arrow.convert(pyarrow.array(ROWS), "anthropic", key=True).to_pylist()
    assert converted[0]["key"] == msg.options_key("convert", to="anthropic")


def test_summaries_merge() -> None:
    column = pyarrow.array(ROWS * 3)
    [whole] = msg.arrow.summary(column, profile="openai").to_pylist()
    assert (whole["rows"], whole["nulls"], whole["read"], whole["ok"]) == (12, 3, 6, 3)
    assert whole["errors"]["chain::orphan-tool-result"] == 3 and sum(whole["errors"].values()) == 6
    parts = [msg.arrow.summary(column.slice(at, size), profile="openai").to_pyarrow() for at, size in ((7, 5), (0, 2), (2, 5))]
    assert msg.arrow.merge(pyarrow.chunked_array(parts)).to_pylist() == [whole]
    assert msg.arrow.summary(pyarrow.chunked_array([column.slice(0, 4), column.slice(4)]), profile="openai").to_pylist() == [whole]
    assert msg.arrow.summary(column, threads=3, profile="openai").to_pylist() == [whole]
    assert (whole["cost"], whole["unpriced"]) == (0, 6)
    [priced] = msg.arrow.summary(column, price_model="gpt-4o").to_pylist()
    assert (priced["cost"], priced["unpriced"]) == (priced["tokens"] * 2_500_000, 0)
    with pytest.raises(TypeError, match="summaries"):
        msg.arrow.merge(column)


@pytest.mark.engine
def test_polars() -> None:
    polars = pytest.importorskip("polars")
    import msg.polars

    frame = polars.DataFrame({"c": ROWS})
    answers: Any = frame.select(msg.polars.check(polars.col("c")))
    assert [it and it["ok"] for it in answers["c"].to_list()] == OK
    assert frame.select(msg.polars.check("c")).equals(answers)
    named: Any = frame.select(polars.col("c").msg.check(profile="openai"))
    assert [it and it["ok"] for it in named["c"].to_list()] == OK
    with pytest.raises(TypeError, match="profil"):
        polars.col("c").msg.check(profil="openai")
    parts = [polars.Series(msg.arrow.summary(frame["c"].slice(at, 2))) for at in (0, 2)]
    [whole] = msg.arrow.merge(polars.concat(parts)).to_pylist()
    assert whole == msg.arrow.summary(frame["c"]).to_pylist()[0] and whole["rows"] == 4


@pytest.mark.engine
def test_nulls_of_polars() -> None:
    """Polars gives its columns and members of nulls a buffer, which Arrow does not have for them."""
    polars = pytest.importorskip("polars")
    hello = {"role": "user", "content": "hi"}
    called = {"role": "assistant", "content": "x", "tool_calls": None}
    rows: list[Any] = [[hello, {**hello, "role": "assistant"}], None, [hello, called]]
    answers = msg.arrow.check(polars.Series(rows)).to_pylist()
    assert [it and it["ok"] for it in answers] == [True, None, True]
    assert msg.arrow.is_valid(polars.Series([[], []])).to_pylist() == [True, True]
    assert msg.arrow.is_valid(polars.Series([None, None])).to_pylist() == [None, None]
    parts = polars.concat([polars.Series([[hello, called]]), polars.Series([[hello, called]])], rechunk=False)
    assert msg.arrow.is_valid(parts).to_pylist() == [True, True]


def test_a_column_of_nulls() -> None:
    assert msg.arrow.is_valid(pyarrow.nulls(2)).to_pylist() == [None, None]
    assert msg.arrow.is_valid(pyarrow.array([[], None])).to_pylist() == [True, None]
    nested = pyarrow.array([[{"role": "user", "content": "hi", "tool_calls": None}]])
    assert msg.arrow.is_valid(nested).to_pylist() == [True]


@pytest.mark.engine
@pytest.mark.parametrize("dtype", ["string", "string[pyarrow]", "arrow", "category", "object"])
def test_missing_texts_of_pandas(dtype: str) -> None:
    pandas = pytest.importorskip("pandas")
    kind = pandas.ArrowDtype(pyarrow.string()) if dtype == "arrow" else dtype
    column = pandas.Series(['[{"role":"user","content":"hi"}]', None], dtype=kind)
    assert msg.arrow.is_valid(column).to_pylist() == [True, None]


@pytest.mark.engine
@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_without_pyarrow(library: str) -> None:
    """A data frame is read and answered where pyarrow cannot be imported."""
    pytest.importorskip(library)
    column = {
        "polars": "import polars, msg.polars as mp; f = polars.DataFrame({'c': rows}); f.select(mp.check(polars.col('c'))); column = f['c']",
        "pandas": "import pandas; column = pandas.Series(rows, dtype=object)",
    }[library]
    script = f"""
import sys
sys.modules['pyarrow'] = None
import msg.arrow
rows = {ROWS!r}
{column}
answers = msg.arrow.check(column).to_pylist()
assert [it and it['ok'] for it in answers] == {OK!r}, answers
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.engine
def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    import msg.duckdb

    connection = duckdb.connect()
    msg.duckdb.register(connection, stats={"counter": "forge"}, fit={"budget": 100})
    with pytest.raises(TypeError, match="chek"):
        msg.duckdb.register(connection, chek={})
    connection.execute("create table t as select unnest(?) as c", [ROWS])
    rows = connection.execute("select msg_check(c).ok, msg_stats(c).counter, msg_fit(c).status from t").fetchall()
    assert [it[0] for it in rows] == OK and rows[0][1:] == ("forge", "not-needed")


@pytest.mark.engine
def test_ray() -> None:
    import pickle

    import msg.ray

    over = pickle.loads(pickle.dumps(msg.ray.check("c")))
    table = over(pyarrow.table({"c": ROWS}))
    assert [it and it["ok"] for it in table["check"].to_pylist()] == OK


@pytest.mark.engine
def test_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    sql = pytest.importorskip("pyspark.sql")
    import msg.spark

    spark = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        frame = spark.createDataFrame([(it,) for it in ROWS], "c string")
        rows = msg.spark.map_check(frame, "c").collect()
        assert [it["check"] and it["check"]["ok"] for it in rows] == OK
        msg.spark.register(spark, repair={"profile": "openai"}, convert={"to": "anthropic"})
        frame.createOrReplaceTempView("logs")
        answers = "msg_check(c).ok, msg_key(c), msg_prefix_keys(c), msg_repair(c).changed, msg_convert(c).document"
        rows = spark.sql(f"select {answers} from logs").collect()
        assert [it[0] for it in rows] == OK and rows[0][1] == msg.key(ROWS[0] or "") and rows[0][2] == []
        assert rows[3][3] is True and rows[1][4] is None and "hi" in rows[0][4]
    finally:
        spark.stop()


def test_summaries_are_rows() -> None:
    turn = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "since it is so, as I have said"}]
    column = pyarrow.array([json.dumps(turn * 40), None, "[", json.dumps(turn)])
    options: dict[str, Any] = {"preset": "pentagi", "budget": 400}
    requests = msg.arrow.fit_requests(column, **options).to_pyarrow()
    assert [it and len(it) > 0 for it in requests.to_pylist()] == [True, None, None, []]
    assert [json.loads(it) for it in requests[0].as_py()] == msg.fit_requests(turn * 40, **options)
    for kind in (pyarrow.list_(pyarrow.string()), pyarrow.large_list(pyarrow.large_string())):
        answers = pyarrow.array([["they talked"], ["nobody asked"], None, None], kind)
        fitted = msg.arrow.fit_apply(column, answers, **options).to_pyarrow().to_pylist()
        assert "they talked" in fitted[0]["document"] and fitted[1] is None and fitted[2]["error"]
        assert fitted[3]["status"] == "not-needed"
    with pytest.raises(TypeError, match="lists of texts"):
        msg.arrow.fit_apply(column, pyarrow.array([1, 2, 3, 4]), **options)


def test_requests_are_compared_with_those_before() -> None:
    body = [json.dumps({"model": it, "messages": [{"role": "user", "content": "hi"}]}) for it in ("a", "b")]
    before, now = [None, body[0], body[0]], [body[0], body[1], "["]
    answers = msg.arrow.cache(pyarrow.array(before), pyarrow.array(now), threads=2).to_pylist()
    assert answers[0] is None and answers[1]["relation"] == "break"
    assert [it["setting"] for it in answers[1]["changes"]] == ["model"]
    assert answers[2]["relation"] is None and answers[2]["error"]["code"] == "cache::foreign-format"
    assert len(msg.arrow.cache(pyarrow.array([], pyarrow.string()), pyarrow.array([], pyarrow.string()))) == 0
