//! Rays on the device: which body each of them hits first, where f32 can tell.
//!
//! The first frame uploads the bodies and builds the tree over them. Each frame searches a window of rays and reads back one word for each. The
//! host then measures the named bodies in f64, tests half-spaces, and searches by itself for the rays that are open.

use std::sync::Arc;

use bytemuck::Zeroable;
use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::narrow_phase::rows::Times;
use crate::collide::query::gpu::arena::GpuArena;
use crate::collide::query::gpu::broad::upload_bodies;
use crate::collide::query::gpu::ray_hulls::RayHulls;
use crate::collide::query::gpu::statics::GpuStatics;
use crate::collide::query::gpu::tree::{Boxes, TreeBuffers, levels_of};
use crate::collide::ray::kernels::{RAY_SEARCH, RayParams};
use crate::collide::ray::query::{OwnedRays, RayCodes, RayGoal};
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::error::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::frame::Frame;
use crate::gpu::readback::{Read, Results};
use crate::gpu::submit::Next;
use crate::pending::Pending;

const LABEL: &str = "hullfield.collide.rays";
/// Estimated steps of a ray (see `Context::pieces`).
const RAY_STEPS: u64 = 500;
/// The kernel takes no bodies, and no boxes, that reach farther.
const MOST_REACH: f32 = 1e18;

impl GpuArena {
    /// The hulls of the scene, uploaded by the first call; `None` where a table is larger than one binding may be.
    fn ray_hulls(&self, scene: &Scene) -> Result<Option<RayHulls>> {
        if let Some(made) = self.ray_hulls.get() {
            return Ok(Some(made.clone()));
        }
        let made = RayHulls::new(&self.context, scene)?;
        Ok(made.map(|made| self.ray_hulls.get_or_init(|| made).clone()))
    }

    /// Whether the kernel can search among the bodies of a query.
    fn takes_rays(&self, input: &QueryInput) -> bool {
        let all = input.bodies.len();
        let statics = self.statics();
        let is_near = |aabb: &Aabb| aabb.min.iter().chain(&aabb.max).all(|x| x.abs() <= 8.0 * MOST_REACH);
        let are_near =
            input.statics.as_ref().and_then(|statics| statics.boxes.tree.levels.last()).is_none_or(|top| {
                top.iter().all(|node| {
                    let all = node.union();
                    all.min[0] > all.max[0] || is_near(&all)
                })
            });
        all > 0
            && self.fits(all)
            && statics.map_or(0, GpuStatics::len) == all - input.mover_count
            && statics.is_none_or(|statics| statics.boxed.is_some())
            && are_near
            && input.packed.iter().all(|body| body.radius <= MOST_REACH)
    }
}

/// What a device finds out about each ray; `None` where the CPU must do all.
///
/// # Errors
/// Of the device.
pub(crate) fn search(
    arena: &Arc<GpuArena>,
    scene: &Scene,
    input: &QueryInput,
    rays: &Arc<OwnedRays>,
    goal: RayGoal,
) -> Result<Option<Pending<RayCodes>>> {
    // The kernel knows no worlds.
    if rays.len() == 0 || !rays.see_all(input.mover_count) || !arena.takes_rays(input) {
        return Ok(None);
    }
    let window = arena.ray_window(input.bodies.len());
    search_by(arena, scene, input, rays, goal, window)
}

/// The same with windows of so many rays.
fn search_by(
    arena: &Arc<GpuArena>,
    scene: &Scene,
    input: &QueryInput,
    rays: &Arc<OwnedRays>,
    goal: RayGoal,
    window: usize,
) -> Result<Option<Pending<RayCodes>>> {
    let Some(hulls) = arena.ray_hulls(scene)? else { return Ok(None) };
    let context = &arena.context;
    let mut frame = Frame::new(context, LABEL)?;
    let statics = arena.statics();
    let (movers, all) = (input.mover_count, input.bodies.len());
    let bodies = upload_bodies(&mut frame, arena, &input.packed, statics)?;
    let (mover_levels, mover_top, end) = levels_of(0, movers);
    let (static_levels, static_top, end) = levels_of(end, all - movers);
    let labels = ["hullfield.collide.leaves", "hullfield.collide.nodes"];
    let tree = TreeBuffers::new(context, labels, all, end, movers)?;
    if movers > 0 {
        tree.build(&mut frame, &Boxes::of(&arena.hulls()?.records, &bodies, None, 0.0), movers, None)?;
    }
    if let Some(boxed) = statics.and_then(|statics| statics.boxed.as_ref()) {
        let begin = static_levels[0][0] as usize;
        frame.copy(&boxed.tree.leaves, 0..all - movers, &tree.leaves, movers)?;
        frame.copy(&boxed.tree.nodes, 0..end - begin, &tree.nodes, begin)?;
    }
    let params = RayParams {
        mover_count: movers as u32,
        static_count: (all - movers) as u32,
        mover_top: mover_top as u32,
        static_top: static_top as u32,
        is_any: goal.is_any.into(),
        skips_start: (!goal.at_start).into(),
        mover_levels,
        static_levels,
        ..RayParams::zeroed()
    };
    let search = RaySearch {
        arena: Arc::clone(arena),
        rays: Arc::clone(rays),
        origin: input.origin,
        bodies,
        tree,
        hulls,
        params,
        window,
        found: RayCodes::default(),
    };
    let read = search.encode(&mut frame)?;
    frame.submit(move |results| search.take(&results, &read)).map(Some)
}

