//! Secrets in texts (SE-96): rules for exact shapes, each with a name. Nothing is guessed from entropy, so
//! that code and ids stay as they are.

/// Replaces secrets by `[redacted:RULE]`, and says how many were replaced. Linear in the text.
///
/// ```
/// let (text, count) = msg_session::redact("key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789 end");
/// assert_eq!((text.as_str(), count), ("key [redacted:anthropic-key] end", 1));
/// assert_eq!(msg_session::redact("the task-list of sk-learn").1, 0);
/// ```
pub fn redact(text: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let mut count = 0;
    let mut at = 0;
    while let Some((start, end, rule)) = next(text, at) {
        out.push_str(&text[at..start]);
        out.push_str("[redacted:");
        out.push_str(rule);
        out.push(']');
        count += 1;
        at = end;
    }
    out.push_str(&text[at..]);
    (out, count)
}

/// As [`redact`], of JSON or of lines of JSON: the values of members that only their provider can read stay,
/// such as signatures, encrypted reasoning and the bytes of images. Linear in the text.
///
/// ```
/// let json = r#"{"text":"AKIAIOSFODNN7EXAMPLE","signature":"AKIAIOSFODNN7EXAMPLE"}"#;
/// let (json, count) = msg_session::redact_json(json);
/// assert_eq!(json, r#"{"text":"[redacted:aws-key-id]","signature":"AKIAIOSFODNN7EXAMPLE"}"#);
/// assert_eq!(count, 1);
/// ```
pub fn redact_json(json: &str) -> (String, usize) {
    let mut out = String::with_capacity(json.len());
    let mut count = 0;
    let (mut at, mut is_spared) = (0, false);
    while let Some(open) = json[at..].find('"').map(|it| at + it) {
        let close = end_of_string(json.as_bytes(), open + 1);
        let inner = &json[open + 1..close];
        let behind = json.get(close + 1..).unwrap_or_default();
        let is_name = behind.trim_start().starts_with(':');
        out.push_str(&json[at..=open]);
        if is_name || is_spared {
            out.push_str(inner);
        } else {
            let (text, found) = redact(inner);
            out.push_str(&text);
            count += found;
        }
        is_spared = is_name && SPARED.contains(&inner);
        at = close;
        if at < json.len() {
            out.push('"');
            at += 1;
        }
    }
    out.push_str(&json[at..]);
    (out, count)
}

/// Members whose values nobody but their provider can read.
const SPARED: [&str; 6] =
    ["data", "encrypted_content", "redacted", "signature", "thoughtSignature", "thought_signature"];

/// Where the string ends that begins at `at`, behind its quote.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(len) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += len;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

/// A shape: what it begins with, the characters that follow, and how many there must be.
struct Rule {
    name: &'static str,
    prefix: &'static str,
    is_body: fn(u8) -> bool,
    min: usize,
    max: usize,
}

const fn rule(
    name: &'static str,
    prefix: &'static str,
    is_body: fn(u8) -> bool,
    min: usize,
    max: usize,
) -> Rule {
    Rule { name, prefix, is_body, min, max }
}

/// The rules; a longer beginning stands before a shorter one.
const RULES: &[Rule] = &[
    rule("anthropic-key", "sk-ant-", word, 20, 200),
    rule("openrouter-key", "sk-or-", word, 20, 200),
    rule("openai-key", "sk-proj-", word, 20, 300),
    rule("openai-key", "sk-svcacct-", word, 20, 300),
    rule("openai-key", "sk-", alphanumeric, 32, 64),
    rule("google-key", "AIza", word, 35, 35),
    rule("groq-key", "gsk_", alphanumeric, 40, 64),
    rule("xai-key", "xai-", alphanumeric, 40, 100),
    rule("hugging-face-token", "hf_", alphanumeric, 30, 40),
    rule("github-token", "github_pat_", word, 60, 100),
    rule("github-token", "ghp_", alphanumeric, 36, 36),
    rule("github-token", "gho_", alphanumeric, 36, 36),
    rule("github-token", "ghu_", alphanumeric, 36, 36),
    rule("github-token", "ghs_", alphanumeric, 36, 36),
    rule("github-token", "ghr_", alphanumeric, 36, 76),
    rule("gitlab-token", "glpat-", word, 20, 60),
    rule("npm-token", "npm_", alphanumeric, 36, 36),
    rule("aws-key-id", "AKIA", upper, 16, 16),
    rule("aws-key-id", "ASIA", upper, 16, 16),
    rule("slack-token", "xoxb-", word, 20, 120),
    rule("slack-token", "xoxp-", word, 20, 120),
    rule("slack-token", "xoxa-", word, 20, 120),
    rule("slack-token", "xoxs-", word, 20, 120),
    rule("stripe-key", "sk_live_", alphanumeric, 24, 120),
    rule("stripe-key", "rk_live_", alphanumeric, 24, 120),
    rule("jwt", "eyJ", jwt, 40, usize::MAX),
];

