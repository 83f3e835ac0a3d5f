//! Bullets: how many hits a check at each frame would miss, and a sweep finds.
//!
//! Thousands of bullets fly through thousands of moving and turning bodies at many times their own length a frame. A sweep
//! over the frame says when each bullet first meets a body. A yes/no check of where things stand at the frame's ends
//! sees only what happens to overlap just then: the rest has tunnelled.
//!
//! `cargo run --release --example bullets -- [BULLETS] [BODIES]`

use std::error::Error;
use std::time::Instant;

use hullfield::Engine;
use hullfield::collide::{Arena, Body, Hull, Motion, Options, Pairs, SweepOptions, SweepOutcome};

/// Seconds a frame.
const FRAME: f32 = 1.0 / 60.0;
const FRAMES: usize = 8;
/// Metres.
const ROOM: f32 = 60.0;

const BULLET: u32 = 1;
const TARGET: u32 = 2;

/// A small generator (Marsaglia 2003, xorshift), uniform in -1 … 1: the same scene at every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / 8_388_608.0 - 1.0
    }

    fn vector(&mut self, size: f32) -> [f32; 3] {
        [0; 3].map(|_| self.next() * size)
    }

    fn direction(&mut self) -> [f32; 3] {
        loop {
            let v = self.vector(1.0);
            let squared = v.iter().map(|x| x * x).sum::<f32>();
            if squared > 1e-3 && squared <= 1.0 {
                return v.map(|x| x / squared.sqrt());
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let count = |at: usize, default: usize| match std::env::args().nth(at) {
        Some(text) => text.parse().map_err(|_| format!("not a count: {text}")),
        None => Ok(default),
    };
    let (bullet_count, target_count) = (count(1, 4000)?, count(2, 4000)?);
    let engine = Engine::auto()?;
    println!("{bullet_count} bullets, {target_count} bodies, {FRAMES} frames of {:.1} ms", FRAME * 1e3);
    println!("engine: {}, {}\n", engine.backend(), engine.reason());

    // A bullet is 2 cm long and 9 mm thick; doors are 4 cm thick.
    let hulls = [
        Hull::capsule([0.0, -0.0055, 0.0], [0.0, 0.0055, 0.0], 0.0045)?,
        Hull::cuboid([0.5, 1.0, 0.02])?,
        Hull::ball(0.3)?,
        Hull::cylinder([0.0, -0.5, 0.0], [0.0, 0.5, 0.0], 0.4, 16)?,
        Hull::cuboid([0.4; 3])?.rounded(0.05)?,
    ];
    let arena = Arena::new(&engine, &hulls, Options::default())?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut bodies = Vec::new();
    let mut motions = Vec::new();
    for k in 0..target_count {
        let body = Body::new(1 + (k % 4) as u32).at(random.vector(ROOM)).grouped(TARGET, BULLET);
        let [x, y, z] = random.direction();
        let half = 0.5f32.sqrt();
        bodies.push(body.rotated([x * half, y * half, z * half, half]));
        // Doors, the first of every four, swing; the others drift.
        let angular_velocity = if k % 4 == 0 { [0.0, random.next() * 3.0, 0.0] } else { [0.0; 3] };
        motions.push(Motion { velocity: random.vector(5.0), angular_velocity });
    }
    for _ in 0..bullet_count {
        let speed = 300.0 + 500.0 * random.next().abs();
        let direction = random.direction();
        // Along its way: from y to the direction.
        let [x, y, z] = direction;
        let w = (0.5 * (1.0 + y)).max(1e-6).sqrt();
        let turn = [0.5 * z / w, 0.0, -0.5 * x / w, w];
        let length = turn.iter().map(|q| q * q).sum::<f32>().sqrt();
        let body = Body::new(0).at(random.vector(ROOM)).grouped(BULLET, TARGET);
        bodies.push(body.rotated(turn.map(|q| q / length)));
        motions.push(Motion { velocity: direction.map(|x| x * speed), ..Motion::default() });
    }

    println!("frame   at start   in flight   seen at frame's end   tunnelled   first and last hit   sweep");
    let mut spent = vec![false; bodies.len()];
    let mut totals = [0; 3];
    for frame in 0..FRAMES {
        let begin = Instant::now();
        let sweeps = arena
            .sweeps(
                &bodies,
                &motions,
                Pairs::BroadPhase,
                &SweepOptions { duration: FRAME, ..Default::default() },
            )?
            .wait()?;
        let elapsed = begin.elapsed();
        // Of each bullet the first thing that it meets.
        let mut first = vec![(f64::INFINITY, false, u32::MAX); bodies.len()];
        for row in &sweeps.rows {
            let known = &mut first[row.b as usize];
            if row.time < known.0 {
                *known = (row.time, row.outcome == SweepOutcome::Touching, row.a);
            }
        }
        advance(&mut bodies, &motions);
        let ends = arena.intersections(&bodies, Pairs::BroadPhase)?.wait()?;
        let mut overlapping = vec![false; bodies.len()];
        for row in &ends.rows {
            overlapping[row.b as usize] = true;
        }
        let (mut at_start, mut in_flight, mut seen) = (0, 0, 0);
        let (mut earliest, mut latest) = (f64::INFINITY, 0.0f64);
        for bullet in target_count..bodies.len() {
            let (time, touching, _) = first[bullet];
            if time == f64::INFINITY || spent[bullet] {
                continue;
            }
            spent[bullet] = true;
            if touching {
                at_start += 1;
                continue;
            }
            in_flight += 1;
            seen += usize::from(overlapping[bullet]);
            (earliest, latest) = (earliest.min(time), latest.max(time));
        }
        // What has hit lies still from now on, out of the way.
        for bullet in target_count..bodies.len() {
            if spent[bullet] {
                (bodies[bullet].group, bodies[bullet].mask) = (0, 0);
                motions[bullet] = Motion::default();
            }
        }
        let range = if in_flight > 0 {
            format!("{:.2} … {:.2} ms", earliest * 1e3, latest * 1e3)
        } else {
            "none".into()
        };
        println!(
            "{frame:5} {at_start:10} {in_flight:11} {seen:21} {:11} {range:>20} {:7.1} ms",
            in_flight - seen,
            elapsed.as_secs_f64() * 1e3
        );
        for (total, count) in totals.iter_mut().zip([at_start, in_flight, seen]) {
            *total += count;
        }
    }
    let [at_start, in_flight, seen] = totals;
    println!(
        "\nof {} hits a check at each frame's end would have seen {}: {:.1} % tunnel",
        at_start + in_flight,
        at_start + seen,
        100.0 * (in_flight - seen) as f64 / ((at_start + in_flight).max(1)) as f64
    );
    Ok(())
}

/// Moves all bodies on by one frame.
fn advance(bodies: &mut [Body], motions: &[Motion]) {
    for (body, motion) in bodies.iter_mut().zip(motions) {
        for i in 0..3 {
            body.position[i] += motion.velocity[i] * FRAME;
        }
        body.rotation = turned(body.rotation, motion.angular_velocity);
    }
}

/// A rotation after a frame of turning about the world's axes.
fn turned([x, y, z, w]: [f32; 4], spin: [f32; 3]) -> [f32; 4] {
    let rate = spin.iter().map(|x| x * x).sum::<f32>().sqrt();
    if rate == 0.0 {
        return [x, y, z, w];
    }
    let (sin, c) = (0.5 * rate * FRAME).sin_cos();
    let [a, b, d] = spin.map(|x| x * sin / rate);
    let next = [
        c * x + a * w + b * z - d * y,
        c * y + b * w + d * x - a * z,
        c * z + d * w + a * y - b * x,
        c * w - a * x - b * y - d * z,
    ];
    let length = next.iter().map(|q| q * q).sum::<f32>().sqrt();
    next.map(|q| q / length)
}
