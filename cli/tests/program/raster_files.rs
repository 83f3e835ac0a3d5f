//! TIFFs that are built byte by byte: several pictures, any tags.

use super::Folder;

/// The values of a tag.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Shorts(Vec<u16>),
    Longs(Vec<u32>),
    Doubles(Vec<f64>),
    Text(String),
}

impl Value {
    fn kind(&self) -> u16 {
        match self {
            Self::Text(_) => 2,
            Self::Shorts(_) => 3,
            Self::Longs(_) => 4,
            Self::Doubles(_) => 12,
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Text(text) => text.len() + 1,
            Self::Shorts(all) => all.len(),
            Self::Longs(all) => all.len(),
            Self::Doubles(all) => all.len(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => [text.as_bytes(), &[0]].concat(),
            Self::Shorts(all) => all.iter().flat_map(|number| number.to_le_bytes()).collect(),
            Self::Longs(all) => all.iter().flat_map(|number| number.to_le_bytes()).collect(),
            Self::Doubles(all) => all.iter().flat_map(|number| number.to_le_bytes()).collect(),
        }
    }
}

/// A picture of one strip, and its tags.
#[derive(Debug, Clone)]
pub(super) struct Picture {
    cells: Vec<u8>,
    tags: Vec<(u16, Value)>,
}

impl Picture {
    /// Numbers of so many bits, of a format of TIFF: 1 unsigned, 2 signed, 3 floats.
    pub(super) fn new([width, height]: [u32; 2], bits: u16, format: u16, cells: &[u8]) -> Self {
        let shorts = |number: u16| Value::Shorts(vec![number]);
        let tags = vec![
            (256, Value::Longs(vec![width])),
            (257, Value::Longs(vec![height])),
            (258, shorts(bits)),
            (259, shorts(1)),
            (262, shorts(1)),
            (277, shorts(1)),
            (278, Value::Longs(vec![height])),
            (339, shorts(format)),
        ];
        Self { cells: cells.to_vec(), tags }
    }

    pub(super) fn floats(size: [u32; 2], cells: &[f32]) -> Self {
        Self::new(size, 32, 3, &cells.iter().flat_map(|cell| cell.to_le_bytes()).collect::<Vec<_>>())
    }

    pub(super) fn bytes(size: [u32; 2], cells: &[u8]) -> Self {
        Self::new(size, 8, 1, cells)
    }

    /// With another tag, or another value of one.
    pub(super) fn with(mut self, tag: u16, value: Value) -> Self {
        self.tags.retain(|(found, _)| *found != tag);
        self.tags.push((tag, value));
        self
    }

    pub(super) fn with_short(self, tag: u16, value: u16) -> Self {
        self.with(tag, Value::Shorts(vec![value]))
    }

    pub(super) fn with_text(self, tag: u16, text: &str) -> Self {
        self.with(tag, Value::Text(text.to_owned()))
    }

    /// At a place: the upper left corner, and the width and the height of a cell.
    pub(super) fn at(self, corner: [f64; 2], cell: [f64; 2]) -> Self {
        self.with(33550, Value::Doubles(vec![cell[0], cell[1], 0.0]))
            .with(33922, Value::Doubles(vec![0.0, 0.0, 0.0, corner[0], corner[1], 0.0]))
    }

    /// By a transform `x = a column + b row + c`, `y = d column + e row + f`.
    pub(super) fn by([a, b, c, d, e, f]: [f64; 6], picture: Self) -> Self {
        let matrix = vec![a, b, 0.0, c, d, e, 0.0, f, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        picture.with(34264, Value::Doubles(matrix))
    }

    /// In a reference system of EPSG: geographic (2) or projected (1).
    pub(super) fn in_system(self, model: u16, code: u16) -> Self {
        let key = if model == 1 { 3072 } else { 2048 };
        self.with(34735, Value::Shorts(vec![1, 1, 0, 3, 1024, 0, 1, model, 1025, 0, 1, 1, key, 0, 1, code]))
    }
}

/// A TIFF of some pictures, with numbers whose low bytes come first.
pub(super) fn tiff(pictures: &[Picture]) -> Vec<u8> {
    let mut file = b"II\x2a\0\0\0\0\0".to_vec();
    let mut link = 4;
    for picture in pictures {
        let strip = file.len() as u32;
        file.extend(&picture.cells);
        let mut tags = picture.tags.clone();
        tags.push((273, Value::Longs(vec![strip])));
        tags.push((279, Value::Longs(vec![picture.cells.len() as u32])));
        tags.sort_by_key(|(tag, _)| *tag);
        let mut entries = (tags.len() as u16).to_le_bytes().to_vec();
        for (tag, value) in &tags {
            let mut bytes = value.bytes();
            if bytes.len() > 4 {
                let at = file.len() as u32;
                file.extend(bytes);
                bytes = at.to_le_bytes().to_vec();
            }
            bytes.resize(4, 0);
            entries.extend(tag.to_le_bytes());
            entries.extend(value.kind().to_le_bytes());
            entries.extend((value.count() as u32).to_le_bytes());
            entries.extend(bytes);
        }
        let start = file.len() as u32;
        file[link..link + 4].copy_from_slice(&start.to_le_bytes());
        link = file.len() + entries.len();
        file.extend(entries);
        file.extend([0; 4]);
    }
    file
}

/// The distances of a raster to its first cell, or what is asked for, with four neighbours.
#[track_caller]
pub(super) fn distances(folder: &Folder, arguments: &str) -> Vec<f64> {
    let goal = if arguments.contains("--goal") { "" } else { "--goal 0,0" };
    folder.run(&format!("flow {arguments} {goal} --connectivity 4 --backend cpu --out d.npy")).good();
    let (header, cells) = super::flow::read_npy(folder, "d.npy");
    let whole = |cell: u32| if cell == u32::MAX { f64::INFINITY } else { f64::from(cell) };
    let cells = cells.as_chunks().0.iter();
    match header.contains("'<f4'") {
        true => cells.map(|cell| f64::from(f32::from_le_bytes(*cell))).collect(),
        false => cells.map(|cell| whole(u32::from_le_bytes(*cell))).collect(),
    }
}

/// Compares distances but for rounding.
#[track_caller]
pub(super) fn assert_near(found: &[f64], wanted: &[f64]) {
    let is_near =
        |(&found, &wanted): (&f64, &f64)| found == wanted || (found - wanted).abs() <= 1e-5 * wanted;
    assert!(
        found.len() == wanted.len() && found.iter().zip(wanted).all(is_near),
        "{found:?}, {wanted:?} expected"
    );
}

/// What a run writes to stderr while it succeeds.
#[track_caller]
pub(super) fn words(folder: &Folder, arguments: &str) -> String {
    let run = folder.run(&format!("flow {arguments} --goal 0,0 --connectivity 4 --backend cpu --json"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run.stderr
}
