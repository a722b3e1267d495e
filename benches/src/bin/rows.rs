//! Measures the rows, or counts their instructions.
//!
//! ```text
//! rows [NAME…] [--data DIR] [--write DOCS]   table and remarks; into DOCS/benchmarks.md and .svg
//! rows count [--write]                       instructions beside benches/budgets.tsv
//! rows once NAME SCALE ENTRY                 an entry's part of a row, for callgrind
//! ```

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program that prints tables and writes a page"
)]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use benches::data::Data;
use benches::measure::{Measured, measure};
use benches::report::{self, Verdict};
use benches::row::Row;
use benches::{count, machine, rows, svg};

type Res<T = ()> = Result<T, Box<dyn Error>>;

/// What everybody gets in a pass.
const BUDGET: Duration = Duration::from_millis(1_000);

fn main() -> Res {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["once", name, scale, entry] => count::once(name, scale, entry),
        ["count", rest @ ..] => count::run(rest.contains(&"--write")),
        args => measured(&parse(args)?),
    }
}

/// What is asked for.
#[derive(Default)]
struct Order<'a> {
    names: Vec<&'a str>,
    data: Option<PathBuf>,
    docs: Option<PathBuf>,
}

fn parse<'a>(args: &[&'a str]) -> Res<Order<'a>> {
    let mut order = Order::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut path = || args.next().map(PathBuf::from).ok_or(format!("{arg} needs a folder"));
        match *arg {
            "--data" => order.data = Some(path()?),
            "--write" => order.docs = Some(path()?),
            name => order.names.push(name),
        }
    }
    Ok(order)
}

fn measured(order: &Order<'_>) -> Res {
    let data = Data::new(order.data.clone());
    let (mut first, one) = pass(order, &data);
    let (second, other) = pass(order, &data);
    first.iter_mut().zip(&second).for_each(|(one, other)| one.better(other));
    // What was best of both passes is shown; a verdict has to be the same in both.
    let table = report::table(&first, &other);
    println!("{table}\n{}", report::remarks(&first));
    let differ = one.iter().zip(&other).filter(|(one, other)| one != other).count();
    println!("{} rows; {differ} with another verdict in the second pass", first.len());
    if let Some(docs) = &order.docs {
        write(docs, &data, &first, &table)?;
    }
    let wrong = first.iter().filter(|it| it.ours().wrong.is_some()).map(|it| it.row.name);
    let wrong: Vec<&str> = wrong.collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("our own answer is wrong: {}", wrong.join(", ")).into())
    }
}

fn pass(order: &Order<'_>, data: &Data) -> (Vec<Measured>, Vec<Vec<Verdict>>) {
    let chosen = rows::all().filter(|it| {
        order.names.is_empty() || order.names.iter().any(|name| it.name.starts_with(name))
    });
    let run = |row: &'static Row| {
        eprintln!("{}", row.name);
        measure(row, data, BUDGET)
    };
    let rows: Vec<Measured> = chosen.filter_map(run).collect();
    let verdicts = rows.iter().map(report::verdicts).collect();
    (rows, verdicts)
}

/// Puts what was measured between the marks of the page.
fn write(docs: &Path, data: &Data, rows: &[Measured], table: &str) -> Res {
    let path = docs.join("benchmarks.md");
    let page = fs::read_to_string(&path)?;
    let (head, rest) = page.split_once("<!-- measured -->").ok_or("the page has no mark")?;
    let (_, tail) = rest.split_once("<!-- end -->").ok_or("the page has no end mark")?;
    let text = format!(
        "{head}<!-- measured -->\n\nOn {}; inputs: {}.\n\n{table}\n### Remarks\n\n{}\n### All figures\n\n{}\n<!-- end -->{tail}",
        machine::about(),
        data.about(),
        report::remarks(rows),
        report::details(rows)
    );
    fs::write(path, text)?;
    Ok(fs::write(docs.join("benchmarks.svg"), svg::bars(rows))?)
}
