//! The peer parry3d: `intersection_test`, `distance`, `contact` and `cast_shapes` on convex polyhedra, on one thread.

use hullfield::collide::{Body, Compound, CompoundBody, Exclusions, Hull, LinkPose, Ray, ShapeCast};
use hullfield_oracle::Placed;
use parry3d::bounding_volume::{Aabb, BoundingVolume};
use parry3d::math::{Pose, Rotation, Vector};
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhNode, BvhWorkspace};
use parry3d::query;
use parry3d::query::RayCast;
use parry3d::shape::{Compound as PeerCompound, ConvexPolyhedron, HeightField, Shape, SharedShape};
use parry3d::utils::Array2;

/// The peer's name and version.
pub(crate) const PARRY: &str = "parry3d 0.31.1";

/// parry3d's shapes and poses, built from the same f32 numbers.
pub(crate) struct Peer {
    shapes: Vec<Option<ConvexPolyhedron>>,
    poses: Vec<Pose>,
    hulls: Vec<usize>,
}

impl Peer {
    /// Builds every shape and pose. Bodies must have scale 1: parry3d's poses have no scale.
    pub(crate) fn new(sets: &[Vec<[f32; 3]>], bodies: &[Placed]) -> Self {
        let shapes = sets
            .iter()
            .map(|set| {
                let points: Vec<Vector> = set.iter().map(|p| Vector::new(p[0], p[1], p[2])).collect();
                ConvexPolyhedron::from_convex_hull(&points)
            })
            .collect();
        let hulls = bodies.iter().map(|body| body.hull as usize).collect();
        Self { shapes, poses: bodies.iter().map(pose).collect(), hulls }
    }

    /// For each point set, whether parry3d builds a shape.
    pub(crate) fn accepts(&self) -> Vec<bool> {
        self.shapes.iter().map(Option::is_some).collect()
    }

    /// Writes each pair's verdict.
    ///
    /// # Errors
    /// A shape that parry3d does not build.
    pub(crate) fn intersections(&self, pairs: &[[u32; 2]], verdicts: &mut Vec<bool>) -> Result<(), String> {
        self.query_pairs(pairs, verdicts, |at_a, a, at_b, b| {
            query::intersection_test(at_a, a, at_b, b).map(|found| found.intersecting)
        })
    }

    /// Writes each pair's distance in world units, 0 where they overlap.
    ///
    /// # Errors
    /// As [`Peer::intersections`].
    pub(crate) fn distances(&self, pairs: &[[u32; 2]], distances: &mut Vec<f32>) -> Result<(), String> {
        self.query_pairs(pairs, distances, |at_a, a, at_b, b| {
            query::distance(at_a, a, at_b, b).map(|found| found.distance)
        })
    }

    /// Writes each pair's signed gap in world units: minus the depth of its contact, or NaN without a contact within `prediction`.
    ///
    /// # Errors
    /// As [`Peer::intersections`].
    pub(crate) fn contacts(
        &self,
        pairs: &[[u32; 2]],
        prediction: f32,
        gaps: &mut Vec<f32>,
    ) -> Result<(), String> {
        self.query_pairs(pairs, gaps, |at_a, a, at_b, b| {
            query::contact(at_a, a, at_b, b, prediction)
                .map(|found| found.map_or(f32::NAN, |contact| contact.dist))
        })
    }

    /// Writes each pair's time of impact within `duration` seconds, 0 where they touch at the start. Bodies move with
    /// `velocities` and do not rotate.
    ///
    /// # Errors
    /// As [`Peer::intersections`].
    pub(crate) fn casts(
        &self,
        pairs: &[[u32; 2]],
        velocities: &[[f32; 3]],
        duration: f32,
        times: &mut Vec<Option<f32>>,
    ) -> Result<(), String> {
        times.clear();
        let velocity = |body: usize| {
            let [x, y, z] = velocities[body];
            Vector::new(x, y, z)
        };
        for &[a, b] in pairs {
            let (a, b) = (a as usize, b as usize);
            let (Some(shape_a), Some(shape_b)) = (&self.shapes[self.hulls[a]], &self.shapes[self.hulls[b]])
            else {
                return Err("parry3d built no shape for a hull".into());
            };
            let options = query::ShapeCastOptions {
                max_time_of_impact: duration,
                compute_impact_geometry_on_penetration: false,
                ..query::ShapeCastOptions::default()
            };
            let (at_a, at_b) = (&self.poses[a], &self.poses[b]);
            let found = query::cast_shapes(at_a, velocity(a), shape_a, at_b, velocity(b), shape_b, options);
            times.push(found.map_err(|error| error.to_string())?.map(|hit| hit.time_of_impact));
        }
        Ok(())
    }

