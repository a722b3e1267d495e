//! A schema as a tree: members keep their order, numbers their spelling.

use msg_json::{Kind, RawJson, Reader, Writer, to_text};

/// How deep a tree goes; what is deeper stays text. Schemas that people write nest about ten levels.
const MAX_DEPTH: usize = 100;

/// One value of a schema.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
    Text(String),
    /// A number, `true`, `false`, `null`, or something too deep to look into: its source.
    Raw(String),
}

impl Node {
    /// The tree of a value.
    pub(crate) fn of(raw: &RawJson) -> Self {
        let mut reader = Reader::from_text(raw.text());
        read(&mut reader, 0).unwrap_or_else(|| Self::Raw(raw.text().to_owned()))
    }

    /// The value, written without white space.
    pub(crate) fn raw(&self) -> RawJson {
        RawJson::written(|it| self.write(it))
    }

    /// The value as text, with a blank after each comma and colon, for people and models.
    pub(crate) fn spaced(&self) -> String {
        let mut out = Vec::new();
        msg_json::write_spaced(&mut out, &to_text(|it| self.write(it)));
        String::from_utf8(out).unwrap_or_default()
    }

    fn write(&self, it: &mut Writer<'_>) {
        match self {
            Self::Object(members) => it.object(|it| {
                for (name, value) in members {
                    value.write(it.key(name));
                }
            }),
            Self::Array(items) => it.array(items, |it, item| item.write(it)),
            Self::Text(text) => it.str(text),
            Self::Raw(source) => it.raw(source),
        }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(crate) fn null() -> Self {
        Self::Raw("null".to_owned())
    }

    pub(crate) fn bool(is: bool) -> Self {
        Self::Raw(is.to_string())
    }

    /// An object of one member.
    pub(crate) fn member(name: &str, value: Node) -> Self {
        Self::Object(vec![(name.to_owned(), value)])
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Raw(it) if it == "null")
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Raw(it) => it.parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Raw(it)
                if it.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) =>
            {
                it.parse().ok()
            }
            _ => None,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Self::Text(it) = self { Some(it) } else { None }
    }

    pub(crate) fn as_list(&self) -> Option<&[Node]> {
        if let Self::Array(it) = self { Some(it) } else { None }
    }

    /// The members of an object; none of something else.
    pub(crate) fn members(&self) -> &[(String, Node)] {
        if let Self::Object(it) = self { it } else { &[] }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        self.members().iter().find(|it| it.0 == name).map(|it| &it.1)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        match self {
            Self::Object(it) => it.iter_mut().find(|it| it.0 == name).map(|it| &mut it.1),
            _ => None,
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Puts a member in the place of the one of this name, or at the end.
    pub(crate) fn set(&mut self, name: &str, value: Node) {
        let Self::Object(members) = self else { return };
        match members.iter_mut().find(|it| it.0 == name) {
            Some(it) => it.1 = value,
            None => members.push((name.to_owned(), value)),
        }
    }

    /// Puts a member before all others.
    pub(crate) fn set_first(&mut self, name: &str, value: Node) {
        self.remove(name);
        if let Self::Object(members) = self {
            members.insert(0, (name.to_owned(), value));
        }
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<Node> {
        let Self::Object(members) = self else { return None };
        let at = members.iter().position(|it| it.0 == name)?;
        Some(members.remove(at).1)
    }

    /// The names in the member `type`, whether it is one or a list.
    pub(crate) fn types(&self) -> Vec<&str> {
        match self.get("type") {
            Some(Self::Text(it)) => vec![it],
            Some(Self::Array(all)) => all.iter().filter_map(Node::as_text).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether its instances are objects: by its type, or by its properties where it has none.
    pub(crate) fn describes_objects(&self) -> bool {
        self.types().contains(&"object") || (!self.has("type") && self.has("properties"))
    }

    /// The names in the member `required`.
    pub(crate) fn required(&self) -> Vec<&str> {
        let list = self.get("required").and_then(Node::as_list).unwrap_or_default();
        list.iter().filter_map(Node::as_text).collect()
    }
}

fn read(reader: &mut Reader<'_>, depth: usize) -> Option<Node> {
    match reader.peek().ok()? {
        Kind::Object if depth < MAX_DEPTH => {
            reader.begin_object().ok()?;
            let mut members = Vec::new();
            while let Some(key) = reader.next_key().ok()? {
                members.push((key.text.into_owned(), read(reader, depth + 1)?));
            }
            Some(Node::Object(members))
        }
        Kind::Array if depth < MAX_DEPTH => {
            reader.begin_array().ok()?;
            let mut items = Vec::new();
            while reader.next_element().ok()? {
                items.push(read(reader, depth + 1)?);
            }
            Some(Node::Array(items))
        }
        Kind::String => reader.string().ok().map(|it| Node::Text(it.text.into_owned())),
        _ => reader.raw().ok().map(|it| Node::Raw(it.to_owned())),
    }
}

// A schema that also takes null, which is what a strict dialect has for an absent property (RQ-6).

/// Keywords that say nothing about a value.
const NOTES: [&str; 8] = [
    "description",
    "title",
    "default",
    "examples",
    "$comment",
    "deprecated",
    "readOnly",
    "writeOnly",
];
/// Keywords that can refuse null.
const REFUSING: [&str; 8] = ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "not"];

/// The schema that takes what this one takes, and null.
pub(crate) fn nullable(mut node: Node) -> Node {
    if node.as_bool() == Some(false) {
        return of_null();
    }
    if !REFUSING.iter().any(|it| node.has(it)) {
        return node;
    }
    if ["const", "$ref", "oneOf", "allOf", "not"].iter().any(|it| node.has(it)) {
        return with_branch(node);
    }
    match node.get_mut("type") {
        Some(Node::Array(types)) if types.iter().any(|it| it.as_text() == Some("null")) => {}
        Some(Node::Array(types)) => types.push(Node::text("null")),
        Some(it) if it.as_text() != Some("null") => {
            *it = Node::Array(vec![std::mem::replace(it, Node::null()), Node::text("null")]);
        }
        _ => {}
    }
    if let Some(Node::Array(values)) = node.get_mut("enum")
        && !values.iter().any(Node::is_null)
    {
        values.push(Node::null());
    }
    if let Some(Node::Array(branches)) = node.get_mut("anyOf")
        && !branches.iter().any(takes_null)
    {
        branches.push(of_null());
    }
    node
}

fn of_null() -> Node {
    Node::member("type", Node::text("null"))
}

fn takes_null(branch: &Node) -> bool {
    branch.types().contains(&"null") && !branch.has("enum") && !branch.has("const")
}

/// The schema as one branch, null as the other; what is said for people stays outside.
fn with_branch(node: Node) -> Node {
    let Node::Object(members) = node else { return node };
    let (mut res, inner): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|it| NOTES.contains(&it.0.as_str()));
    res.push(("anyOf".to_owned(), Node::Array(vec![Node::Object(inner), of_null()])));
    Node::Object(res)
}
