//! The CPU engine's broad phase against parry3d's bounding volume hierarchy, on the same boxes.

use hullfield::Engine;
use hullfield::collide::{Arena, Body, Hull};
use hullfield_oracle::random::Random;
use parry3d::bounding_volume::Aabb;
use parry3d::math::Vector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

use crate::error::message;
use crate::machine::SEED;
use crate::options::Options;
use crate::report::{Cell, Report, Table};
use crate::timing::{interleave, time};

/// Half extent of a box. It and the scales below are powers of two, so that both sides have equal boxes.
const HALF: f32 = 0.5;

/// Random boxes. A tenth are four times as large as the others.
fn boxes(count: usize, random: &mut Random) -> Vec<Body> {
    let size = 1.75 * (count as f64).cbrt();
    (0..count)
        .map(|_| {
            let at = [0; 3].map(|_| random.between(0.0, size) as f32);
            Body::new(0).at(at).scaled(if random.chance(0.1) { 2.0 } else { 0.5 })
        })
        .collect()
}

/// Times the pairs of overlapping boxes from poses, on one thread. The pairs of both sides are compared.
///
/// # Errors
/// A query that fails. Pairs that differ go into the report.
pub(crate) fn against_peer(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new(
        "broad",
        "Axis-aligned boxes, poses in to candidate pairs out, one thread: hullfield's sorted, parry3d's as they come",
        &["boxes", "pairs", "hullfield ms", "±", "parry3d ms", "±", "ratio"],
    );
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(message)?;
    let sizes: &[usize] = if options.quick { &[2_000] } else { &[10_000, 100_000, 1_000_000] };
    for &count in sizes {
        eprintln!("broad: {count} boxes");
        let bodies = boxes(count, &mut Random::new(SEED));
        let hull = Hull::cuboid([HALF; 3]).map_err(message)?;
        let arena =
            Arena::new(&Engine::cpu(), &[hull], hullfield::collide::Options::default()).map_err(message)?;
        let ours = || one.install(|| arena.candidates(&bodies).map_err(message)?.wait().map_err(message));
        let mut workspace = BvhWorkspace::default();
        let mut theirs = || {
            let leaves: Vec<Aabb> = bodies
                .iter()
                .map(|body| {
                    let [x, y, z] = body.position;
                    Aabb::from_half_extents(Vector::new(x, y, z), Vector::splat(HALF * body.scale[0]))
                })
                .collect();
            let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves);
            let mut pairs = Vec::new();
            tree.traverse_bvtt_single_tree::<false>(&mut workspace, &mut |a, b| {
                pairs.push([a.min(b), a.max(b)]);
            });
            pairs
        };
        let mut expected = theirs();
        expected.sort_unstable();
        let found = ours()?;
        // Our boxes are a millionth wider: they may add pairs, but miss none.
        let extra = found.iter().filter(|pair| expected.binary_search(pair).is_err()).count();
        if found.len() - extra != expected.len() || extra > 2 + count / 10_000 {
            report.fail(format!(
                "broad: {} pairs here, {} there, of {count} boxes",
                found.len(),
                expected.len()
            ));
        }
        let repetitions = if count > 500_000 { 5 } else { 11 };
        let [mine, peer] = interleave(
            repetitions,
            || ours().map(drop),
            || {
                time(&mut theirs);
                Ok(())
            },
        )?;
        table.row([
            count.into(),
            found.len().into(),
            Cell::Number(mine.median(), 2),
            Cell::Share(mine.spread(), 0),
            Cell::Number(peer.median(), 2),
            Cell::Share(peer.spread(), 0),
            Cell::Number(mine.ratio(&peer), 2),
        ]);
    }
    table.note("ratio: the median of neighbouring repetitions' ratios, hullfield over parry3d; its time holds the checks of the bodies and the sort of the pairs.");
    report.table(table);
    Ok(())
}