    /// The pairs of bodies that overlap, sorted: from a tree over the boxes of all bodies, or of each world of so many bodies. Pairs of which no
    /// body is one of the first `moving` are left out.
    ///
    /// # Errors
    /// As [`Peer::intersections`].
    pub(crate) fn hits(&self, world: Option<usize>, moving: usize) -> Result<Vec<[u32; 2]>, String> {
        let shapes: Vec<&ConvexPolyhedron> = self
            .shapes
            .iter()
            .map(Option::as_ref)
            .collect::<Option<_>>()
            .ok_or("parry3d built no shape for a hull")?;
        let (mut hits, mut workspace) = (Vec::new(), BvhWorkspace::default());
        let size = world.unwrap_or(self.poses.len()).max(1);
        for (index, (poses, hulls)) in self.poses.chunks(size).zip(self.hulls.chunks(size)).enumerate() {
            let boxes: Vec<Aabb> =
                poses.iter().zip(hulls).map(|(pose, &hull)| shapes[hull].compute_aabb(pose)).collect();
            let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
            let first = (index * size) as u32;
            tree.traverse_bvtt_single_tree::<false>(&mut workspace, &mut |a, b| {
                let [i, j] = [a as usize, b as usize];
                if index * size + i.min(j) >= moving {
                    return;
                }
                let found =
                    query::intersection_test(&poses[i], shapes[hulls[i]], &poses[j], shapes[hulls[j]]);
                if found.is_ok_and(|found| found.intersecting) {
                    hits.push([first + a.min(b), first + a.max(b)]);
                }
            });
        }
        hits.sort_unstable();
        Ok(hits)
    }

    fn query_pairs<T>(
        &self,
        pairs: &[[u32; 2]],
        answers: &mut Vec<T>,
        query: impl Fn(&Pose, &dyn Shape, &Pose, &dyn Shape) -> Result<T, query::Unsupported>,
    ) -> Result<(), String> {
        answers.clear();
        for &[a, b] in pairs {
            let (a, b) = (a as usize, b as usize);
            let (Some(shape_a), Some(shape_b)) = (&self.shapes[self.hulls[a]], &self.shapes[self.hulls[b]])
            else {
                return Err("parry3d built no shape for a hull".into());
            };
            let found = query(&self.poses[a], shape_a, &self.poses[b], shape_b);
            answers.push(found.map_err(|error| error.to_string())?);
        }
        Ok(())
    }
}

fn pose(body: &Placed) -> Pose {
    let [x, y, z] = body.pose.position;
    let [i, j, k, w] = body.pose.rotation;
    Pose::from_parts(Vector::new(x, y, z), Rotation::from_xyzw(i, j, k, w))
}

/// The peer's bodies and a tree over their boxes.
pub(crate) struct ScenePeer {
    tree: Bvh,
    /// One for each hull.
    shapes: Vec<ConvexPolyhedron>,
    bodies: Vec<(Pose, ConvexPolyhedron)>,
}

