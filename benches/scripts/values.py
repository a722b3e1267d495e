#!/usr/bin/env python3
"""The law of values with a reader of its own: documents of every format are damaged by structure, given to a command,
and each value of them is looked for in what was written and in the report. It shares no code with the program.

    values.py MSG [--runs N] [--seed S] [--from FORMAT]... [--command NAME]... [--seeds FILE]... [--show N] [--alone N]

N documents of each format are damaged, and each is given to each command: `convert` to all formats in turn, `repair` and `check`
with a profile to all profiles in turn. `check` writes nothing: of it is asked that it refuses what `repair` refuses, and says
all that `repair` mends.

    values.py MSG --data DIR...

All documents in the files of folders, as they are, to each command, and converted to each family of providers: the JSON values
and lines of their files, of records of a source or a case the values of its members, and each file of a folder `samples` as a
whole. A session of several lines is one document, whose records are paired line by line; it is also given to `fit`, `trim`,
`filter` and `doctor --fix`, and converted to the dialects of agents. A message file is the lines of its text. Of a captured
stream (`.sse`) what its events say is looked for in the message that `stream` assembles.

All documents of a batch go to one process a command, as lines. `--alone N` gives N of each batch to a process of their own,
too, which must answer alike.

Seeds are JSON lines with `doc` (a text) and `fam` (its format), or cases of the suites with `input_text` and `from`. Each
format gets those of others, converted, too. Exit 1 if a value is in neither."""
import argparse, base64, collections, gzip, html, json, os, random, re, subprocess, sys, tempfile

# ---- JSON as it is written: members as pairs, so that a name may be there twice, and numbers by their letters


class Obj(list):
    pass


class Num(str):
    pass


def load(text, strict=True):
    pairs = lambda it: Obj([list(x) for x in it])
    return json.loads(text, strict=strict, object_pairs_hook=pairs, parse_float=Num, parse_int=Num, parse_constant=Num)


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
         "swap", "move", "mark", "spelling", "other-name", "other-name", "graft", "graft"]

# Names that one format or another gives to what it holds.
NAMES = """annotations args arguments assistant audio body cache_control call_id caller citations completion content contents data details
detail developer document error errors extra_content file file_data file_id fileData filename format function functionCall
function_call functionResponse functions history id image image_url inlineData input input_audio instructions is_error json
kind media_type message messages metadata mime_type mimeType model name output output_text outputs parameters partial payload parts
phase prefix prompt reasoning reasoning_content reasoning_details reasoningContent redacted refusal response result results role
server_label server_name signature source stop_reason status steps summary system system_instruction text thinking thought
thoughtSignature thought_signature title tool tool_call_id tool_calls tool_name tool_result tool_use_id toolCallId toolName toolResult
toolUse toolUseId tools type url usage user value weight""".split()


def respelt(name):
    """`call_id` for `callId`, and the other way."""
    words = name.split("_")
    camel = words[0] + "".join(it.capitalize() for it in words[1:])
    return camel if camel != name else re.sub("[A-Z]", lambda it: "_" + it[0].lower(), name)


def changed(x, tag):
    """A value of the same shape that says something else."""
    if isinstance(x, Obj):
        return Obj([[it[0], changed(it[1], tag)] for it in x])
    if isinstance(x, list):
        return [changed(it, tag) for it in x]
    return x + tag if isinstance(x, str) and not isinstance(x, Num) else x


def graft(par, key, x, other, rnd):
    """Puts a value of another document where one is that is like it, or beside it."""
    acc = []
    places(other, acc)
    like = [it[2] for it in acc if type(it[2]) is type(x)]
    if not like:
        return
    new = rnd.choice(like)
    if isinstance(par, Obj) or rnd.random() < 0.3:
        put(par, key, new)
    else:
        par.insert(key + rnd.randrange(2), new)


def mutate(doc, rnd, others):
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
        elif op == "graft":
            graft(par, key, x, load(rnd.choice(others)), rnd)
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
            elif op == "spelling":
                par.insert(rnd.randrange(len(par) + 1), [respelt(par[key][0]), changed(x, tag)])
            elif op == "other-name":
                new = rnd.choice([tag, changed(x, tag), Obj([["type", "text"], ["text", tag]])])
                par.insert(rnd.randrange(len(par) + 1), [rnd.choice(NAMES), new])
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
WORDS = set("type content_type block_type role from object kind part_kind status format tool_choice options finish_reason stop_reason finishReason stopReason index encoding mode state outcome".split())


