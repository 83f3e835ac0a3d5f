//! The CPU engine beside the GPU engine: from time to time the bodies of a frame go to the second worker, and its verdicts are compared with
//! those of the GPU for the same frame, pair by pair.

use std::cell::RefCell;

use hullfield::Engine;
use hullfield::collide::{Arena, Body, Options, Pairs};
use serde_json::{Value, json};
use web_time::Instant;

use crate::playground::collide::judge::Report;
use crate::playground::collide::shapes::hulls;
use crate::playground::collide::verdicts::{Row, rows_of};
use crate::playground::host::ready;
use crate::playground::message::Message;
use crate::playground::scene::Reply;

/// Milliseconds from the end of a comparison to the next.
const PAUSE_MS: f64 = 1000.0;
/// Milliseconds after which an answer is not expected any more: the second worker may not have been there.
const PATIENCE_MS: f64 = 60_000.0;

/// Comparisons, one after the other.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    ticket: u32,
    asked: Option<Asked>,
    /// When the next one may begin.
    next: f64,
}

#[derive(Debug, Default)]
struct Asked {
    when: f64,
    gpu: Option<Report>,
    cpu: Option<Answer>,
}

/// What the second worker says.
#[derive(Debug, Default)]
struct Answer {
    rows: Vec<Row>,
    candidates: u64,
    ms: f64,
}

impl Comparison {
    /// A ticket, where a comparison is due.
    pub(super) fn begin(&mut self, now: f64) -> Option<u32> {
        if self.asked.as_ref().is_some_and(|asked| now - asked.when > PATIENCE_MS) {
            self.asked = None;
        }
        if self.asked.is_some() || now < self.next {
            return None;
        }
        self.ticket = self.ticket.wrapping_add(1);
        self.asked = Some(Asked { when: now, ..Asked::default() });
        Some(self.ticket)
    }

    /// Drops a comparison whose frame had no room, or whose bodies are others now.
    pub(super) fn cancel(&mut self) {
        self.asked = None;
    }

    /// Takes the GPU's verdicts. Returns the result where both are there.
    pub(super) fn take_gpu(&mut self, now: f64, report: &Report) -> Option<Value> {
        if !matches!(&report.rows, Some((ticket, _)) if *ticket == self.ticket) {
            return None;
        }
        self.asked.as_mut()?.gpu = Some(report.clone());
        self.finish(now)
    }

    /// Takes the answer of the second worker.
    pub(super) fn take_cpu(&mut self, now: f64, message: &Message) -> Option<Value> {
        if message.number("ticket") != Some(f64::from(self.ticket)) {
            return None;
        }
        let asked = self.asked.as_mut()?;
        if let Some(error) = message.text("error") {
            self.asked = None;
            return Some(json!({"equal": false, "text": error}));
        }
        asked.cpu = Some(Answer {
            rows: message.bytes().chunks_exact(12).map(bytemuck::pod_read_unaligned).collect(),
            candidates: message.number("candidates").unwrap_or_default() as u64,
            ms: message.number("ms").unwrap_or_default(),
        });
        self.finish(now)
    }

    fn finish(&mut self, now: f64) -> Option<Value> {
        let asked = self.asked.as_ref()?;
        let (Some(gpu), Some(cpu)) = (&asked.gpu, &asked.cpu) else { return None };
        let (_, rows) = gpu.rows.as_ref()?;
        let result = compare(rows, &cpu.rows);
        let value = json!({
            "equal": result.difference.is_none(),
            "text": result.sentence(cpu.candidates),
            "pairs": cpu.candidates,
            "compared": result.compared,
            "unsettled": result.unsettled,
            "cpu_ms": cpu.ms,
            "gpu_ms": gpu.judge_ms,
        });
        self.asked = None;
        self.next = now + PAUSE_MS;
        Some(value)
    }
}

/// How the verdicts of two engines compare.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Outcome {
    /// Pairs that one of them says are not separated.
    pub(super) compared: usize,
    /// Pairs that f32 leaves open on the device.
    pub(super) unsettled: usize,
    /// The first pair of which they say different things: the bodies, and both statuses.
    pub(super) difference: Option<([u32; 2], [u32; 2])>,
}

