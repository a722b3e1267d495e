#!/usr/bin/env python3
"""The law of values with a reader of its own: documents of every format are damaged by structure, given to a command,
and each value of them is looked for in what was written and in the report. It shares no code with the program.

    values.py MSG [--runs N] [--seed S] [--from FORMAT]... [--command NAME]... [--seeds FILE]... [--show N]

N documents of each format are damaged, and each is given to each command: `convert` to all formats in turn, `repair` and `check`
with a profile to all profiles in turn. `check` writes nothing: of it is asked that it refuses what `repair` refuses, and says
all that `repair` mends.

Seeds are JSON lines with `doc` (a text) and `fam` (its format), or cases of the suites with `input_text` and `from`. Formats
without seeds get those of others, converted. Exit 1 if a value is in neither."""
import argparse, base64, collections, json, os, random, re, subprocess, sys, tempfile

# ---- JSON as it is written: members as pairs, so that a name may be there twice, and numbers by their letters


class Obj(list):
    pass


class Num(str):
    pass


def load(text):
    pairs = lambda it: Obj([list(x) for x in it])
    return json.loads(text, object_pairs_hook=pairs, parse_float=Num, parse_int=Num, parse_constant=Num)


def dump(v):
    if isinstance(v, Obj):
        return "{" + ",".join(json.dumps(k) + ":" + dump(x) for k, x in v) + "}"
    if isinstance(v, list):
        return "[" + ",".join(map(dump, v)) + "]"
    return str(v) if isinstance(v, Num) else json.dumps(v)


# ---- damage


def places(v, acc, par=None, key=None):
    if par is not None:
        acc.append((par, key, v))
    for i, x in enumerate(v) if isinstance(v, list) else ():
        places(x[1] if isinstance(v, Obj) else x, acc, v, i)


def put(par, key, x):
    if isinstance(par, Obj):
        par[key][1] = x
    else:
        par[key] = x


def nested(tag, depth):
    for _ in range(depth):
        tag = Obj([["d", tag]])
    return tag


VALUES = {
    "null": lambda x, t, r: None,
    "wrap": lambda x, t, r: [x],
    "wrap-twice": lambda x, t, r: [[x]],
    "nest": lambda x, t, r: Obj([[t, x]]),
    "text": lambda x, t, r: t + " text",
    "word": lambda x, t, r: t,
    "list-of-texts": lambda x, t, r: [t, t + "b"],
    "negative-zero": lambda x, t, r: Num("-0"),
    "huge": lambda x, t, r: Num(r.choice(["1e400", "12345678901234567890123", "0.1000", "1E5"])),
    "nul": lambda x, t, r: t + "\0nul",
    "surrogate": lambda x, t, r: t + "\ud800x",
    "bool": lambda x, t, r: r.choice([True, False]),
    "empty-object": lambda x, t, r: Obj(),
    "empty-list": lambda x, t, r: [],
    "number": lambda x, t, r: Num(str(r.randrange(10**5, 10**6))),
    "deep": lambda x, t, r: nested(t, r.choice([5, 60])),
    "typed": lambda x, t, r: Obj([["type", "text"], ["text", t]]),
    "typed-twins": lambda x, t, r: Obj([["type", "text"], ["text", t], ["content", t + "c"]]),
    "unknown-part": lambda x, t, r: Obj([["type", "zq_" + t], ["payload", t]]),
    "list-of-unknown": lambda x, t, r: [Obj([["type", "zq_" + t], ["payload", t]])],
    "stringified": lambda x, t, r: dump(x),
    "data-url": lambda x, t, r: "data:image/png;base64," + base64.b64encode(t.encode()).decode(),
}
MOVES = ["reverse", "repeat", "copy-other", "rename", "delete", "insert", "insert", "duplicate", "duplicate-same", "shuffle", "lift",
         "swap", "move", "mark"]


