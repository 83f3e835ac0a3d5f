// Where a cell of the strip leads.

const NEXT_NONE: u32 = 255u;

fn code_at(at: u32) -> u32 {
    let place = at - params.first_cell;
    return (codes[params.first_word + (place >> 2u)] >> (8u * (place & 3u))) & 255u;
}

fn stride_of(code: u32) -> u32 {
    return params.strides[code >> 2u][code & 3u];
}
