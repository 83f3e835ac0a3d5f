//! The lengths of steps between the cells of a raster whose columns are meridians and whose rows are parallels.
//!
//! Source of the formulas: Vincenty 1975, "Direct and inverse solutions of geodesics on the ellipsoid with application of nested equations".

use crate::error::{Error, Location, Result, shown};

/// The widest cell, and the highest, in degrees: the formulas settle where two points are no more apart.
const WIDEST: f64 = 90.0;
/// How far the centre of a row may lie beyond a pole by rounding, in degrees.
const SLACK: f64 = 1e-6;
/// The flattest ellipsoid. That of Mars has 0.0059.
const FLATTEST: f64 = 0.02;
/// Rounds of the formula, which settles in about four.
const MAX_ROUNDS: usize = 100;
/// The change of an angle at which it has settled, relative to it.
const SETTLED: f64 = 1e-15;

/// An ellipsoid of revolution: a globe that is flattened at its poles.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Ellipsoid {
    /// The radius of the equator; in metres, unless distances are wanted in other units.
    pub semi_major_axis: f64,
    /// The flattening: 1 minus the polar radius divided by the equatorial one. From 0, a sphere, to 0.02.
    pub flattening: f64,
}

impl Ellipsoid {
    /// The ellipsoid of WGS 84, in metres. The ellipsoids of most other reference systems of the Earth are within 2 parts in 10,000 of it.
    pub const WGS84: Self = Self { semi_major_axis: 6_378_137.0, flattening: 1.0 / 298.257_223_563 };

    /// The length of the geodesic between two points. All angles are in degrees: their latitudes, and the difference of their longitudes, at most 90.
    pub(crate) fn distance(&self, latitudes: [f64; 2], longitude: f64) -> f64 {
        let Self { semi_major_axis: equator, flattening } = *self;
        let pole = 1.0 - flattening;
        // The sine and the cosine of the reduced latitude, and the divisor of both.
        let reduced = |latitude: f64| {
            let (sin, cos) = libm::sincos(latitude.to_radians());
            let radius = libm::hypot(cos, pole * sin);
            [pole * sin / radius, cos / radius, radius]
        };
        let [sin1, cos1, radius1] = reduced(latitudes[0]);
        let [sin2, cos2, radius2] = reduced(latitudes[1]);
        // Taken from the difference of the latitudes, so that near points lose no digits.
        let sin_apart = pole * libm::sin((latitudes[1] - latitudes[0]).to_radians()) / (radius1 * radius2);
        let longitude = longitude.to_radians();
        let mut on_sphere = longitude;
        let mut round = 0;
        loop {
            let (sin_half, sin_longitude) = (libm::sin(0.5 * on_sphere), libm::sin(on_sphere));
            let across = cos2 * sin_longitude;
            let along = sin_apart + 2.0 * sin1 * cos2 * sin_half * sin_half;
            let sin_arc = libm::hypot(across, along);
            if sin_arc == 0.0 {
                return 0.0;
            }
            let cos_arc = sin1 * sin2 + cos1 * cos2 * libm::cos(on_sphere);
            let arc = libm::atan2(sin_arc, cos_arc);
            let sin_azimuth = cos1 * across / sin_arc;
            let cos_squared = 1.0 - sin_azimuth * sin_azimuth;
            let middle = if cos_squared > 0.0 { cos_arc - 2.0 * sin1 * sin2 / cos_squared } else { 0.0 };
            let part = flattening / 16.0 * cos_squared * (4.0 + flattening * (4.0 - 3.0 * cos_squared));
            let doubled = 2.0 * middle * middle - 1.0;
            let turn = arc + part * sin_arc * (middle + part * cos_arc * doubled);
            let next = longitude + (1.0 - part) * flattening * sin_azimuth * turn;
            round += 1;
            if (next - on_sphere).abs() > SETTLED * next.abs() && round < MAX_ROUNDS {
                on_sphere = next;
                continue;
            }
            let squared = cos_squared * (1.0 / (pole * pole) - 1.0);
            let scale =
                1.0 + squared / 16384.0 * (4096.0 + squared * (-768.0 + squared * (320.0 - 175.0 * squared)));
            let bend = squared / 1024.0 * (256.0 + squared * (-128.0 + squared * (74.0 - 47.0 * squared)));
            let third = bend / 6.0 * middle * (4.0 * sin_arc * sin_arc - 3.0) * (4.0 * middle * middle - 3.0);
            let change = bend * sin_arc * (middle + bend / 4.0 * (cos_arc * doubled - third));
            return equator * pole * scale * (arc - change);
        }
    }
}

