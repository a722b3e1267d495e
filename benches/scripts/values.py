#!/usr/bin/env python3
"""The law of values with a reader of its own: documents of every format are damaged by structure, given to a command,
and each value of them is looked for in what was written and in the report. It shares no code with the program.

    values.py MSG [--runs N] [--seed S] [--from FORMAT]... [--command NAME]... [--seeds FILE]... [--show N] [--alone N]

N documents of each format are damaged, and each is given to each command: `convert` to all formats in turn, `repair` and `check`
with a profile to all profiles in turn. `check` writes nothing: of it is asked that it refuses what `repair` refuses, and says
all that `repair` mends.

All documents of a batch go to one process a command, as lines. `--alone N` gives N of each batch to a process of their own,
too, which must answer alike.

Seeds are JSON lines with `doc` (a text) and `fam` (its format), or cases of the suites with `input_text` and `from`. Each
format gets those of others, converted, too. Exit 1 if a value is in neither."""
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


def thoughts(v):
    """the thoughts that a message says in a list, as one"""
    blocks = next((x for k, x in v if k == "thinking_blocks" and isinstance(x, list)), [])
    return "".join(x for it in blocks if isinstance(it, Obj) for k, x in it if k == "thinking" and isinstance(x, str))


def leaves(v, way, acc):
    if isinstance(v, Obj):
        for k, x in v:
            if k == "reasoning_content" and x and x == thoughts(v):
                continue
            # A setting of the body that is null is none.
            if "ZQ" in k and (x in (True, False) or x is None and way or x == []):
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
        self.text, self.glued = plain("\n".join(acc)), plain("".join(acc))
        self.words = set(x for x in re.split(r"\W+", self.text) if x)
        for x in re.findall(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", self.text):
            self.words |= {x, number(x)}

    def has(self, x):
        if isinstance(x, Num):
            return x in self.words or number(x) in self.words
        s = plain(str(x))
        data = s.split(";base64,", 1)[-1]
        if s in self.text or s.strip() in self.text or data in self.text or s in self.glued:
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
        s = s.removeprefix("Tool: ")
        if s[:1] in "{[":
            try:
                acc = []
                leaves(load(s), (), acc)
                if all(self.has(v) for _, v in acc):
                    return True
            except Exception:
                pass
        if re.fullmatch(r"\w+/[\w.+-]+", s) and {"mpeg": "mp3"}.get(s.split("/")[1], s.split("/")[1]) in self.words:
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
        near = [x for w, x in acc if w[:n] == way[:n] and w != way and len(x) > 2]
        hits = [sum(map(row.has, near)) for row in rows]
        if any(hits):
            return [i for i, n in enumerate(hits) if n == max(hits)]
    return []


def told(way, x, report, rows, left_out, acc):
    names = [str(k) for k in way if isinstance(k, str)]
    if any(k in left_out or json.dumps(k)[1:-1] in left_out for k in names):
        return True
    place = plain(pointer(way))
    at = [i for i, row in enumerate(rows) if row.has(x)] or home(way, rows, acc)
    for it in report:
        where, code = it.get("at", {}), it["code"]
        text = it["message"] + " " + (it.get("fix") or "")
        if code == "convert::lost-value" and not where.get("pointer"):
            return True
        if code == "filter":
            # An element that is not read as a message moves the others.
            element = next((k for k in way if isinstance(k, int)), None)
            if element == 0 or element == 1 and (not at or 0 in at):
                return True
            # Instructions beside the list are the first message.
            if element is None and 0 in at:
                return True
            continue
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
        # Messages of turns are counted as turns; of a message that went whole, all went.
        if (code.startswith("turn::") or code == "convert::lost-message") and near(way, where.get("message")):
            return True
        if GONE.search(it.get("fix") or "") and (near(way, where.get("message")) or not at and code.startswith("chain::orphan")):
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
        self.path, self.room = path, tempfile.TemporaryDirectory()

    def run(self, args, docs=None):
        piped = docs and ("\n".join(docs) + "\n").encode("utf-8", "surrogatepass")
        done = subprocess.run([self.path] + args, input=piped, capture_output=True)
        out, err = done.stdout.decode("utf-8", "surrogatepass"), done.stderr.decode("utf-8", "replace")
        return done.returncode, out, err

    def put(self, name, text):
        path = self.room.name + "/" + name
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def lines(self, args, docs):
        """the answer to each, and its report"""
        command, with_report = args, args[0] in ("convert", "repair")
        rep = self.put("rep.jsonl", "")
        # Piped lines are not taken for the records of one session.
        args = args + ["--jsonl", "--jobs", "1", "-v"] + (["--report", rep] if with_report else []) + ["-"]
        status, out, err = self.run(args, docs)
        out = out.split("\n")[:-1]
        if len(out) != len(docs) or status not in (0, 1, 2):
            raise SystemExit("%s: %d lines of %d, status %d\n%s" % (" ".join(args), len(out), len(docs), status, err[-500:]))
        if with_report:
            with open(rep, encoding="utf-8", errors="replace") as file:
                reports = [json.loads(it) for it in file]
        elif command[0] in ("fit", "check"):
            reports = [json.loads(it) if it[:1] == "{" else {} for it in out]
        else:
            reports = [{"edits": []} for _ in out]
            for code, text, at in re.findall(r"^\w+\[([\w:-]+)\]: (.*)\n *--> <stdin>:(\d+)", err, re.M):
                place = re.match("`(.*)` is left out", text)
                at_place = {"pointer": place.group(1)} if place else {}
                reports[int(at) - 1]["edits"].append({"code": code, "message": text, "at": at_place})
        return out, reports

    def alone(self, args, doc):
        """the answer to one document that is not a line among others"""
        args = args + (["--json"] if args[0] == "check" else [])
        status, out, _ = self.run(args + [self.put("one.json", doc)])
        return status, out.strip()


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


# So many documents are damaged at once, and given to one process a command.
BATCH = 2500


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
        out, _ = program.lines(["convert", "--to", to], base)
        pool[to] += [it for it in out if not is_refused(it)]
    return pool


def is_refused(answer):
    return answer.startswith('{"error":{"code"')


class Law:
    def __init__(self, program, rnd, alone):
        self.program, self.rnd, self.alone = program, rnd, alone
        self.done, self.targets, self.ops = collections.Counter(), collections.Counter(), collections.Counter()
        self.flags = []

    def batch(self, of, seeds, count, kinds):
        """so many damaged documents of a format, each given to each command in one of its variants"""
        made = [mutate(self.rnd.choice(seeds), self.rnd) for _ in range(count)]
        docs = [it[0] for it in made]
        self.ops.update(op for it in made for op in it[1].split("+"))
        native, _ = self.program.lines(["convert", "--from", of, "--to", "native"], docs)
        rows = [rows_of(it) for it in native]
        checked = {}
        for kind in kinds:
            variants = COMMANDS[kind]
            for n, command in enumerate(variants):
                chosen = list(range(n, count, len(variants)))
                if not chosen:
                    continue
                answers = self.program.lines(command + ["--from", of], [docs[i] for i in chosen])
                for i, answer, report in zip(chosen, *answers):
                    self.judge((of, kind, command, made[i]), answer, report, rows[i], checked.setdefault(i, {}))
                for i, answer in list(zip(chosen, answers[0]))[: self.alone]:
                    self.compare((of, kind, command, made[i]), answer)

    def compare(self, case, answer):
        """a document that is not a line among others gets the same answer"""
        of, _, command, (doc, op) = case
        status, alone = self.program.alone(command + ["--from", of], doc)
        self.done["alone"] += 1
        # The number of the line is said in one of them, and formats with times say when they were written.
        spelled = lambda it: re.sub(r',?"at":\{\}|\d+-\d+-\d+T[\d:]+', "", re.sub(r',?"line":\d+', "", it)).strip("\ufeff \n")
        is_same = status == 2 if is_refused(answer) else spelled(alone) == spelled(answer)
        if not is_same and alone:
            self.flags.append((of, " ".join(command), op, [("/alone", alone[:500])], doc, answer, {}))

    def judge(self, case, answer, report, rows, checked):
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
            edits = edits + [{"code": "filter", "message": "", "at": {"message": 0}}]
        if key == "answered":
            found = found + lost(doc, answer, edits, rows, set(report.get("left_behind", [])))
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
    args.add_argument("--alone", type=int, default=0)
    args.add_argument("--out")
    args = args.parse_args()
    program = Program(args.msg)
    law = Law(program, random.Random(args.seed), args.alone)
    formats, kinds = args.formats or FORMATS, args.command or list(COMMANDS)
    pool = seeds_of(program, args.seeds, formats)
    for at in range(0, args.runs, BATCH):
        for of in formats:
            law.batch(of, pool[of], min(BATCH, args.runs - at), kinds)
        print(min(at + BATCH, args.runs), "documents a format,", len(law.flags), "findings", file=sys.stderr, flush=True)
        if args.out:
            json.dump(law.flags, open(args.out, "w"))
    law.table(formats, kinds)
    total = sum(n for key, n in law.done.items() if key[2:] == ("answered",))
    print("%d answers, %d with a value in neither, %d compared with a run of their own" % (total, len(law.flags), law.done["alone"]))
    sys.stdout.reconfigure(errors="backslashreplace")
    classes = collections.Counter((f[0], f[1].split()[0], re.sub(r"\d+", "#", f[3][0][0])) for f in law.flags)
    for key, count in classes.most_common(60):
        print(count, *key)
    for of, name, op, found, doc, out, report in law.flags[: args.show]:
        print("\n##", of, name, op, found[:3], "\nof", doc[:3000], "\nin", out[:3000], "\nreport", json.dumps(report)[:1500])
    raise SystemExit(1 if law.flags else 0)


main()