def thoughts(v):
    """the thoughts that a message says in a list, as one"""
    blocks = next((x for k, x in v if k == "thinking_blocks" and isinstance(x, list)), [])
    said = [dict(map(tuple, it)).get("thinking") for it in blocks if isinstance(it, Obj)]
    return "".join(x for x in said if isinstance(x, str))


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
        # A word of a format is one in a list, too.
        name = next((k for k in reversed(way) if isinstance(k, str)), "")
        if name not in WORDS or "ZQ" in v or isinstance(v, Num):
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
    else:
        # Arguments that are the text `null` are a null elsewhere.
        acc.append(json.dumps(v))


def plain(s):
    return s.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def number(s):
    try:
        return float(s)
    except ValueError:
        return None


def values_of(text):
    """the values of a text of several, lines or not"""
    pairs = lambda it: Obj([list(x) for x in it])
    decoder = json.JSONDecoder(object_pairs_hook=pairs, parse_float=Num, parse_int=Num, parse_constant=Num)
    at = 0
    while (at := next((i for i in range(at, len(text)) if not text[i].isspace()), len(text))) < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
            yield value
        except Exception:
            at = text.find("\n", at) + 1 or len(text)


class Said:
    """all that a document says"""

    def __init__(self, text):
        acc, text = [], text.lstrip("\ufeff")
        try:
            said(load(text), acc)
        except Exception:
            acc = [text]
            for it in values_of(text):
                said(it, acc)
        self.text, self.glued = plain("\n".join(acc)), plain("".join(acc))
        self.lower, self.known = self.text.lower(), {}
        # Whether the report tells of the servers of calls in texts.
        self.is_server_told = False
        self.words = set(x for x in re.split(r"\W+", self.text) if x)
        for x in re.findall(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", self.text):
            self.words |= {x, number(x)}

    def has(self, x):
        key = (type(x), x)
        if key not in self.known:
            self.known[key] = self.finds(x)
        return self.known[key]

    def finds(self, x):
        if isinstance(x, Num):
            return x in self.words or number(x) in self.words
        s = plain(str(x))
        # Base64 for links is written in the other alphabet.
        data = s.split(";base64,", 1)[-1].translate(str.maketrans("-_", "+/"))
        s64 = s.translate(str.maketrans("-_", "+/"))
        if s in self.text or s.strip() in self.text or data in self.text or s64 in self.text or s in self.glued:
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
        # Bedrock says a format, not a media type.
        if re.fullmatch(r"\w+/[\w.+-]+", s) and SUBTYPES.get(s.split("/")[1], s.split("/")[1]) in self.words:
            return True
        return self.has_words(s) or "<tool>" in s and self.has_words(without_tags(s, self.is_server_told))

    def has_words(self, s):
        words = [w for w in re.split(r"\W+", s) if w]
        return bool(words) and all(w in self.words for w in words)


# The tags of calls in texts, and the server of one that names none.
TAGS = re.compile(r"</?(?:tool|server_name|tool_name|arguments)>")
SERVER = re.compile(r"<server_name>(.*?)</server_name>", re.S)
IN_JSON = re.compile(r"<tool>\s*(\{.*?\})\s*</tool>", re.S)


def without_tags(text, is_server_told):
    """what the calls in a text say; without their servers if the report tells of them"""
    keep = lambda it: "" if is_server_told or it.group(1).strip() == "local" else it.group(1)
    text = IN_JSON.sub(lambda it: of_json(it, is_server_told), text)
    return html.unescape(TAGS.sub(" ", SERVER.sub(keep, text)))


def of_json(found, is_server_told):
    """what a call says whose body is JSON"""
    try:
        call, says = dict(load(found.group(1))), []
        keep = not is_server_told and call.get("server_name", "local") != "local"
        said(call["arguments"], says)
        return " ".join([call["tool_name"], call["server_name"] if keep else "", *says])
    except (ValueError, LookupError, TypeError):
        return found.group()


SUBTYPES = {"mpeg": "mp3", "plain": "txt", "markdown": "md"}
# Members whose words may be written in other letters: media types (RFC 2045), and the language of code that ran.
IN_CASE = {"mimeType", "mime_type", "media_type", "mediaType", "language"}
# Instructions beside the list of messages, all of which are its first message.
SYSTEMS = {"system", "systemInstruction", "system_instruction", "instructions"}


# Findings that take nothing away.
WEAK = set("convert::" + it for it in "role-changed order-lost merged-parts id-synthesised name-synthesised split-message".split())
NAMING = {"convert::lost-member", "convert::lost-value", "profile::shape", "message::wrong-type", "profile::unknown-member",
          "message::unknown-member", "profile::refused-member", "message::duplicate-member", "convert::value-changed"}


def lost(doc, out, report, rows, left_out):
    """the values that are in neither"""
    source = source_of(doc)
    acc = []
    leaves(source, (), acc)
    written = Said(out)
    written.is_server_told = any(it["code"] == "convert::lost-member" and "server_name" in it["message"] for it in report)
    in_case = lambda w, x: w[-1:] and w[-1] in IN_CASE and plain(str(x)).lower() in written.lower
    missing = [(w, x) for w, x in acc if not written.has(x) and not in_case(w, x)]
    lines, left_out = lines_of(doc), set(map(plain, left_out))
    found = [(pointer(w), str(x)[:60]) for w, x in missing if not told(w, x, report, rows, left_out, acc, lines)]
    # Values without a place are counted, and there are not more of them.
    counted = [COUNTED.match(it["message"]) for it in report if it["code"] == "convert::lost-value" and not it.get("at", {}).get("pointer")]
    return found if len(found) > sum(int(it.group(1)) for it in counted if it) else []


def cut_of(doc, out):
    """the elements of the first list that a message was: the first that are not in what was written; those before are no messages"""
    found = source_of(doc)
    if isinstance(found, Obj):
        is_list = lambda k, x: isinstance(x, list) and x and isinstance(x[0], Obj) and k not in SYSTEMS | {"tools"}
        found = next((x for k, x in found if is_list(k, x)), [])
    out = dump(source_of(out))
    is_there = [dump(it) in out for it in found]
    first = is_there.index(False) if False in is_there else len(found)
    return range(first, is_there.index(True, first) if True in is_there[first:] else len(found))


def source_of(doc):
    """a document, or the list of its lines, of which one that is not JSON is a text"""
    doc = doc.lstrip("\ufeff")
    try:
        return load(doc)
    except Exception:
        return [x for _, x in records_of(doc)]


def records_of(doc):
    """the records of a text of several, each with its line"""
    rows = [(n, line) for n, line in whole_lines(doc) if line.strip()]
    found = []
    for n, line in rows:
        try:
            found.append((n, load(line, False)))
        except Exception:
            found += [(n, x) for x in (broken(line) if line.lstrip()[:1] == "{" else [line])]
    if sum(isinstance(x, Obj) for _, x in found) * 2 >= len(found):
        return found
    if doc.lstrip()[:1] in ("{", "["):
        return [(None, x) for x in values_of(doc)]
    return [(n, line.strip()) for n, line in rows if re.search(r"\w", line)]


def whole_lines(doc):
    """the lines of a text, each with its number; of a record that has line breaks as they are, its lines as one"""
    rows = list(enumerate(doc.split("\n"), 1))
    at = 0
    while at < len(rows):
        n, line = rows[at]
        count = 1
        if line.lstrip()[:1] == "{" and not is_record(line):
            count = next((k for k in range(2, BREAKS) if is_record("\n".join(x for _, x in rows[at : at + k]))), 1)
        yield n, "\n".join(x for _, x in rows[at : at + count])
        at += count


# A record has no more lines, where it has line breaks as they are.
BREAKS = 8


def is_record(text):
    try:
        return isinstance(json.loads(text, strict=False), dict)
    except ValueError:
        return False


MEMBER = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*|[-\d.]+)')


