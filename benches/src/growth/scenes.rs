//! What real scenes cost: piles at rest, a city, bullets, a swarm, a warehouse of agents, a dungeon; each beside a peer, with a picture of itself.

use hullfield::collide::{
    Arena, Hull, NearestBody, NearestOptions, ShapeCast, ShapeCastFirst, ShapeCastOptions,
};
use hullfield::flow::{Cell as At, FieldOptions, Flow};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes::{self, Pile};
use hullfield_oracle::{Placed, Pose};

use crate::error::{Trouble, message};
use crate::flow;
use crate::flow_scenes::Scene as GridScene;
use crate::growth::bodies::{Case, Hits};
use crate::growth::context::Context;
use crate::growth::scene_picture::{bodies_picture, grid_picture};
use crate::growth::sweep::{Author, Compare, Contender, Plan, Series, Swept, same_length, same_rows};
use crate::machine::SEED;
use crate::peer::{PARRY, Peer, ScenePeer};
use crate::plain;
use crate::report::{Cell, Figure, Table};
use crate::scene::Scene;
use crate::shapes;

/// What a scene took.
struct Row {
    name: &'static str,
    what: &'static str,
    items: u64,
    swept: Swept,
    picture: String,
}

/// A scene by its name.
type Make = fn(&Context<'_>) -> Result<Row, Trouble>;

const SCENES: [(&str, Make); 8] = [
    ("pyramid", |context| pile(context, "pyramid", Pile::Pyramid)),
    ("wall", |context| pile(context, "wall", Pile::Wall)),
    ("heap", |context| pile(context, "heap", Pile::Heap)),
    ("city", city),
    ("bullets", bullets),
    ("swarm", swarm),
    ("warehouse", warehouse),
    ("dungeon", dungeon),
];

/// Runs all scenes. One that cannot be made is a failed check, and the others go on.
pub(crate) fn run(context: &mut Context<'_>) -> Result<(), String> {
    let mut table = Table::new(
        "scenes",
        "What real scenes cost",
        &["scene", "what", "items", "who", "ms", "±", "runs", "of the peer's"],
    );
    let (command, mut pictures) = (context.command("scenes"), Vec::new());
    for (name, make) in SCENES {
        eprintln!("all: scene {name}");
        let Row { name, what, items, swept: (all, failures), picture } = match make(context) {
            Ok(row) => row,
            Err(trouble) => {
                context.report().fail(format!("scene {name}: {trouble}"));
                continue;
            }
        };
        for failure in failures {
            context.report().fail(format!("scene {name}, {failure}"));
        }
        let first = |series: &Series| series.points.first().map(|point| point.samples.median());
        let theirs = all.iter().find(|series| series.is_peer).and_then(first);
        for series in &all {
            let Some(point) = series.points.first() else {
                table.note(format!("{name}, {}: {}.", series.name, series.end));
                continue;
            };
            let ratio = theirs.filter(|_| !series.is_peer).map(|theirs| point.samples.median() / theirs);
            table.row([
                name.into(),
                what.into(),
                items.into(),
                series.name.as_str().into(),
                Cell::Significant(point.samples.median()),
                Cell::Share(point.samples.spread(), 0),
                point.repetitions.into(),
                ratio.map_or(Cell::Empty, |ratio| Cell::Number(ratio, 3)),
            ]);
        }
        pictures.push(Figure::new(name, picture, String::new(), what).with_command(command.clone()));
    }
    table.note("of the peer's: the time over that of the first peer of the scene.");
    context.report().section("Scenes");
    pictures.into_iter().for_each(|picture| context.report().figure(picture));
    context.report().table(table.with_command(command));
    Ok(())
}

/// The sweep of one size.
fn once<C, A>(
    context: &Context<'_>,
    size: usize,
    case: impl Fn() -> Result<C, Trouble>,
    contenders: &[Contender<'_, C, A>],
    verify: &dyn Fn(&C, &A) -> Result<(), String>,
    compare: &Compare<'_, C, A>,
) -> Swept {
    let sizes = [size as u64];
    context.sweep_share(&Plan { sizes: &sizes, make: &|_| case(), verify, compare }, contenders, 0.2)
}

fn hits_of(
    context: &Context<'_>,
    name: &'static str,
    what: &'static str,
    scene: Scene,
    moving: usize,
) -> Result<Row, Trouble> {
    let mut contenders = context.contenders(|case: &Case, engine| case.hits(engine));
    contenders.push(Contender::peer(PARRY, |case: &Case| case.peer_hits(None)));
    let case = Case::new(context, scene.clone(), Vec::new(), moving)?;
    let hits = case.hits(0)?;
    let count = scene.bodies.len();
    let mut marks = vec![0; count];
    hits.iter().flatten().for_each(|&body| marks[body as usize] = 1);
    let picture = bodies_picture(name, &scene, &marks);
    drop(case);
    let swept = once(
        context,
        count,
        || Case::new(context, scene.clone(), Vec::new(), moving),
        &contenders,
        &|case: &Case, hits: &Hits| case.verify(hits),
        &|author, case: &Case, one: &Hits, other: &Hits| case.compare(author, one, other),
    );
    Ok(Row { name, what, items: count as u64, swept, picture })
}

/// A pile that has come to rest: every contact is a tie.
fn pile(context: &Context<'_>, name: &'static str, kind: Pile) -> Result<Row, Trouble> {
    let resting = scenes::pile(kind, 1_000, SEED);
    let mut scene = Scene::of_hulls(&resting.hulls)?;
    scene.bodies = resting.bodies;
    let moving = scene.bodies.len();
    hits_of(context, name, "boxes at rest upon one another: which touch", scene, moving)
}

/// A city: houses that stand, and cars among them.
fn city(context: &Context<'_>) -> Result<Row, Trouble> {
    let mut random = Random::new(SEED);
    let (blocks, cars) = if context.is_quick() { (10, 100) } else { (100, 2_000) };
    let cuboid = |half: [f32; 3]| Hull::cuboid(half).map(|hull| hull.vertices().to_vec()).map_err(message);
    let mut sets = vec![cuboid([2.2, 0.9, 0.7])?];
    for height in [3.0, 6.0, 12.0, 24.0] {
        sets.push(cuboid([8.0, 8.0, height])?);
    }
    let mut scene = Scene::of_hulls(&sets)?;
    let side = 22.0 * blocks as f64;
    let turned = |turn: f64, position: [f64; 3]| Pose {
        position: position.map(|x| x as f32),
        rotation: glam::DQuat::from_rotation_z(turn).as_quat().to_array(),
        ..Pose::default()
    };
    for _ in 0..cars {
        let [x, y] = [0; 2].map(|_| random.between(0.0, side));
        scene.bodies.push(Placed { hull: 0, pose: turned(random.between(0.0, 6.3), [x, y, 0.7]) });
    }
    for block in 0..blocks * blocks {
        let hull = 1 + random.below(4);
        let height = [3.0, 6.0, 12.0, 24.0][hull - 1];
        let (x, y) = (22.0 * (block % blocks) as f64 + 11.0, 22.0 * (block / blocks) as f64 + 11.0);
        let pose = turned(random.between(-0.05, 0.05), [x, y, height]);
        scene.bodies.push(Placed { hull: hull as u32, pose });
    }
    hits_of(context, "city", "cars among houses that stand, as statics: which collide", scene, cars)
}

/// Bullets: small polytopes that fly into a heap of crates.
fn bullets(context: &Context<'_>) -> Result<Row, Trouble> {
    let (crates, count) = if context.is_quick() { (200, 200) } else { (1_000, 10_000) };
    let heap = scenes::pile(Pile::Heap, crates, SEED);
    let mut sets = heap.hulls;
    sets.extend(scenes::convex_sets(1, 0.05, SEED));
    let mut scene = Scene::of_hulls(&sets)?;
    scene.bodies = heap.bodies;
    let mut random = Random::new(SEED);
    let bullets: Vec<Placed> = (0..count)
        .map(|_| {
            let at = random.direction() * 30.0;
            Placed {
                hull: scene.hulls.len() as u32 - 1,
                pose: Pose::at([at.x as f32, at.y as f32, at.z.abs() as f32]),
            }
        })
        .collect();
    let casts: Vec<ShapeCast> = crate::rows::bodies(&bullets)
        .into_iter()
        .map(|body| {
            let [x, y, z] = body.position;
            let aim = [0; 3].map(|_| random.between(-4.0, 4.0) as f32);
            ShapeCast::new(body, [aim[0] - x, aim[1] - y, aim[2].abs() - z])
        })
        .collect();
    struct Range {
        arena: Arena,
        peer: ScenePeer,
    }
    type First = (Vec<ShapeCastFirst>, Vec<Option<(u32, f32)>>);
    let bodies = scene.library_bodies();
    let mut contenders = context.cpu_contenders(|range: &Range| -> Result<First, String> {
        let options = ShapeCastOptions { witness: false, ..ShapeCastOptions::default() };
        let found =
            range.arena.shape_casts(&bodies, &casts, &options).map_err(message)?.wait().map_err(message)?;
        Ok((found.rows, Vec::new()))
    });
    contenders.push(Contender::peer(PARRY, |range: &Range| {
        let mut hits = Vec::new();
        range.peer.first_casts(&bullets, &casts, &mut hits);
        Ok((Vec::new(), hits))
    }));
    let judge = |ours: &[ShapeCastFirst], theirs: &[Option<(u32, f32)>]| {
        shapes::judge_casts(&scene, &bullets, &casts, ours, theirs)
    };
    let make = || {
        let arena =
            Arena::new(&hullfield::Engine::cpu(), &scene.hulls, Default::default()).map_err(message)?;
        Ok::<_, Trouble>(Range { arena, peer: ScenePeer::new(&Peer::new(&scene.sets, &scene.bodies))? })
    };
    let none = vec![None; count];
    let verify = |_: &Range, (rows, _): &First| {
        same_length(count, rows.len())?;
        judge(rows, &none).map(drop)
    };
    let compare = |author: Author<'_>, _: &Range, (rows, _): &First, (others, hits): &First| {
        if author == Author::Hullfield {
            return same_rows(rows, others);
        }
        same_length(rows.len(), hits.len())?;
        judge(rows, hits)?;
        // Of crates that lie flush, either may be the first: the distance counts.
        let is_same = |(row, other): (&ShapeCastFirst, &Option<(u32, f32)>)| match (row.hit, other) {
            (Some(hit), Some((_, distance))) => {
                (hit.distance - f64::from(*distance)).abs() <= 1e-3 * (1.0 + hit.distance)
            }
            (hit, other) => hit.is_none() && other.is_none(),
        };
        let differing = rows.iter().zip(hits).filter(|pair| !is_same(*pair)).count();
        match differing > 2 + rows.len() / 10 {
            true => Err(format!("{differing} of {} bullets differ", rows.len())),
            false => Ok(()),
        }
    };
    let swept = once(context, count, make, &contenders, &verify, &compare);
    let mut drawn = scene.clone();
    let marks = vec![0; drawn.bodies.len()]
        .into_iter()
        .chain(vec![1; bullets.len().min(400)])
        .collect::<Vec<usize>>();
    // Nearer and larger than they are, so that they are seen.
    drawn.bodies.extend(bullets.iter().take(400).map(|bullet| {
        let mut seen = *bullet;
        seen.pose.position = seen.pose.position.map(|x| 0.4 * x);
        seen.pose.scale = [6.0; 3];
        seen
    }));
    let picture = bodies_picture("bullets", &drawn, &marks);
    Ok(Row {
        name: "bullets",
        what: "bullets into a heap of crates: the first crate each hits",
        items: count as u64,
        swept,
        picture,
    })
}

/// A swarm: bodies crowd around a centre, and each wants its nearest neighbour.
fn swarm(context: &Context<'_>) -> Result<Row, Trouble> {
    let count = if context.is_quick() { 300 } else { 10_000 };
    let mut random = Random::new(SEED);
    let mut scene = Scene::of_hulls(&scenes::convex_sets(8, 0.5, SEED))?;
    let reach = 2.0 * (count as f64).cbrt();
    for at in 0..count {
        let place = random.direction() * reach * random.unit().powf(0.6);
        let pose = Pose { rotation: random.rotation(), ..Pose::at(place.as_vec3().to_array()) };
        scene.bodies.push(Placed { hull: (at % scene.sets.len()) as u32, pose });
    }
    struct Swarm {
        arena: Arena,
        peer: ScenePeer,
    }
    type Near = (Vec<NearestBody>, Vec<Option<(u32, f32)>>);
    let bodies = scene.library_bodies();
    let mut contenders = context.cpu_contenders(|swarm: &Swarm| -> Result<Near, String> {
        let pending = swarm.arena.nearest_bodies(&bodies, &NearestOptions::default()).map_err(message)?;
        Ok((pending.wait().map_err(message)?.rows, Vec::new()))
    });
    contenders.push(Contender::peer(PARRY, |swarm: &Swarm| {
        let mut near = Vec::new();
        swarm.peer.nearest(&mut near);
        Ok((Vec::new(), near))
    }));
    let make = || {
        let arena =
            Arena::new(&hullfield::Engine::cpu(), &scene.hulls, Default::default()).map_err(message)?;
        Ok::<_, Trouble>(Swarm { arena, peer: ScenePeer::new(&Peer::new(&scene.sets, &scene.bodies))? })
    };
    let none = vec![None; count];
    let verify = |_: &Swarm, (rows, _): &Near| {
        same_length(count, rows.len())?;
        shapes::judge_nearest(&scene, rows, &none).map(drop)
    };
    let compare = |author: Author<'_>, _: &Swarm, (rows, _): &Near, (others, near): &Near| {
        if author == Author::Hullfield {
            return same_rows(rows, others);
        }
        same_length(rows.len(), near.len())?;
        match shapes::judge_nearest(&scene, rows, near)? {
            differing if differing > 2 + rows.len() / 100 => {
                Err(format!("{differing} of {} bodies differ", rows.len()))
            }
            _ => Ok(()),
        }
    };
    let swept = once(context, count, make, &contenders, &verify, &compare);
    let picture = bodies_picture("swarm", &scene, &vec![0; count]);
    Ok(Row {
        name: "swarm",
        what: "a swarm: the nearest other body of each",
        items: count as u64,
        swept,
        picture,
    })
}

