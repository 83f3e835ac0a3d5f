//! The feature `serde`: grids, options and what fields answer, written and read again.

use hullfield::Engine;
use hullfield::flow::{
    Border, Cell, Connectivity, Corners, CostDistanceOptions, CostRule, Edit, FieldOptions, Flow, Grid,
    GridFrame, GridOptions, Path, Query, RasterOptions, Slope, SteerOptions, StepLengths, UNREACHABLE,
};
use hullfield_oracle::random::Random;

use crate::scenes::{CONNECTIVITIES_2D, CONNECTIVITIES_3D, small_scenes, unusual_scenes};
use crate::wire::{all_refused, comes_back, damage_is_survived, there_and_back};

/// A frame that is turned, moved and scaled.
fn frame() -> GridFrame {
    let (sin, cos) = 0.3_f64.sin_cos();
    let axes = [[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]];
    GridFrame { origin: [0.1, -1e6, 3.0], cell_size: 0.05, axes }
}

#[test]
fn grids_of_all_kinds_come_back_and_so_do_their_fields() {
    let scenes: Vec<_> = CONNECTIVITIES_2D
        .into_iter()
        .chain(CONNECTIVITIES_3D)
        .flat_map(|c| small_scenes(c).into_iter().step_by(29))
        .collect();
    for scene in scenes.into_iter().chain(unusual_scenes()) {
        for grid in [scene.grid(), scene.grid_in(frame())] {
            comes_back(&grid);
        }
        let engine = Engine::cpu();
        let solve = |grid: Grid| {
            let flow = Flow::new(&engine, grid).unwrap();
            let field = flow.solve(&scene.goals, &scene.options).unwrap().wait();
            field.map(|field| (field.distances().unwrap().wait(), field.next_codes().unwrap().wait()))
        };
        let [back, _] = there_and_back(&scene.grid());
        assert_eq!(solve(back), solve(scene.grid()), "{}", scene.name);
    }
}

#[test]
fn a_grid_that_was_edited_or_keeps_clear_comes_back_as_it_is() {
    let mut random = Random::new(9);
    for k in 0..30_u32 {
        let size = [1 + random.below(130) as u32, 1 + random.below(20) as u32, 1];
        let blocked: Vec<bool> = (0..size[0] * size[1]).map(|_| random.chance(0.1)).collect();
        let border = if k % 2 == 0 { Border::Wall } else { Border::Open };
        let clearance = f64::from(k % 3);
        let grid =
            Grid::new(size, &blocked, GridOptions { clearance, border, ..GridOptions::default() }).unwrap();
        comes_back(&grid);
        let mut flow = Flow::new(&Engine::cpu(), grid).unwrap();
        // The last edit leaves costs that are all 1.
        let cell = Cell::from([0, 0]);
        for edit in [Edit::Block(cell), Edit::Free(cell), Edit::Cost(cell, 7), Edit::Cost(cell, 1)] {
            flow.edit(&[edit]).unwrap();
            comes_back(flow.grid());
            comes_back(&edit);
        }
    }
}

