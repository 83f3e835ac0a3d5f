// The part of a pair's motion during which its bounding spheres meet; both stages of a sweep use it.
// No twin: the CPU's form is `meeting` in src/collide/sweep/exact.rs, in f64.

// Verdicts of sweeps, in addition to those of narrow_phase/params.wgsl. Of those, SEPARATED means a miss; TOUCHING and
// PENETRATING mean that the bodies touch at the start.
// The bodies meet after the start.
const VERDICT_HIT: u32 = 5u;
// The bounding spheres meet: pair.wgsl must cast the pair (only between cut.wgsl and pair.wgsl).
const VERDICT_CAST: u32 = 6u;

// The rotation's reach in the pair's unit, in the bits above a verdict: rounded up to 16 bits of precision.
fn spin_bits(spin: f32) -> u32 {
    return (bitcast<u32>(spin) + 0xffu) & 0xffffff00u;
}

// Enlarges the spheres: f32's error on the remaining few radii of motion is a tenth of it.
const WAY_REACH: f32 = 1.00001;
// Rounding of the distance perpendicular to the motion, relative to the offset.
const WAY_ERROR: f32 = 1e-6;

struct Way {
    meets: bool,
    // In multiples of the direction.
    begin: f32,
    end: f32,
}

fn largest(v: vec3f) -> f32 {
    return max(abs(v.x), max(abs(v.y), abs(v.z)));
}

// Length of a vector whose components' squares may overflow.
fn extent(v: vec3f) -> f32 {
    let most = largest(v);
    return select(0.0, most * length(v / most), most > 0.0);
}

// Range of multiples of `direction`, between `lowest` and `highest`, at which a point that starts at `offset` is
// within `reach` of the origin; rounded outwards.
fn way_of(offset: vec3f, direction: vec3f, reach: f32, lowest: f32, highest: f32) -> Way {
    let slack = WAY_ERROR * extent(offset);
    let squared = dot(direction, direction);
    if !(squared > 0.0) {
        return Way(extent(offset) - slack <= reach, 0.0, 0.0);
    }
    let middle = -dot(offset, direction) / squared;
    let aside = max(extent(cross(offset, direction)) / sqrt(squared) - slack, 0.0);
    if aside > reach {
        return Way(false, 0.0, 0.0);
    }
    let half = sqrt((reach - aside) * (reach + aside) / squared);
    let begin = max(middle - half, lowest);
    let end = min(middle + half, highest);
    return Way(begin <= end + slack, min(begin, end), end);
}
