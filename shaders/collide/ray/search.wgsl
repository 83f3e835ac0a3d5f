// The first body that each ray hits, or whether it hits any. One thread per ray walks the trees, nearer boxes first.
//
// A ray is decided where one body is hit for certain and no other may be hit as early; src/collide/ray/search.rs then measures that body in
// f64. It searches for the others itself. Half-spaces are in no box: the CPU tests them.
//
// The walk has no stack. For each level a mask says which of the four siblings there are still to be visited, and the boxes of siblings are
// tested again on the way back, as the limit has shrunk meanwhile.
//
// Bindings: params, bodies, ray_hulls, planes, leaves, nodes, rays, found.

const NONE: u32 = 0xffffffffu;
const OPEN: u32 = 0xfffffffeu;
const HIT: u32 = 0xfffffffdu;
// Share by which a distance to a box is off.
const BOX_SLACK: f32 = 1e-6;
// A direction's component that is less, but not 0, says nothing.
const LEAST_COMPONENT: f32 = 1e-18;
const EVERYWHERE: f32 = 1e20;
// Most turns of all loops of a thread: Mesa's llvmpipe silently ends loops after 65,535. A ray that needs more is open.
const VISIT_LIMIT: u32 = 8192u;
const TURN_LIMIT: u32 = 40000u;
// Boxes of the topmost level.
const TOP_WIDTH: u32 = 16u;

// A ray as boxes are tested against it.
struct Slabs {
    origin: vec3f,
    // Taken off where a box begins and where it ends.
    enter_less: vec3f,
    exit_less: vec3f,
    inverse: vec3f,
    is_flat: vec3<bool>,
}

fn slabs_of(ray: Ray) -> Slabs {
    let direction = ray.direction;
    let is_flat = abs(direction) < vec3f(LEAST_COMPONENT);
    let is_unknown = is_flat & (direction != vec3f(0.0));
    let inverse = 1.0 / select(direction, vec3f(1.0), is_flat);
    let beyond_two = abs(ray.origin) * 1e-14;
    let pad = select(beyond_two, vec3f(EVERYWHERE), is_unknown) * sign(inverse);
    return Slabs(ray.origin, ray.remainder + pad, ray.remainder - pad, inverse, is_flat);
}

