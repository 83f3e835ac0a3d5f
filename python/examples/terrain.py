"""How long it takes to walk from anywhere to a hut, over terrain of a side of 20 km or 200.

The terrain is fractal noise, with lakes that nobody crosses. By default it has 2,000 x 2,000 cells of 10 m: `cost_distance` takes the way over the
ground and Tobler's hiking function, which knows uphill from downhill. With --full it has 20,000 x 20,000 cells in a file: `solve_raster` takes a
cost for each cell, made of its steepness, and works within a memory limit, tile by tile, in a folder. Drawn are bands of equal time,
and by default some paths.

    python terrain.py --picture terrain.png
    python terrain.py --full --folder /some/disk    # 5 GB there; after a crash the next run goes on
"""

import argparse
import os
import time

import numpy as np

import hullfield
from hullfield.flow import solve_raster

CELL, LAKES = 10.0, 720.0  # the edge of a cell and the level of the lakes, metres
FLAT = 3.6 / 5.036  # seconds for a metre on flat ground, by Tobler's hiking function
WAVES = [640, 320, 160, 80, 40, 20, 10]  # cells between random heights, from mountains to ditches


def make_noise(random, size):
    return [random.random((size // wave + 2, size // wave + 2), dtype=np.float32) for wave in WAVES]


def heights(noise, rows, columns):
    """The heights of some rows and columns, metres: random heights on grids of seven sizes, with smooth steps between them."""
    total = np.zeros((len(rows), len(columns)), dtype=np.float32)
    for wave, grid in zip(WAVES, noise, strict=True):
        (y, v), (x, u) = (np.divmod(np.float32(cells / wave), 1) for cells in (rows, columns))
        y, x, v, u = y.astype(int), x.astype(int), (v * v * (3 - 2 * v))[:, None], u * u * (3 - 2 * u)
        lines = grid[y] * (1 - v) + grid[y + 1] * v
        total += 1.6 * wave * (lines[:, x] * (1 - u) + lines[:, x + 1] * u)
    return total


def walk(noise, size, hut, starts):
    """The time from each cell, and paths, with everything in memory."""
    elevation = heights(noise, np.arange(size), np.arange(size))
    friction = np.where(elevation < LAKES, np.nan, np.float32(FLAT))
    start = time.perf_counter()
    found = hullfield.cost_distance(
        None, [hut], friction=friction, elevation=elevation, slope_factors="tobler", cell_size=CELL, paths=True
    )
    print(f"{size} x {size} cells in {time.perf_counter() - start:.1f} s: {found.report.reached_count} reach the hut")
    return found.distances[:: size // 500, :: size // 500], found.paths(starts)


def write_friction(noise, size, file):
    """Seconds for a metre by the steepness of each cell, some rows at a time."""
    friction = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(size, size))
    for y in range(0, size, 256):
        # A row more on either side, for the slope.
        part = heights(noise, np.arange(y - 1, min(y + 256, size) + 1), np.arange(size))
        slope = np.hypot(*np.gradient(part, CELL))
        part = np.where(part < LAKES, np.nan, (FLAT * np.exp(3.5 * slope)).clip(FLAT, 20 * FLAT))
        friction[y : y + 256] = part[1:-1]
    friction.flush()


def walk_raster(noise, size, hut, folder, memory_limit):
    """The time from each cell, with the friction in a file and the distances in a folder."""
    os.makedirs(folder, exist_ok=True)
    file = os.path.join(folder, f"friction-{size}.npy")
    if not os.path.exists(file):
        write_friction(noise, size, file + ".part")
        os.replace(file + ".part", file)
    friction = np.load(file, mmap_mode="r")
    start, tiles, limit = time.perf_counter(), os.path.join(folder, f"tiles-{size}"), memory_limit << 20
    with solve_raster(friction, [hut], cell_size=CELL, folder=tiles, memory_limit=limit) as field:
        report = field.report
        print(f"{size} x {size} cells in {time.perf_counter() - start:.1f} s: {report.reached_count} reach the hut")
        print(f"{report.tile_count} tiles, {report.resumed_count} of them found in the folder, ", end="")
        print(f"{report.visit_count} solved")
        # For the picture: a few cells of each tile, so that the whole is never in memory.
        step = size // 500
        seconds = np.full((-(-size // step),) * 2, np.inf)
        for x, y, width, height in field.windows():
            right, down = -(-x // step), -(-y // step)
            part = field[down * step : y + height : step, right * step : x + width : step]
            seconds[down : down + part.shape[0], right : right + part.shape[1]] = part
    return seconds, []


def draw(file, noise, size, hut, seconds, paths):
    """Bands of time over the shaded terrain."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import LightSource

    cells = np.arange(0, size, size // 500)
    ground, hours, km = heights(noise, cells, cells), seconds / 3600, CELL / 1000
    land = ground >= LAKES
    shade = LightSource(azdeg=315).hillshade(ground, vert_exag=2, dx=CELL * cells[1], dy=CELL * cells[1])
    figure, axes = plt.subplots(figsize=(6.0, 4.8), dpi=100, layout="constrained")
    axes.set_facecolor("#a9c8de")
    at = dict(extent=(0, size * km, size * km, 0))
    axes.imshow(np.where(land, shade, np.nan), cmap="gray", vmin=-0.6, vmax=1.0, **at)
    reached = np.isfinite(hours) & land
    bands = axes.contourf(cells * km, cells * km, np.where(reached, hours, np.nan), 8, cmap="YlOrRd", alpha=0.55)
    for path in paths:
        axes.plot(*(path.T * km), color="#1c4e80", linewidth=1)
    axes.plot(hut[0] * km, hut[1] * km, marker="^", color="black", markersize=8)
    axes.set(xlabel="km", ylabel="km")
    figure.colorbar(bands, label="hours to the hut")
    figure.savefig(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="20,000 x 20,000 cells, from a file, tile by tile")
    parser.add_argument("--size", type=int, help="cells along an edge, at least 500")
    parser.add_argument("--folder", default="terrain", help="where --full keeps its files (default: %(default)s)")
    parser.add_argument("--memory-limit", type=int, default=500, metavar="MB", help="of --full (default: %(default)s)")
    parser.add_argument("--picture", metavar="FILE.png", help="draw the bands into this file (needs matplotlib)")
    options = parser.parse_args()
    size = options.size or (20_000 if options.full else 2_000)

    random = np.random.default_rng(3)
    noise = make_noise(random, size)
    cells = random.integers(0, size, size=(60, 2))  # column and row
    dry = cells[heights(noise, cells[:, 1], cells[:, 0]).diagonal() >= LAKES]
    hut, starts = dry[np.argmin(np.abs(dry - size / 2).sum(axis=1))], dry[:12]
    if options.full:
        seconds, paths = walk_raster(noise, size, hut, options.folder, options.memory_limit)
    else:
        seconds, paths = walk(noise, size, hut, starts)
    hours = seconds[np.isfinite(seconds)] / 3600
    print(f"half of the land is at most {np.median(hours):.1f} hours away, the farthest place {hours.max():.1f}")
    if options.picture:
        draw(options.picture, noise, size, hut, seconds, paths)


if __name__ == "__main__":
    main()
