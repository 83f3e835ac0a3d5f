//! Tests of the figures.

use super::*;

fn mark(at: f64, value: f64) -> Mark {
    Mark { at, value, low: value, high: value }
}

fn curve(label: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
    let points = points.into_iter().map(|(at, value)| mark(at, value)).collect();
    Curve { label: label.into(), is_peer: false, points }
}

fn plot(curves: Vec<Curve>) -> Plot {
    Plot { title: "Time".into(), x_label: "bodies".into(), y_label: "time".into(), curves, ..Plot::default() }
}

/// Checks that tags are balanced, that attributes have quoted values, and that text has no bare sign.
fn check_xml(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        assert!(!before.contains('>'), "a bare > in {before}");
        check_entities(before);
        let (tag, tail) = after.split_once('>').expect("a tag ends");
        rest = tail;
        assert!(!tag.contains('<'), "a bare < in {tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "in {text}");
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        assert_eq!(tag.matches("=\"").count() * 2, tag.matches('"').count(), "{tag}");
        if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().expect("a tag has a name"));
        }
    }
    check_entities(rest);
    assert!(open.is_empty(), "not closed: {open:?}");
}

fn check_entities(text: &str) {
    for after in text.split('&').skip(1) {
        let name = after.split_once(';').map(|(name, _)| name);
        assert!(name.is_some_and(|name| ["amp", "lt", "gt", "quot", "#39"].contains(&name)), "{text}");
    }
}

/// Checks a figure: it is XML, and each number in it is finite.
fn check(svg: &str) {
    check_xml(svg);
    assert!(svg.starts_with("<svg ") && svg.contains("viewBox=") && svg.contains("role=\"img\""));
    assert!(svg.contains("width=\"100%\"") && svg.contains("<title>"));
    for word in ["NaN", "inf"] {
        assert!(!svg.contains(word), "{word} in {svg}");
    }
}

/// The values of an attribute.
fn attributes<'a>(svg: &'a str, start: &str, name: &str) -> Vec<&'a str> {
    let key = format!(" {name}=\"");
    let tags = svg.split('<').filter(|tag| tag.starts_with(start));
    tags.filter_map(|tag| Some(tag.split_once(&key)?.1.split_once('"')?.0)).collect()
}

/// The corners of the first polyline.
fn corners(svg: &str) -> Vec<[f64; 2]> {
    let pair = |pair: &str| {
        let (x, y) = pair.split_once(',').unwrap();
        [x.parse().unwrap(), y.parse().unwrap()]
    };
    attributes(svg, "polyline", "points")[0].split(' ').map(pair).collect()
}

#[test]
fn hostile_points_are_left_out() {
    let hostile = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0];
    let every = hostile.iter().flat_map(|&a| hostile.map(|b| (a, b)).into_iter().chain([(1.0, a), (a, 1.0)]));
    let empty = [plot(vec![]), plot(vec![curve("a", [])]), plot(vec![curve("a", every.clone())])];
    for plot in empty {
        let svg = plot.svg();
        check(&svg);
        assert!(svg.contains("no point was measured"));
        check_xml(&plot.legend());
    }
    let mut mixed =
        plot(vec![curve("a", every.chain([(10.0, 2.0), (20.0, 3.0)])), curve("none", [(0.0, 1.0)])]);
    for value in hostile {
        mixed.curves[0].points.push(Mark { at: 10.0, value: 2.0, low: value, high: 3.0 });
        mixed.marks_x.push(Level { label: "cache".into(), at: value });
        mixed.lines.push(Line { curve: 0, from: [value, 1.0], to: [10.0, 2.0] });
        mixed.lines.push(Line { curve: 9, from: [10.0, 1.0], to: [10.0, 2.0] });
    }
    let svg = mixed.svg();
    check(&svg);
    assert!(!svg.contains("cache") && !svg.contains("fit"));
    assert_eq!(svg.matches("<circle").count(), 2 + hostile.len());
    assert!(mixed.legend().contains("none (no point was measured)"));
}