/// Compares rows that are sorted by their bodies. A pair without a row is separated.
pub(super) fn compare(gpu: &[Row], cpu: &[Row]) -> Outcome {
    let mut result = Outcome::default();
    let (mut of_gpu, mut of_cpu) = (gpu.iter().peekable(), cpu.iter().peekable());
    loop {
        let key = |row: &&Row| [row[0], row[1]];
        let next = [of_gpu.peek().map(key), of_cpu.peek().map(key)];
        let Some(pair) = next.into_iter().flatten().min() else { return result };
        let status_of_gpu = of_gpu.next_if(|row| key(row) == pair).map_or(0, |row| row[2]);
        let status_of_cpu = of_cpu.next_if(|row| key(row) == pair).map_or(0, |row| row[2]);
        if status_of_gpu == 3 {
            result.unsettled += 1;
            continue;
        }
        result.compared += 1;
        if status_of_gpu != status_of_cpu && result.difference.is_none() {
            result.difference = Some((pair, [status_of_gpu, status_of_cpu]));
        }
    }
}

impl Outcome {
    fn sentence(&self, candidates: u64) -> String {
        use crate::playground::collide::verdicts::NAMES;
        if let Some(([a, b], [gpu, cpu])) = self.difference {
            let name = |status: u32| NAMES[status as usize & 3];
            return format!("Bodies {a} and {b}: the GPU says {}, the CPU says {}.", name(gpu), name(cpu));
        }
        let open = match self.unsettled {
            0 => String::new(),
            1 => " f32 leaves 1 pair to f64.".to_owned(),
            count => format!(" f32 leaves {count} pairs to f64."),
        };
        format!("{} pairs, all verdicts equal.{open}", grouped(candidates))
    }
}

/// A number with a comma after each group of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The bytes of bodies for the second worker: position, hull, rotation and scale, eleven words each with the scale's three.
pub(super) fn to_bytes(bodies: &[Body]) -> Vec<u8> {
    bodies
        .iter()
        .flat_map(|body| {
            let [x, y, z] = body.position;
            let [i, j, k, w] = body.rotation;
            let [sx, sy, sz] = body.scale;
            [x, y, z, f32::from_bits(body.hull), i, j, k, w, sx, sy, sz]
        })
        .flat_map(f32::to_ne_bytes)
        .collect()
}

fn from_bytes(bytes: &[u8]) -> Vec<Body> {
    let body = |bytes: &[u8]| {
        let [x, y, z, hull, i, j, k, w, sx, sy, sz]: [f32; 11] = bytemuck::pod_read_unaligned(bytes);
        let body = Body::new(hull.to_bits()).at([x, y, z]).rotated([i, j, k, w]);
        Body { scale: [sx, sy, sz], ..body }
    };
    bytes.chunks_exact(44).map(body).collect()
}

thread_local! {
    /// The second worker's arena.
    static ARENA: RefCell<Option<Arena>> = const { RefCell::new(None) };
}

