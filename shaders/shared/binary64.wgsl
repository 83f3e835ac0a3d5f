// IEEE 754 binary64 in integers: sums, products, quotients and roots, rounded to nearest, ties to even. No float operation takes part, so
// every device gives the bits that the CPU's f64 gives.
//
// Numbers are finite, and their exponents stay far within those of binary64: there is no infinity, no NaN, no subnormal of 64 bits. f32
// may be subnormal.
// No twin: the CPU has f64.

// (-1)^sign · significand / 2^63 · 2^exponent. The significand is `high` and `low`, its highest bit is set, and its lowest 11 bits are 0.
// Zero has `high` 0.
struct Binary64 {
    // 0 or the highest bit.
    sign: u32,
    exponent: i32,
    high: u32,
    low: u32,
}

const SIGN_BIT: u32 = 0x80000000u;
const EXPONENT_32: u32 = 0x7f800000u;

// The number with these bits of f32.
fn of_f32(bits: u32) -> Binary64 {
    let sign = bits & SIGN_BIT;
    let fraction = bits & 0x7fffffu;
    let exponent = (bits >> 23u) & 0xffu;
    if exponent == 0u {
        if fraction == 0u {
            return Binary64(sign, 0, 0u, 0u);
        }
        let shift = countLeadingZeros(fraction);
        return Binary64(sign, -118 - i32(shift), fraction << shift, 0u);
    }
    return Binary64(sign, i32(exponent) - 127, (fraction | 0x800000u) << 8u, 0u);
}

// The number with these bits of f64, low word first; not 0.
fn of_f64(bits: vec2u) -> Binary64 {
    let exponent = i32((bits.y >> 20u) & 0x7ffu) - 1023;
    let high = SIGN_BIT | ((bits.y & 0xfffffu) << 11u) | (bits.x >> 21u);
    return Binary64(bits.y & SIGN_BIT, exponent, high, bits.x << 11u);
}

// The bits of the nearest f32.
fn to_f32(a: Binary64) -> u32 {
    if a.high == 0u {
        return a.sign;
    }
    // What is lost counts as one more bit below.
    var word = a.high | select(0u, 1u, a.low != 0u);
    if a.exponent < -126 {
        let shift = u32(min(-126 - a.exponent, 31));
        word = (word >> shift) | select(0u, 1u, (word & ((1u << shift) - 1u)) != 0u);
    }
    var fraction = word >> 8u;
    let tail = word & 0xffu;
    fraction += select(0u, 1u, tail > 0x80u || (tail == 0x80u && (fraction & 1u) == 1u));
    if a.exponent < -126 {
        return a.sign | fraction;
    }
    // A fraction that has grown to 2^24 carries into the exponent.
    let bits = (u32(a.exponent + 126) << 23u) + fraction;
    return a.sign | select(bits, EXPONENT_32, a.exponent > 127 || bits > EXPONENT_32);
}

// Rounds a significand whose lowest bit also stands for all bits below it.
fn rounded(sign: u32, exponent: i32, high: u32, low: u32) -> Binary64 {
    let tail = low & 0x7ffu;
    var result = Binary64(sign, exponent, high, low & 0xfffff800u);
    if tail > 0x400u || (tail == 0x400u && (low & 0x800u) != 0u) {
        result.low += 0x800u;
        if result.low == 0u {
            result.high += 1u;
            if result.high == 0u {
                result.high = SIGN_BIT;
                result.exponent += 1;
            }
        }
    }
    return result;
}

// The product of two words, low word first.
fn product(a: u32, b: u32) -> vec2u {
    let a_low = a & 0xffffu;
    let a_high = a >> 16u;
    let b_low = b & 0xffffu;
    let b_high = b >> 16u;
    let low = a_low * b_low;
    let first = a_low * b_high;
    let second = a_high * b_low;
    let middle = (low >> 16u) + (first & 0xffffu) + (second & 0xffffu);
    let high = a_high * b_high + (first >> 16u) + (second >> 16u) + (middle >> 16u);
    return vec2u((low & 0xffffu) | (middle << 16u), high);
}

fn negative(a: Binary64) -> Binary64 {
    return Binary64(a.sign ^ SIGN_BIT, a.exponent, a.high, a.low);
}

fn magnitude(a: Binary64) -> Binary64 {
    return Binary64(0u, a.exponent, a.high, a.low);
}

fn mul(a: Binary64, b: Binary64) -> Binary64 {
    let sign = a.sign ^ b.sign;
    if a.high == 0u || b.high == 0u {
        return Binary64(sign, 0, 0u, 0u);
    }
    let top = product(a.high, b.high);
    let first = product(a.high, b.low);
    let second = product(a.low, b.high);
    let bottom = product(a.low, b.low);
    // Words of the product from the second on; the lowest is that of `bottom`.
    var sum = bottom.y;
    var carry = 0u;
    sum += first.x;
    carry += select(0u, 1u, sum < first.x);
    sum += second.x;
    carry += select(0u, 1u, sum < second.x);
    let lost = select(0u, 1u, (sum | bottom.x) != 0u);
    var low = top.x;
    var high = top.y;
    low += first.y;
    high += select(0u, 1u, low < first.y);
    low += second.y;
    high += select(0u, 1u, low < second.y);
    low += carry;
    high += select(0u, 1u, low < carry);
    var exponent = a.exponent + b.exponent + 1;
    if (high & SIGN_BIT) == 0u {
        high = (high << 1u) | (low >> 31u);
        low = (low << 1u) | (sum >> 31u);
        exponent -= 1;
    }
    return rounded(sign, exponent, high, low | lost);
}

