# SPDX-License-Identifier: Apache-2.0
"""Pictures of a result, by gnuplot: ours, each peer and the raw loop in one plot, both axes logarithmic."""
import collections
import math
import pathlib
import re
import shutil
import subprocess

# lines: (label, style, points); style: place of the library, or None for the raw loop.
Panel = collections.namedtuple("Panel", "title x y lines")

# Told apart by colour-blind readers, and by their marks in print: Okabe and Ito's colours.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKS = (7, 5, 9, 13, 11, 4)
PANEL_WIDTH, PANEL_HEIGHT = 460, 340
SIZES = "('8' 8, '64' 64, '512' 512, '4K' 4096, '16K' 16384, '64K' 65536, '256K' 262144, '1M' 1048576, '4M' 4194304)"
SPEED = "GB/s"
COLLECTIVES = ("broadcast + sync_all", "reduce (sum of double)", "fcollect", "alltoall")


def points_of(result, library, wanted, x, y, raw=False):
    """wanted(key) picks rows of ours; x(key) and y(key, ns) give the place."""
    value = library.raw if raw else library.value
    found = [(x(key), y(key, value(key))) for key in result.keys() if wanted(key) and value(key)]
    return sorted(found)


def panel(result, title, wanted, over_pes=False, speed=False):
    """None where nothing was measured at two places."""
    def x(key):
        return key.pes if over_pes else key.bytes

    def y(key, ns):
        return key.bytes / ns if speed else ns

    lines = [(library.name, i, points_of(result, library, wanted, x, y)) for i, library in enumerate(result.libraries)]
    lines = [("raw loop", None, points_of(result, result.ours, wanted, x, y, raw=True)), *lines]
    lines = [line for line in lines if len(line[2]) > 1]
    if not any(style == 0 for _, style, _ in lines):
        return None
    return Panel(title, "PEs" if over_pes else "bytes", SPEED if speed else "time", lines)


def sweep(result, operation, pes, **more):
    return panel(result, f"{operation}, {pes} PEs", lambda key: (key.operation, key.memory, key.pes) == (operation, "heap", pes), **more)


def growth(result, title, operation, count):
    return panel(result, title, lambda key: (key.operation, key.bytes) == (operation, count), over_pes=True)


def pictures(result):
    """(name, what it shows, panels), those that have anything to show."""
    all_of_them = [
        ("put-get", "Time of one put + quiet and of one get over the size", [sweep(result, "put + quiet", 2), sweep(result, "get", 2)]),
        ("bandwidth", "Bandwidth of 16 put_nbi or get_nbi and a quiet over the size",
         [sweep(result, "put_nbi", 2, speed=True), sweep(result, "get_nbi", 2, speed=True)]),
        ("signal", "Time of one put_signal, one way, over the size", [sweep(result, "put_signal, one way", 2)]),
        *[(f"collectives-{pes}", f"Time of one collective over the size, {pes} PEs", [sweep(result, name, pes) for name in COLLECTIVES])
          for pes in sorted({key.pes for key in result.keys()} & {2, 4, 8})],
        ("pes", "Barrier, reduction and signals over the number of PEs",
         [growth(result, "barrier_all", "barrier_all", 0), growth(result, "reduce of 8 bytes", "reduce (sum of double)", 8),
          growth(result, "put_signal round a ring, per hop", "put_signal round a ring, per hop", 8)]),
    ]
    kept = [(f"performance-{name}.svg", title, [one for one in panels if one]) for name, title, panels in all_of_them]
    return [picture for picture in kept if picture[2]]


def ticks(least, most, text):
    """Powers of ten; 2 and 5 of them as well where they would be few."""
    steps = (1, 2, 5) if most / least < 300 else (1,)
    places = [step * 10.0 ** power for power in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1) for step in steps]
    return "(" + ", ".join(f"'{text(place)}' {place:g}" for place in places if least <= place <= most) + ")"


def tick_text(one, place):
    if one.y == SPEED:
        return f"{place:g}"
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if place >= size:
            return f"{place / size:g} {unit}"
    return f"{place:g} ns"


def panel_script(one, number):
    xs = [x for _, _, points in one.lines for x, _ in points]
    ys = [y for _, _, points in one.lines for _, y in points]
    # Room for the key, above or below all lines.
    least, most = (min(ys) / 6, max(ys) * 1.5) if one.y == SPEED else (min(ys) / 1.5, max(ys) * 8)
    out = []
    for i, (_, _, points) in enumerate(one.lines):
        out += [f"$d{number}_{i} << EOD", *[f"{x} {y:.5g}" for x, y in points], "EOD"]
    out += [f"set title '{one.title}'", f"set xlabel '{one.x}'", f"set ylabel '{one.y}'",
            f"set key {'bottom right' if one.y == SPEED else 'top left'} Left reverse", f"set xrange [{min(xs) / 1.3:.4g}:{max(xs) * 1.3:.4g}]",
            f"set yrange [{least:.4g}:{most:.4g}]", f"set ytics {ticks(least, most, lambda place: tick_text(one, place))}",
            f"set xtics {SIZES if one.x == 'bytes' else '(' + ', '.join(str(x) for x in sorted(set(xs))) + ')'}"]
    plots = []
    for i, (label, style, _) in enumerate(one.lines):
        look = "with lines lc rgb '#000000' dt 2 lw 1.5" if style is None else \
            f"with linespoints lc rgb '{COLOURS[style % len(COLOURS)]}' pt {MARKS[style % len(MARKS)]} ps {0.6 if style else 0.7} lw {1.2 if style else 2}"
        plots.append(f"$d{number}_{i} {look} title '{label}'")
    return out + ["plot " + ", ".join(plots)]


def script(panels, path, terminal="svg"):
    columns = 1 if len(panels) == 1 else 2
    rows = (len(panels) + columns - 1) // columns
    size = f"size {PANEL_WIDTH * columns},{PANEL_HEIGHT * rows}"
    head = f"svg {size} noenhanced font 'sans-serif,12' background 'white'" if terminal == "svg" else f"pngcairo {size} noenhanced font 'sans-serif,9'"
    out = [f"set terminal {head}", f"set output '{path}'", "set logscale xy", "set grid lc rgb '#dddddd' lt 1", "set key samplen 2 spacing 1",
           f"set multiplot layout {rows},{columns}"]
    for number, one in enumerate(panels):
        out += panel_script(one, number)
    return "\n".join([*out, "unset multiplot", ""])


def shorten(path):
    """gnuplot indents, and describes the look of every point again."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"\s*\n\s*", "\n", text).replace("\n</g>", "</g>")
    text = re.sub(r"<g [^<>]*>\s*</g>\n?", "", text)
    path.write_text(text, encoding="utf-8")


def draw(result, folder, terminal="svg"):
    """Returns (file, what it shows) of what was drawn, and why not all, or None."""
    if not shutil.which("gnuplot"):
        return [], "there are no pictures: gnuplot is not installed (package gnuplot-nox)"
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    done = []
    for name, title, panels in pictures(result):
        name = name.replace(".svg", f".{terminal}")
        made = subprocess.run(["gnuplot"], input=script(panels, folder / name, terminal), capture_output=True, text=True)
        if made.returncode != 0:
            return done, f"gnuplot could not draw {name}: {made.stderr.strip()}"
        if terminal == "svg":
            shorten(folder / name)
        done.append((name, title))
    return done, None
