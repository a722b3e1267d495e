//! Sizes: hostile inputs that a quadratic reader would not finish, and lines of megabytes.

use crate::laws;
use msg_core::Message;
use msg_file::{Cell, FileLimits, HistoryOptions, MessageFile, Mode};

#[test]
fn hostile_shapes_are_read() {
    let n = 1_500;
    let fences: String = (0..n).map(|i| format!("{} x\n", "`".repeat(3 + i % 90))).collect();
    let shapes = [
        fences.clone(),
        "# %%\n".repeat(n) + &fences,
        "\n".repeat(10 * n),
        format!("# %% [^1]\n\n[^1]: [md]{}\n", " k=\"".repeat(n)),
        format!("# %% [^1]\n\n[^1]: [md]{}\n", " k=“".repeat(n)),
        format!("# %% [^1]\n\n[^1]: [md] {}\n", "[".repeat(10 * n)),
        format!("# %% [^1]\n\n[^1]: [md] {}\n", "\"".repeat(10 * n)),
        format!("# %% {}\n", "[^".repeat(10 * n)),
        "%%".repeat(10 * n),
        "# %% [^1]\n".repeat(n),
        "＃ ％％\n".repeat(n),
        format!("---\na: {}\n---\n", "[".repeat(n)),
        (1..200)
            .map(|i| format!("# %%% [^s{i}]\n\n[^s{i}]: [summary] covers=\"#1..#{i}\"\n\n"))
            .collect(),
        (0..n).map(|i| format!("# %% [^{i}]\n\n")).collect::<String>()
            + "<!-- Footnotes -->\n[^1]: [code]\n",
    ];
    for shape in shapes {
        laws::identity(shape.as_bytes(), Mode::MessageFile);
        laws::history_is_sound(shape.as_bytes(), Mode::MessageFile);
        laws::format_keeps_meaning(shape.as_bytes(), Mode::MessageFile);
    }
}

/// Each cell waits once for its definition, however many blocks of definitions there are.
#[test]
fn footnote_blocks_in_every_cell_are_read() {
    let n = 19_000;
    let cell = |i| format!("# %% [^{i}]\n\nhi\n\n<!-- Footnotes -->\n[^z{i}]: k=0\n\n");
    let mut text: String = (0..n).map(cell).collect();
    text.push_str("# %%\n\n<!-- Footnotes -->\n");
    text.extend((0..n).map(|i| format!("[^{i}]: k={i}\n")));
    let doc = laws::read(text.as_bytes(), Mode::MessageFile);
    let bound = |it: &&Cell| it.attr("k").as_deref() == it.id().as_deref();
    assert_eq!(doc.cells().iter().take(n).filter(bound).count(), n);
}

#[test]
fn lines_of_ten_megabytes_come_back() {
    let long = "x".repeat(10 << 20);
    laws::messages_come_back(
        b"",
        &[Message::user(long.as_str()), Message::assistant(format!("# %% {long}"))],
    );
}

/// More cells than the size of the file lets expect are refused before they take memory.
#[test]
fn cells_of_a_few_bytes_are_bounded() {
    let read = |cell: &str, n: usize| {
        MessageFile::read(cell.repeat(n).into_bytes(), Mode::MessageFile, &FileLimits::default())
    };
    assert_eq!(read("# %%\n", 20_000).unwrap().cells().len(), 20_000);
    let refused = read("# %%\n", 500_000).unwrap_err();
    assert_eq!(refused.code().as_str(), "msgfile::too-many-cells");
    let small = "# %% [^12345]\n\n[^12345]: [markdown]\n\nthank you\n\n";
    assert_eq!(read(small, 60_000).unwrap().cells().len(), 60_000);
    // A picture is two parts of a message.
    let code = format!("# %% [^1]\n[^1]: [code]\n{}\n", "x".repeat(40));
    let output = |mime: &str| {
        read(&format!("{code}## %%% [^1.1]\n[^1.1]: [py] mime_type={mime}\nAA==\n\n"), 10_000)
    };
    assert_eq!(output("audio/ogg").unwrap().cells().len(), 20_000);
    assert_eq!(output("image/png").unwrap_err().code().as_str(), "msgfile::too-many-cells");
}

/// Values of the frontmatter take many times their bytes: of too many none is kept.
#[test]
fn values_of_the_frontmatter_are_bounded() {
    let read = |n: usize| {
        let text =
            format!("---\nagents: [{}]\nother: [{}]\n---\n", "a,".repeat(n), "a,".repeat(20_000));
        let doc = MessageFile::read(text.into_bytes(), Mode::MessageFile, &FileLimits::default())
            .unwrap();
        (doc.agents().len(), doc.diagnostics()[0].code.as_str().to_owned())
    };
    assert_eq!(read(9_999), (1, "msgfile::yaml-duplicate-key".to_owned()));
    assert_eq!(read(10_000), (0, "msgfile::frontmatter-too-large".to_owned()));
}

/// Findings without end are counted, the first of each code are kept.
#[test]
fn findings_beyond_the_limit_are_counted() {
    let text = b"\xff\n#%%\n".repeat(15_000);
    let doc = MessageFile::read(text, Mode::MessageFile, &FileLimits::default()).unwrap();
    assert_eq!((doc.diagnostics().len(), doc.diagnostics_dropped()), (10_000, 20_000));
    assert_eq!(doc.diagnostics()[9_999].at.line, Some(10_000));
}

/// A hostile file is nothing but cells: what one takes decides how much of a machine a megabyte takes.
#[test]
fn cells_and_their_messages_have_no_spare_room() {
    assert!(size_of::<Cell>() <= 224, "{}", size_of::<Cell>());
    let text = "# %%% [tool]\n".repeat(100) + &"# %%% [a]\nx\n# %% [code]\ny\n".repeat(100);
    let doc =
        MessageFile::read(text.into_bytes(), Mode::MessageFile, &FileLimits::default()).unwrap();
    let history = doc.history(&HistoryOptions::default()).unwrap();
    assert_eq!(history.messages.len(), 400);
    for it in &history.messages {
        assert_eq!((it.parts.len(), it.parts.capacity()), (1, 1), "{it:?}");
    }
}

/// The JSON of a document is handed on in pieces, each of whole characters.
#[test]
fn json_is_written_in_pieces() {
    let text = "# %%\né\n".repeat(2_000);
    let doc =
        MessageFile::read(text.into_bytes(), Mode::MessageFile, &FileLimits::default()).unwrap();
    let mut out = Pieces(Vec::new());
    doc.write_json("x.msg.md", &mut out).unwrap();
    assert!(out.0.len() > 4 && out.0.iter().all(|it| it.len() < 70_000));
    assert!(out.0.iter().all(|it| std::str::from_utf8(it).is_ok()));
    assert_eq!(out.0.concat(), doc.to_json("x.msg.md").into_bytes());
}

/// What a writer was given, write by write.
struct Pieces(Vec<Vec<u8>>);

impl std::io::Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