/// Judges the bodies of a frame by the CPU engine, in the second worker.
pub(super) fn second(message: &Message) -> Reply {
    let bodies = from_bytes(message.bytes());
    let judge = |arena: &Arena| -> hullfield::Result<Answer> {
        let begin = Instant::now();
        let found = ready(arena.intersections(&bodies, Pairs::BroadPhase)?)?;
        let ms = begin.elapsed().as_secs_f64() * 1e3;
        Ok(Answer { rows: rows_of(&found.rows), candidates: found.stats.candidate_count, ms })
    };
    let answer = ARENA.with_borrow_mut(|kept| {
        let arena = match kept {
            Some(arena) => arena,
            None => kept.insert(Arena::new(&Engine::cpu(), &hulls()?, Options::default())?),
        };
        judge(arena)
    });
    let ticket = message.number("ticket");
    match answer {
        Ok(Answer { rows, candidates, ms }) => {
            let data = json!({"ticket": ticket, "candidates": candidates, "ms": ms});
            Ok((data, bytemuck::cast_slice(&rows).to_vec()))
        }
        Err(error) => Ok((json!({"ticket": ticket, "error": error.to_string()}), Vec::new())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playground::collide::settings::Settings;
    use crate::playground::collide::shapes::Shapes;
    use crate::playground::collide::verdicts::Verdicts;
    use crate::playground::collide::world::World;

    #[test]
    fn equal_rows_are_equal_and_any_other_one_is_named() {
        let rows = [[0, 1, 2], [0, 5, 1], [3, 4, 2]];
        assert_eq!(compare(&rows, &rows), Outcome { compared: 3, ..Outcome::default() });
        let differs = |gpu: &[Row], cpu: &[Row]| compare(gpu, cpu).difference;
        assert_eq!(differs(&rows, &rows[..2]), Some(([3, 4], [2, 0])));
        assert_eq!(differs(&rows[1..], &rows), Some(([0, 1], [0, 2])));
        assert_eq!(differs(&[[0, 1, 2], [0, 5, 2], [3, 4, 2]], &rows), Some(([0, 5], [2, 1])));
        assert_eq!(differs(&[], &[]), None);
    }

    #[test]
    fn what_f32_leaves_open_is_counted_and_not_compared() {
        let gpu = [[0, 1, 2], [0, 5, 3], [3, 4, 3]];
        let result = compare(&gpu, &[[0, 1, 2], [3, 4, 1]]);
        assert_eq!((result.compared, result.unsettled), (1, 2));
        assert_eq!(result.sentence(12_345), "12,345 pairs, all verdicts equal. f32 leaves 2 pairs to f64.");
        let other = compare(&gpu, &[[0, 1, 1]]);
        assert_eq!(other.sentence(3), "Bodies 0 and 1: the GPU says penetrating, the CPU says touching.");
    }

    #[test]
    fn the_second_worker_judges_the_same_numbers() {
        let shapes = Shapes::new().unwrap();
        let world = World::new(&Settings { count: 300, ..Settings::default() }, &shapes);
        let bytes = to_bytes(&world.bodies);
        assert_eq!(from_bytes(&bytes), world.bodies);
        let arena = Arena::new(&Engine::cpu(), &shapes.hulls, Options::default()).unwrap();
        let expected = Verdicts::of_cpu(&arena, &world.bodies).unwrap().counts;

        let mut comparison = Comparison::default();
        let ticket = comparison.begin(5.0).unwrap();
        assert_eq!(comparison.begin(6.0), None);
        let (mut data, bytes) = second(&Message::new(json!({"ticket": ticket}), bytes)).unwrap();
        let rows: Vec<Row> = bytes.chunks_exact(12).map(bytemuck::pod_read_unaligned).collect();
        assert_eq!(Verdicts::of_rows(300, &rows, expected.candidates).counts, expected);

        let answer = Message::new(data.clone(), bytes);
        assert_eq!(comparison.take_cpu(7.0, &answer), None);
        let report = Report { rows: Some((ticket, rows)), ..Report::default() };
        let other = Report { rows: Some((ticket + 1, Vec::new())), ..Report::default() };
        assert_eq!(comparison.take_gpu(8.0, &other), None);
        let result = comparison.take_gpu(9.0, &report).unwrap();
        assert_eq!((&result["equal"], &result["pairs"]), (&json!(true), &json!(expected.candidates)));
        // An answer to an old question is nothing.
        data["ticket"] = json!(ticket);
        assert_eq!(comparison.take_cpu(10.0, &Message::new(data, Vec::new())), None);
        assert!(comparison.begin(500.0).is_none() && comparison.begin(1500.0).is_some());
    }

    #[test]
    fn a_body_that_cannot_be_used_is_the_errors_sentence() {
        let (data, _) = second(&Message::new(json!({"ticket": 1}), to_bytes(&[Body::new(99)]))).unwrap();
        assert!(data["error"].as_str().unwrap().contains("hull"));
    }
}
