//! Guards patrol a room with pillars. Doors open and shut, and crates are pushed about. After each change all guards get new shortest
//! paths.
//!
//! The room has the guards' radius, so a guard's centre may follow a path along the moved walls. Crates are obstacles, and keep the same
//! distance. A guard that can't reach its next post waits as near to it as possible. The example writes four pictures.
//!
//! `cargo run --release --example patrol -- [FOLDER]`

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use hullfield::navigate::room::{Options as RoomOptions, Path as RoomPath, PathOptions, Room};

/// Metres.
const WIDTH: f64 = 32.0;
const HEIGHT: f64 = 18.0;
const RADIUS: f64 = 0.35;
/// Metres a second.
const SPEED: f64 = 3.0;
const FRAME: f64 = 1.0 / 60.0;
const FRAMES: usize = 3600;
/// The frames that are drawn.
const SHOTS: [usize; 4] = [300, 900, 1500, 3300];

type Ring = Vec<[f64; 2]>;

/// A guard: its position, the posts that it visits in turn, its path, and its track.
struct Guard {
    at: [f64; 2],
    posts: Vec<[f64; 2]>,
    next: usize,
    path: RoomPath,
    /// How far along its path it is, in metres.
    done: f64,
    trail: Vec<[f64; 2]>,
    waits: bool,
}

fn block(x: f64, y: f64, width: f64, height: f64) -> Ring {
    vec![[x, y], [x + width, y], [x + width, y + height], [x, y + height]]
}

/// A pillar with eight corners.
fn pillar(x: f64, y: f64, radius: f64) -> Ring {
    let corner = |k: u32| {
        let (sin, cos) = (std::f64::consts::FRAC_PI_4 * (f64::from(k) + 0.5)).sin_cos();
        [x + radius * cos, y + radius * sin]
    };
    (0..8).map(corner).collect()
}

/// The crates at a time: each moves back and forth.
fn crates(time: f64) -> [Ring; 2] {
    let (a, b) = ((time * 0.7).sin(), (time * 0.45).cos());
    [block(6.5 + 4.0 * a, 8.0, 2.2, 1.6), block(23.5, 8.0 + 5.0 * b, 1.8, 1.8)]
}

