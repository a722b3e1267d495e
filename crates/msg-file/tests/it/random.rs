//! The laws over random texts made of everything that could be mistaken for structure.

use crate::laws;
use msg_file::{CellMarker, Mode, NewCell};
use proptest::prelude::*;

pub(crate) const PIECES: &[&str] = &[
    "# %%",
    "## %%%",
    "# %% [^1]",
    "## %%% t[^2]",
    "### %%% [^2.abc]",
    "### %%% [^2.abc.1]",
    "# %% [^1.1]",
    "\n",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "```",
    "````",
    "~~~",
    "```sh",
    "\\",
    "\\# %% x",
    "[^1]: [markdown]",
    "[^2]: [bot]",
    "[^2.abc]: [tool] name=\"f\"",
    "[^2.abc.1]: [tool] status=ok",
    "[^1.1]: [sh]",
    "[^3]: k=v",
    "[^1]:",
    "[code]",
    " history=exclude",
    " history=\"summary\"",
    " history=no",
    " covers=\"1..2\"",
    " k=\"v",
    " 'x'",
    " “y”",
    " reasoning=1",
    " format=\"native\"",
    "stdout> a",
    "stderr>",
    "\u{feff}",
    "\0",
    "\u{202e}אב",
    "\u{2028}",
    "---",
    "...",
    "# %",
    "message_section: true",
    "agents: {bot: {}}",
    "# Discussion",
    "<!-- Footnotes -->",
    "[^10.summary]: [summary]",
    "# %%% [^2.summary]",
    "[^2.summary]: [summary]",
    "a",
    " ",
    "  ",
    "\t",
    "%%",
    "> # %%",
    "＃　％％",
    "é中🎉",
    "{\"a\":1}",
    "<tool><tool_name>f</tool_name></tool>",
    "# %% [agent][^7]",
    "[^7]: [agent] name=\"x\" default=1",
    "[^8]: [set] default=\"x\"",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        12 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|p| p.concat())
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    (text(), any::<Option<(prop::sample::Index, u8)>>()).prop_map(|(text, broken)| {
        let mut bytes = text.into_bytes();
        if let Some((at, byte)) = broken.filter(|_| !bytes.is_empty()) {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    })
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![4 => Just(Mode::MessageFile), 1 => Just(Mode::Markdown)]
}

fn cell() -> impl Strategy<Value = NewCell> {
    let ty = prop::sample::select(
        &["markdown", "code", "bot", "tool", "python", "summary", "b c", "问"][..],
    );
    let attr = (prop::sample::select(&["a", "键", "lead", "k,"][..]), prop::option::of(text()));
    let attrs = prop::collection::vec(attr.prop_map(|(k, v)| (k.to_owned(), v)), 0..3);
    (text(), ty, any::<bool>(), any::<bool>(), attrs, prop::option::of(text())).prop_map(
        |(body, ty, output, exact, attrs, title)| NewCell {
            kind: if output { CellMarker::Output } else { CellMarker::Message },
            ty: Some(ty.to_owned()),
            body: body.into_bytes(),
            exact,
            attrs,
            title,
            ..NewCell::new(CellMarker::Message)
        },
    )
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: prop::test_runner::RngSeed::Fixed(0x6d73_6766),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn identity(bytes in bytes(), mode in mode()) {
        laws::identity(&bytes, mode);
    }

    #[test]
    fn any_tail(bytes in bytes()) {
        laws::any_tail(&bytes);
    }

    #[test]
    fn append_keeps_the_past(bytes in bytes(), mode in mode(), cell in cell()) {
        laws::append_keeps_the_past(&bytes, mode, &cell);
    }

    #[test]
    fn write_then_read(cell in cell()) {
        laws::write_then_read(&cell);
    }

    #[test]
    fn format_keeps_meaning(bytes in bytes(), mode in mode()) {
        laws::format_keeps_meaning(&bytes, mode);
    }

    #[test]
    fn history_is_sound(bytes in bytes(), mode in mode()) {
        laws::history_is_sound(&bytes, mode);
    }

    #[test]
    fn edit_touches_its_cell(bytes in bytes(), mode in mode(), value in "[a-z&#;\"\\\\\n]{0,8}") {
        laws::edit_touches_its_cell(&bytes, mode, &value);
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn messages_come_back(texts in prop::collection::vec(text(), 0..8)) {
        laws::messages_come_back(b"", &laws::chain_of(&texts));
        laws::messages_come_back("---\r\nagents: {bot: {}}\r\n---\r\n".as_bytes(), &laws::chain_of(&texts));
    }

    #[test]
    fn streams_come_back(chunks in prop::collection::vec((any::<bool>(), text()), 0..8)) {
        laws::streams_come_back(&chunks);
    }
}