def broken(line):
    """the records in a line of several, and the members of one that was torn, as far as they go"""
    res, at = [], 0
    pairs = lambda it: Obj([list(x) for x in it])
    decoder = json.JSONDecoder(object_pairs_hook=pairs, parse_float=Num, parse_int=Num, parse_constant=Num)
    while at < len(line):
        try:
            value, at = decoder.raw_decode(line, at)
            res.append(value)
            at += len(line[at:]) - len(line[at:].lstrip())
        except Exception:
            found = MEMBER.findall(line[at:])
            res.append(Obj([[k, x[1:] if x[:1] == '"' else Num(x)] for k, x in found]) if found else line[at:])
            break
    return res


def lines_of(doc):
    """the line of each record; nothing of a document that is one value"""
    doc = doc.lstrip("\ufeff")
    try:
        load(doc)
        return []
    except Exception:
        return [n for n, _ in records_of(doc)]


COUNTED = re.compile(r"(\d+) more values are left out")


def named(names, text):
    """whether a sentence has one of these names, as a word"""
    return any(k and re.search(r"(?<!\w)" + re.escape(plain(k)) + r"(?!\w)", plain(text)) for k in names)


def pointer(way):
    return "".join("/" + str(k).replace("~", "~0").replace("/", "~1") for k in way)


