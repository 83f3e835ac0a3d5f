// Fits the grid that orders the bodies to a sample of the boxes. Needs `box_at` and at least SAMPLE invocations.
//
// The grid covers twice the extent of the middle nine tenths of the sample, so that one distant body does not put all
// others into one cell. Bodies outside are clamped to the grid's border. Each halving of the cells cuts the longest
// axis, so that bodies on a plane are not cut along its normal; `axes` stores the order. The grid affects speed, not
// results.
//
// No twin: the CPU's form is `Grid::new` in src/collide/bvh/morton.rs. The grids may differ; the pairs found do not.

const SAMPLE: u32 = 128u;
const FIRST: u32 = SAMPLE / 20u;

var<workgroup> sample: array<vec3f, SAMPLE>;
var<workgroup> lows: array<f32, 3>;
var<workgroup> highs: array<f32, 3>;

// How many of the sample come before `x`, those with a lower index first where they are equal.
fn ranks(own: vec3f, local: u32) -> vec3u {
    var rank = vec3u(0u);
    for (var i = 0u; i < SAMPLE; i += 1u) {
        let other = sample[i];
        rank += select(vec3u(0u), vec3u(1u), (other < own) | ((other == own) & vec3<bool>(i < local)));
    }
    return rank;
}

// The grid. Every invocation of the workgroup calls it and has the same answer.
fn fitted_grid(local: u32) -> Grid {
    // Spread evenly, without a product that overflows.
    let step = params.count / SAMPLE;
    let rest = params.count % SAMPLE;
    var own = vec3f(0.0);
    if local < SAMPLE {
        own = middle(box_at(min(local * step + min(local, rest), params.count - 1u)));
        sample[local] = own;
    }
    workgroupBarrier();
    if local < SAMPLE {
        let rank = ranks(own, local);
        for (var i = 0u; i < 3u; i += 1u) {
            if rank[i] == FIRST {
                lows[i] = own[i];
            }
            if rank[i] == SAMPLE - 1u - FIRST {
                highs[i] = own[i];
            }
        }
    }
    workgroupBarrier();
    let low = vec3f(lows[0], lows[1], lows[2]);
    var span = vec3f(highs[0], highs[1], highs[2]) - low;
    var fitted: Grid;
    fitted.begin = low - 0.5 * span;
    span = 2.0 * span;
    var cell = span;
    for (var bit = 0u; bit < KEY_BITS; bit += 1u) {
        var axis = 0u;
        if cell.y > cell.x {
            axis = 1u;
        }
        if cell.z > max(cell.x, cell.y) {
            axis = 2u;
        }
        // Past 24 halvings an f32 has no more digits.
        if fitted.cuts[axis] >= 24u {
            axis = select(
                select(0u, 1u, fitted.cuts.x >= 24u),
                2u,
                fitted.cuts.x >= 24u && fitted.cuts.y >= 24u,
            );
        }
        cell[axis] *= 0.5;
        fitted.cuts[axis] += 1u;
        fitted.axes[bit / 16u] |= axis << (2u * (bit % 16u));
    }
    fitted.scale = select(vec3f(0.0), vec3f(1.0) / cell, cell > vec3f(1e-37));
    return fitted;
}
