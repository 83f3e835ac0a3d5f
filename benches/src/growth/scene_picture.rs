//! Pictures of scenes, as SVG: bodies as outlines seen from the side, grids from above.

use std::fmt::Write as _;

use glam::DVec3;

use crate::page::escape;
use crate::scene::Scene;

/// The width and the height of a picture, in its own units.
const SIZE: f64 = 480.0;

/// The most bodies that are drawn.
const MOST_BODIES: usize = 1_500;

/// The most cells along a side of a picture of a grid.
const MOST_CELLS: usize = 128;

/// The most agents that are drawn.
const MOST_AGENTS: usize = 400;

/// Colours of the bands of distance, from near to far, for light and dark pages.
const BANDS: [&str; 6] = ["#f5d76e", "#c5d86d", "#7fc69b", "#4fa3a5", "#4a7fb0", "#5b5f97"];

/// The outlines of bodies, the nearest last. `marks` has a class for each body: 0 plain, 1 marked.
pub(crate) fn bodies_picture(name: &str, scene: &Scene, marks: &[usize]) -> String {
    // A view from the side and a little from above.
    let (right, up) = (DVec3::new(0.94, -0.34, 0.0), DVec3::new(0.13, 0.37, 0.92));
    let away = right.cross(up);
    // Of many, those nearest to the middle.
    let mut shown: Vec<usize> = (0..scene.bodies.len()).collect();
    if shown.len() > MOST_BODIES {
        let middle =
            scene.bodies.iter().map(|body| body.pose.position64()).sum::<DVec3>() / shown.len() as f64;
        shown.sort_by(|&one, &other| {
            let far = |body: usize| scene.bodies[body].pose.position64().distance_squared(middle);
            far(one).total_cmp(&far(other))
        });
        shown.truncate(MOST_BODIES);
    }
    let mut outlines: Vec<(f64, usize, Vec<[f64; 2]>)> = Vec::new();
    for (index, body) in shown.into_iter().map(|index| (index, &scene.bodies[index])) {
        let set = &scene.sets[body.hull as usize];
        let turn = body.pose.rotation64();
        let places = set.iter().map(|&vertex| {
            body.pose.position64() + turn * (DVec3::from(vertex.map(f64::from)) * body.pose.scale64())
        });
        let flat: Vec<[f64; 2]> = places.map(|at| [at.dot(right), at.dot(up)]).collect();
        outlines.push((
            body.pose.position64().dot(away),
            marks.get(index).copied().unwrap_or(0),
            outline(flat),
        ));
    }
    // A slab under a pile is larger than all else; the picture is of the rest.
    let extent = |points: &[[f64; 2]]| {
        let along = |k: usize| points.iter().map(move |point| point[k]);
        (0..2)
            .map(|k| along(k).fold(f64::NEG_INFINITY, f64::max) - along(k).fold(f64::INFINITY, f64::min))
            .fold(0.0, f64::max)
    };
    let mut extents: Vec<f64> = outlines.iter().map(|(.., points)| extent(points)).collect();
    extents.sort_by(f64::total_cmp);
    let most = 20.0 * extents.get(extents.len() / 2).copied().unwrap_or(1.0);
    outlines.retain(|(.., points)| extent(points) <= most);
    outlines.sort_by(|one, other| other.0.total_cmp(&one.0));
    let (low, high) = bounds(outlines.iter().flat_map(|(.., points)| points));
    let scale = (SIZE - 8.0) / (high[0] - low[0]).max(high[1] - low[1]).max(1e-9);
    let height = (high[1] - low[1]) * scale + 8.0;
    let mut svg = open(name, SIZE, height.max(40.0));
    for (_, mark, points) in &outlines {
        let fill = if *mark == 0 { "var(--c0)" } else { "var(--c1)" };
        let _ = write!(svg, "<path fill=\"{fill}\" stroke=\"var(--paper)\" stroke-width=\".5\" d=\"M");
        for point in points {
            let (x, y) = (4.0 + (point[0] - low[0]) * scale, height - 4.0 - (point[1] - low[1]) * scale);
            let _ = write!(svg, "{x:.1} {y:.1} ");
        }
        svg += "z\"/>\n";
    }
    svg + "</svg>\n"
}