def home(way, rows, acc):
    """the messages that most of the values beside one are in, of the nearest object or list that says anything"""
    first = next((i for i, k in enumerate(way) if isinstance(k, int)), len(way))
    for n in range(len(way) - 1, first, -1):
        near = [x for w, x in acc if w[:n] == way[:n] and w != way and len(x) > 2][:50]
        hits = [sum(map(row.has, near)) for row in rows]
        if any(hits):
            return [i for i, n in enumerate(hits) if n == max(hits)]
    return []


def told(way, x, report, rows, left_out, acc, lines):
    names = [str(k) for k in way if isinstance(k, str)]
    # Those in a line of a message file.
    names = names or re.findall(r"([\w.-]+)\s*[:=]", str(x))
    # The `options` of a line are followed, and not given back.
    if way[0] == "options":
        return True
    if any(plain(k) in left_out or json.dumps(k)[1:-1] in left_out for k in names):
        return True
    line = lines[way[0]] if lines and isinstance(way[0], int) else None
    place = plain(pointer(way))
    for it in report:
        # Members of an agent's records are left out by their names; nothing else of them is.
        if it["code"] == "session::written-anew" and set(map(plain, names)) & set(re.findall("`(.*?)`", plain(it.get("fix") or ""))):
            return True
        pointed = it.get("at", {}).get("pointer")
        if pointed and it["code"] not in WEAK and (place + "/").startswith(pointed.rstrip("/") + "/"):
            return True
    # Records are not counted as messages are.
    count = 0 if lines else 1 + max(next((k for k in w if isinstance(k, int)), 0) for w, _ in acc)
    near = lambda way, message: not lines and is_near(way, message, count, len(rows))
    beside = home(way, rows, acc)
    at = [i for i, row in enumerate(rows) if row.has(x)] or beside
    for it in report:
        where, code = it.get("at", {}), it["code"]
        text = it["message"] + " " + (it.get("fix") or "")
        if code == "session::written-anew":
            continue
        if code == "messages-alone":
            if not any(row.has(x) for row in rows):
                return True
            continue
        if line is not None and where.get("line") and GONE.search(it.get("fix") or ""):
            # What names a record that is gone goes with it.
            is_link = len(x) > 3 and any(y == x and lines[w[0]] == where["line"] for w, y in acc)
            if where["line"] == line or is_link:
                return True
        if code == "filter" and it["cut"] is None:
            # Of records that are written anew only what the first message says is gone.
            if 0 in at:
                return True
            continue
        if code == "filter":
            # An element that is not read as a message moves the others.
            element = next((k for k in way if isinstance(k, int)), None)
            if element == 0 or element == 1 and (not at or 0 in at):
                return True
            if element is None and 0 in at or way[0] in SYSTEMS:
                return True
            if element is not None and element in it["cut"]:
                return True
            continue
        if code in WEAK or INSERTS.match(it.get("fix") or ""):
            if code == "convert::role-changed" and way and way[-1] == "role":
                return True
            continue
        if code in NAMING and named(names, text):
            return True
        # A word such as `tool_result` is in other messages, too.
        if plain(str(x)) in plain(text) or where.get("message") in at + beside:
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
    return False


GONE = re.compile("dropped|removed")
# Mends that only add something.
INSERTS = re.compile("insert|add")


def ranges(text):
    """the messages that a sentence names: `messages 1 to 2 are outside the window`"""
    found = re.search(r"messages? ((?:\d+(?: to \d+)?(?:, | and )?)+)", text)
    pairs = re.findall(r"(\d+)(?: to (\d+))?", found.group(1)) if found else []
    return {i for first, last in pairs for i in range(int(first), int(last or first) + 1)}