impl Default for Ellipsoid {
    fn default() -> Self {
        Self::WGS84
    }
}

/// Where the cells of a raster lie on a globe: columns along meridians, rows along parallels. The length of a move is that of the shortest line on the ellipsoid (the geodesic)
/// between the centres of its two cells.
///
/// Lengths are those of Vincenty's formulas (1975), which are within 1e-9 of the true ones, relative to themselves. Cells at the eastern and the western edge of the raster are no neighbours, even
/// where it spans the globe.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use hullfield::flow::{CostDistanceOptions, Ellipsoid, Geographic, cost_distance};
///
/// // Two rows of cells of one degree, north of 59°. A degree of longitude is about half of one of latitude there.
/// let geographic = Geographic { latitudes: [61.0, 59.0], cell_width: 1.0, ellipsoid: Ellipsoid::WGS84 };
/// let options = CostDistanceOptions { geographic: Some(geographic), ..Default::default() };
/// let solved = cost_distance([2, 2], &[1.0_f64; 4], &[[0, 0].into()], &options, |_| ControlFlow::Continue(()))?;
/// let metres: Vec<f32> = solved.distances.iter().map(|metres| metres.round()).collect();
/// assert_eq!(metres, [0.0, 54_955.0, 111_412.0, 124_601.0]);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Geographic {
    /// The latitudes of the outer edges of the first and of the last row, in degrees. Centres of rows lie between −90 and 90.
    pub latitudes: [f64; 2],
    /// The width of a cell, in degrees of longitude: more than 0, up to 90.
    pub cell_width: f64,
    /// The globe. By default [`Ellipsoid::WGS84`], and lengths are in metres.
    #[cfg_attr(feature = "serde", serde(default))]
    pub ellipsoid: Ellipsoid,
}

impl Geographic {
    /// The latitude of the centre of a row of a raster with this many.
    fn latitude(&self, row: u32, row_count: u32) -> f64 {
        let [first, last] = self.latitudes;
        let at = first + (last - first) * ((f64::from(row) + 0.5) / f64::from(row_count));
        at.clamp(-90.0, 90.0)
    }

    /// The lengths of the steps of a row, of a raster with this many: along the row, to the row before, and diagonally to that. The first row has none before it.
    ///
    /// ```
    /// use hullfield::flow::{Ellipsoid, Geographic};
    ///
    /// // Rows of one degree, from the equator to the north.
    /// let rows = Geographic { latitudes: [-0.5, 59.5], cell_width: 1.0, ellipsoid: Ellipsoid::WGS84 };
    /// let lengths = [0, 1, 59].map(|row| rows.step_lengths(row, 60).map(f64::round));
    /// assert_eq!(lengths, [[111_319.0, 0.0, 111_319.0], [111_303.0, 110_574.0, 156_900.0], [57_475.0, 111_386.0, 125_721.0]]);
    /// ```
    pub fn step_lengths(&self, row: u32, row_count: u32) -> [f64; 3] {
        let own = self.latitude(row, row_count);
        let before = self.latitude(row.saturating_sub(1), row_count);
        let Self { ellipsoid, cell_width, .. } = self;
        [
            ellipsoid.distance([own, own], *cell_width),
            ellipsoid.distance([own, before], 0.0),
            ellipsoid.distance([own, before], *cell_width),
        ]
    }