/// A field over a grid, and a step of agents along it.
fn agents(
    context: &Context<'_>,
    name: &'static str,
    what: &'static str,
    scene: GridScene,
    agent_count: usize,
) -> Result<Row, Trouble> {
    let [width, height, _] = scene.size;
    let random = &mut Random::new(SEED);
    let free: Vec<usize> = (0..width * height).filter(|&at| !scene.blocked[at]).collect();
    let places: Vec<usize> = (0..agent_count).map(|_| free[random.below(free.len())]).collect();
    struct Hall(Vec<Flow>);
    let grid = scene.grid()?;
    let cells: Vec<At> = places.iter().map(|&at| grid.cell(at)).collect();
    let goals = [grid.cell(scene.goal)];
    let next = |hall: &Hall, engine: usize| -> Result<Vec<At>, Trouble> {
        let field = hall.0[engine].solve(&goals, &FieldOptions::default())?.wait()?;
        Ok(field.next_cells(&cells)?.wait()?.rows)
    };
    // The next cell is the first neighbour, by its code, that is one step nearer.
    let offsets = scene.connectivity.offsets();
    let along = |distances: &[u32]| -> Vec<At> {
        let near = |cell: &At, &[x, y, _]: &[i32; 3]| At { x: cell.x + x, y: cell.y + y, z: 0 };
        let step = |cell: &At| {
            let here = grid.index(*cell).map_or(u32::MAX, |at| distances[at]);
            let nearer = |to: &At| {
                let at = grid.index(*to).filter(|&at| !scene.blocked[at]);
                here != u32::MAX
                    && at.is_some_and(|at| distances[at] != u32::MAX && distances[at] + 1 == here)
            };
            offsets.iter().map(|offset| near(cell, offset)).find(nearer).unwrap_or(*cell)
        };
        cells.iter().map(step).collect()
    };
    let mut contenders = context.contenders(next);
    contenders.push(Contender::peer("pathfinding 4.16", |_: &Hall| {
        Ok(along(&flow::pathfinding_distances(&scene, &grid)))
    }));
    contenders.push(Contender::peer("a plain queue", |_: &Hall| {
        Ok(along(&plain::field(width, height, &scene.blocked, &[scene.goal]).distances))
    }));
    let make = || {
        let flows = context.engines().map(|engine| Flow::new(engine, grid.clone()));
        Ok::<_, Trouble>(Hall(flows.collect::<Result<_, _>>()?))
    };
    let known = plain::field(width, height, &scene.blocked, &[scene.goal]).distances;
    let expected = along(&known);
    let swept = once(
        context,
        agent_count,
        make,
        &contenders,
        &|_, found: &Vec<At>| same_rows(&expected, found),
        &|_, _, one: &Vec<At>, other: &Vec<At>| same_rows(one, other),
    );
    let picture = grid_picture(name, width, &scene.blocked, &known, &places);
    Ok(Row { name, what, items: agent_count as u64, swept, picture })
}

