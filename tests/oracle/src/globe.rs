//! Lengths on an ellipsoid by chords in space: an arc is its chord, lengthened by the curvature of its direction (Euler). Within 2e-8 for cells of half a degree.

/// The distance of two points, by their latitudes and the difference of their longitudes, in degrees. `ellipsoid` is the radius of the equator, and the flattening.
pub fn arc([equator, flattening]: [f64; 2], latitudes: [f64; 2], longitude: f64) -> f64 {
    let squared = flattening * (2.0 - flattening);
    let normal = |latitude: f64| equator / (1.0 - squared * latitude.to_radians().sin().powi(2)).sqrt();
    let point = |latitude: f64, longitude: f64| {
        let ((sin, cos), (east, north)) = (latitude.to_radians().sin_cos(), longitude.to_radians().sin_cos());
        let normal = normal(latitude);
        [normal * cos * north, normal * cos * east, normal * (1.0 - squared) * sin]
    };
    let (one, other) = (point(latitudes[0], 0.0), point(latitudes[1], longitude));
    let chord = one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    if chord == 0.0 {
        return 0.0;
    }
    let middle = 0.5 * (latitudes[0] + latitudes[1]);
    let across = normal(middle);
    let along = across * (1.0 - squared) / (1.0 - squared * middle.to_radians().sin().powi(2));
    let north = (along * (latitudes[1] - latitudes[0]).to_radians() / chord).powi(2).min(1.0);
    let curvature = north / along + (1.0 - north) / across;
    chord * (1.0 + (chord * curvature).powi(2) / 24.0)
}

/// The lengths of steps of each row: along it, to the row before, and diagonally to that. `latitudes` are those of the outer edges of the first and the last row.
pub fn step_lengths(
    ellipsoid: [f64; 2],
    latitudes: [f64; 2],
    cell_width: f64,
    row_count: usize,
) -> Vec<[f64; 3]> {
    let step = (latitudes[1] - latitudes[0]) / row_count as f64;
    let centre = |row: usize| latitudes[0] + step * (row as f64 + 0.5);
    let lengths = |row: usize| {
        let (own, before) = (centre(row), centre(row.saturating_sub(1)));
        [
            arc(ellipsoid, [own, own], cell_width),
            arc(ellipsoid, [own, before], 0.0),
            arc(ellipsoid, [own, before], cell_width),
        ]
    };
    (0..row_count).map(lengths).collect()
}
