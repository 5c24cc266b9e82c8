#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes an SVG of each text in docs/pictures: boxes in columns and rows, arrows between boxes, a frame around columns.

    scripts/make_pictures.py            writes docs/pictures/*.svg
    scripts/make_pictures.py --check    checks that they are as it would write them
"""
import html
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs/pictures"

MARGIN, BOX_HEIGHT, ROW_STEP, TOP = 20, 70, 70, 40
GAP, GAP_WITH_LABEL, FRAME_GAP = 46, 96, 22
LETTER, TITLE_LETTER, BOX_PADDING = 6.7, 9.4, 12

# Light and dark. Boxes have similar colours in both schemes, with the same meaning.
COLOURS = {"blue": ("#ddf4ff", "#0c2d4a"), "yellow": ("#fff8c5", "#3b2e04"), "green": ("#dafbe1", "#0f3018"),
           "pink": ("#ffeff7", "#42112f"), "page": ("#ffffff", "#0d1117"), "frame": ("#f6f8fa", "#161b22"),
           "title": ("#1f2328", "#f0f6fc"), "text": ("#57606a", "#b1bac4"), "edge": ("#d0d7de", "#3d444d")}


def css(scheme):
    colour = {name: pair[scheme] for name, pair in COLOURS.items()}
    boxes = "".join(f".{name}{{fill:{colour[name]}}}" for name in ("blue", "yellow", "green", "pink", "page"))
    return (boxes + f".box{{stroke:{colour['text']}}}.frame{{fill:{colour['frame']};stroke:{colour['edge']}}}"
            f".t{{fill:{colour['title']}}}.s,.head{{fill:{colour['text']}}}.line{{stroke:{colour['text']}}}")


class Box:
    def __init__(self, words):
        self.column, self.row, self.colour = int(words[0]), int(words[1]), words[2]
        self.title, *self.lines = [part.strip() for part in " ".join(words[3:]).split("|")]
        texts = [len(self.title) * TITLE_LETTER] + [len(line) * LETTER for line in self.lines]
        self.wanted, self.y = round(max(texts)) + 2 * BOX_PADDING, TOP + self.row * ROW_STEP

    def svg(self):
        middle = self.x + self.width // 2
        yield f'<rect x="{self.x}" y="{self.y}" width="{self.width}" height="{BOX_HEIGHT}" rx="8" class="box {self.colour}"/>'
        yield text(middle, self.y + 24, "t", self.title)
        for i, line in enumerate(self.lines):
            yield text(middle, self.y + 44 + 16 * i, "s", line)


def text(x, y, style, words):
    return f'<text x="{x}" y="{y}" class="{style}">{html.escape(words)}</text>'


class Picture:
    def __init__(self, source):
        self.about, self.boxes, self.arrows, self.frame = "", [], [], None
        for line in source.splitlines():
            words = line.split()
            if not words or words[0] == "#":
                continue
            if words[0] == "about":
                self.about = " ".join(words[1:])
            elif words[0] == "box":
                self.boxes.append(Box(words[1:]))
            elif words[0] == "frame":
                self.frame = int(words[1]), int(words[2]), " ".join(words[3:])
            elif words[0] == "arrow":
                ends, _, label = " ".join(words[1:]).partition(" | ")
                self.arrows.append([self.find(title) for title in ends.split(" > ")] + [label])
            else:
                sys.exit(f"pictures: unknown word: {words[0]}")
        self.place()

    def find(self, title):
        found = [box for box in self.boxes if box.title == title]
        return found[0] if found else sys.exit(f"pictures: there is no box {title}")

    def place(self):
        """Columns are as wide as their widest box; the gap between two is wide enough for the label of an arrow."""
        x = MARGIN
        for column in range(max(box.column for box in self.boxes) + 1):
            boxes = [box for box in self.boxes if box.column == column]
            labels = [label for start, end, label in self.arrows if label and max(start.column, end.column) == column]
            x += 0 if column == 0 else GAP_WITH_LABEL if labels else GAP
            for box in boxes:
                box.x, box.width = x, max(box.wanted for box in boxes)
            x += boxes[0].width
        bottom = max(box.y for box in self.boxes) + BOX_HEIGHT
        self.width, self.height = x + 2 * MARGIN, bottom + (50 if self.frame else MARGIN)

    def frame_svg(self):
        first, last, words = self.frame
        left = min(box.x for box in self.boxes if box.column == first) - FRAME_GAP
        right = max(box.x + box.width for box in self.boxes if box.column == last) + MARGIN
        yield f'<rect x="{left}" y="20" width="{right - left}" height="{self.height - 38}" rx="12" class="frame" stroke-dasharray="5 4"/>'
        yield text((left + right) // 2, self.height - 28, "s", words)

    @staticmethod
    def arrow_svg(start, end, label):
        """Connects the sides of two boxes. A diagonal arrow is shifted towards the other box at one end."""
        slant = (end.row > start.row) - (end.row < start.row)
        is_back = start.column > end.column
        x0, x1 = (start.x, end.x + end.width) if is_back else (start.x + start.width, end.x)
        x0, x1 = (x0 - 2, x1 + 2) if is_back else (x0, x1 - 2)
        y0, y1 = (box.y + BOX_HEIGHT // 2 for box in (start, end))
        y0, y1 = (y0, y1 - slant * 18) if is_back else (y0 + slant * 18, y1)
        yield f'<path d="M{x0} {y0} L{x1} {y1}" class="line" stroke-width="1.6" fill="none" marker-end="url(#head)"/>'
        if label:
            below = slant != 0 and (slant > 0) != is_back
            shift = 8 if slant else 0
            yield text((x0 + x1) // 2 - shift, (y0 + y1) // 2 + (26 if below else -14 if slant else -9), "s", label)

    def svg(self):
        yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
               f'height="{self.height}" role="img" aria-label="{html.escape(self.about)}">')
        yield ("<style>.t{font:600 15px system-ui,sans-serif;text-anchor:middle}.s{font:12px system-ui,sans-serif;text-anchor:middle}"
               f"{css(0)}@media (prefers-color-scheme:dark){{{css(1)}}}</style>")
        yield ('<defs><marker id="head" markerWidth="9" markerHeight="9" refX="7" refY="4.5" orient="auto">'
               '<path d="M0 0 L9 4.5 L0 9 z" class="head"/></marker></defs>')
        yield f'<rect width="{self.width}" height="{self.height}" rx="10" class="page"/>'
        if self.frame:
            yield from self.frame_svg()
        for box in self.boxes:
            yield from box.svg()
        for arrow in self.arrows:
            yield from self.arrow_svg(*arrow)
        yield "</svg>"


def main():
    is_check = sys.argv[1:] == ["--check"]
    for source in sorted(FOLDER.glob("*.txt")):
        made = "\n".join(Picture(source.read_text()).svg()) + "\n"
        target = source.with_suffix(".svg")
        if not is_check:
            target.write_text(made)
        elif not target.exists() or target.read_text() != made:
            sys.exit(f"generated: {target.name} is not what scripts/make_pictures.py makes of {source.name}")


if __name__ == "__main__":
    main()