/// The point of a path at a length from its start.
fn along(points: &[[f64; 2]], mut length: f64) -> [f64; 2] {
    for piece in points.windows(2) {
        let [from, to] = [piece[0], piece[1]];
        let own = (to[0] - from[0]).hypot(to[1] - from[1]);
        if length < own {
            return [0, 1].map(|k: usize| from[k] + (to[k] - from[k]) * length / own);
        }
        length -= own;
    }
    points[points.len() - 1]
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "target/patrol".into()));
    std::fs::create_dir_all(&folder)?;

    // Two halls, and a wall with two doorways between them.
    let outer = block(0.0, 0.0, WIDTH, HEIGHT);
    let mut holes = vec![block(15.7, 0.0, 0.6, 3.0), block(15.7, 5.4, 0.6, 8.6), block(15.7, 16.2, 0.6, 1.8)];
    for x in [4.0, 11.0, 20.5, 27.5] {
        for y in [4.0, 14.0] {
            holes.push(pillar(x, y, 1.1));
        }
    }
    let doors = [[[16.0, 3.0], [16.0, 5.4]], [[16.0, 14.0], [16.0, 16.2]]];
    let options = RoomOptions { radius: RADIUS, doors: doors.to_vec(), ..RoomOptions::default() };
    let mut room = Room::new(&outer, &holes, options)?;
    let to_nearest = PathOptions { to_nearest: true, ..PathOptions::default() };
    let mut standing = crates(0.0);
    let numbers = [room.put_obstacle(&standing[0])?, room.put_obstacle(&standing[1])?];

    let corners = [[1.5, 1.5], [30.5, 1.5], [30.5, 16.5], [1.5, 16.5], [8.0, 5.0], [24.0, 14.5]];
    let mut guards: Vec<Guard> = (0..6)
        .map(|k| {
            let posts: Vec<[f64; 2]> =
                (0..4).map(|i| corners[(k + i * (1 + k % 3)) % corners.len()]).collect();
            let at = posts[0];
            Guard { at, posts, next: 1, path: RoomPath::default(), done: 0.0, trail: vec![at], waits: false }
        })
        .collect();

    let mut are_open = [true, true];
    let (mut edits, mut queries, mut waits, mut reached) = (0, 0, 0_usize, 0);
    let (mut edit_time, mut query_time) = (0.0, 0.0);
    let mut paths = Vec::new();
    for frame in 0..FRAMES {
        let time = frame as f64 * FRAME;
        let mut has_changed = frame == 0;

        // The lower door shuts for five seconds out of fifteen, the upper one for five others.
        let now = [time % 15.0 < 10.0, (time + 7.5) % 15.0 < 10.0];
        let begun = Instant::now();
        if now != are_open {
            are_open = now;
            room.set_doors(&[(0, now[0]), (1, now[1])])?;
            (has_changed, edits) = (true, edits + 1);
        }
        // The crates are moved six times a second.
        if frame % 10 == 0 {
            standing = crates(time);
            for (&number, ring) in numbers.iter().zip(&standing) {
                room.move_obstacle(number, ring)?;
            }
            (has_changed, edits) = (true, edits + 2);
        }
        edit_time += begun.elapsed().as_secs_f64();

        let begun = Instant::now();
        if has_changed {
            // A guard that a crate came too near is pushed aside. Then all guards get their paths in one batch.
            for guard in &mut guards {
                guard.at = room.nearest_point(guard.at)?.ok_or("no room is left")?.position;
            }
            let asked: Vec<[[f64; 2]; 2]> = guards.iter().map(|g| [g.at, g.posts[g.next]]).collect();
            room.paths_into(&asked, &PathOptions::default(), &mut paths)?;
            queries += asked.len();
            for (guard, path) in guards.iter_mut().zip(&paths) {
                guard.waits = !path.is_reached();
                guard.path = match guard.waits {
                    false => path.clone(),
                    true => room.path(guard.at, guard.posts[guard.next], &to_nearest)?,
                };
                guard.done = 0.0;
            }
        }
        for guard in &mut guards {
            guard.done += SPEED * FRAME;
            guard.at = along(&guard.path.points, guard.done);
            if guard.done >= guard.path.length {
                waits += usize::from(guard.waits);
                if !guard.waits {
                    reached += 1;
                    guard.next = (guard.next + 1) % guard.posts.len();
                    guard.path = room.path(guard.at, guard.posts[guard.next], &to_nearest)?;
                    queries += 1;
                    guard.done = 0.0;
                }
            }
            if frame % 6 == 0 {
                guard.trail.push(guard.at);
            }
        }
        query_time += begun.elapsed().as_secs_f64();

        // No guard is ever nearer to a wall, a crate or a shut door than its radius.
        for guard in &guards {
            let held = room.locate(guard.at)?;
            assert!(held.is_some(), "a guard stands in a wall at {:?}, frame {frame}", guard.at);
        }
        if SHOTS.contains(&frame) {
            let file = folder.join(format!("patrol-{frame:04}.svg"));
            std::fs::write(&file, draw(&outer, &holes, &doors, are_open, &standing, &guards, time))?;
            println!("wrote {}", file.display());
        }
    }
    println!(
        "\n{} guards, {:.0} s: {reached} posts reached, {waits} frames waited at a shut door",
        guards.len(),
        FRAMES as f64 * FRAME
    );
    println!(
        "{edits} edits, {:.0} µs each; {queries} paths, {:.0} µs each",
        edit_time / f64::from(edits) * 1e6,
        query_time / queries as f64 * 1e6
    );
    Ok(())
}