def mutate(doc, rnd):
    v, names = load(doc), []
    for _ in range(rnd.choice([1, 1, 1, 2, 3])):
        acc = []
        places(v, acc)
        if not acc:
            break
        par, key, x = rnd.choice(acc)
        op = rnd.choice(list(VALUES) + MOVES)
        names.append(op)
        tag = "ZQ%dX" % rnd.randrange(10**6)
        if op in VALUES:
            put(par, key, VALUES[op](x, tag, rnd))
        elif op == "reverse" and isinstance(x, list):
            x.reverse()
        elif op == "repeat" and isinstance(x, list) and x:
            x.append(x[rnd.randrange(len(x))])
        elif op == "copy-other":
            put(par, key, rnd.choice(acc)[2])
        elif op == "lift" and isinstance(x, list) and x:
            put(par, key, x[0][1] if isinstance(x, Obj) else x[0])
        elif op == "delete":
            del par[key]
        elif isinstance(par, Obj):
            if op == "rename":
                name = par[key][0]
                par[key][0] = rnd.choice([name + tag, name.upper(), tag, "", name + "\0" + tag, tag + "\ud800"])
            elif op == "insert":
                new = rnd.choice([tag, Obj([["q", tag]]), [tag], Num("77%d" % rnd.randrange(9999))])
                name = rnd.choice(["extra" + tag, "text", "content", "name", "id", "type", "arguments", "metadata"])
                par.insert(rnd.randrange(len(par) + 1), [name, new])
            elif op == "duplicate":
                par.insert(rnd.randrange(len(par) + 1), [par[key][0], tag + " twice"])
            elif op == "duplicate-same":
                par.insert(rnd.randrange(len(par) + 1), list(par[key]))
            elif op == "swap":
                other = rnd.choice(par)
                par[key][1], other[1] = other[1], par[key][1]
            elif op == "move":
                homes = [it for it in [v] + [it[2] for it in acc] if isinstance(it, Obj)]
                rnd.choice(homes).append(par.pop(key))
            elif op == "shuffle":
                rnd.shuffle(par)
        try:
            v = load(dump(v))
        except RecursionError:
            return doc, "none"
        if len(dump(v)) > 60000:
            return doc, "none"
    text = dump(v)
    return ("\ufeff" + text if "mark" in names else text), "+".join(names)


# ---- reading


# Words that each format says in its own way.
WORDS = set("type role from object kind part_kind status format tool_choice options finish_reason stop_reason finishReason stopReason index encoding mode state".split())


def leaves(v, way, acc):
    if isinstance(v, Obj):
        for k, x in v:
            if "ZQ" in k and (x in (None, True, False) or x == []):
                acc.append((way + (k,), k))
            is_word = k in WORDS and isinstance(x, (str, bool)) and not (isinstance(x, str) and "ZQ" in x)
            is_word = is_word or k == "index" and isinstance(x, Num)
            if not is_word:
                leaves(x, way + (k,), acc)
    elif isinstance(v, list):
        for i, x in enumerate(v):
            leaves(x, way + (i,), acc)
    elif isinstance(v, str) and v.strip():
        acc.append((way, v))


def said(v, acc, depth=0):
    if isinstance(v, Obj):
        for k, x in v:
            acc.append(k)
            said(x, acc, depth)
    elif isinstance(v, list):
        for x in v:
            said(x, acc, depth)
    elif isinstance(v, str):
        acc.append(str(v))
        if depth < 3 and v[:1] in '{["' and len(v) > 1:
            try:
                said(load(v), acc, depth + 1)
            except Exception:
                pass
        found = re.match(r"data:([^;,]*);base64,(.*)$", v, re.S)
        if found:
            acc.extend([found.group(2), found.group(1)])
    elif v is not None:
        acc.append(json.dumps(v))


def plain(s):
    return s.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def number(s):
    try:
        return float(s)
    except ValueError:
        return None


