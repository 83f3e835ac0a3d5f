// World bounding spheres of bodies, one thread per body: the exhaustive search rejects most pairs by them.
//
// Centre and radius are rounded. The radius is large enough that spheres which are apart prove that the bodies do not touch:
// the centre's error is one rounding of the position, 6e-8 of it, and a pair touches up to a gap of 3.75e-6 of both radii.
//
// A half-space gets a radius that no sphere has (PLANE_RADIUS in exhaustive_apart.wgsl).
//
// Bindings: params, bodies, hulls, spheres.
//
// No twin: the CPU stores no spheres but computes those of each pair (`Spheres` in src/collide/gjk/pose.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = params.first + flat_index(group, groups, local);
    if index >= params.body_count {
        return;
    }
    let body = bodies[index];
    let slack = 4e-7 * dot(abs(body.position), vec3f(1.0));
    let radius = body.radius * 1.00001 + slack;
    spheres[index] = vec4f(body.position, select(radius, 1e30, hulls[body.hull].half_space != 0u));
}