/// A running search.
struct RaySearch {
    arena: Arc<GpuArena>,
    rays: Arc<OwnedRays>,
    /// What positions are relative to.
    origin: DVec3,
    bodies: Buffer<PackedBody>,
    tree: TreeBuffers,
    hulls: RayHulls,
    params: RayParams,
    /// Most rays of a frame.
    window: usize,
    found: RayCodes,
}

impl RaySearch {
    /// Encodes the next window.
    fn encode(&self, frame: &mut Frame) -> Result<Read<u32>> {
        let context = &self.arena.context;
        let begin = self.found.codes.len();
        let rays = self.rays.device(begin..self.rays.len().min(begin + self.window), self.origin);
        let held = Buffer::new(context, "hullfield.collide.rays", rays.len())?;
        frame.upload(&held, 0, &rays)?;
        let codes = Buffer::new(context, "hullfield.collide.ray_codes", rays.len())?;
        for piece in context.pieces(rays.len() as u64, RAY_STEPS, RAY_SEARCH.workgroup_size.into()) {
            let params = frame.uniform(&RayParams {
                begin: piece.start as u32,
                end: piece.end as u32,
                ..self.params
            })?;
            let Self { bodies, tree: TreeBuffers { leaves, nodes }, hulls, .. } = self;
            let (records, planes) = (hulls.records.bind(), hulls.planes.bind());
            let scene = [bodies.bind(), records, planes, leaves.bind(), nodes.bind()];
            let bound = [&[params], &scene[..], &[held.bind(), codes.bind()]].concat();
            frame.dispatch(&RAY_SEARCH, &bound, RAY_SEARCH.groups(piece.end - piece.start))?;
        }
        frame.read(&codes, 0..rays.len())
    }

