# SPDX-License-Identifier: Apache-2.0
"""Lines on two logarithmic axes, as SVG."""

import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 420, 64, 24, 44, 56


def ticks(low, high):
    """1, 10, 100 … of an axis, and 2, 5 between them where it is short."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    return [m * 10**e for e in range(first, last + 1) for m in steps if low <= m * 10**e <= high * 1.0001]


def short(value):
    for unit, name in ((1e6, " M"), (1e3, " K")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def log_log(title, x_name, y_name, lines):
    """lines: (name, colour, [(x, y)])."""
    xs, ys = ([p[i] for _, _, points in lines for p in points] for i in (0, 1))
    x0, x1 = min(xs), max(xs)
    y0, y1 = min(ys) / 1.4, max(ys) * 1.4

    def across(x):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(x / x0) / math.log(x1 / x0)

    def up(y):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log(y / y0) / math.log(y1 / y0)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<title>{title}</title>', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
           f'<text x="{LEFT}" y="20" font-size="14">{title}</text>']
    for x in ticks(x0, x1):
        out.append(f'<path d="M{across(x):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#e4e4e4"/>'
                   f'<text x="{across(x):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{short(x)}</text>')
    for y in ticks(y0, y1):
        out.append(f'<path d="M{LEFT} {up(y):.1f}H{WIDTH - RIGHT}" stroke="#e4e4e4"/>'
                   f'<text x="{LEFT - 8}" y="{up(y) + 4:.1f}" text-anchor="end">{short(y)}</text>')
    out.append(f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#555"/>'
               f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 14}" text-anchor="middle">{x_name}</text>'
               f'<text x="{LEFT - 8}" y="{TOP - 8}" text-anchor="end">{y_name}</text>')
    for i, (name, colour, points) in enumerate(lines):
        path = "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in points)
        out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="2.5" fill="{colour}"/>' for x, y in points]
        out.append(f'<path d="M{LEFT + 16} {TOP + 14 + 18 * i}h20" stroke="{colour}" stroke-width="2"/>'
                   f'<text x="{LEFT + 42}" y="{TOP + 18 + 18 * i}">{name}</text>')
    return "\n".join(out) + "\n</svg>\n"
