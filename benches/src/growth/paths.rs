//! Shortest paths: rooms of more and more cells, and surfaces of more and more triangles.

use std::cell::RefCell;

use hullfield::navigate::room::{Method, Options as RoomOptions, Room};
use hullfield::navigate::surface::{Method as SurfaceMethod, Model, Options as SurfaceOptions, Surface};
use hullfield_oracle::random::Random;
use navmesh::{NavMesh, NavPathMode, NavQuery, NavTriangle, NavVec3};
use serde_json::json;

use crate::error::{Trouble, message};
use crate::growth::context::Context;
use crate::growth::python::Array;
use crate::growth::scaling::Topic;
use crate::growth::sweep::{Author, Contender, Plan, same_length, same_rows};
use crate::machine::SEED;
use crate::path;
use crate::room;

/// Paths of a run.
const QUERIES: usize = 100;

/// How much longer than the shortest a path over a surface may be.
const EXCESS: f64 = 1e-3;

/// Rings of the lump that is split: 624 triangles.
const RINGS: u32 = 13;

type Query = [[f64; 2]; 2];
type Lengths = Vec<f64>;

struct RoomCase {
    room: Room,
    queries: Vec<Query>,
    peer: polyanya::Mesh,
}

impl RoomCase {
    /// The length by polyanya.
    fn by_peer(&self, &[from, to]: &Query) -> f64 {
        let point = |at: [f64; 2]| glam33::vec2(at[0] as f32, at[1] as f32);
        self.peer.path(point(from), point(to)).map_or(f64::INFINITY, |path| path.length.into())
    }
}

/// Rooms of 10 to 10⁵ cells.
pub(crate) fn rooms(context: &mut Context<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "rooms",
        title: "100 shortest paths through rooms with pillars",
        axis: "cells",
        cut: "Give each machine the room and some of the queries; a room of 10⁶ cells has about 0.3 GB.",
    };
    let sizes = context.sizes(&[10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]);
    let swept = {
        let make = |count: u64| -> Result<RoomCase, Trouble> {
            // A pillar makes about three merged cells.
            let side = ((count as f64 / 3.2).sqrt().round() as u32).max(1);
            let (outer, holes) = room::pillars(side, side);
            let room = Room::new(&outer, &holes, RoomOptions::default()).map_err(message)?;
            let mesh = room::mesh_text(&room);
            let peer = polyanya::PolyanyaFile::from_bytes(mesh.as_bytes()).try_into();
            let peer = peer.map_err(|error| format!("polyanya refuses the room: {error:?}"))?;
            let mut random = Random::new(SEED);
            let mut point = || match room.random_point([random.unit(), random.unit(), random.unit()]) {
                Ok(Some(point)) => Ok(point.position),
                Ok(None) => Err("the room has no area".to_owned()),
                Err(error) => Err(error.to_string()),
            };
            let queries = (0..QUERIES).map(|_| Ok([point()?, point()?])).collect::<Result<_, String>>();
            let queries = queries?;
            Ok(RoomCase { room, queries, peer })
        };
        let mut contenders = context.cpu_contenders(|case: &RoomCase| -> Result<Lengths, String> {
            let paths = case.room.paths(&case.queries, &Method::Optimal.into()).map_err(message)?;
            Ok(paths.rows.iter().map(|path| path.length).collect())
        });
        contenders.push(Contender::peer("polyanya 0.18", |case: &RoomCase| {
            Ok(case.queries.iter().map(|query| case.by_peer(query)).collect())
        }));
        let plan = Plan {
            sizes: &sizes,
            make: &make,
            // polyanya's code and numbers are its own: it is the oracle of some lengths, and a peer for all of them.
            verify: &|case: &RoomCase, lengths: &Lengths| {
                same_length(case.queries.len(), lengths.len())?;
                for (query, &length) in case.queries.iter().zip(lengths).step_by(5) {
                    let wanted = case.by_peer(query);
                    if !(wanted.is_finite() && (length - wanted).abs() <= 1e-4 * (1.0 + wanted)) {
                        return Err(format!(
                            "the path {query:?} has a length of {length}, by polyanya {wanted}"
                        ));
                    }
                }
                Ok(())
            },
            compare: &|author, _: &RoomCase, lengths: &Lengths, others: &Lengths| {
                same_length(lengths.len(), others.len())?;
                let allowed = if author == Author::Hullfield { 0.0 } else { 1e-4 };
                let is_near = |one: f64, other: f64| (one - other).abs() <= allowed * (1.0 + one);
                let far = lengths.iter().zip(others).find(|&(&one, &other)| !is_near(one, other));
                far.map_or(Ok(()), |(one, other)| Err(format!("a length is {other}, not {one}")))
            },
        };
        context.sweep(&plan, &contenders)
    };
    context.publish(&topic, swept);
    Ok(())
}