impl ScenePeer {
    /// Builds the tree.
    ///
    /// # Errors
    /// A shape that parry3d does not build.
    pub(crate) fn new(peer: &Peer) -> Result<Self, String> {
        let body = |(pose, &hull): (&Pose, &usize)| {
            let shape = peer.shapes[hull].clone().ok_or("parry3d built no shape for a hull")?;
            Ok::<_, String>((*pose, shape))
        };
        let bodies: Vec<_> = peer.poses.iter().zip(&peer.hulls).map(body).collect::<Result<_, _>>()?;
        let boxes: Vec<_> = bodies.iter().map(|(pose, shape)| shape.compute_aabb(pose)).collect();
        let shapes = peer.shapes.iter().flatten().cloned().collect();
        Ok(Self { tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes), shapes, bodies })
    }

    /// Writes the body that each shape meets first, and its distance: the walk of parry3d's `cast_shape` for composite shapes. The shapes are
    /// of the scene's hulls.
    pub(crate) fn first_casts(
        &self,
        shapes: &[Placed],
        casts: &[ShapeCast],
        hits: &mut Vec<Option<(u32, f32)>>,
    ) {
        hits.clear();
        hits.extend(shapes.iter().zip(casts).map(|(placed, cast)| {
            let (pose, shape) = (pose(placed), &self.shapes[placed.hull as usize]);
            let [u, v, w] = cast.direction;
            let velocity = Vector::new(u, v, w).normalize();
            let aabb = shape.compute_aabb(&pose);
            let ray = query::Ray::new(Vector::ZERO, velocity);
            let (shift, margin) = (-aabb.center(), aabb.half_extents());
            self.tree.find_best(
                f32::MAX,
                |node: &BvhNode, best| {
                    let sum = Aabb { mins: node.mins() + shift - margin, maxs: node.maxs() + shift + margin };
                    sum.cast_local_ray(&ray, best, true).unwrap_or(f32::MAX)
                },
                |body, best| {
                    let (at, body) = &self.bodies[body as usize];
                    let options = query::ShapeCastOptions {
                        max_time_of_impact: best,
                        compute_impact_geometry_on_penetration: false,
                        ..query::ShapeCastOptions::default()
                    };
                    let still = Vector::ZERO;
                    let found = query::cast_shapes(&pose, velocity, shape, at, still, body, options);
                    found.ok().flatten().map(|hit| hit.time_of_impact)
                },
            )
        }));
    }

    /// Writes the nearest other body of each body, and its distance.
    pub(crate) fn nearest(&self, near: &mut Vec<Option<(u32, f32)>>) {
        near.clear();
        near.extend((0..).zip(&self.bodies).map(|(id, (pose, shape))| {
            let aabb = shape.compute_aabb(pose);
            self.tree.find_best(
                f32::MAX,
                |node: &BvhNode, _| {
                    let apart = (node.mins() - aabb.maxs).max(aabb.mins - node.maxs());
                    apart.max(Vector::ZERO).length()
                },
                |body, _| {
                    let (at, other) = &self.bodies[body as usize];
                    let distance =
                        || query::distance(pose, shape, at, other).ok().map(|found| found.distance);
                    if body == id { None } else { distance() }
                },
            )
        }));
    }

    /// Writes the body that each ray hits first, and its distance.
    pub(crate) fn first_hits(&self, rays: &[Ray], hits: &mut Vec<Option<(u32, f32)>>) {
        hits.clear();
        hits.extend(rays.iter().map(|ray| {
            let ([x, y, z], [u, v, w]) = (ray.origin, ray.direction);
            let ray = query::Ray::new(Vector::new(x, y, z), Vector::new(u, v, w).normalize());
            self.tree.cast_ray(&ray, f32::MAX, |body, best| {
                let (pose, shape) = &self.bodies[body as usize];
                shape.cast_ray(pose, &ray, best, true)
            })
        }));
    }
}

/// What is asked of a pair of bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CompoundQuery {
    Intersection,
    Distance,
    Contact,
}

/// The peer's compounds, and the poses of bodies: bodies `2 k` and `2 k + 1` are pair `k`.
pub(crate) struct CompoundPeer {
    compounds: Vec<PeerCompound>,
    bodies: Vec<(Pose, usize)>,
}