/// A picture of a frame.
fn draw(
    outer: &Ring,
    holes: &[Ring],
    doors: &[[[f64; 2]; 2]],
    are_open: [bool; 2],
    crates: &[Ring],
    guards: &[Guard],
    time: f64,
) -> String {
    const COLOURS: [&str; 6] = ["#1971c2", "#e8590c", "#2f9e44", "#9c36b5", "#c2255c", "#0b7285"];
    let points = |ring: &[[f64; 2]]| {
        ring.iter().map(|p| format!("{:.3},{:.3}", p[0], HEIGHT - p[1])).collect::<Vec<_>>().join(" ")
    };
    let mut body = String::new();
    let mut polygon = |ring: &Ring, style: &str| {
        let _ = writeln!(body, "<polygon points=\"{}\" {style}/>", points(ring));
    };
    polygon(outer, "fill=\"#f4f6f9\" stroke=\"#27364a\" stroke-width=\"0.12\"");
    for hole in holes {
        polygon(hole, "fill=\"#9aa5b4\" stroke=\"#27364a\" stroke-width=\"0.08\"");
    }
    for ring in crates {
        polygon(ring, "fill=\"#d9b382\" stroke=\"#7a5427\" stroke-width=\"0.08\"");
    }
    let mut line = |ring: &[[f64; 2]], style: &str| {
        let _ = writeln!(body, "<polyline points=\"{}\" fill=\"none\" {style}/>", points(ring));
    };
    for (door, is_open) in doors.iter().zip(are_open) {
        line(
            door,
            match is_open {
                true => "stroke=\"#2f9e44\" stroke-width=\"0.12\" stroke-dasharray=\"0.15 0.25\"",
                false => "stroke=\"#c92a2a\" stroke-width=\"0.3\"",
            },
        );
    }
    for (guard, colour) in guards.iter().zip(COLOURS) {
        let last = guard.trail.len().saturating_sub(60);
        let trail = format!("stroke=\"{colour}\" stroke-width=\"0.1\" stroke-opacity=\"0.35\"");
        line(&guard.trail[last..], &trail);
        // The rest of its path.
        let mut rest = vec![guard.at];
        let mut length = 0.0;
        for piece in guard.path.points.windows(2) {
            length += (piece[1][0] - piece[0][0]).hypot(piece[1][1] - piece[0][1]);
            if length > guard.done {
                rest.push(piece[1]);
            }
        }
        line(&rest, &format!("stroke=\"{colour}\" stroke-width=\"0.12\" stroke-dasharray=\"0.3 0.2\""));
    }
    for (guard, colour) in guards.iter().zip(COLOURS) {
        let post = guard.posts[guard.next];
        for (at, radius, fill) in [(post, 0.18, "none"), (guard.at, RADIUS, colour)] {
            let (x, y) = (at[0], HEIGHT - at[1]);
            let _ = writeln!(
                body,
                "<circle cx=\"{x:.3}\" cy=\"{y:.3}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"0.08\"/>"
            );
        }
        if guard.waits {
            let (x, y) = (guard.at[0], HEIGHT - guard.at[1] + 0.2);
            let _ = writeln!(
                body,
                "<text x=\"{x:.3}\" y=\"{y:.3}\" font-size=\"0.55\" text-anchor=\"middle\" fill=\"white\">…</text>"
            );
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-0.5 -0.5 {} {}\" width=\"1056\" height=\"624\">\n\
         <rect x=\"-0.5\" y=\"-0.5\" width=\"{0}\" height=\"{1}\" fill=\"#dfe4ea\"/>\n{body}\
         <text x=\"0\" y=\"{}\" font-family=\"sans-serif\" font-size=\"0.55\" fill=\"#27364a\">{time:.0} s; dashed: the way \
         to the next post (ring); red: a shut door</text>\n</svg>\n",
        WIDTH + 1.0,
        HEIGHT + 1.5,
        HEIGHT + 0.75,
    )
}
