// Shortens the motions of pairs, one thread per pair: reports certain misses, and computes for the other pairs the
// relative pose at which the centres are nearest. The motion that remains around that pose is as long as the bodies
// are large, so that neither speed nor distance costs pair.wgsl precision.
//
// A number that is f64 on the CPU is the sum of two f32 here (shared/twice.wgsl).
//
// Writes to measures, for pair.wgsl: the vector from b's centre to a's at a time (world units and axes); that time;
// the velocity of a minus that of b, scaled by a power of two so that its largest component is between 1 and 2; and
// that power. For a half-space and a body, only the velocity and the rotation's reach.
//
// Bindings: params, bodies, hulls, pairs or spheres, refine, motions, verdicts, measures.
//
// No twin: on the CPU `sweep` in src/collide/sweep/pair.rs shortens the motion before it casts.

// Error of the bodies' remainders, relative to their magnitude.
const REMAINDER_ERROR: f32 = 6e-8;
// Share of `excess` that f64 took off a centre before it was split: 2.3e-16 of 8e-15. `excess` is 0 where that is nothing.
const CENTRE_SHARE: f32 = 0.05;
// Largest sum of these errors that is accepted, relative to the bounding radii.
const CUT_ERROR: f32 = 2e-7;

fn cut(index: u32, pair: vec2u) -> u32 {
    let a = bodies[pair.x];
    let b = bodies[pair.y];
    let hull_a = hulls[a.hull];
    let hull_b = hulls[b.hull];
    let motion_a = motion_of(pair.x);
    let motion_b = motion_of(pair.y);
    let turning = turns(hull_a, motion_a) || turns(hull_b, motion_b);
    // Arms from the hulls' origins, which move straight, to the centres, and the reach of the rotation.
    var arm_a = vec3f(0.0);
    var arm_b = vec3f(0.0);
    var spin = 0.0;
    if turning {
        arm_a = rotation(a.rotation) * (a.scale * hull_a.mean);
        arm_b = rotation(b.rotation) * (b.scale * hull_b.mean);
        if turns(hull_a, motion_a) {
            spin += spin_of(a, motion_a, arm_a, params.duration);
        }
        if turns(hull_b, motion_b) {
            spin += spin_of(b, motion_b, arm_b, params.duration);
        }
    }
    let velocity = two_sum(motion_a.velocity, -motion_b.velocity);
    let fastest = largest(velocity.sum);
    if hull_a.half_space + hull_b.half_space != 0u {
        // A rotating half-space may be anywhere.
        let is_turned = (hull_a.half_space != 0u && turns(hull_a, motion_a))
            || (hull_b.half_space != 0u && turns(hull_b, motion_b));
        if is_turned || fastest > 1e18 {
            return VERDICT_UNSETTLED;
        }
        measures[2u * index] = vec4f(velocity.sum, spin);
        return VERDICT_CAST;
    }
    let larger = max(a.radius, b.radius);
    let unit = select(1.0, larger, larger > 0.0);
    let apart = two_sum(a.position, -b.position);
    let distance = largest(apart.sum);
    if unit < 1e-15 || unit > 1e15 || distance > 1e18 {
        return VERDICT_UNSETTLED;
    }
    let inverse = 1.0 / unit;
    let remainder = a.remainder - b.remainder;
    let begin = Twice(apart.sum, apart.rest + remainder);
    // The power of two: the velocity's exponent.
    var power = 1.0;
    var direction = vec3f(0.0);
    var rate = inverse;
    var time = 0.0;
    if fastest > 0.0 {
        let exponent = bitcast<u32>(fastest) >> 23u;
        if exponent < 27u || exponent > 227u {
            return VERDICT_UNSETTLED;
        }
        power = bitcast<f32>(exponent << 23u);
        direction = velocity.sum * bitcast<f32>((254u - exponent) << 23u);
        rate = power * inverse;
        if rate < 1e-30 || rate > 1e30 {
            return VERDICT_UNSETTLED;
        }
        // Time of the nearest centres. Any time is valid; a good one leaves little motion.
        let along = -dot((begin.sum + begin.rest) * inverse, direction) / dot(direction, direction);
        if along >= params.duration * rate {
            time = params.duration;
        } else if along > 0.0 {
            time = min(along / rate, params.duration);
        }
    }
    let offset = offset_at(begin, velocity, time);
    let slack = (TWICE_ERROR * (distance + fastest * time)
        + REMAINDER_ERROR * (largest(a.remainder) + largest(b.remainder))
        + CENTRE_SHARE * (a.excess + b.excess)) * inverse;
    let sum = (a.radius + b.radius) * inverse;
    let turned = spin * inverse;
    let reach = sum * WAY_REACH + slack + turned;
    let lowest = -time * rate;
    let highest = (params.duration - time) * rate;
    if !way_of(offset * inverse, direction, reach, lowest, highest).meets {
        return VERDICT_SEPARATED;
    }
    if turning {
        // Balls about the origins contain the bodies however they rotate.
        let arms = extent(arm_a) + extent(arm_b);
        let wide = (sum + arms * inverse) * WAY_REACH + slack;
        let origins = (offset + (arm_b - arm_a)) * inverse;
        if !way_of(origins, direction, wide, lowest, highest).meets {
            return VERDICT_SEPARATED;
        }
    }
    if slack > CUT_ERROR * sum {
        return VERDICT_UNSETTLED;
    }
    measures[2u * index] = vec4f(offset, time);
    measures[2u * index + 1u] = vec4f(direction, power);
    return VERDICT_CAST | spin_bits(turned);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = params.first + flat_index(group, groups, local);
    if index >= pair_count() {
        return;
    }
    let pair = pair_of(index);
    if surely_apart(pair) {
        verdicts[index] = VERDICT_SEPARATED;
        return;
    }
    verdicts[index] = cut(index, pair);
}
