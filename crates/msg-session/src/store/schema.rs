//! The columns of a table, from the `CREATE TABLE` that the schema keeps.

use super::sqlite::{Row, Value};

/// A table: where its tree begins, and what its records hold.
#[derive(Debug, PartialEq)]
pub(super) struct Table {
    pub(super) root: u32,
    pub(super) has_rowid: bool,
    /// The columns that a record stores, in its order.
    columns: Vec<String>,
    /// The column that is the rowid, which records hold as null.
    rowid: Option<usize>,
}

impl Table {
    pub(super) fn parse(root: u32, sql: &str) -> Self {
        let tokens = tokens(sql);
        let start = tokens.iter().position(|it| it.is("(")).unwrap_or(tokens.len());
        let mut res = Self { root, has_rowid: true, columns: Vec::new(), rowid: None };
        let (mut depth, mut begin) = (0usize, start + 1);
        let mut types = Vec::new();
        for at in start..tokens.len() {
            let token = &tokens[at];
            depth += usize::from(token.is("("));
            depth = depth.saturating_sub(usize::from(token.is(")")));
            let ends = depth == 0 && token.is(")");
            if ends || depth == 1 && token.is(",") {
                res.define(&tokens[begin.min(at)..at], &mut types);
                begin = at + 1;
            }
            if ends {
                res.has_rowid = !tokens[at..].iter().any(|it| it.is("without"));
                break;
            }
        }
        res
    }

    /// A column, or a constraint of the table.
    fn define(&mut self, tokens: &[Token], types: &mut Vec<bool>) {
        let Some(first) = tokens.first() else { return };
        let has = |name: &str| tokens.iter().any(|it| it.is(name));
        let is_key = has("primary");
        if ["constraint", "primary", "unique", "check", "foreign"].iter().any(|it| first.is(it)) {
            // `PRIMARY KEY (id)` of one column that is an INTEGER makes it the rowid too.
            let open = tokens.iter().position(|it| it.is("(")).unwrap_or(0);
            if let (true, [name, end]) = (is_key, &tokens[(open + 1).min(tokens.len())..])
                && end.is(")")
            {
                let at = self.columns.iter().position(|it| it.eq_ignore_ascii_case(&name.word));
                self.rowid = at.filter(|it| types[*it]).or(self.rowid);
            }
            return;
        }
        // A generated column that is not stored is in no record.
        if has("as") && !has("stored") {
            return;
        }
        let is_integer = tokens.get(1).is_some_and(|it| it.is("integer"));
        if is_integer && is_key {
            self.rowid = Some(self.columns.len());
        }
        self.columns.push(first.word.clone());
        types.push(is_integer);
    }

    /// The columns of a record by name.
    pub(super) fn row(&self, rowid: i64, values: Vec<Value>) -> Row {
        let mut values = values.into_iter();
        let mut value = |at| match values.next().unwrap_or(Value::Null) {
            Value::Null if Some(at) == self.rowid => Value::Integer(rowid),
            it => it,
        };
        self.columns.iter().enumerate().map(|(at, it)| (it.clone(), value(at))).collect()
    }
}

/// A word or a sign of a statement.
struct Token {
    word: String,
    is_quoted: bool,
}

impl Token {
    /// Whether it is this keyword or sign.
    fn is(&self, keyword: &str) -> bool {
        !self.is_quoted && self.word.eq_ignore_ascii_case(keyword)
    }
}

fn tokens(sql: &str) -> Vec<Token> {
    let mut res = Vec::new();
    let mut rest = sql.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '-' if rest.starts_with("--") => {
                rest = rest.split_once('\n').map_or("", |it| it.1).trim_start();
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.split_once("*/").map_or("", |it| it.1).trim_start();
                continue;
            }
            '"' | '\'' | '`' | '[' => {
                let (word, length) = quoted(rest, if first == '[' { ']' } else { first });
                res.push(Token { word, is_quoted: true });
                rest = rest[length..].trim_start();
                continue;
            }
            it if is_word(it) => rest.find(|it| !is_word(it)).unwrap_or(rest.len()),
            it => it.len_utf8(),
        };
        res.push(Token { word: rest[..length].to_owned(), is_quoted: false });
        rest = rest[length..].trim_start();
    }
    res
}

fn is_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_' || it == '$' || !it.is_ascii()
}

/// The text of a quoted name and the bytes that it takes; a doubled quote is one of the name.
fn quoted(text: &str, quote: char) -> (String, usize) {
    let mut res = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, it)) = chars.next() {
        if it != quote {
            res.push(it);
        } else if quote != ']' && chars.peek().is_some_and(|it| it.1 == quote) {
            res.push(it);
            chars.next();
        } else {
            return (res, at + 1);
        }
    }
    (res, text.len())
}