#[test]
fn degenerate_ranges_are_drawn() {
    let ranges: [Vec<(f64, f64)>; 5] = [
        vec![(10.0, 2.0)],
        vec![(10.0, 2.0), (10.0, 2.0)],
        vec![(1e-300, 1e300), (1e300, 1e-300)],
        vec![(f64::MIN_POSITIVE, f64::MAX), (5e-324, 1.0)],
        vec![(1.0, 1.0), (1.0 + 1e-15, 1.0 - 1e-15)],
    ];
    for points in ranges {
        for y_unit in [Unit::Milliseconds, Unit::None] {
            let mut plot = Plot { y_unit, x_unit: y_unit, ..plot(vec![curve("a", points.clone())]) };
            plot.lines.push(Line { curve: 0, from: points[0].into(), to: points[0].into() });
            plot.marks_x.push(Level { label: "x".into(), at: points[0].0 });
            check(&plot.svg());
            assert!(plot.svg().contains("<circle"));
        }
    }
}

#[test]
fn a_power_law_is_a_straight_line() {
    let sizes = [10.0, 37.0, 100.0, 4_000.0, 1e6];
    let plot = plot(vec![curve("a", sizes.map(|n: f64| (n, 3e-4 * n.powf(1.7))))]);
    let corners = corners(&plot.svg());
    let ([x0, y0], [x1, y1]) = (corners[0], corners[corners.len() - 1]);
    for [x, y] in &corners {
        let straight = y0 + (y1 - y0) * (x - x0) / (x1 - x0);
        assert!((y - straight).abs() < 0.1, "{y} {straight}");
    }
    // Both axes are logarithmic: equal ratios are equal steps.
    let step = |a: usize, b: usize| (corners[b][0] - corners[a][0]) / (sizes[b] / sizes[a]).log10();
    assert!((step(0, 1) - step(3, 4)).abs() < 0.1);
}

#[test]
fn y_grows_upward_and_x_to_the_right() {
    let corners = corners(&plot(vec![curve("a", [(100.0, 5.0), (10.0, 1.0), (1000.0, 30.0)])]).svg());
    assert!(corners.windows(2).all(|pair| pair[1][0] > pair[0][0] && pair[1][1] < pair[0][1]));
}

#[test]
fn labels_do_not_overlap() {
    for count in [2, 5, 30] {
        let curves = (0..count).map(|index| curve(&format!("curve {index}"), [(1.0, 1.0), (9.0, 2.0)]));
        let svg = plot(curves.collect()).svg();
        let is_label = |tag: &&str| tag.starts_with("text ") && tag.contains(">curve ");
        let labels: Vec<&str> = svg.split('<').filter(is_label).collect();
        let of = |label: &&str| -> f64 {
            label.split("y=\"").nth(1).unwrap().split_once('"').unwrap().0.parse().unwrap()
        };
        let mut heights: Vec<f64> = labels.iter().map(of).collect();
        assert_eq!(heights.len(), count);
        heights.sort_by(f64::total_cmp);
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= FONT), "{heights:?}");
    }
}

#[test]
fn labels_of_vertical_lines_take_rows() {
    let mut plot = plot(vec![curve("a", [(1.0, 1.0), (1e4, 2.0)])]);
    let level = |label: &str, at| Level { label: label.into(), at };
    plot.marks_x =
        vec![level("first cache", 100.0), level("second cache", 120.0), level("far", 9e3), level("out", 1e9)];
    let field = plot.field().unwrap();
    let rows: Vec<_> =
        plot.mark_rows(&field).into_iter().map(|(row, _, mark)| (row, mark.label.as_str())).collect();
    assert_eq!(rows, [(0, "first cache"), (1, "second cache"), (0, "far")]);
    check(&plot.svg());
}