#[test]
fn a_grid_is_lines_of_text() {
    let obstacles = [false, true, false, false, false, true];
    let costs = vec![1, 1, 2, 1, 5, 1];
    let options =
        GridOptions { connectivity: Connectivity::Eight(Corners::Any), costs, ..GridOptions::default() };
    let grid = Grid::new([3, 2, 1], &obstacles, options).unwrap();
    let text = serde_json::to_string(&grid).unwrap();
    let wanted = concat!(
        r#"{"size":[3,2,1],"connectivity":{"eight":"any"},"cells":[".@.","..@"],"costs":[1,1,2,1,5,1],"#,
        r#""frame":{"origin":[0.0,0.0,0.0],"cell_size":1.0,"axes":[[1.0,0.0,0.0],[0.0,1.0,0.0],[0.0,0.0,1.0]]}}"#
    );
    assert_eq!(text, wanted);
    // By hand: what is left out is as usual.
    let grid: Grid = serde_json::from_str(r#"{"size": [3, 2, 1], "cells": [".@.", "..@"]}"#).unwrap();
    assert_eq!(grid, Grid::new([3, 2, 1], &obstacles, GridOptions::default()).unwrap());
    let layers = r#"{"size": [2, 1, 2], "connectivity": "six", "cells": ["@.", ".@"]}"#;
    let grid: Grid = serde_json::from_str(layers).unwrap();
    assert_eq!(grid.obstacles(), [true, false, false, true]);
}

#[test]
fn a_grid_that_its_constructor_refuses_is_refused_in_its_words() {
    all_refused::<Grid>(&[
        (r#"{"size": [2, 0, 1], "cells": []}"#, "size is [2, 0, 1], it must be 1 or more along each axis"),
        (r#"{"size": [2, 1, 2], "cells": ["..", ".."]}"#, "a grid of two dimensions has one layer"),
        (r#"{"size": [4294967295, 4294967295, 1], "cells": []}"#, "cells along an axis"),
        // A few letters that ask for half a gigabyte.
        (
            r#"{"size": [65536, 65535, 1], "cells": []}"#,
            "0 lines of cells were given, a grid of 65536 x 65535 x 1 cells has 65535",
        ),
        (
            r#"{"size": [2147483647, 1, 1], "cells": ["."]}"#,
            "line 1: 1 cells were given, the grid has 2147483647 columns",
        ),
        (r#"{"size": [2, 2, 1], "cells": ["..", "...", ".."]}"#, "3 lines of cells were given"),
        (
            r#"{"size": [2, 2, 1], "cells": ["..", "..."]}"#,
            "line 2: 3 cells were given, the grid has 2 columns",
        ),
        (r#"{"size": [2, 2, 1], "cells": ["..", "."]}"#, "line 2: 1 cells were given"),
        (
            r#"{"size": [2, 2, 1], "cells": ["..", ".G"]}"#,
            "line 2: cell 1 is 'G', it must be '.', which is free, or '@', an obstacle",
        ),
        (r#"{"size": [2, 1, 1], "cells": [".\u00e9"]}"#, "cell 1 is 'é'"),
        (r#"{"size": [2, 1, 1], "cells": [0, 1]}"#, "expected a string"),
        (r#"{"size": [2, 1, 1], "cells": [".."], "costs": [1]}"#, "1 costs were given, the grid has 2 cells"),
        (
            r#"{"size": [2, 1, 1], "cells": [".."], "costs": [1, 0]}"#,
            "cell (1, 0): cost is 0, it must be 1 or more",
        ),
        (r#"{"size": [2, 1, 1], "cells": [".."], "costs": [1, -1]}"#, "invalid value"),
        (
            r#"{"size": [2, 1, 1], "cells": [".."], "connectivity": "eight"}"#,
            "invalid type: unit variant, expected newtype variant",
        ),
        (r#"{"size": [2, 1, 1], "cells": [".."], "connectivity": "five"}"#, "unknown variant `five`"),
        (
            r#"{"size": [2, 1, 1], "cells": [".."], "frame": {"cell_size": 0}}"#,
            "cell_size is 0, it must be positive and finite",
        ),
        (r#"{"size": [2, 1, 1], "cells": [".."], "clearance": 2}"#, "unknown field `clearance`"),
        (r#"{"size": [2, 1], "cells": [".."]}"#, "invalid length 2"),
        (r#"{"size": [2, 1, 1]}"#, "missing field `cells`"),
    ]);
    all_refused::<GridFrame>(&[
        (r#"{"origin": [0, 0, null]}"#, "invalid type: null"),
        (r#"{"cell_size": -1}"#, "cell_size is -1"),
        (r#"{"axes": [[1, 0, 0], [0, 1, 0], [0, 0, 1.1]]}"#, "they must be unit vectors at right angles"),
        (r#"{"size": 1}"#, "unknown field `size`"),
    ]);
    let options = GridOptions { costs: (1..=90).collect(), ..GridOptions::default() };
    damage_is_survived(&Grid::new([45, 2, 1], &[], options).unwrap(), 3);
    let off = GridFrame { origin: [f64::NAN, 0.0, 0.0], ..GridFrame::default() };
    assert!(postcard::from_bytes::<GridFrame>(&postcard::to_stdvec(&off).unwrap()).is_err());
}

#[test]
fn options_that_are_left_out_are_the_default_and_none_is_misspelt_in_silence() {
    assert_eq!(serde_json::from_str::<GridOptions>("{}").unwrap(), GridOptions::default());
    assert_eq!(serde_json::from_str::<FieldOptions>("{}").unwrap(), FieldOptions::default());
    assert_eq!(serde_json::from_str::<SteerOptions>("{}").unwrap(), SteerOptions::default());
    assert_eq!(serde_json::from_str::<GridFrame>("{}").unwrap(), GridFrame::default());
    assert_eq!(serde_json::from_str::<RasterOptions>("{}").unwrap(), RasterOptions::default());
    assert_eq!(serde_json::from_str::<CostDistanceOptions>("{}").unwrap(), CostDistanceOptions::default());
    all_refused::<CostDistanceOptions>(&[
        (r#"{"frictions": 1}"#, "unknown field"),
        (r#"{"cost_rule": "median"}"#, "unknown variant"),
        (r#"{"slope": {"height": []}}"#, "unknown field"),
    ]);
    all_refused::<GridOptions>(&[
        (r#"{"cost": [1]}"#, "unknown field"),
        (r#"{"border": "Wall"}"#, "unknown variant"),
    ]);
    all_refused::<FieldOptions>(&[
        (r#"{"untill": []}"#, "unknown field"),
        (r#"{"max_distance": -1}"#, "invalid value"),
    ]);
    all_refused::<SteerOptions>(&[(r#"{"sights": 1}"#, "unknown field")]);
    all_refused::<Cell>(&[
        (r#"{"x": 1}"#, "missing field `y`"),
        (r#"{"x": 1, "y": 2, "Z": 3}"#, "unknown field"),
    ]);
    assert_eq!(serde_json::from_str::<Cell>(r#"{"x": 1, "y": 2}"#).unwrap(), Cell::from([1, 2]));
    comes_back(&GridOptions {
        connectivity: Connectivity::TwentySix(Corners::OneFree),
        costs: vec![3, u32::MAX],
        frame: frame(),
        clearance: 0.7,
        border: Border::Wall,
    });
    let until = vec![Cell::from([1, 2, 3]), Cell::from([-1, i32::MIN])];
    let until_each = vec![vec![], until.clone()];
    comes_back(&FieldOptions { max_distance: Some(u32::MAX), until, until_each });
    comes_back(&SteerOptions { sight: 5 });
    comes_back(&RasterOptions {
        cost_rule: CostRule::Exit,
        step_lengths: Some(StepLengths { x: 1, y: 2, diagonal: 3 }),
        ..RasterOptions::default()
    });
    comes_back(&CostDistanceOptions {
        cost_rule: CostRule::Entry,
        cell_size: [30.0, 0.1],
        max_distance: Some(7.5),
        slope: Some(Slope {
            elevation: vec![1.0, -2.5],
            factors: vec![[-0.1, 0.5], [0.2, 3.0]],
            is_outward: true,
        }),
        ..CostDistanceOptions::default()
    });
    comes_back(&Query::EncodedDirections);
}

#[test]
fn paths_reports_and_statistics_of_a_field_come_back() {
    let blocked = [false, true, false, false, true, false];
    let flow =
        Flow::new(&Engine::cpu(), Grid::new([3, 2, 1], &blocked, GridOptions::default()).unwrap()).unwrap();
    let goals = [[0, 0], [1, 0], [7, 7]].map(Cell::from);
    let field = flow.solve(&goals, &FieldOptions::default()).unwrap().wait().unwrap();
    comes_back(field.stats());
    comes_back(field.goals());
    let starts = [[0, 1], [2, 1]].map(Cell::from);
    let paths = field.paths(&starts).unwrap().wait().unwrap();
    // 2^32 - 1 is a number like any other.
    assert_eq!(paths.lengths[1], UNREACHABLE);
    comes_back(&paths);
    let path: Path = field.path(starts[0]).unwrap().wait().unwrap();
    comes_back(&path);
    comes_back(&field.next_cells(&starts).unwrap().wait().unwrap());
    comes_back(&field.distances_at(&starts).unwrap().wait().unwrap());
    comes_back(&field.directions(&[[0.2, 1.4, 0.0]], &SteerOptions::default()).unwrap().wait().unwrap());
}