def is_near(way, message, n_elements, n_messages):
    """whether a value is in the element that a message was, counted from either end, where nothing else says so"""
    at = next((k for k in way if isinstance(k, int)), None)
    if at is None or message is None:
        return False
    return abs(at - message) < 2 or abs((n_elements - at) - (n_messages - message)) < 2


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
        with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(text)
        return path

    def lines(self, args, docs):
        """the answer to each, and its report"""
        command, with_report = args, args[0] in ("convert", "repair")
        # Of an input with very many losses these say how many there are more.
        if args[0] in ("trim", "filter") and len(docs) > FEW:
            both = [self.lines(args, docs[at : at + FEW]) for at in range(0, len(docs), FEW)]
            return [x for it in both for x in it[0]], [x for it in both for x in it[1]]
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

    def mended(self, args, path):
        """what is left of a file that is mended in its place, and what was said of it"""
        status, out, _ = self.run(args + ["--json", path])
        with open(path, encoding="utf-8", errors="surrogatepass", newline="") as file:
            text = file.read()
        try:
            found = json.loads(out)["findings"] if out.strip() else []
        except (ValueError, KeyError):
            found = []
        # What was done is not said in a sentence of its own: it is about the record.
        done = [dict(it, message=it.get("message", ""), fix="removed" if it.get("done") else "") for it in found]
        return ('{"error":{"code":"refused"}}' if status == 2 else text), {"edits": done}

    def listed(self, args, path):
        """the answer to a file, and what is listed on standard error"""
        status, out, err = self.run(args + ["-v", path])
        edits = []
        for code, text, place, fix in re.findall(r"^\w+\[([\w:-]+)\]: (.*)\n *--> (.*)\n(?: *\|.*\n)*(?: *= (.*))?", err, re.M):
            at, message, line = {}, re.search(r": message (\d+)", place), re.search(r":(\d+)$", place)
            if line:
                at["line"] = int(line.group(1))
            left_out = re.match("`(.*)` is left out", text)
            if message:
                at["message"] = int(message.group(1))
            if left_out:
                at["pointer"] = left_out.group(1)
            edits.append({"code": code, "message": text, "at": at, "fix": fix})
        if args[0] == "fit":
            status, answer, _ = self.run(args + ["--json", path])
            edits += joined([json.loads(it) for it in answer.split("\n") if it.startswith("{")]).get("edits", [])
        return ('{"error":{"code":"refused"}}' if status == 2 or not out else out), {"edits": edits}

    def reported(self, args, path):
        """the answer to a file, and its report"""
        rep = self.put("rep.json", "")
        status, out, _ = self.run(args + ["--report", rep, path])
        with open(rep, encoding="utf-8", errors="replace") as file:
            report = file.read()
        refused = '{"error":{"code":"refused"}}' if status == 2 else out
        return refused, joined([json.loads(it) for it in report.split("\n") if it.strip()])

    def alone(self, args, doc):
        """the answer to one document that is not a line among others"""
        args = args + (["--json"] if args[0] == "check" else [])
        status, out, _ = self.run(args + [self.put("one.json", doc)])
        return status, out.strip()


def joined(reports):
    """the reports of lines as one of all of them, whose places begin with the line"""
    if len(reports) < 2:
        return reports[0] if reports else {}
    res = {"edits": [], "left_behind": []}
    for i, report in enumerate(reports):
        for it in report.get("edits", []):
            at = dict(it.get("at", {}), line=i + 1)
            if "pointer" in at:
                at["pointer"] = "/%d%s" % (i, at["pointer"])
            res["edits"].append(dict(it, at=at))
        res["left_behind"] += report.get("left_behind", [])
    return res


WIRES = ["openai", "anthropic", "gemini", "responses", "bedrock", "interactions"]
LISTS = ["plain", "agent", "native", "turns", "sharegpt", "langchaingo", "otel"]
FRAMEWORKS = ["ai-sdk", "vercel-ui", "ag-ui", "adk", "langchain", "pydantic-ai", "agents-sdk", "haystack", "llama-index", "autogen",
              "agent-framework", "semantic-kernel"]
FORMATS = WIRES + LISTS + FRAMEWORKS
# The dialects of agents that are written.
LOGS = ["claude-code", "codex", "gemini-cli", "opencode", "goose", "cline", "openhands", "swe-agent", "qwen-code", "pi", "copilot-cli",
        "atif", "kimi", "droid", "grok"]
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


# Those for a document of several lines.
OF_WHOLE = dict(COMMANDS, **{
    "convert": COMMANDS["convert"] + [["convert", "--to", to] for to in ["msgmd"] + LOGS],
    "fit": [["fit", "--repair", "--best-effort", "--budget", it] for it in ("1M", "600")],
    "doctor --fix": [["doctor", "--fix"]],
})