impl CompoundPeer {
    /// Builds every compound with its tree, and every pose.
    ///
    /// # Errors
    /// A shape that parry3d does not build.
    pub(crate) fn new(
        sets: &[Vec<[f32; 3]>],
        compounds: &[Compound],
        bodies: &[CompoundBody],
    ) -> Result<Self, String> {
        let pose = |[x, y, z]: [f32; 3], [i, j, k, w]: [f32; 4]| {
            Pose::from_parts(Vector::new(x, y, z), Rotation::from_xyzw(i, j, k, w))
        };
        let shape = |set: &Vec<[f32; 3]>| {
            let points: Vec<Vector> = set.iter().map(|p| Vector::new(p[0], p[1], p[2])).collect();
            ConvexPolyhedron::from_convex_hull(&points).map(SharedShape::new)
        };
        let shapes: Vec<SharedShape> =
            sets.iter().map(shape).collect::<Option<_>>().ok_or("parry3d built no shape for a hull")?;
        let compound = |compound: &Compound| {
            let part = |part: &hullfield::collide::Part| {
                (pose(part.pose.position, part.pose.rotation), shapes[part.hull as usize].clone())
            };
            PeerCompound::new(compound.parts.iter().map(part).collect())
        };
        let bodies = bodies
            .iter()
            .map(|body| (pose(body.position.map(|x| x as f32), body.rotation), body.compound as usize))
            .collect();
        Ok(Self { compounds: compounds.iter().map(compound).collect(), bodies })
    }

    /// Writes the answer of each pair: its distance, its gap where there is a contact, or 0 where there is an intersection.
    ///
    /// # Errors
    /// A query that parry3d does not support.
    pub(crate) fn answers(&self, query: CompoundQuery, answers: &mut Vec<Option<f32>>) -> Result<(), String> {
        answers.clear();
        for pair in self.bodies.chunks_exact(2) {
            let [(at_a, a), (at_b, b)] = [&pair[0], &pair[1]];
            let (a, b) = (&self.compounds[*a], &self.compounds[*b]);
            let unsupported = |error: query::Unsupported| error.to_string();
            answers.push(match query {
                CompoundQuery::Intersection => {
                    let found = query::intersection_test(at_a, a, at_b, b).map_err(unsupported)?;
                    found.intersecting.then_some(0.0)
                }
                CompoundQuery::Distance => {
                    Some(query::distance(at_a, a, at_b, b).map_err(unsupported)?.distance)
                }
                CompoundQuery::Contact => query::contact(at_a, a, at_b, b, 0.0)
                    .map_err(unsupported)?
                    .map(|contact| contact.dist.min(0.0)),
            });
        }
        Ok(())
    }
}

/// The peer's robot, and a tree over the boxes of its surroundings.
pub(crate) struct PlannerPeer {
    tree: Bvh,
    statics: Vec<(Pose, ConvexPolyhedron)>,
    /// Each link's shape and its pose in the link.
    parts: Vec<(Pose, ConvexPolyhedron)>,
    /// Pairs of parts that may meet.
    pairs: Vec<[usize; 2]>,
}

impl PlannerPeer {
    /// Builds shapes and the tree. Each body is its own link, at scale 1. No static is excluded.
    ///
    /// # Errors
    /// A shape that parry3d does not build.
    pub(crate) fn new(
        hulls: &[Hull],
        bodies: &[Body],
        statics: &[Body],
        exclusions: &Exclusions,
    ) -> Result<Self, String> {
        let build = |body: &Body| {
            let points: Vec<Vector> =
                hulls[body.hull as usize].vertices().iter().map(|p| Vector::new(p[0], p[1], p[2])).collect();
            let shape =
                ConvexPolyhedron::from_convex_hull(&points).ok_or("parry3d built no shape for a hull")?;
            let ([x, y, z], [i, j, k, w]) = (body.position, body.rotation);
            Ok::<_, String>((Pose::from_parts(Vector::new(x, y, z), Rotation::from_xyzw(i, j, k, w)), shape))
        };
        let parts: Vec<_> = bodies.iter().map(build).collect::<Result<_, _>>()?;
        let statics: Vec<_> = statics.iter().map(build).collect::<Result<_, _>>()?;
        let boxes: Vec<_> = statics.iter().map(|(pose, shape)| shape.compute_aabb(pose)).collect();
        let count = parts.len();
        let all = (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b]));
        let pairs = all.filter(|&[a, b]| !exclusions.contains(a as u32, b as u32)).collect();
        Ok(Self { tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes), statics, parts, pairs })
    }

    /// Poses as parry3d has them.
    pub(crate) fn poses(&self, poses: &[LinkPose]) -> Vec<Pose> {
        let pose = |pose: &LinkPose| {
            let ([x, y, z], [i, j, k, w]) =
                (pose.position.map(|x| x as f32), pose.rotation.map(|x| x as f32));
            Pose::from_parts(Vector::new(x, y, z), Rotation::from_xyzw(i, j, k, w))
        };
        poses.iter().map(pose).collect()
    }

    /// A pair that meets where the links are: of parts, or of a part and a static, which count on.
    pub(crate) fn first_pair(&self, links: &[Pose]) -> Option<[u32; 2]> {
        let place = |(link, (pose, shape)): (&Pose, &(Pose, ConvexPolyhedron))| {
            let pose = *link * *pose;
            (pose, shape.compute_aabb(&pose))
        };
        let mut placed = [(Pose::IDENTITY, Aabb::new_invalid()); 16];
        for (placed, part) in placed.iter_mut().zip(links.iter().zip(&self.parts)) {
            *placed = place(part);
        }
        let meets = |a: usize, at: &Pose, b: &ConvexPolyhedron| {
            query::intersection_test(&placed[a].0, &self.parts[a].1, at, b)
                .is_ok_and(|found| found.intersecting)
        };
        for &[a, b] in &self.pairs {
            if placed[a].1.intersects(&placed[b].1) && meets(a, &placed[b].0, &self.parts[b].1) {
                return Some([a as u32, b as u32]);
            }
        }
        let count = self.parts.len();
        (0..count).find_map(|a| {
            let mut near = self.tree.intersect_aabb(&placed[a].1);
            near.find(|&b| meets(a, &self.statics[b as usize].0, &self.statics[b as usize].1))
                .map(|b| [a as u32, count as u32 + b])
        })
    }
}