    /// Takes the codes of a window, and encodes the next where there are more rays.
    fn take(mut self, results: &Results, read: &Read<u32>) -> Result<Next<RayCodes>> {
        self.found.codes.extend_from_slice(&results.get(read)?);
        let times = results.times();
        let kernels_ms = times.kernels_ms.unwrap_or(times.round_trip_ms);
        let Times { upload_ms, compile_ms, kernels_ms: kernels, readback_ms, .. } = &mut self.found.times;
        *upload_ms += times.encode_ms;
        *compile_ms += times.compile_ms;
        *kernels += kernels_ms;
        *readback_ms += (times.round_trip_ms - kernels_ms).max(0.0);
        if self.found.codes.len() == self.rays.len() {
            return Ok(Next::Answer(self.found));
        }
        let mut frame = Frame::new(&self.arena.context, LABEL)?;
        let read = self.encode(&mut frame)?;
        Ok(Next::frame(frame, move |results| self.take(&results, &read)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::broad_phase::search_pool::SearchPool;
    use crate::collide::hull::Hull;
    use crate::collide::ray::query::{self, checked_rays};
    use crate::collide::ray::rows::Raycast;
    use crate::collide::ray::search::{HIT, NONE, OPEN};
    use crate::collide::scene::body::Body;
    use crate::collide::scene::bounds::tests::Random;
    use crate::collide::scene::columns::BodyColumns;
    use crate::collide::scene::layout::Layout;
    use crate::collide::scene::pairs::Pairs;
    use crate::collide::scene::ray::Ray;
    use crate::collide::scene::ray_columns::RayColumns;
    use crate::testing;

    const FIRST: RayGoal = RayGoal { is_any: false, at_start: true };

    /// Hulls of each core, with and without rounding, and turned bodies of them with rays in between.
    fn crowd(count: usize, ray_count: usize) -> (Scene, Vec<Body>, Vec<Ray>) {
        let points =
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.2], [-0.3, 0.1, 1.0], [-0.6, -0.9, -0.4], [0.3, -0.2, -1.0]];
        let mut hulls = vec![
            Hull::ball(1.0).unwrap(),
            Hull::capsule([0.0, -1.0, 0.0], [0.3, 1.0, 0.2], 0.25).unwrap(),
            Hull::cuboid([1.0, 0.6, 0.8]).unwrap(),
            Hull::triangle([[1.0, 0.0, 0.0], [-0.7, 0.9, 0.0], [-0.4, -0.8, 0.3]]).unwrap(),
            Hull::from_points(&points).unwrap(),
        ];
        hulls.push(hulls[2].clone().rounded(0.2).unwrap());
        hulls.push(hulls[4].clone().rounded(0.1).unwrap());
        let mut random = Random(91);
        let side = 4.0 * (count as f32).cbrt();
        let bodies = (0..count).map(|at| {
            let place = [0; 3].map(|_| side * random.signed());
            let size = 0.5 + random.unit();
            Body::new((at % hulls.len()) as u32).at(place).rotated(random.rotation()).scaled(size)
        });
        let bodies: Vec<Body> = bodies.collect();
        let mut vector = |size: f32| [0; 3].map(|_| size * random.signed());
        let rays = (0..ray_count).map(|_| Ray::new(vector(side), vector(1.0))).collect();
        (Scene::new(&hulls).unwrap(), bodies, rays)
    }

    fn input(scene: &Scene, bodies: &[Body]) -> QueryInput {
        let layout = Layout { packed: true, placed: false };
        QueryInput::new(scene, bodies.into(), None, Pairs::BroadPhase, layout).unwrap()
    }

    fn rows(scene: &Scene, bodies: &[Body], rays: &OwnedRays, codes: Vec<u32>) -> Vec<Raycast> {
        let (found, pool) = (RayCodes { codes, ..RayCodes::default() }, SearchPool::default());
        query::raycasts(scene, input(scene, bodies), &pool, rays, true, &found).unwrap().rows
    }

    #[test]
    fn windows_change_nothing_and_few_rays_are_open() {
        let Some(engine) = testing::gpu() else { return };
        let (scene, bodies, rays) = crowd(300, 2_000);
        let arena = Arc::new(GpuArena::new(engine.context().unwrap(), &scene).unwrap());
        let rays = Arc::new(checked_rays(&RayColumns::new(&rays), &BodyColumns::new(&bodies)).unwrap());
        let input = input(&scene, &bodies);
        let ask = |goal, window| {
            search_by(&arena, &scene, &input, &rays, goal, window).unwrap().unwrap().wait().unwrap().codes
        };
        let codes = ask(FIRST, 1 << 20);
        assert_eq!(codes, ask(FIRST, 128));
        let count_of =
            |codes: &[u32], is: &dyn Fn(u32) -> bool| codes.iter().filter(|&&code| is(code)).count();
        let (open, hit) = (count_of(&codes, &|code| code == OPEN), count_of(&codes, &|code| code < HIT));
        let any = ask(RayGoal { is_any: true, ..FIRST }, 1 << 20);
        let (any_open, any_hit) = (count_of(&any, &|code| code == OPEN), count_of(&any, &|code| code == HIT));
        println!("{hit} hit, {open} open; any: {any_hit} hit, {any_open} open");
        assert!(
            open < 100 && any_open < 60 && hit > 150 && any_hit > 150,
            "{hit} {open} {any_hit} {any_open}"
        );
        assert!(
            codes
                .iter()
                .zip(&any)
                .all(|(&first, &any)| { !(first == NONE && any == HIT || first < HIT && any == NONE) })
        );
        // The rows are those of the CPU, which knows no codes.
        let expected = rows(&scene, &bodies, &rays, Vec::new());
        assert!(rows(&scene, &bodies, &rays, codes.clone()) == expected);
        // Control: a wrong code is found out.
        let mut wrong = codes;
        let at = wrong.iter().position(|&code| code < HIT).unwrap();
        wrong[at] = NONE;
        assert!(rows(&scene, &bodies, &rays, wrong) != expected);
    }

    /// The trees of a large crowd have nine levels.
    #[test]
    #[ignore = "long: cargo xtask test --all"]
    fn a_large_crowd_is_hit_where_the_cpu_hits_it() {
        let Some(engine) = testing::own_gpu() else { return };
        let (scene, bodies, rays) = crowd(1_200_000, 2_000);
        let arena = Arc::new(GpuArena::new(engine.context().unwrap(), &scene).unwrap());
        if !arena.fits(bodies.len()) {
            return;
        }
        let rays = Arc::new(checked_rays(&RayColumns::new(&rays), &BodyColumns::new(&bodies)).unwrap());
        let found = search(&arena, &scene, &input(&scene, &bodies), &rays, FIRST).unwrap().unwrap();
        let codes = found.wait().unwrap().codes;
        assert!(codes.iter().filter(|&&code| code == OPEN).count() < 200);
        assert!(rows(&scene, &bodies, &rays, codes) == rows(&scene, &bodies, &rays, Vec::new()));
    }
}