/// Cells by their distance in bands, obstacles empty, agents as dots.
pub(crate) fn grid_picture(
    name: &str,
    width: usize,
    blocked: &[bool],
    distances: &[u32],
    agents: &[usize],
) -> String {
    let height = blocked.len() / width;
    let step = width.max(height).div_ceil(MOST_CELLS).max(1);
    let scale = SIZE / width as f64;
    let farthest =
        distances.iter().copied().filter(|&distance| distance != u32::MAX).max().unwrap_or(0).max(1);
    let band = |at: usize| {
        if blocked[at] || distances[at] == u32::MAX {
            return None;
        }
        let share = f64::from(distances[at]) / (f64::from(farthest) + 1.0);
        Some((share * BANDS.len() as f64) as usize)
    };
    let mut svg = open(name, SIZE, height as f64 * scale);
    for y in (0..height).step_by(step) {
        let mut x = 0;
        // Cells of a row that look alike are one rectangle.
        while x < width {
            let of = band(y * width + x);
            let start = x;
            while x < width && band(y * width + x) == of {
                x += step;
            }
            if let Some(of) = of {
                let [left, top, across, down] =
                    [start, y, x.min(width) - start, step].map(|cells| cells as f64 * scale);
                let _ = writeln!(
                    svg,
                    "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{across:.1}\" height=\"{down:.1}\" fill=\"{}\"/>",
                    BANDS[of.min(BANDS.len() - 1)]
                );
            }
        }
    }
    for &agent in agents.iter().step_by(agents.len().div_ceil(MOST_AGENTS).max(1)) {
        let (x, y) = ((agent % width) as f64 + 0.5, (agent / width) as f64 + 0.5);
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.6\" fill=\"#20242c\"/>",
            x * scale,
            y * scale
        );
    }
    svg + "</svg>\n"
}

fn open(name: &str, width: f64, height: f64) -> String {
    format!(
        "<svg viewBox=\"0 0 {width:.0} {height:.0}\" width=\"100%\" role=\"img\" style=\"max-width:30em\">\n<title>{}</title>\n",
        escape(name)
    )
}

fn bounds<'a>(points: impl Iterator<Item = &'a [f64; 2]>) -> ([f64; 2], [f64; 2]) {
    points.fold(([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]), |(low, high), point| {
        ([0, 1].map(|k| low[k].min(point[k])), [0, 1].map(|k| high[k].max(point[k])))
    })
}

/// The convex hull of points in a plane, by Andrew's monotone chain.
fn outline(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let side =
        |o: [f64; 2], a: [f64; 2], b: [f64; 2]| (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
    let chain = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut chain: Vec<[f64; 2]> = Vec::new();
        for point in points {
            while let [.., o, a] = chain[..]
                && side(o, a, point) <= 0.0
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut all = chain(&mut points.iter().copied());
    all.extend(chain(&mut points.iter().rev().copied()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_are_convex_and_hold_all_points() {
        let square = outline(vec![[0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.5, 0.0]]);
        assert_eq!(square, [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
    }

    #[test]
    fn pictures_of_nothing_are_empty_but_whole() {
        let scene = Scene::of_hulls(&[]).unwrap();
        let picture = bodies_picture("<none>", &scene, &[]);
        assert!(
            picture.contains("&lt;none&gt;") && picture.ends_with("</svg>\n") && !picture.contains("NaN"),
            "{picture}"
        );
        let grid = grid_picture("one", 1, &[true], &[u32::MAX], &[]);
        assert!(!grid.contains("<rect") && !grid.contains("NaN"));
    }

    #[test]
    fn a_grid_has_bands_walls_and_agents() {
        let blocked = [false, false, true, false];
        let picture = grid_picture("row", 4, &blocked, &[0, 1, u32::MAX, u32::MAX], &[1]);
        assert_eq!(picture.matches("<rect").count(), 2);
        assert_eq!(picture.matches("<circle").count(), 1);
    }
}
