// Multiply-adds on registers: in each of STEPS steps 32 of them on vectors of four, in eight chains that do not depend on each
// other. STEPS is declared before this text. The numbers come from memory, so that no compiler can compute the result.
@group(0) @binding(0) var<storage, read> factors: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> sums: array<vec4<f32>>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let index = (group.y * groups.x + group.x) * 256u + local;
    let m = factors[0];
    let k = factors[1];
    var a = factors[2] + f32(index);
    var b = a + k;
    var c = b + k;
    var d = c + k;
    var e = d + k;
    var f = e + k;
    var g = f + k;
    var h = g + k;
    for (var step = 0u; step < STEPS; step += 1u) {
        a = fma(a, m, k); b = fma(b, m, k); c = fma(c, m, k); d = fma(d, m, k);
        e = fma(e, m, k); f = fma(f, m, k); g = fma(g, m, k); h = fma(h, m, k);
        a = fma(a, m, k); b = fma(b, m, k); c = fma(c, m, k); d = fma(d, m, k);
        e = fma(e, m, k); f = fma(f, m, k); g = fma(g, m, k); h = fma(h, m, k);
        a = fma(a, m, k); b = fma(b, m, k); c = fma(c, m, k); d = fma(d, m, k);
        e = fma(e, m, k); f = fma(f, m, k); g = fma(g, m, k); h = fma(h, m, k);
        a = fma(a, m, k); b = fma(b, m, k); c = fma(c, m, k); d = fma(d, m, k);
        e = fma(e, m, k); f = fma(f, m, k); g = fma(g, m, k); h = fma(h, m, k);
    }
    if (index < arrayLength(&sums)) {
        sums[index] = a + b + c + d + e + f + g + h;
    }
}