struct SurfaceCase {
    surface: Surface,
    peer: Option<NavMesh>,
}

/// Surfaces of growing size on which lengths stay the same: each triangle of a lump becomes four, again and again.
struct Lumps {
    /// The last mesh that was made.
    mesh: RefCell<path::Mesh>,
    paths: KnownPaths,
}

/// Paths over a lump, which a split does not change.
struct KnownPaths {
    queries: Vec<[[f64; 3]; 2]>,
    /// The lengths by the exact method, on the lump itself.
    shortest: Lengths,
}

impl Lumps {
    fn new() -> Result<Self, String> {
        let (points, triangles) = path::lump(RINGS);
        let surface = build(&points, &triangles)?;
        let mut random = Random::new(SEED);
        let mut point = || points[random.below(points.len())];
        let queries: Vec<_> =
            (0..QUERIES / 5).map(|_| [point(), point()]).filter(|[start, goal]| start != goal).collect();
        let paths = surface.paths(&queries, &SurfaceMethod::Exact.into()).map_err(message)?;
        let shortest = paths.rows.iter().map(|path| path.length).collect();
        Ok(Self { mesh: RefCell::new((points, triangles)), paths: KnownPaths { queries, shortest } })
    }

    /// The sizes: the lump's, and four times as many with each split.
    fn sizes(context: &Context<'_>) -> Vec<u64> {
        let sizes: Vec<u64> =
            (0..8).map(|split| (4 * u64::from(RINGS - 1) * u64::from(RINGS)) << (2 * split)).collect();
        context.sizes(&sizes)
    }

    /// Splits the last mesh until it has so many triangles.
    fn grow(&self, triangle_count: u64) -> path::Mesh {
        let mut mesh = self.mesh.borrow_mut();
        while (mesh.1.len() as u64) < triangle_count {
            let (points, triangles) = &mut *mesh;
            *triangles = path::split(points, triangles);
        }
        mesh.clone()
    }
}

impl KnownPaths {
    /// Checks the lengths of the first paths over a surface of any of the sizes.
    fn verify(&self, lengths: &Lengths) -> Result<(), String> {
        for (index, (&least, &length)) in self.shortest.iter().zip(lengths).enumerate() {
            if !(least * (1.0 - 1e-9)..=least * (1.0 + EXCESS + 1e-9)).contains(&length) {
                return Err(format!("path {index} has a length of {length}, the shortest {least}"));
            }
        }
        Ok(())
    }

    /// The lengths of the paths.
    fn lengths(&self, surface: &Surface) -> Result<Lengths, String> {
        self.first_lengths(surface, self.queries.len())
    }

    /// The lengths of the first so many paths.
    fn first_lengths(&self, surface: &Surface, count: usize) -> Result<Lengths, String> {
        let paths =
            surface.paths(&self.queries[..count], &SurfaceMethod::default().into()).map_err(message)?;
        Ok(paths.rows.iter().map(|path| path.length).collect())
    }
}