/// A warehouse: shelves with aisles, and agents that go to a dock.
fn warehouse(context: &Context<'_>) -> Result<Row, Trouble> {
    let (side, count) = if context.is_quick() { (128, 500) } else { (512, 20_000) };
    let is_shelf =
        |x: usize, y: usize| x % 6 >= 2 && y % 34 >= 4 && x > 3 && y > 3 && x < side - 4 && y < side - 4;
    let blocked = (0..side * side).map(|at| is_shelf(at % side, at / side)).collect();
    let mut scene = GridScene::flat("warehouse", side, side, blocked);
    scene.goal = side / 2;
    agents(context, "warehouse", "agents among shelves: the field to a dock, and a step of all", scene, count)
}

/// A dungeon: rooms that corridors join.
fn dungeon(context: &Context<'_>) -> Result<Row, Trouble> {
    let (side, rooms, count) = if context.is_quick() { (96, 12, 50) } else { (512, 120, 2_000) };
    let mut random = Random::new(SEED);
    let mut blocked = vec![true; side * side];
    let mut before: Option<[usize; 2]> = None;
    let mut dig =
        |x: usize, y: usize| blocked[y.min(side - 2).max(1) * side + x.min(side - 2).max(1)] = false;
    for _ in 0..rooms {
        let [x, y] = [0; 2].map(|_| 2 + random.below(side - 24));
        let [width, height] = [0; 2].map(|_| 5 + random.below(16));
        for at in 0..width * height {
            dig(x + at % width, y + at / width);
        }
        let middle = [x + width / 2, y + height / 2];
        if let Some([from_x, from_y]) = before {
            for at in from_x.min(middle[0])..=from_x.max(middle[0]) {
                dig(at, from_y);
            }
            for at in from_y.min(middle[1])..=from_y.max(middle[1]) {
                dig(middle[0], at);
            }
        }
        before = Some(middle);
    }
    let mut scene = GridScene::flat("dungeon", side, side, blocked);
    if let Some([x, y]) = before {
        scene.goal = y * side + x;
    }
    agents(
        context,
        "dungeon",
        "monsters in rooms and corridors: the field to the hero, and a step of all",
        scene,
        count,
    )
}
