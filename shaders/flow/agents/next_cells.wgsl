// The codes of the cells of a strip, and where they lead.

const NEXT_NONE: u32 = 255u;

fn code_at(cell: u32) -> u32 {
    let strip_index = cell - params.first_cell;
    return (codes[params.first_word + (strip_index >> 2u)] >> (8u * (strip_index & 3u))) & 255u;
}

fn stride_of(code: u32) -> u32 {
    return params.strides[code >> 2u][code & 3u];
}
