//! A message file of strangers takes memory in proportion to its size, whatever it is made of: at most 24
//! times as much at once, the room that growing lists have to spare included (MF-59).

use msg_document::{
    CheckOptions, ConvertOptions, Digest, FitOptions, Format, ReadOptions, Refusal, RepairOptions,
    check, convert, fit, repair,
};

const TIMES: f64 = 24.0;

/// The memory for findings, of which a fixed number is kept, however long the file is.
const FINDINGS: u64 = 3 << 20;

/// Files of cells that are as small as they may be where there are many, and of which something is found.
fn shapes() -> [(&'static str, String); 4] {
    let cells = |cell: &dyn Fn(usize) -> String| -> String {
        (0..26_000).map(|it| format!("{:<48}\n", cell(it))).collect()
    };
    [
        ("users", cells(&|it| format!("# %% [^{it}]\n[^{it}]: [md]\nhi"))),
        ("thoughts", cells(&|it| format!("# %%% [^{it}]\n[^{it}]: [b] reasoning=1\n"))),
        ("orphans", cells(&|it| format!("# %%% [^{it}]\n[^{it}]: [tool] status=0\n"))),
        ("flags", "# %% [^1]\n\n[^1]: [md]".to_owned() + &" k".repeat(400_000)),
    ]
}

/// The most bytes that are allocated at once.
fn peak<T>(act: impl FnOnce() -> Result<T, Refusal>) -> u64 {
    let mut done = false;
    // An edit that no cell can take is refused once it is made.
    let is_done = |it: Result<T, Refusal>| {
        it.map_or_else(|it| it.diagnostic().code.as_str() == "msgfile::no-cell", |_| true)
    };
    let peak = allocation_counter::measure(|| done = is_done(act())).bytes_max;
    assert!(done, "the document was refused");
    peak
}

#[test]
fn hostile_files_take_memory_in_proportion() {
    let format = |name: &str| name.parse::<Format>().expect("because there is one of that name");
    let read = ReadOptions::default().with_from(Some(format("msgmd")));
    let checking = CheckOptions { read: read.clone(), ..CheckOptions::default() };
    let repairing = RepairOptions { read: read.clone(), ..RepairOptions::default() };
    let fitting = FitOptions { repair: true, ..FitOptions::default().with_read(read.clone()) };
    let fitting = fitting.with_budget(1000);
    let converting = ConvertOptions::default().with_read(read);
    for (name, file) in shapes() {
        let file = file.as_bytes();
        let to = |it: &str| peak(|| convert(file, format(it), &converting));
        let all = [
            ("check", peak(|| check(file, &checking))),
            ("repair", peak(|| repair(file, &repairing))),
            ("fit", peak(|| fit(file, &fitting, &Digest))),
            ("turns", to("turns")),
            ("msgmd", to("msgmd")),
        ];
        for (act, peak) in all {
            let times = peak.saturating_sub(FINDINGS) as f64 / file.len() as f64;
            assert!(times <= TIMES, "{act} of {name} takes {times:.1} times the file");
        }
    }
}
