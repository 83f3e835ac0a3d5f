// The part of a pair's way on which its bounding spheres meet; both stages of a sweep ask for it.
// No twin: the CPU's form is `meeting` in src/collide/sweep/exact.rs, in f64.

// Verdicts of sweeps, besides those of narrow_phase/params.wgsl: of those SEPARATED is a miss, TOUCHING and PENETRATING say that the
// bodies touch at the start.
// They meet after the start.
const VERDICT_HIT: u32 = 5u;
// The bounding spheres meet: the way is to be looked at (only between cut.wgsl and pair.wgsl).
const VERDICT_CAST: u32 = 6u;

// How far turning takes points, in the pair's unit, in the bits above a verdict: rounded up to 16 bits of precision.
fn spin_bits(spin: f32) -> u32 {
    return (bitcast<u32>(spin) + 0xffu) & 0xffffff00u;
}

// The spheres are taken larger by this: what f32 loses on the few radii of way that are left is a tenth of it.
const WAY_REACH: f32 = 1.00001;
// Rounding of a distance aside of the way, relative to the offset.
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

// Length of a vector whose components' squares may pass the largest number.
fn extent(v: vec3f) -> f32 {
    let most = largest(v);
    return select(0.0, most * length(v / most), most > 0.0);
}

// On which multiples of `direction`, from `lowest` to `highest`, a point that starts at `offset` is within `reach` of
// the origin; rounded outwards.
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