class Said:
    """all that a document says"""

    def __init__(self, text):
        acc, text = [], text.lstrip("\ufeff")
        try:
            said(load(text), acc)
        except Exception:
            acc = [text]
            for line in text.split("\n"):
                try:
                    said(load(line), acc)
                except Exception:
                    pass
        self.text = plain("\n".join(acc))
        self.words = set(x for x in re.split(r"\W+", self.text) if x)
        for x in re.findall(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", self.text):
            self.words |= {x, number(x)}

    def has(self, x):
        if isinstance(x, Num):
            return x in self.words or number(x) in self.words
        s = plain(str(x))
        data = s.split(";base64,", 1)[-1]
        if s in self.text or s.strip() in self.text or data in self.text:
            return True
        for other in (s.encode(), data.encode()):
            if base64.b64encode(other).decode() in self.text:
                return True
        try:
            inner = base64.b64decode(data, validate=True).decode()
            if inner and inner in self.text:
                return True
        except Exception:
            pass
        if s[:1] in "{[":
            try:
                acc = []
                leaves(load(s), (), acc)
                if all(self.has(v) for _, v in acc):
                    return True
            except Exception:
                pass
        if re.fullmatch(r"\w+/[\w.+-]+", s) and s.split("/")[1] in self.words:
            return True
        words = [w for w in re.split(r"\W+", s) if w]
        return bool(words) and all(w in self.words for w in words)


# Findings that take nothing away.
WEAK = set("convert::" + it for it in "role-changed order-lost merged-parts id-synthesised name-synthesised split-message".split()) | {"session::written-anew"}
NAMING = {"convert::lost-member", "convert::lost-value", "profile::shape", "message::wrong-type", "profile::unknown-member",
          "message::unknown-member", "profile::refused-member", "message::duplicate-member", "convert::value-changed"}


def lost(doc, out, report, rows, left_out):
    """the values that are in neither"""
    try:
        source = load(doc.lstrip("\ufeff"))
    except Exception:
        return []
    acc = []
    leaves(source, (), acc)
    written = Said(out)
    missing = [(w, x) for w, x in acc if not written.has(x)]
    return [(pointer(w), str(x)[:60]) for w, x in missing if not told(w, x, report, rows, left_out, acc)]


def pointer(way):
    return "".join("/" + str(k).replace("~", "~0").replace("/", "~1") for k in way)


def home(way, rows, acc):
    """the messages that most of the values beside one are in, of the nearest object or list that says anything"""
    first = next((i for i, k in enumerate(way) if isinstance(k, int)), len(way))
    for n in range(len(way) - 1, first, -1):
        near = [x for w, x in acc if w[:n] == way[:n] and w != way]
        hits = [sum(map(row.has, near)) for row in rows]
        if any(hits):
            return [i for i, n in enumerate(hits) if n == max(hits)]
    return []


def told(way, x, report, rows, left_out, acc):
    names = [str(k) for k in way if isinstance(k, str)]
    if any(k in left_out or json.dumps(k)[1:-1] in left_out for k in names):
        return True
    place = pointer(way)
    at = [i for i, row in enumerate(rows) if row.has(x)] or home(way, rows, acc)
    for it in report:
        where, code = it.get("at", {}), it["code"]
        text = it["message"] + " " + (it.get("fix") or "")
        if code == "convert::lost-value" and not where.get("pointer"):
            return True
        if code == "filter" and next((k for k in way if isinstance(k, int)), None) == 0:
            return True
        if code in WEAK and code != "session::written-anew":
            if code == "convert::role-changed" and way and way[-1] == "role":
                return True
            continue
        if where.get("pointer") and (place + "/").startswith(where["pointer"] + "/"):
            return True
        if code in NAMING and any(k and k in text for k in names):
            return True
        if plain(str(x)) in plain(text) or where.get("message") in at:
            return True
        if code.startswith("compact::") and (ranges(text) & set(at) or not at and ranges(text) or "section" in where or "summar" in text):
            return True
        if code == "chain::unknown-role" and ("role" in names or near(way, where.get("message"))):
            return True
        if not at and GONE.search(it.get("fix") or "") and (code.startswith("chain::orphan") or near(way, where.get("message"))):
            return True
        # Of a session that is written anew only what was said is left, and the report says so.
        if code == "session::written-anew" and not at and not TEXTS & set(names):
            return True
    return False


GONE = re.compile("dropped|removed")
TEXTS = {"text", "content", "parts", "contents", "blocks", "items", "value", "data", "messages"}


def ranges(text):
    """the messages that a sentence names: `messages 1 to 2 are outside the window`"""
    found = re.search(r"messages? (\d+)(?: to (\d+))?", text)
    return set(range(int(found.group(1)), int(found.group(2) or found.group(1)) + 1)) if found else set()


def near(way, message):
    """whether a value is in the element that a message was, where nothing else says so"""
    at = next((k for k in way if isinstance(k, int)), None)
    return at is not None and message is not None and abs(at - message) < 2


# ---- running


class Program:
    def __init__(self, path):
        self.path, self.dir = path, tempfile.mkdtemp()

    def lines(self, args, docs):
        """the answer to each, its report, and the names of members that were left out of some"""
        name, rep = self.dir + "/in.jsonl", self.dir + "/rep.jsonl"
        open(rep, "w").close()
        open(name, "w", encoding="utf-8").write("\n".join(docs) + "\n")
        command, with_report = args, args[0] in ("convert", "repair")
        args = [self.path] + args + ["--jsonl", "--jobs", "1"] + (["--report", rep] if with_report else []) + [name]
        done = subprocess.run(args, capture_output=True)
        err = done.stderr.decode("utf-8", "replace")
        out = done.stdout.decode("utf-8", "surrogatepass").split("\n")[:-1]
        if not out and done.returncode == 2 and "not JSON Lines" in err:
            # The lines look like the records of one session.
            if len(docs) == 1:
                return ['{"error":{"code"'], [{}], set()
            half = len(docs) // 2
            one, two = self.lines(command, docs[:half]), self.lines(command, docs[half:])
            return one[0] + two[0], one[1] + two[1], one[2] | two[2]
        if len(out) != len(docs) or done.returncode not in (0, 1, 2):
            raise SystemExit("%s: %d lines of %d, status %d\n%s" % (" ".join(args), len(out), len(docs), done.returncode, err[-500:]))
        if not with_report:
            has_report = args[1] in ("fit", "check")
            return out, [json.loads(it) if has_report and it[:1] == "{" else {} for it in out], set()
        reports = [json.loads(it) for it in open(rep, encoding="utf-8", errors="replace")]
        left_out = set()
        for found in re.findall(r"members not converted[^:]*: (.*)", err):
            left_out |= set(found.split(", "))
        return out, reports, left_out


    def said_of(self, args, doc):
        """what is said of one document: of lines only the number of values is said"""
        name = self.dir + "/one.json"
        open(name, "w", encoding="utf-8").write(doc)
        args = [it for it in args if it != "--json"]
        return subprocess.run([self.path] + args + ["-v", name], capture_output=True).stderr.decode("utf-8", "replace")


WIRES = ["openai", "anthropic", "gemini", "responses", "bedrock", "interactions"]
LISTS = ["plain", "agent", "native", "turns", "sharegpt", "langchaingo", "otel"]
FRAMEWORKS = ["ai-sdk", "vercel-ui", "ag-ui", "adk", "langchain", "pydantic-ai", "agents-sdk", "haystack", "llama-index", "autogen",
              "agent-framework", "semantic-kernel"]
FORMATS = WIRES + LISTS + FRAMEWORKS
PROFILES = ["openai", "anthropic", "gemini", "bedrock", "mistral", "openai-responses", "deepseek", "groq", "openrouter"]
# Each command in its variants; the documents are dealt out to these.
COMMANDS = {
    "check": [["check"]],
    "check --profile": [["check", "--profile", p] for p in PROFILES],
    "repair": [["repair"]],
    "repair --profile": [["repair", "--profile", p] for p in PROFILES],
    "repair --all": [["repair", "--all"]],
    "convert": [["convert", "--to", to] for to in FORMATS],
    "fit": [["fit", "--json", "--budget", it] for it in ("1M", "60")],
    "trim": [["trim", "--max-tokens", "1M"]],
    "filter": [["filter", "--range", it] for it in ("0..", "1..")],
}


# So many documents are damaged at once.
BATCH = 250


def is_seed(doc):
    if doc[:1] not in "{[" or "\n" in doc or len(doc) > 4000:
        return False
    try:
        load(doc)
        return True
    except (ValueError, RecursionError):
        return False


def seeds_of(program, files, formats):
    pool = collections.defaultdict(list)
    for path in files:
        for line in open(path, encoding="utf-8"):
            row = json.loads(line)
            doc = row.get("doc") or row.get("input_text") or json.dumps(row.get("messages"))
            family = row.get("fam") or row.get("from") or "openai"
            if row.get("src") != "foreign" and is_seed(doc):
                pool[family].append(doc)
    base = [it for it in pool["openai"] + pool["anthropic"] + pool["gemini"] if len(it) < 2500]
    for to in formats:
        if len(pool[to]) < 20:
            out, _, _ = program.lines(["convert", "--to", to], base)
            pool[to] += [it for it in out if not it.startswith('{"error":{"code"')]
    return pool


def is_refused(answer):
    return answer.startswith('{"error":{"code"')


class Law:
    def __init__(self, program, rnd, show):
        self.program, self.rnd, self.show = program, rnd, show
        self.done, self.targets, self.ops = collections.Counter(), collections.Counter(), collections.Counter()
        self.flags = []

    def batch(self, of, seeds, count, kinds):
        """so many damaged documents of a format, each given to each command in one of its variants"""
        made = [mutate(self.rnd.choice(seeds), self.rnd) for _ in range(count)]
        docs = [it[0] for it in made]
        self.ops.update(op for it in made for op in it[1].split("+"))
        native, _, _ = self.program.lines(["convert", "--from", of, "--to", "native"], docs)
        rows = [rows_of(it) for it in native]
        checked = {}
        for kind in kinds:
            variants = COMMANDS[kind]
            for n, command in enumerate(variants):
                chosen = list(range(n, count, len(variants)))
                if not chosen:
                    continue
                answers = self.program.lines(command + ["--from", of], [docs[i] for i in chosen])
                for i, answer, report in zip(chosen, *answers[:2]):
                    self.judge((of, kind, command, made[i]), answer, report, rows[i], answers[2], checked.setdefault(i, {}))

    def judge(self, case, answer, report, rows, left_out, checked):
        of, kind, command, (doc, op) = case
        key = "refused" if is_refused(answer) else "answered"
        self.done[of, kind, key] += 1
        if command[0] == "convert":
            self.targets[command[2], key] += 1
        edits = report.get("edits", []) + report.get("diagnostics", [])
        if command[0] == "check":
            checked[kind] = (key, edits)
            return
        found = []
        if kind.startswith("repair") and kind.replace("repair", "check") in checked:
            found = disagree(checked[kind.replace("repair", "check")], key, doc, answer, report)
        if command[-1] == "1.." and key == "answered":
            if len(rows) < 2 or answer.strip("\ufeff \n") == "[]":
                return
            edits = [{"code": "filter", "message": "", "at": {"message": 0}}]
        if key == "answered":
            found = found + lost(doc, answer, edits, rows, left_out | set(report.get("left_behind", [])))
        if found and command[0] in ("fit", "trim", "filter"):
            said = self.program.said_of(command + ["--from", of], doc)
            found = [it for it in found if "`%s`" % it[0] not in said and "more values are left out" not in said]
        if found:
            self.done[of, kind, "unreported"] += 1
            self.flags.append((of, " ".join(command), op, found, doc, answer, report))

    def table(self, formats, kinds):
        print("%-16s" % "answered/refused" + "".join("%18s" % it for it in kinds))
        for of in formats:
            cells = ["%d/%d" % (self.done[of, k, "answered"], self.done[of, k, "refused"]) for k in kinds]
            bad = [self.done[of, k, "unreported"] for k in kinds]
            print("%-16s" % of + "".join("%18s" % (it + (" !%d" % b if b else "")) for it, b in zip(cells, bad)))
        print("convert to:", ", ".join("%s %d" % (to, self.targets[to, "answered"]) for to in FORMATS))
        print("damage:", ", ".join("%s %d" % it for it in sorted(self.ops.items())))


def rows_of(native):
    try:
        native = native.lstrip("\ufeff")
        return [Said(dump(x)) for x in load(native)] if native.startswith("[") else []
    except (ValueError, RecursionError):
        return []


def disagree(checked, key, doc, answer, report):
    """`check` and `repair` judge alike: one refuses what the other refuses, and nothing is mended that was not said, but
    for calls at the end, which may be open"""
    was, findings = checked
    if was != key:
        return [("check", "%s, but repair %s" % (was, key))]
    codes = {it["code"] for it in findings} | {"convert::lost-value", "session::written-anew", "chain::missing-tool-result"}
    places = [it.get("at", {}).get("message") for it in findings]
    edits = report.get("edits", [])
    unsaid = [it["code"] for it in edits if it["code"] not in codes and it.get("at", {}).get("message") not in places]
    if unsaid:
        return [("check", "does not say what repair mends: " + ", ".join(unsaid))]
    if not report.get("edits") and key == "answered" and answer.strip() != doc.strip():
        return [("repair", "changed a document and named no edit")]
    return []


def main():
    args = argparse.ArgumentParser()
    args.add_argument("msg")
    args.add_argument("--runs", type=int, default=100)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--from", dest="formats", action="append")
    args.add_argument("--command", action="append")
    args.add_argument("--seeds", action="append", default=[])
    args.add_argument("--show", type=int, default=0)
    args.add_argument("--out")
    args = args.parse_args()
    program = Program(args.msg)
    law = Law(program, random.Random(args.seed), args.show)
    formats, kinds = args.formats or FORMATS, args.command or list(COMMANDS)
    pool = seeds_of(program, args.seeds, formats)
    for at in range(0, args.runs, BATCH):
        for of in formats:
            law.batch(of, pool[of], min(BATCH, args.runs - at), kinds)
        print(at + BATCH, "documents a format,", len(law.flags), "findings", file=sys.stderr, flush=True)
        if args.out:
            json.dump(law.flags, open(args.out, "w"))
    law.table(formats, kinds)
    total = sum(n for key, n in law.done.items() if key[2] == "answered")
    print("%d answers, %d with a value in neither" % (total, len(law.flags)))
    sys.stdout.reconfigure(errors="backslashreplace")
    classes = collections.Counter((f[0], f[1].split()[0], re.sub(r"\d+", "#", f[3][0][0])) for f in law.flags)
    for key, count in classes.most_common(60):
        print(count, *key)
    for of, name, op, found, doc, out, report in law.flags[: args.show]:
        print("\n##", of, name, op, found[:3], "\nof", doc[:3000], "\nin", out[:3000], "\nreport", json.dumps(report)[:1500])
    raise SystemExit(1 if law.flags else 0)


main()
