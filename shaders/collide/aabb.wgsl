// Whether two closed boxes share a point: the one test of the broad phase, as `Aabb::overlaps` in
// src/collide/bounds.rs.
fn overlaps(a_min: vec3f, a_max: vec3f, b_min: vec3f, b_max: vec3f) -> bool {
    return all(a_min <= b_max) && all(b_min <= a_max);
}