fn build(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<Surface, String> {
    Surface::new(&[Model::triangles(points.to_vec(), triangles)], SurfaceOptions::default()).map_err(message)
}

fn nav_point(point: [f64; 3]) -> NavVec3 {
    let [x, y, z] = point.map(|x| x as f32);
    NavVec3::new(x, y, z)
}

fn nav_mesh(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<NavMesh, String> {
    let vertices = points.iter().map(|&point| nav_point(point)).collect();
    let triangles = triangles.iter().copied().map(NavTriangle::from).collect();
    NavMesh::new(vertices, triangles).map_err(|error| format!("{error:?}"))
}

/// Paths over surfaces of 10³ to 10⁷ triangles.
pub(crate) fn surfaces(context: &mut Context<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "surfaces",
        title: "20 paths over a closed, bumpy surface, within 0.1 % of the shortest",
        axis: "triangles",
        cut: "Give each machine the surface and some of the queries. One that no machine holds is cut into patches; paths that cross a cut are \
              joined at its edges, and lose their bound.",
    };
    let lumps = Lumps::new()?;
    let (sizes, known) = (Lumps::sizes(context), &lumps.paths);
    let swept = {
        let mut contenders = context.cpu_contenders(|case: &SurfaceCase| known.lengths(&case.surface));
        contenders.push(Contender::peer("navmesh 0.12", |case: &SurfaceCase| {
            let peer = case.peer.as_ref().ok_or("navmesh refuses the surface")?;
            let find = |&[from, to]: &[[f64; 3]; 2]| {
                let found =
                    peer.find_path(nav_point(from), nav_point(to), NavQuery::Accuracy, NavPathMode::Accuracy);
                found.map_or(f64::NAN, |path| f64::from(NavMesh::path_length(&path)))
            };
            Ok(known.queries.iter().map(find).collect())
        }));
        let verify = |_: &SurfaceCase, lengths: &Lengths| {
            same_length(known.queries.len(), lengths.len())?;
            known.verify(lengths)
        };
        // Paths of navmesh may leave the surface, and may be longer. One that is half as long again, or is not found, is wrong.
        let compare = |author: Author<'_>, _: &SurfaceCase, lengths: &Lengths, others: &Lengths| {
            if author == Author::Hullfield {
                return same_rows(lengths, others);
            }
            same_length(lengths.len(), others.len())?;
            let is_near = |one: f64, other: f64| (one / other).ln().abs() <= 0.5;
            match lengths.iter().zip(others).filter(|&(&one, &other)| !is_near(one, other)).count() {
                0 => Ok(()),
                count => Err(format!(
                    "{count} of {} paths are half as long again, shorter, or not found",
                    lengths.len()
                )),
            }
        };
        let make = |count| -> Result<SurfaceCase, Trouble> {
            let (points, triangles) = lumps.grow(count);
            Ok(SurfaceCase { surface: build(&points, &triangles)?, peer: nav_mesh(&points, &triangles).ok() })
        };
        let plan = Plan { sizes: &sizes, make: &make, verify: &verify, compare: &compare };
        context.sweep(&plan, &contenders)
    };
    context.publish(&topic, swept);
    Ok(())
}