// A lower bound of the distance at which a ray enters a box; BEYOND where that is above the limit, or where it never does.
fn near_of(node: Node, ray: Slabs, limit: f32) -> f32 {
    let below = node.min - ray.origin;
    let above = node.max - ray.origin;
    let is_back = ray.inverse < vec3f(0.0);
    let first = select(below, above, is_back) - ray.enter_less;
    let last = select(above, below, is_back) - ray.exit_less;
    let flat_enter = select(vec3f(-1.0), vec3f(BEYOND), first > vec3f(0.0));
    let flat_exit = select(vec3f(-1.0), vec3f(BEYOND), last >= vec3f(0.0));
    let enter = select(first * ray.inverse, flat_enter, ray.is_flat);
    let exit = select(last * ray.inverse, flat_exit, ray.is_flat);
    let near = max(max(enter.x, enter.y), max(enter.z, 0.0)) * (1.0 - BOX_SLACK);
    let far = min(exit.x, min(exit.y, exit.z)) * (1.0 + BOX_SLACK);
    let is_met = near <= far && near <= limit && node.min.x <= node.max.x;
    return select(BEYOND, near, is_met);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = params.begin + flat_index(group, groups, local);
    if index >= params.end {
        return;
    }
    let ray = rays[index];
    let slabs = slabs_of(ray);
    var best = NONE;
    // Bounds of the best hit's distance. The upper one limits the search.
    var best_lower = BEYOND;
    var limit = ray.max_distance;
    // The least lower bound of all other bodies.
    var other = BEYOND;
    var tree = select(1u, 0u, params.mover_count > 0u);
    var top = select(params.static_top, params.mover_top, tree == 0u);
    // 0: leaves. Above 0: nodes of the level below it.
    var rank = top + 1u;
    // The siblings that are looked at: four, or all of the topmost level.
    var first = 0u;
    var pending = 0xffffu;
    // Those left on each rank, four bits each; of the topmost level apart.
    var trail = vec2u(0u);
    var top_trail = 0u;
    var turns = 0u;
    var is_done = false;
    for (var visit = 0u; visit < VISIT_LIMIT && !is_done; visit += 1u) {
        let leaf_begin = select(params.mover_count, 0u, tree == 0u);
        var begin = leaf_begin;
        var count = select(params.static_count, params.mover_count, tree == 0u);
        if rank > 0u {
            begin = level_begin(tree, rank - 1u);
            count = level_begin(tree, rank) - begin;
        }
        let width = select(WIDTH, TOP_WIDTH, rank > top);
        var nearest = BEYOND;
        var chosen = 0u;
        var met = 0u;
        var id = 0u;
        for (var k = 0u; k < width; k += 1u) {
            if ((pending >> k) & 1u) != 0u && first + k < count {
                var node: Node;
                if rank == 0u {
                    node = leaves[begin + first + k];
                } else {
                    node = nodes[begin + first + k];
                }
                let near = near_of(node, slabs, limit);
                if near < BEYOND && (node.groups & ray.mask) != 0u {
                    met |= 1u << k;
                    if near < nearest {
                        nearest = near;
                        chosen = k;
                        id = node.last;
                    }
                }
            }
        }
        turns += width + 2u;
        let left = met & ~(1u << chosen);
        if met != 0u && rank > 0u {
            // Down.
            if rank > top {
                top_trail = left;
            } else if rank <= 8u {
                let shift = 4u * (rank - 1u);
                trail.x = (trail.x & ~(0xfu << shift)) | (left << shift);
            } else {
                let shift = 4u * (rank - 9u);
                trail.y = (trail.y & ~(0xfu << shift)) | (left << shift);
            }
            rank -= 1u;
            first = WIDTH * (first + chosen);
            pending = 0xfu;
        } else if met != 0u {
            // A body.
            pending = left;
            let body_id = id + select(params.mover_count, 0u, tree == 0u);
            let body = bodies[body_id];
            if (body.mask & ray.group) != 0u {
                let hull = ray_hulls[body.hull];
                let bounds = bounds_of(ray, body, hull, nearest);
                turns += 2u * hull.plane_count;
                if bounds.y < BEYOND && bounds.y <= limit {
                    other = min(other, best_lower);
                    best = body_id;
                    best_lower = bounds.x;
                    limit = bounds.y;
                } else {
                    other = min(other, bounds.x);
                }
                is_done = params.is_any != 0u && best != NONE;
            }
        } else {
            // Up, to where something is left.
            pending = 0u;
            for (var up = rank; up <= top && pending == 0u; up += 1u) {
                rank = up + 1u;
                first = first / WIDTH / WIDTH * WIDTH;
                if rank > top {
                    first = 0u;
                    pending = top_trail;
                } else if rank <= 8u {
                    pending = (trail.x >> (4u * (rank - 1u))) & 0xfu;
                } else {
                    pending = (trail.y >> (4u * (rank - 9u))) & 0xfu;
                }
                turns += 1u;
            }
            if pending == 0u {
                // The next tree.
                is_done = tree == 1u || params.static_count == 0u;
                tree = 1u;
                top = params.static_top;
                rank = top + 1u;
                first = 0u;
                pending = 0xffffu;
                top_trail = 0u;
                trail = vec2u(0u);
            }
        }
        if turns > TURN_LIMIT {
            break;
        }
    }
    var answer = best;
    if params.is_any != 0u && best != NONE {
        answer = HIT;
    } else if !is_done || (best == NONE && other < BEYOND) || (best != NONE && other <= limit) {
        answer = OPEN;
    }
    found[index] = answer;
}
