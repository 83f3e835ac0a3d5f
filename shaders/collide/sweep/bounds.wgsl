// The world box of the whole motion of a body. It may be slightly larger than necessary: extra
// candidates cost time but do not change the result.
// Reads `bodies`, `hulls` and `motions`.
//
// No twin: the CPU's form is `SweepQuery::boxes` in src/collide/sweep/query.rs; there moving half-spaces meet
// everything.

// Roundings of a displacement and of a box end moved by it, relative to both.
const PAD_WAY: f32 = 5e-7;

// The half-space that contains all poses of a translated half-space.
fn swept_plane(box: Aabb, motion: PackedMotion, turning: bool) -> Aabb {
    var whole = box;
    let way = motion.velocity * params.duration;
    let normal = vec3f(box.min.y, box.min.z, box.max.y);
    let pad = PAD_PLANE * (abs(way.x) + abs(way.y) + abs(way.z));
    // A rotating half-space may be anywhere.
    whole.max.z = select(box.max.z + max(dot(normal, way), 0.0) + pad, EVERYTHING, turning);
    return whole;
}

fn swept_box(box: Aabb, body: PackedBody, hull: HullRecord, motion: PackedMotion, turning: bool) -> Aabb {
    var whole = box;
    if turning {
        // The ball about the hull's origin, which moves straight, contains the rotating body. So does the box enlarged
        // by the rotation's reach.
        let arm = rotation(body.rotation) * (body.scale * hull.mean);
        let slack = PAD_WAY * abs(body.position);
        let reach = vec3f((length(arm) + body.radius) * 1.00001) + slack;
        let spin = vec3f(spin_of(body, motion, arm, params.duration)) + slack;
        whole.min = max(min(box.min, body.position - arm - reach), box.min - spin);
        whole.max = min(max(box.max, body.position - arm + reach), box.max + spin);
    }
    let way = motion.velocity * params.duration;
    let pad_min = PAD_WAY * (abs(way) + abs(whole.min));
    let pad_max = PAD_WAY * (abs(way) + abs(whole.max));
    whole.min = max(whole.min + min(way, vec3f(0.0)) - pad_min, vec3f(-EVERYTHING));
    whole.max = min(whole.max + max(way, vec3f(0.0)) + pad_max, vec3f(EVERYTHING));
    return whole;
}

fn box_at(index: u32) -> Aabb {
    let body = bodies[index];
    let hull = hulls[body.hull];
    let motion = motion_of(index);
    let turning = turns(hull, motion);
    let box = body_aabb(body, hull);
    if all(motion.velocity == vec3f(0.0)) && !turning {
        return box;
    }
    if hull.half_space != 0u {
        return swept_plane(box, motion, turning);
    }
    return swept_box(box, body, hull, motion, turning);
}