    /// # Errors
    /// [`Error::Value`] for latitudes, a width or an ellipsoid outside their ranges.
    pub(crate) fn check(&self, row_count: u32) -> Result<()> {
        let refuse = |field, value: String, allowed: &str| {
            Err(Error::value(Location::Argument, field, value, allowed))
        };
        let Self { latitudes: [first, last], cell_width, ellipsoid } = *self;
        let latitudes = format!("[{}, {}]", shown(first), shown(last));
        let height = (last - first).abs() / f64::from(row_count.max(1));
        if !(height > 0.0 && height <= WIDEST) {
            return refuse("latitudes", latitudes, "a cell must be more than 0 and up to 90 degrees high");
        }
        if [first, last].iter().any(|edge| !(edge.abs() <= 90.0 + 0.5 * height + SLACK)) {
            return refuse("latitudes", latitudes, "the centres of rows must lie from -90 to 90 degrees");
        }
        if !(cell_width > 0.0 && cell_width <= WIDEST) {
            return refuse("cell_width", shown(cell_width), "it must be more than 0 and up to 90 degrees");
        }
        let Ellipsoid { semi_major_axis, flattening } = ellipsoid;
        if !(1e-100..=1e100).contains(&semi_major_axis) {
            return refuse("semi_major_axis", shown(semi_major_axis), "it must be from 1e-100 to 1e100");
        }
        if !(0.0..=FLATTEST).contains(&flattening) {
            return refuse("flattening", shown(flattening), "it must be from 0 to 0.02");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRS80: Ellipsoid = Ellipsoid { semi_major_axis: 6_378_137.0, flattening: 1.0 / 298.257_222_101 };

    /// Geodesics with published lengths.
    #[test]
    fn known_lines_have_their_lengths() {
        let degrees = |whole: f64, minutes: f64, seconds: f64| whole + minutes / 60.0 + seconds / 3600.0;
        // From Flinders Peak to Buninyong: Geoscience Australia, "Geodetic calculation methods".
        let peaks = [-degrees(37.0, 57.0, 3.720_30), -degrees(37.0, 39.0, 10.156_10)];
        let apart = degrees(144.0, 25.0, 29.524_40) - degrees(143.0, 55.0, 35.383_90);
        assert!((GRS80.distance(peaks, apart) - 54_972.271).abs() < 5e-4);
        let wgs = Ellipsoid::WGS84;
        // A quarter of a meridian, a degree of the equator, and the first degree of a meridian.
        assert!((wgs.distance([0.0, 90.0], 0.0) - 10_001_965.729_312).abs() < 1e-3);
        let of_equator = wgs.semi_major_axis * 1.0_f64.to_radians();
        assert!((wgs.distance([0.0, 0.0], 1.0) - of_equator).abs() < 1e-6);
        assert!((wgs.distance([0.0, 1.0], 0.0) - 110_574.388_557_8).abs() < 1e-5);
        // Over the pole.
        assert!(
            (wgs.distance([89.0, 89.0], 90.0) / wgs.distance([89.0, 90.0], 0.0) - 2.0_f64.sqrt()).abs()
                < 1e-4
        );
        let sphere = Ellipsoid { semi_major_axis: 10.0, flattening: 0.0 };
        assert!((sphere.distance([0.0, 90.0], 30.0) - 5.0 * std::f64::consts::PI).abs() < 1e-13);
        assert_eq!(sphere.distance([12.0, 12.0], 0.0), 0.0);
    }

    /// An arc by its chord in space and the curvature of its direction (Euler), which has nothing of the formulas above.
    fn by_chord(ellipsoid: Ellipsoid, latitudes: [f64; 2], longitude: f64) -> f64 {
        let Ellipsoid { semi_major_axis, flattening } = ellipsoid;
        let squared = flattening * (2.0 - flattening);
        let point = |latitude: f64, longitude: f64| {
            let (sin, cos) = latitude.to_radians().sin_cos();
            let normal = semi_major_axis / (1.0 - squared * sin * sin).sqrt();
            let (east, north) = longitude.to_radians().sin_cos();
            [normal * cos * north, normal * cos * east, normal * (1.0 - squared) * sin]
        };
        let (one, other) = (point(latitudes[0], 0.0), point(latitudes[1], longitude));
        let chord = one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let middle = 0.5 * (latitudes[0] + latitudes[1]);
        let sin = middle.to_radians().sin();
        let normal = semi_major_axis / (1.0 - squared * sin * sin).sqrt();
        let meridian = normal * (1.0 - squared) / (1.0 - squared * sin * sin);
        let north = (meridian * (latitudes[1] - latitudes[0]).to_radians() / chord).powi(2).min(1.0);
        let curvature = north / meridian + (1.0 - north) / normal;
        chord * (1.0 + (chord * curvature).powi(2) / 24.0)
    }

    #[test]
    fn lengths_are_those_of_arcs_in_space() {
        let moon = Ellipsoid { semi_major_axis: 1_737_400.0, flattening: 0.0 };
        let mars = Ellipsoid { semi_major_axis: 3_396_190.0, flattening: 1.0 / 169.894_447_2 };
        for ellipsoid in [Ellipsoid::WGS84, GRS80, moon, mars] {
            for cell in [1e-4, 0.01, 0.25, 0.5] {
                for latitude in [-89.0, -60.0, -0.125, 0.0, 33.0, 71.5, 88.0, 89.4] {
                    for (latitudes, longitude) in [
                        ([latitude, latitude], cell),
                        ([latitude, latitude + cell], 0.0),
                        ([latitude, latitude + cell], 2.0 * cell),
                    ] {
                        let found = ellipsoid.distance(latitudes, longitude);
                        let wanted = by_chord(ellipsoid, latitudes, longitude);
                        let error = (found / wanted - 1.0).abs();
                        assert!(error < 2e-8, "{ellipsoid:?} {latitudes:?} {longitude}: {found}, {wanted}");
                    }
                }
            }
        }
    }

    #[test]
    fn rows_may_go_either_way_and_meet_the_poles() {
        let south = Geographic { latitudes: [10.0, -2.0], cell_width: 0.5, ellipsoid: Ellipsoid::WGS84 };
        let north = Geographic { latitudes: [-2.0, 10.0], ..south };
        for row in 1..4 {
            let ([along, beside, diagonal], other) =
                (south.step_lengths(row, 4), north.step_lengths(4 - row, 4));
            assert!((beside - other[1]).abs() < 1e-8 && (diagonal - other[2]).abs() < 1e-8);
            assert!((along - north.step_lengths(3 - row, 4)[0]).abs() < 1e-8);
        }
        // Centres at both poles.
        let whole = Geographic { latitudes: [90.5, -90.5], cell_width: 1.0, ..south };
        assert!(whole.check(181).is_ok());
        assert!(
            (0.0..1e-3).contains(&whole.step_lengths(0, 181)[0]) && whole.step_lengths(180, 181)[1] > 1e5
        );
        assert_eq!((whole.latitude(0, 181), whole.latitude(180, 181)), (90.0, -90.0));
        let error = |change: &dyn Fn(&mut Geographic)| {
            let mut wrong = south;
            change(&mut wrong);
            wrong.check(4).unwrap_err().to_string()
        };
        for (found, text) in [
            (
                error(&|wrong| wrong.latitudes = [93.0, 80.0]),
                "latitudes is [93, 80], the centres of rows must lie",
            ),
            (error(&|wrong| wrong.latitudes = [5.0, 5.0]), "latitudes is [5, 5], a cell must be more than 0"),
            (error(&|wrong| wrong.latitudes = [f64::NAN, 5.0]), "latitudes is [NaN, 5]"),
            (
                error(&|wrong| wrong.cell_width = 120.0),
                "cell_width is 120, it must be more than 0 and up to 90",
            ),
            (error(&|wrong| wrong.cell_width = f64::NAN), "cell_width is NaN"),
            (error(&|wrong| wrong.ellipsoid.semi_major_axis = 0.0), "semi_major_axis is 0"),
            (error(&|wrong| wrong.ellipsoid.flattening = 0.5), "flattening is 0.5"),
        ] {
            assert!(found.contains(text), "{found}");
        }
    }
}