fn word(it: u8) -> bool {
    it.is_ascii_alphanumeric() || it == b'_' || it == b'-'
}

fn alphanumeric(it: u8) -> bool {
    it.is_ascii_alphanumeric()
}

fn upper(it: u8) -> bool {
    it.is_ascii_uppercase() || it.is_ascii_digit()
}

fn jwt(it: u8) -> bool {
    word(it) || it == b'.'
}

const PEM: &str = "-----BEGIN ";

/// The next secret from `from` on: its bytes and its rule.
fn next(text: &str, from: usize) -> Option<(usize, usize, &'static str)> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        if let Some(found) = secret_at(text, at) {
            return Some(found);
        }
        at += 1;
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    None
}

fn secret_at(text: &str, at: usize) -> Option<(usize, usize, &'static str)> {
    let bytes = text.as_bytes();
    match bytes[at] {
        b'-' => return pem(text, at),
        b':' => return connection(text, at),
        b's' | b'A' | b'g' | b'x' | b'h' | b'n' | b'r' | b'e' => {}
        _ => return None,
    }
    if at > 0 && jwt(bytes[at - 1]) {
        return None;
    }
    RULES.iter().find_map(|rule| {
        let rest = bytes[at..].strip_prefix(rule.prefix.as_bytes())?;
        let len = rest.iter().take_while(|it| (rule.is_body)(**it)).count();
        // A full stop behind it belongs to the sentence.
        let len = len - rest[..len].iter().rev().take_while(|it| **it == b'.').count();
        let fits = (rule.min..=rule.max).contains(&len);
        let is_jwt =
            rule.name != "jwt" || rest[..len].iter().filter(|it| **it == b'.').count() == 2;
        (fits && is_jwt).then_some((at, at + rule.prefix.len() + len, rule.name))
    })
}

/// A private key, up to its end or that of the text.
fn pem(text: &str, at: usize) -> Option<(usize, usize, &'static str)> {
    let rest = text[at..].strip_prefix(PEM)?;
    let label = rest.get(..rest.find("-----")?)?;
    label.ends_with("PRIVATE KEY").then_some(())?;
    let close = format!("-----END {label}-----");
    let end = memchr::memmem::find(&text.as_bytes()[at..], close.as_bytes());
    let end = end.map_or(text.len(), |it| at + it + close.len());
    Some((at, end, "private-key"))
}

/// The password of a connection string: `://user:PASSWORD@`.
fn connection(text: &str, at: usize) -> Option<(usize, usize, &'static str)> {
    let rest = text[at..].strip_prefix("://")?;
    let is_part = |it: u8| it.is_ascii_graphic() && !b"/@\"'\\<>".contains(&it);
    let len = rest.bytes().take(300).take_while(|it| is_part(*it)).count();
    let (user, password) = rest[..len].split_once(':')?;
    let is_password = rest.as_bytes().get(len) == Some(&b'@') && !password.is_empty();
    let start = at + 3 + user.len() + 1;
    is_password.then_some((start, at + 3 + len, "password"))
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[track_caller]
    fn check(secret: &str, rule: &str) {
        let (text, count) = redact(&format!("a {secret}."));
        assert_eq!((text, count), (format!("a [redacted:{rule}]."), 1));
    }

    #[test]
    fn each_rule_has_its_shape() {
        let body = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH";
        check(&format!("sk-ant-api03-{body}"), "anthropic-key");
        check(&format!("sk-or-v1-{body}"), "openrouter-key");
        check(&format!("sk-proj-{body}"), "openai-key");
        check(&format!("sk-{body}"), "openai-key");
        check(&format!("AIza{}", &body[..35]), "google-key");
        check(&format!("gsk_{body}"), "groq-key");
        check(&format!("xai-{body}"), "xai-key");
        check(&format!("hf_{}", &body[..34]), "hugging-face-token");
        check(&format!("ghp_{}", &body[..36]), "github-token");
        check(&format!("github_pat_{body}{body}"), "github-token");
        check(&format!("glpat-{}", &body[..20]), "gitlab-token");
        check(&format!("npm_{}", &body[..36]), "npm-token");
        check("AKIAIOSFODNN7EXAMPLE", "aws-key-id");
        check("xoxb-1234567890-abcdefghijkl", "slack-token");
        check(&format!("sk_live_{}", &body[..24]), "stripe-key");
        check(&format!("eyJ{body}.eyJ{body}.{body}").replace("-", ""), "jwt");
        check("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----", "private-key");
    }

    #[test]
    fn the_password_of_a_connection_goes_and_nothing_else() {
        let (text, _) = redact("postgres://me:s3cret@db/x and http://a:80/ and a://b@c");
        assert_eq!(text, "postgres://me:[redacted:password]@db/x and http://a:80/ and a://b@c");
    }

    #[test]
    fn words_that_look_alike_stay() {
        for text in ["task-list", "sk-learn", "AKIA", "eyJhbGciOi", "ask-ant-farm", "ghp_short"] {
            assert_eq!(redact(text), (text.to_owned(), 0));
        }
    }
}
