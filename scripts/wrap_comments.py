#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wraps comments at 110 columns, and makes all rulers the same length.

    scripts/wrap_comments.py FILE ...

clang-format would refill whole paragraphs, including lists, tables and code in comments. This script changes only
lines that are too long, and the lines they flow into. Code is not changed; scripts/check_text.sh reports it.
"""
import re
import sys

COLUMNS = 110
RULER_COLUMNS = 108
RULER = re.compile(r'^(\s*/\* ---- .*? )-{4,} \*/$')
OPENING = re.compile(r'^(\s*)(/\*\*?) ?')
LABEL = re.compile(r'(Returns|Ownership|Threads|From|To|Locks|Not here|Input) *:\s+')
BULLET = re.compile(r'(- |\d+\. )')
TABLE = re.compile(r'("[^"]*"|\S+) {2,}(?=\S)')


def depth(text):
    return len(text) - len(text.lstrip(' '))


def hanging(text):
    """The column in which continuation lines of this line begin."""
    body = text.lstrip(' ')
    found = LABEL.match(body) or BULLET.match(body) or TABLE.match(body)
    return depth(text) + (found.end() if found else 0)


def is_code(text):
    return depth(text) >= 2 and re.search(r'[;{,]$', text) and re.search(r'=|&|->|\{\.', text)


def place_to_break(text, width, is_last):
    """Where to break. If only a word or two would be left for the last line, the rest of the clause moves with it."""
    place = text.rfind(' ', 0, width + 1)
    if is_last and len(text) - place < 25:
        earlier = [text.rfind(mark + ' ', len(text) // 2, place) for mark in '.;,']
        place = next((at + 1 for at in earlier if at > 0), place)
    return place


def goes_on(text, column):
    """Whether this line continues the paragraph whose further lines begin in that column."""
    body = text.strip()
    return (body and depth(text) == column and not body.endswith(';')
            and not LABEL.match(body) and not BULLET.match(body))


def wrap(texts, widths, tail):
    """The texts of a comment's lines, wrapped. `widths`: of the first line and of others; `tail`: the end of the last."""
    done = []
    texts = list(texts)
    while texts:
        text = texts.pop(0)
        width = widths[1 if done else 0]
        is_last = not texts
        if len(text) + (len(tail) if is_last else 0) <= width or is_code(text):
            done.append(text)
            continue
        column = hanging(text)
        place = place_to_break(text, width, is_last)
        if place <= column:
            done.append(text)
            continue
        done.append(text[:place].rstrip())
        rest = ' ' * column + text[place:].strip()
        if texts and goes_on(texts[0], column):
            texts[0] = rest + ' ' + texts[0].strip()
        else:
            texts.insert(0, rest)
    return done


def wrap_comment(lines):
    """The lines of one comment on lines of its own."""
    ruler = RULER.match(lines[0])
    if len(lines) == 1 and ruler:
        return [ruler.group(1) + '-' * (RULER_COLUMNS - len(ruler.group(1)) - 3) + ' */']
    opening = OPENING.match(lines[0])
    indent, mark = opening.groups()
    texts = [lines[0][opening.end():]]
    for line in lines[1:]:
        star = re.match(r'^\s*\*(?!/) ?', line)
        if line.strip() != '*/' and not star:
            return lines
        texts.append('' if line.strip() == '*/' else line[star.end():])
    tail = '' if lines[-1].strip() == '*/' else ' */'
    if tail:
        texts[-1] = re.sub(r'\s*\*/$', '', texts[-1])
    else:
        texts.pop()
    widths = (COLUMNS - len(indent + mark) - 1, COLUMNS - len(indent) - 3)
    done = wrap(texts, widths, tail)
    result = [(indent + (mark if i == 0 else ' *') + ' ' + text).rstrip() for i, text in enumerate(done)]
    result[-1] += tail
    return result if tail else result + [indent + ' */']


def wrap_lines(lines):
    done = []
    while lines:
        count = 1
        if re.match(r'^\s*/\*', lines[0]) and not lines[0].endswith('\\'):
            while '*/' not in lines[count - 1]:
                count += 1
        comment, lines = lines[:count], lines[count:]
        is_too_long = any(len(line) > COLUMNS for line in comment)
        is_alone = OPENING.match(comment[0]) and comment[-1].rstrip().endswith('*/')
        done += wrap_comment(comment) if is_too_long and is_alone else comment
    return done


for path in sys.argv[1:]:
    with open(path, encoding='utf-8') as file:
        before = file.read()
    after = '\n'.join(wrap_lines(before.split('\n')))
    if after != before:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(after)