// Whether the magnitude of `a` is below that of `b`.
fn is_smaller(a: Binary64, b: Binary64) -> bool {
    if a.high == 0u || b.high == 0u {
        return a.high == 0u && b.high != 0u;
    }
    if a.exponent != b.exponent {
        return a.exponent < b.exponent;
    }
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

fn add(p: Binary64, q: Binary64) -> Binary64 {
    if q.high == 0u {
        if p.high == 0u {
            return Binary64(p.sign & q.sign, 0, 0u, 0u);
        }
        return p;
    }
    if p.high == 0u {
        return q;
    }
    var a = p;
    var b = q;
    if is_smaller(p, q) {
        a = q;
        b = p;
    }
    // The smaller one to the exponent of the larger. Its lowest bit stands for all that is lost.
    let shift = u32(a.exponent - b.exponent);
    if shift >= 64u {
        b.high = 0u;
        b.low = 1u;
    } else if shift >= 32u {
        let rest = shift - 32u;
        let lost = b.low | (b.high & ((1u << rest) - 1u));
        b.low = (b.high >> rest) | select(0u, 1u, lost != 0u);
        b.high = 0u;
    } else if shift > 0u {
        let lost = b.low & ((1u << shift) - 1u);
        b.low = (b.low >> shift) | (b.high << (32u - shift)) | select(0u, 1u, lost != 0u);
        b.high >>= shift;
    }
    if a.sign == b.sign {
        var low = a.low + b.low;
        let carry = select(0u, 1u, low < a.low);
        var high = a.high + b.high;
        let first = high < a.high;
        high += carry;
        var exponent = a.exponent;
        if first || high < carry {
            low = (low >> 1u) | (high << 31u) | (low & 1u);
            high = (high >> 1u) | SIGN_BIT;
            exponent += 1;
        }
        return rounded(a.sign, exponent, high, low);
    }
    let low = a.low - b.low;
    let high = a.high - b.high - select(0u, 1u, a.low < b.low);
    if (high | low) == 0u {
        return Binary64(0u, 0, 0u, 0u);
    }
    return normal(a.sign, a.exponent, high, low);
}

fn sub(a: Binary64, b: Binary64) -> Binary64 {
    return add(a, negative(b));
}

// A number whose significand has zeros above: it is shifted up and rounded. Not 0.
fn normal(sign: u32, exponent: i32, high: u32, low: u32) -> Binary64 {
    if high == 0u {
        let shift = countLeadingZeros(low);
        return rounded(sign, exponent - 32 - i32(shift), low << shift, 0u);
    }
    let shift = countLeadingZeros(high);
    if shift == 0u {
        return rounded(sign, exponent, high, low);
    }
    let up = (high << shift) | (low >> (32u - shift));
    return rounded(sign, exponent - i32(shift), up, low << shift);
}

// The quotient of two numbers that are not 0.
fn div(a: Binary64, b: Binary64) -> Binary64 {
    // Both significands as numbers of 53 bits.
    var rest = vec2u((a.low >> 11u) | (a.high << 21u), a.high >> 11u);
    let by = vec2u((b.low >> 11u) | (b.high << 21u), b.high >> 11u);
    var quotient = vec2u(0u);
    for (var bit = 0u; bit < 56u; bit += 1u) {
        quotient = vec2u(quotient.x << 1u, (quotient.y << 1u) | (quotient.x >> 31u));
        if rest.y > by.y || (rest.y == by.y && rest.x >= by.x) {
            rest = vec2u(rest.x - by.x, rest.y - by.y - select(0u, 1u, rest.x < by.x));
            quotient.x |= 1u;
        }
        rest = vec2u(rest.x << 1u, (rest.y << 1u) | (rest.x >> 31u));
    }
    // What is left counts as one more bit below: the quotient has at least 55 bits, so that is below the one that decides.
    let lost = select(0u, 1u, (rest.x | rest.y) != 0u);
    let exponent = a.exponent - b.exponent + 8;
    return normal(a.sign ^ b.sign, exponent, quotient.y, quotient.x | lost);
}

// The root of a number above 0.
fn root(a: Binary64) -> Binary64 {
    // An even exponent, and a significand of 54 bits at the top of 64.
    let is_odd = (a.exponent & 1) != 0;
    let even = a.exponent - select(0, 1, is_odd);
    let shift = select(1u, 0u, is_odd);
    var digits = vec2u((a.low >> shift) | select(0u, a.high << 31u, shift == 1u), a.high >> shift);
    var rest = vec2u(0u);
    var result = vec2u(0u);
    for (var bit = 0u; bit < 55u; bit += 1u) {
        rest = vec2u((rest.x << 2u) | (digits.y >> 30u), (rest.y << 2u) | (rest.x >> 30u));
        digits = vec2u(digits.x << 2u, (digits.y << 2u) | (digits.x >> 30u));
        let trial = vec2u((result.x << 2u) | 1u, (result.y << 2u) | (result.x >> 30u));
        result = vec2u(result.x << 1u, (result.y << 1u) | (result.x >> 31u));
        if rest.y > trial.y || (rest.y == trial.y && rest.x >= trial.x) {
            rest = vec2u(rest.x - trial.x, rest.y - trial.y - select(0u, 1u, rest.x < trial.x));
            result.x |= 1u;
        }
    }
    let lost = select(0u, 1u, (rest.x | rest.y) != 0u);
    return normal(0u, even / 2 + 9, result.y, result.x | lost);
}