/// The exact distances from one point to everywhere, where Python has a peer for them.
pub(crate) fn fields(context: &mut Context<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "fields",
        title: "Exact distances from one vertex to all others over a surface",
        axis: "triangles",
        cut: "Fields from several sources know nothing of each other; one field is not cut.",
    };
    let Some(python) = context.python.take() else {
        eprintln!("all: fields: its peers are in Python (--python)");
        return Ok(());
    };
    let sizes = context.sizes(&[1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000]);
    let swept = {
        struct Case {
            mesh: path::Mesh,
            surface: Surface,
        }
        // A lump of n rings has 4 (n − 1) n triangles.
        let make = |count: u64| -> Result<Case, Trouble> {
            let rings = (0.5 + (0.25 + count as f64 / 4.0).sqrt()).round().max(3.0) as u32;
            let mesh = path::lump(rings);
            Ok(Case { surface: build(&mesh.0, &mesh.1)?, mesh })
        };
        let mut contenders = context.cpu_contenders(|case: &Case| -> Result<Lengths, String> {
            let field = case.surface.field(case.mesh.0[0]).map_err(message)?;
            let far = |&point: &[f64; 3]| {
                field.distance(point).map_err(message)?.ok_or("a vertex has no distance".to_owned())
            };
            case.mesh.0.iter().map(far).collect()
        });
        let arrays = |case: &Case| {
            let (points, triangles) = &case.mesh;
            let given = vec![
                Array::f64(points.as_flattened(), &[points.len(), 3]),
                Array::u32(triangles.as_flattened(), &[triangles.len(), 3]),
            ];
            (triangles.len() as u64, given, json!({"source": 0}))
        };
        let key = |case: &Case| case.mesh.1.len() as u64;
        let numbers = |numbers: Vec<f64>| numbers;
        contenders.extend(python.contender("pygeodesic", "pygeodesic_field", arrays, key, numbers));
        contenders.extend(python.contender("potpourri3d", "potpourri_field", arrays, key, numbers));
        let verify = |case: &Case, lengths: &Lengths| {
            same_length(case.mesh.0.len(), lengths.len())?;
            // A geodesic is no shorter than a straight line, and no longer than the edge of a triangle and the way from its other end.
            let apart = |a: usize, b: usize| {
                let [a, b] = [a, b].map(|at| case.mesh.0[at]);
                (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
            };
            for triangle in &case.mesh.1 {
                for k in 0..3 {
                    let [a, b] = [triangle[k] as usize, triangle[(k + 1) % 3] as usize];
                    let is_straight = (lengths[a] - lengths[b]).abs() <= apart(a, b) * (1.0 + 1e-9);
                    if !(is_straight && lengths[a] >= apart(0, a) * (1.0 - 1e-9)) {
                        return Err(format!("the distance of vertex {a} is {}", lengths[a]));
                    }
                }
            }
            Ok(())
        };
        // pygeodesic is exact. potpourri3d's heat method is approximate: its distances may be off by a tenth of the mean.
        let compare = |author: Author<'_>, _: &Case, lengths: &Lengths, others: &Lengths| {
            same_length(lengths.len(), others.len())?;
            let allowed = match author {
                Author::Hullfield => 0.0,
                Author::Peer(name) if name.starts_with("potpourri3d") => 0.1,
                Author::Peer(_) => 1e-9,
            };
            let sum: f64 = lengths.iter().sum();
            let off: f64 = lengths.iter().zip(others).map(|(one, other)| (one - other).abs()).sum();
            match off <= allowed * sum {
                true => Ok(()),
                false => Err(format!("its distances are off by {:.1e} of the mean", off / sum)),
            }
        };
        let plan = Plan { sizes: &sizes, make: &make, verify: &verify, compare: &compare };
        context.sweep(&plan, &contenders)
    };
    context.python = Some(python);
    context.publish(&topic, swept);
    Ok(())
}

/// Building surfaces of 10³ to 10⁷ triangles.
pub(crate) fn builds(context: &mut Context<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "builds",
        title: "Building a surface: neighbours, corners, the tree of its triangles",
        axis: "triangles",
        cut: "Build patches, and link their borders.",
    };
    let lumps = Lumps::new()?;
    let (sizes, known) = (Lumps::sizes(context), &lumps.paths);
    let swept = {
        let make = |count: u64| Ok(lumps.grow(count));
        enum Built {
            Ours(Surface),
            Theirs(Box<NavMesh>),
        }
        let mut contenders =
            context.cpu_contenders(|(points, triangles): &path::Mesh| -> Result<Built, String> {
                build(points, triangles).map(Built::Ours)
            });
        contenders.push(Contender::peer("navmesh 0.12", |(points, triangles): &path::Mesh| {
            nav_mesh(points, triangles).map(|peer| Built::Theirs(Box::new(peer)))
        }));
        // Two paths over what was built have the lengths that they should have: all of them would take longer than to build it.
        let check = |mesh: &path::Mesh, built: &Built| match built {
            Built::Ours(surface) => {
                same_length(mesh.1.len(), surface.triangles().len())?;
                known.verify(&known.first_lengths(surface, 2)?)
            }
            Built::Theirs(peer) => same_length(mesh.1.len(), peer.triangles().len()),
        };
        let compare = |_: Author<'_>, mesh: &path::Mesh, _: &Built, built: &Built| check(mesh, built);
        let plan = Plan { sizes: &sizes, make: &make, verify: &check, compare: &compare };
        context.sweep(&plan, &contenders)
    };
    context.publish(&topic, swept);
    Ok(())
}
