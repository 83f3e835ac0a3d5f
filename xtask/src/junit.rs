//! Reads the reports that pytest and node's test runner write as JUnit's XML: of each test its name, its time and how it ended.

use std::path::Path;

use crate::record::{self, Line};

/// A test of a report.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) seconds: f64,
    pub(crate) end: End,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum End {
    Passed,
    Failed,
    Skipped,
}

/// Records all tests of a report. `program` names them where the report has no name of the file.
pub(crate) fn record(report: &Path, program: &str) {
    let Ok(text) = std::fs::read_to_string(report) else { return };
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for case in parse(&text) {
        match case.end {
            End::Passed => passed += 1,
            End::Failed => failed += 1,
            End::Skipped => skipped += 1,
        }
        // node names no file here.
        let is_named = !case.group.is_empty() && case.group != "test";
        let program = if is_named { format!("{program} {}", case.group) } else { program.to_owned() };
        record::append(&Line::Test { seconds: case.seconds, program, name: case.name });
    }
    record::append(&Line::Count { passed, failed, skipped });
}

/// The tests of a report. Text that is no report has none.
pub(crate) fn parse(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for part in text.split("<testcase").skip(1) {
        let (head, is_empty) = attributes(part);
        let value = |name: &str| {
            head.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let inner = if is_empty { "" } else { part.split("</testcase>").next().unwrap_or_default() };
        let end = if inner.contains("<failure") || inner.contains("<error") {
            End::Failed
        } else if inner.contains("<skipped") {
            End::Skipped
        } else {
            End::Passed
        };
        let seconds = value("time").parse().unwrap_or(0.0);
        cases.push(Case { group: value("classname"), name: value("name"), seconds, end });
    }
    cases
}

/// The attributes of an element, from behind its name, and whether it ends there.
fn attributes(text: &str) -> (Vec<(String, String)>, bool) {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim();
        let Some(quote) = after.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else { break };
        // A `>` before the name: this attribute is of another element.
        if name.contains('>') {
            break;
        }
        let Some((value, after)) = after[1..].split_once(quote) else { break };
        found.push((name.to_owned(), plain(value)));
        rest = after.trim_start();
    }
    (found, rest.starts_with('/'))
}

/// Text without XML's escapes. node escapes some twice.
fn plain(text: &str) -> String {
    let mut text = text.to_owned();
    for (escape, sign) in
        [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#10;", " ")]
    {
        text = text.replace(escape, sign);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_pytest_is_read() {
        let text = r#"<?xml version="1.0"?><testsuites><testsuite name="pytest" errors="0" tests="3" time="1.2">
            <testcase classname="tests.test_flow" name="test_a[1-&lt;x&gt;]" time="0.125" />
            <testcase classname="tests.test_flow" name="test_b" time="2.000"><skipped message="no Ray">x</skipped></testcase>
            <testcase classname="tests.test_ray" name="test_c" time="0.001"><failure message="a > b">E</failure></testcase>
            <testcase classname="tests.test_ray" name="test_d" time="0"><error message="setup">E</error></testcase></testsuite></testsuites>"#;
        let case = |group: &str, name: &str, seconds: f64, end: End| Case {
            group: group.to_owned(),
            name: name.to_owned(),
            seconds,
            end,
        };
        assert_eq!(
            parse(text),
            [
                case("tests.test_flow", "test_a[1-<x>]", 0.125, End::Passed),
                case("tests.test_flow", "test_b", 2.0, End::Skipped),
                case("tests.test_ray", "test_c", 0.001, End::Failed),
                case("tests.test_ray", "test_d", 0.0, End::Failed),
            ]
        );
    }

    #[test]
    fn a_report_of_node_is_read() {
        let text = "<testsuites>\n\t<testsuite name=\"suite\" tests=\"3\">\n\
            \t\t<testcase name=\"inner &amp;quot;1&amp;quot; &lt;2>\" time=\"0.012799\" classname=\"test\"/>\n\
            \t\t<testcase name=\"two\" time=\"0.000085\" classname=\"test\">\n\t\t\t<skipped type=\"skipped\" message=\"why\"/>\n\t\t</testcase>\n\
            \t\t<testcase name=\"bad\" time=\"0.5\" classname=\"test\" failure=\"x\">\n\t\t\t<failure type=\"t\">\n[Error]\n\t\t\t</failure>\n\t\t</testcase>\n\
            \t</testsuite>\n</testsuites>\n";
        let cases = parse(text);
        let ends: Vec<_> = cases.iter().map(|case| (case.name.as_str(), case.seconds, case.end)).collect();
        assert_eq!(
            ends,
            [
                ("inner \"1\" <2>", 0.012_799, End::Passed),
                ("two", 0.000_085, End::Skipped),
                ("bad", 0.5, End::Failed)
            ]
        );
    }

    #[test]
    fn what_is_no_report_has_no_tests() {
        for text in ["", "<testcase", "<testcase name=", "<testcase name=\"a", "testcase name=\"a\""] {
            assert!(parse(text).iter().all(|case| case.name.is_empty()), "{text}");
        }
    }
}
