#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Word count as a streaming job: `peer_words.py map < FILE | LC_ALL=C sort | peer_words.py reduce`."""

import sys


def mapper():
    for line in sys.stdin.buffer:
        for word in line.split():
            sys.stdout.buffer.write(word + b"\t1\n")


def reducer():
    current, count = None, 0
    for line in sys.stdin.buffer:
        word, n = line.split(b"\t")
        if word != current:
            if current is not None:
                sys.stdout.buffer.write(b"%s,%d\n" % (current, count))
            current, count = word, 0
        count += int(n)
    if current is not None:
        sys.stdout.buffer.write(b"%s,%d\n" % (current, count))


mapper() if sys.argv[1:] == ["map"] else reducer()