#[test]
fn texts_are_escaped() {
    let hostile = "<b> & \"c\" 'd' \u{1}";
    let level = Level { label: hostile.into(), at: 2.0 };
    let plot = Plot {
        title: hostile.into(),
        x_label: hostile.into(),
        y_label: hostile.into(),
        marks_x: vec![level],
        lines: vec![Line { curve: 0, from: [1.0, 1.0], to: [3.0, 9.0] }],
        ..plot(vec![curve(hostile, [(1.0, 1.0), (3.0, 9.0)])])
    };
    let bars = Bars { title: hostile.into(), unit: hostile.into(), bars: vec![(hostile.into(), 1.0, 2.0)] };
    for svg in [plot.svg(), bars.svg()] {
        check(&svg);
        assert!(svg.contains("&lt;b&gt; &amp;") && !svg.contains("<b>") && !svg.contains('\u{1}'));
    }
    check_xml(&plot.legend());
}

#[test]
fn marks_say_their_numbers() {
    let points = vec![Mark { at: 1000.0, value: 1.25, low: 1.2, high: 1.5 }];
    let curve = Curve { label: "us".into(), is_peer: false, points };
    let mut plot = Plot { y_unit: Unit::Milliseconds, ..plot(vec![curve]) };
    plot.lines = vec![Line { curve: 0, from: [10.0, 1.0], to: [1000.0, 100.0] }];
    let svg = plot.svg();
    assert!(svg.contains("<title>us\nbodies: 1,000\n1.25 ms (1.20 ms to 1.50 ms)</title>"), "{svg}");
    assert!(svg.contains("<title>us: fit of exponent 1.00</title>"));
    let legend = plot.legend();
    assert!(legend.contains("quartile") && legend.contains("fit") && !legend.contains("peer"));
}

#[test]
fn peers_are_dashed_and_hollow() {
    let mut plot = plot(vec![curve("us", [(1.0, 1.0), (9.0, 2.0)]), curve("them", [(1.0, 2.0), (9.0, 3.0)])]);
    plot.curves[1].is_peer = true;
    let svg = plot.svg();
    let lines: Vec<&str> = svg.lines().filter(|line| line.starts_with("<polyline")).collect();
    assert!(!lines[0].contains("stroke-dasharray") && lines[1].contains("stroke-dasharray"));
    let marker = |shape: &str| svg.lines().find(|line| line.starts_with(shape)).unwrap();
    assert!(marker("<circle").contains("fill=\"var(--c0)\""));
    assert!(marker("<polygon").contains("fill=\"var(--paper)\""));
    assert!(plot.legend().contains("a peer"));
}

#[test]
fn bars_show_shares() {
    let bar = |label: &str, value, of| (label.to_owned(), value, of);
    let bars = [bar("copy", 450.0, 900.0), bar("cached", 1800.0, 900.0), bar("small", 0.015, 1.0)];
    let hostile =
        [bar("zero", 0.0, 0.0), bar("nan", f64::NAN, 1.0), bar("big", 1e300, 1e-300), bar("low", 1.0, -1.0)];
    let bars = Bars { title: "Roof".into(), unit: "GB/s".into(), bars: [&bars[..], &hostile].concat() };
    let svg = bars.svg();
    check(&svg);
    assert!(svg.contains("copy: 450 GB/s of 900 GB/s") && svg.contains(">50 %<"));
    assert!(svg.contains(">200 %<") && svg.contains(">1.5 %<"));
    let ends: Vec<f64> = attributes(&svg, "polygon", "points")
        .iter()
        .map(|points| points.split(' ').nth(1).unwrap().split_once(',').unwrap().0.parse().unwrap())
        .collect();
    assert_eq!(ends.len(), 3);
    assert!(ends.iter().all(|end| *end <= WIDTH) && ends[1] > ends[0] && ends[0] > ends[2]);
    for hostile in [vec![], hostile.to_vec()] {
        let svg = Bars { bars: hostile, ..bars.clone() }.svg();
        check(&svg);
        assert!(svg.contains("no point was measured"));
    }
}

#[test]
fn figures_carry_their_parts() {
    let plot = plot(vec![curve("a", [(1.0, 1.0)])]);
    let figure = plot.figure("A caption.");
    assert_eq!((figure.title(), figure.caption()), ("Time", "A caption."));
    assert_eq!((figure.svg(), figure.legend()), (plot.svg().as_str(), plot.legend().as_str()));
}