# So many documents are damaged at once, and given to one process a command; so many to those that say only so much.
BATCH, FEW = 2500, 250


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


def documents_of(folders):
    """the documents in the files of folders that are one line, and those that are several"""
    one, several = {}, {}
    for folder in folders:
        for at, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(at, name)
                if not re.search(r"\.(jsonl?|traj)(\.gz)?$", name) and not (name.endswith(".md") and name != "NOTICE.md"):
                    continue
                with (gzip.open if name.endswith(".gz") else open)(path, "rb") as file:
                    text = file.read().decode("utf-8", "replace")
                for it in [text] if "/samples/" in path or name.endswith(".md") else pieces(text):
                    try:
                        one[dump(load(it.lstrip("\ufeff")))] = path
                    except Exception:
                        several[it] = path
    return one, several


def pieces(text):
    """the values of a file, and those in the members of its records"""
    for row in text.split("\n") if text[:1] == "{" and "\n{" in text else [text]:
        try:
            row = load(row)
        except Exception:
            continue
        found = list(in_members(row, 0))
        yield from found or [dump(row)]


def in_members(row, depth):
    is_record = isinstance(row, Obj) and (depth > 0 or {"source", "name", "id", "repo", "features"} & {it[0] for it in row})
    for key, x in row if is_record and depth < 2 else ():
        if isinstance(x, str) and x.lstrip("\ufeff \n")[:1] in ("{", "["):
            yield x
        elif isinstance(x, list) and x and key not in ("rules", "expect", "diagnostics", "report"):
            if isinstance(x, Obj):
                yield from in_members(x, depth + 1)
            if isinstance(x, Obj) or isinstance(x[0], Obj):
                yield dump(x)


def is_refused(answer):
    return answer.startswith('{"error":{"code"')


