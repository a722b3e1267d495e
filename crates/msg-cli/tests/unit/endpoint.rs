//! Which redirects are followed.

use super::*;

#[test]
fn a_redirect_stays_on_its_host() {
    let from = "https://a.example:8443/v1/chat/completions";
    let there = |to: &str| same_host(from, to);
    assert_eq!(there("/v2/x").as_deref(), Some("https://a.example:8443/v2/x"));
    assert_eq!(there("https://a.example:8443/y").as_deref(), Some("https://a.example:8443/y"));
    for to in [
        "",
        "//b.example/x",
        "http://a.example:8443/y",
        "https://a.example/y",
        "https://b.example:8443/",
        "x",
    ] {
        assert_eq!(there(to), None, "{to}");
    }
}
