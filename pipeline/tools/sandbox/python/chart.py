"""Line and bar charts as SVG files.

chart.line("growth.svg", [2020, 2021, 2022], {"A": [1, 4, 9], "B": [2, 3, 5]}, title="Growth", x="year", y="units")
chart.bar("shares.svg", ["north", "south"], {"share": [0.3, 0.7]}, title="Shares")
"""
_COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f"]
_W, _H, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 420, 70, 20, 50, 60
_WIDE = 70  # of the right margin where a second axis stands


def _escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _ticks(low, high, count=5):
    import math
    if high <= low:
        high = low + 1
    step = 10 ** math.floor(math.log10((high - low) / count))
    for factor in (1, 2, 5, 10):
        if (high - low) / (step * factor) <= count:
            step *= factor
            break
    first, last = math.floor(low / step), math.ceil(high / step)
    return [i * step for i in range(first, last + 1)]


def _text(x, y, text, anchor="middle", size=12, turn=None):
    rotate = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turn else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{rotate}>{_escape(str(text))}</text>'


def _series(series):
    return series if isinstance(series, dict) else {"": list(series)}


def _axis(values, zero=False):
    """Returns the ticks for values and what places a value between the first and the last of them."""
    values = [float(v) for v in values] + ([0.0] if zero else [])
    ticks = _ticks(min(values), max(values))
    low, high = ticks[0], ticks[-1]
    return ticks, lambda value: _H - _BOTTOM - (float(value) - low) / (high - low) * (_H - _TOP - _BOTTOM)


def _apart(series):
    """Reports two series of which one would be nearly flat on the scale of both: each has an axis of its own then."""
    if len(series) != 2:
        return False
    spans = [max(ys) - min(ys) for ys in series.values()]
    whole = [v for ys in series.values() for v in ys]
    return 0 < min(spans) < (max(whole) - min(whole)) / 4


def _frame(series, title, x, y, zero):
    values = [v for ys in series.values() for v in ys]
    if not values:
        raise ValueError("there is nothing to draw")
    ticks, place = _axis(values, zero)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_W} {_H}" width="{_W}" height="{_H}" font-family="sans-serif">',
             f'<title>{_escape(str(title))}</title>' if title else "",
             f'<rect width="{_W}" height="{_H}" fill="#ffffff"/>', _text(_W / 2, 24, title, size=16),
             _text((_W + _LEFT) / 2, _H - 12, x), _text(16, _H / 2, y, turn=True)]
    for t in ticks:
        parts.append(f'<line x1="{_LEFT}" x2="{_W - _RIGHT}" y1="{place(t):.1f}" y2="{place(t):.1f}" stroke="#dddddd"/>')
        parts.append(_text(_LEFT - 6, place(t) + 4, f"{t:.6g}", anchor="end"))
    if len(series) > 1 or "" not in series:
        at = _LEFT
        for i, name in enumerate(series):
            parts.append(f'<rect x="{at:.1f}" y="32" width="10" height="10" fill="{_COLOURS[i % len(_COLOURS)]}"/>')
            parts.append(_text(at + 14, 41, name, anchor="start"))
            at += 30 + 7 * len(str(name))
    return parts, place


def _save(path, parts):
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(parts + ["</svg>"]))


def line(path, xs, series, title="", x="", y=""):
    """Writes a line chart. xs: numbers or labels; series: {name: values} or values. Two series of different scales have
    an axis each: the first one left, the second one right."""
    series, xs = {name: [float(v) for v in ys] for name, ys in _series(series).items()}, list(xs)
    if _apart(series):
        left, right = series
        parts, place = _frame({left: series[left]}, title, x, left, zero=False)
        ticks, other = _axis(series[right])
        edge = _W - _WIDE
        parts += [_text(edge + 6, other(t) + 4, f"{t:.6g}", anchor="start") for t in ticks]
        parts += [_text(_W - 10, _H / 2, right, turn=True), f'<rect x="{edge - 24}" y="32" width="10" height="10" fill="{_COLOURS[1]}"/>',
                  _text(edge - 28, 41, right, anchor="end")]
        places = [place, other]
    else:
        parts, place = _frame(series, title, x, y, zero=False)
        edge, places = _W - _RIGHT, [place] * len(series)
    numeric = all(isinstance(v, (int, float)) for v in xs)
    where = [float(v) for v in xs] if numeric else list(range(len(xs)))
    low, high = min(where), max(where)

    def across(value):
        return _LEFT + (value - low) / ((high - low) or 1) * (edge - _LEFT)

    every = max(1, len(xs) // 12)
    for v, label in list(zip(where, xs))[::every]:
        parts.append(_text(across(v), _H - _BOTTOM + 18, f"{label:.6g}" if isinstance(label, float) else label))
    for i, ys in enumerate(series.values()):
        points = " ".join(f"{across(a):.1f},{places[i](b):.1f}" for a, b in zip(where, ys))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{_COLOURS[i % len(_COLOURS)]}" stroke-width="2"/>')
    _save(path, parts)


def bar(path, labels, series, title="", x="", y=""):
    """Writes a bar chart. labels: one per group; series: {name: values} or values."""
    series, labels = _series(series), list(labels)
    parts, place = _frame(series, title, x, y, zero=True)
    group = (_W - _LEFT - _RIGHT) / max(1, len(labels))
    width = group * 0.8 / len(series)
    for n, label in enumerate(labels):
        parts.append(_text(_LEFT + group * (n + 0.5), _H - _BOTTOM + 18, label))
        for i, ys in enumerate(series.values()):
            top, foot = sorted((place(list(ys)[n]), place(0)))
            parts.append(f'<rect x="{_LEFT + group * (n + 0.1) + width * i:.1f}" y="{top:.1f}" width="{width:.1f}" '
                         f'height="{foot - top:.1f}" fill="{_COLOURS[i % len(_COLOURS)]}"/>')
    _save(path, parts)