class Law:
    def __init__(self, program, rnd, alone):
        self.program, self.rnd, self.alone = program, rnd, alone
        self.done, self.targets, self.ops = collections.Counter(), collections.Counter(), collections.Counter()
        self.flags = []

    def batch(self, of, seeds, others, count, kinds):
        """so many damaged documents of a format, each given to each command in one of its variants"""
        made = [mutate(self.rnd.choice(seeds), self.rnd, others) for _ in range(count)]
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

    def undamaged(self, docs, kinds):
        """documents as they are, each given to each command in every variant, the format of each recognised"""
        native, _ = self.program.lines(["convert", "--to", "native"], docs)
        rows = [rows_of(it) for it in native]
        of = [read_as(it) for it in self.program.lines(["check"], docs)[0]]
        checked = {}
        for kind in kinds:
            for command, chosen in shared_out(kind, len(docs)):
                answers = self.program.lines(command, [docs[i] for i in chosen])
                for i, answer, report in zip(chosen, *answers):
                    case = (of[i], kind, command, (docs[i], "none"))
                    self.judge(case, answer, report, rows[i], checked.setdefault(i, {}))

    def whole(self, docs, at, kinds):
        """a document of several lines, given to each command by itself"""
        doc = list(docs)[at]
        name = os.path.basename(docs[doc]).removesuffix(".gz")
        path = self.program.put(name, doc)
        _, native, _ = self.program.run(["convert", "--to", "native", path])
        of, rows = read_as(self.program.run(["check", "--json", path])[1]), rows_of(native)
        for kind in kinds + ["doctor --fix"]:
            for command, chosen in shared_out(kind, len(docs), OF_WHOLE):
                if at not in chosen or command[0] == "check":
                    continue
                if command[0] == "doctor":
                    answer, report = self.program.mended(command, self.program.put("mended-" + name, doc))
                elif command[0] in ("fit", "trim", "filter"):
                    answer, report = self.program.listed(command, path)
                else:
                    answer, report = self.program.reported(command, path)
                self.judge((of, kind, command, (doc, "none")), answer, report, rows, {})

    def stream(self, path):
        """a captured stream, assembled: what its events say is in the message or named by a warning"""
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            doc = file.read()
        of = os.path.basename(os.path.dirname(path))
        status, out, _ = self.program.run(["stream", "--json", "--options", '{"to":"native"}', path])
        report = json.loads(out) if out else {}
        said = [it for name in ("warnings", "errors", "left_out") for it in report.get(name) or ()]
        is_refused = status == 2 or any(it["code"] == "stream::foreign-format" for it in said)
        self.done[of, "stream", "refused" if is_refused else "answered"] += 1
        if is_refused:
            return
        answer = Said(out)
        # What comes after the end is not read, which is said with its place.
        ends = [it["at"]["start"] for it in said if it["message"].endswith("is not read")]
        doc = doc.encode()[: min(ends, default=None)].decode("utf-8", "replace")
        texts = " ".join(it["message"] for it in said)
        found = []
        for (way, *_), parts in said_by(doc).items():
            whole = "".join(parts)
            names = [k for k in way if isinstance(k, str)]
            # A text that is said again, or the name of a call in each of its events, is there once.
            grows = all(it.startswith(before) for before, it in zip(parts, parts[1:]))
            is_again = all(answer.has(it) and (grows or len(it) > 3 or names[-1] == "name") for it in parts)
            is_there = answer.has(whole) or is_again or is_same_json(whole, answer)
            if whole.strip() and not is_there and not named(names, texts):
                found.append((pointer(way), whole[:60]))
        if found:
            self.done[of, "stream", "unreported"] += 1
            self.flags.append((of, "stream", "none", found, doc, out, report))

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
        # `fit --json` gives the messages of an agent's log, not the log.
        if of not in FORMATS and command[:2] == ["fit", "--json"]:
            edits = edits + [{"code": "messages-alone", "message": ""}]
        if command[0] == "check":
            checked[kind] = (key, edits)
            return
        found = []
        if kind.startswith("repair") and kind.replace("repair", "check") in checked:
            found = disagree(checked[kind.replace("repair", "check")], key, doc, answer, report)
            # What is only read cannot be mended.
            found = [] if "session::no-writer" in answer[:60] else found
        if command[-1] == "1.." and key == "answered":
            if len(rows) < 2 or answer.strip("\ufeff \n") == "[]":
                return
            cut = cut_of(doc, answer) if of in FORMATS else None
            edits = edits + [{"code": "filter", "message": "", "at": {"message": 0}, "cut": cut}]
        if key == "answered":
            found = found + lost(doc, answer, edits, rows, set(report.get("left_behind", [])))
        if command[0] != "convert" and "duplicate" not in op:
            found = found + untouched(doc, edits)
        if found:
            self.done[of, kind, "unreported"] += 1
            self.flags.append((of, " ".join(command), op, found, doc, answer, report))

    def progress(self, count, of, out):
        print(count, of + ",", len(self.flags), "findings", file=sys.stderr, flush=True)
        if out:
            json.dump(self.flags, open(out, "w"))

    def table(self, formats, kinds):
        print("%-16s" % "answered/refused" + "".join("%18s" % it for it in kinds))
        for of in formats:
            cells = ["%d/%d" % (self.done[of, k, "answered"], self.done[of, k, "refused"]) for k in kinds]
            bad = [self.done[of, k, "unreported"] for k in kinds]
            print("%-16s" % of + "".join("%18s" % (it + (" !%d" % b if b else "")) for it, b in zip(cells, bad)))
        print("convert to:", ", ".join("%s %d" % (to, self.targets[to, "answered"]) for to in FORMATS))
        print("damage:", ", ".join("%s %d" % it for it in sorted(self.ops.items())))


def untouched(doc, edits):
    """what is left out of messages of which no edit says anything: a command that keeps the format has no reason for it, unless
    it says that a session is written as its messages alone. Of equal values it is not known which is left"""
    if any(it["code"] == "session::written-anew" for it in edits):
        return []
    edited = {it.get("at", {}).get("message") for it in edits if it.get("fix")}
    lost = [it for it in edits if it["code"].startswith("convert::lost")]
    lost = [it for it in lost if it.get("at", {}).get("message") not in edited]
    text = dump(source_of(doc)) if lost else ""
    return [(it["code"], it["message"]) for it in lost if text.count(said_at(doc, it)) < 2]


def said_at(doc, finding):
    """the value that a finding points to, as JSON"""
    x = source_of(doc)
    for step in finding.get("at", {}).get("pointer", "").split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        try:
            x = next(it[1] for it in reversed(x) if it[0] == step) if isinstance(x, Obj) else x[int(step)]
        except (StopIteration, ValueError, IndexError, TypeError):
            return ""
    return dump(x)