/// The peer's height field, and the poses of hulls.
pub(crate) struct HeightPeer {
    field: HeightField,
    hulls: Vec<(Pose, ConvexPolyhedron)>,
}

impl HeightPeer {
    /// Builds the field, about the origin with cells of one unit, and every hull, at scale 1.
    ///
    /// # Errors
    /// A hull that parry3d does not build.
    pub(crate) fn new(
        columns: usize,
        heights: &[f32],
        sets: &[Vec<[f32; 3]>],
        bodies: &[Body],
    ) -> Result<Self, String> {
        let rows = heights.len() / columns;
        let by_column = (0..columns).flat_map(|c| (0..rows).map(move |r| heights[r * columns + c])).collect();
        let scale = Vector::new((columns - 1) as f32, 1.0, (rows - 1) as f32);
        let field = HeightField::new(Array2::new(rows, columns, by_column), scale);
        let hull = |body: &Body| {
            let points: Vec<Vector> =
                sets[body.hull as usize].iter().map(|p| Vector::new(p[0], p[1], p[2])).collect();
            let [x, y, z] = body.position;
            let [i, j, k, w] = body.rotation;
            let pose = Pose::from_parts(Vector::new(x, y, z), Rotation::from_xyzw(i, j, k, w));
            ConvexPolyhedron::from_convex_hull(&points).map(|hull| (pose, hull))
        };
        let hulls =
            bodies.iter().map(hull).collect::<Option<_>>().ok_or("parry3d built no shape for a hull")?;
        Ok(Self { field, hulls })
    }

    /// Writes the signed gap of each hull and the field, where there is a contact.
    ///
    /// # Errors
    /// A query that parry3d does not support.
    pub(crate) fn contacts(&self, gaps: &mut Vec<Option<f32>>) -> Result<(), String> {
        gaps.clear();
        for (pose, hull) in &self.hulls {
            let found = query::contact(&Pose::identity(), &self.field, pose, hull, 0.0)
                .map_err(|error| error.to_string())?;
            gaps.push(found.map(|contact| contact.dist));
        }
        Ok(())
    }

    /// Writes how far each ray goes until it hits the field.
    pub(crate) fn rays(&self, rays: &[Ray], distances: &mut Vec<Option<f32>>) {
        distances.clear();
        distances.extend(rays.iter().map(|ray| {
            let [o, d] = [ray.origin, ray.direction].map(|[x, y, z]| Vector::new(x, y, z));
            let found =
                self.field.cast_local_ray_and_get_normal(&query::Ray::new(o, d), ray.max_distance, true);
            found.map(|hit| hit.time_of_impact)
        }));
    }
}