# The members of events that are said: what else they have is about the run, or said again by a later event.
OF_EVENTS = set("content text reasoning_content reasoning thinking arguments partial_json refusal delta signature thoughtSignature name".split())
AGAIN = re.compile(r"response\.(created|in_progress|queued|output_item\.added|content_part\.added)")
PLACES = ("index", "output_index", "content_index", "item_id", "summary_index")


def said_by(doc):
    """the texts of a stream, joined by their place: the way in the event, its type, and the indexes that it names"""
    res, block = {}, 0
    for line in doc.split("\n"):
        text = line.strip("\r").removeprefix("data:").strip()
        if not line.startswith("data:") or text[:1] != "{":
            continue
        try:
            event = load(text)
        except Exception:
            continue
        kind = next((x for k, x in event if k in ("type", "event_type")), "")
        # Several streams in one file count from the beginning again.
        block += kind in ("message_start", "response.created")
        if AGAIN.match(str(kind)):
            continue
        acc = []
        strings(event, (), acc, ())
        for way, indexes, x in acc:
            name = next((k for k in reversed(way) if isinstance(k, str)), "")
            if name in OF_EVENTS and not {"logprobs", "tools", "format", "usage"} & set(way):
                res.setdefault((way, str(kind), block, indexes), []).append(x)
    return res


def strings(v, way, acc, indexes):
    """the texts in a value, each with its way and the indexes of what it is in"""
    if isinstance(v, Obj):
        indexes += tuple((k, str(x)) for k, x in v if k in PLACES and isinstance(x, str))
        for k, x in v:
            strings(x, way + (k,), acc, indexes)
    elif isinstance(v, list):
        # Elements with an index of their own are in any order.
        for i, x in enumerate(v):
            has_index = isinstance(x, Obj) and any(k == "index" for k, _ in x)
            strings(x, way + ("" if has_index else i,), acc, indexes)
    elif isinstance(v, str) and not isinstance(v, Num):
        acc.append((way, indexes, v))


def is_same_json(text, answer):
    """whether a text of JSON is there by its values"""
    acc, parts = [], list(values_of(text))
    leaves(parts, (), acc)
    return bool(acc) and all(answer.has(x) for _, x in acc)


def shared_out(kind, count, commands=COMMANDS):
    """the variants of a command with the documents that each gets: all go to each family of providers, and to one profile and one
    of the other formats in turn"""
    variants = commands[kind]
    is_every = lambda it: it[0] in ("fit", "filter") or it[-1] in WIRES and it[0] == "convert"
    others = [it for it in variants if not is_every(it)]
    for command in variants:
        if is_every(command):
            yield command, range(count)
        elif others.index(command) < count:
            yield command, range(others.index(command), count, len(others))


def read_as(checked):
    """the format that a check names"""
    try:
        return json.loads(checked).get("format") or "refused"
    except ValueError:
        return "refused"


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
    args.add_argument("--data", action="append")
    args.add_argument("--whole", action="store_true", help="of --data only the documents of several lines")
    args.add_argument("--out")
    args = args.parse_args()
    program = Program(args.msg)
    law = Law(program, random.Random(args.seed), args.alone)
    formats, kinds = args.formats or FORMATS, args.command or list(COMMANDS)
    pool = {} if args.data else seeds_of(program, args.seeds, formats)
    one, several = documents_of(args.data or ())
    one = [] if args.whole else list(one)
    for at in range(0, len(one), BATCH):
        law.undamaged(one[at : at + BATCH], kinds)
        law.progress(min(at + BATCH, len(one)), "documents of one line", args.out)
    for at in range(len(several)):
        law.whole(several, at, kinds)
        if at % 10 == 9:
            law.progress(at + 1, "documents of several lines", args.out)
    law.progress(len(several), "documents of several lines", args.out)
    captures = [at + "/" + name for it in args.data or () for at, _, names in os.walk(it) for name in names if name.endswith(".sse")]
    for path in sorted(captures):
        law.stream(path)
    others = [doc for docs in pool.values() for doc in docs]
    for at in range(0, 0 if args.data else args.runs, BATCH):
        for of in formats:
            law.batch(of, pool[of], others, min(BATCH, args.runs - at), kinds)
        law.progress(min(at + BATCH, args.runs), "documents a format", args.out)
    if args.data:
        formats = sorted({key[0] for key in law.done})
    law.table(formats, kinds + (["doctor --fix", "stream"] if args.data else []))
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
