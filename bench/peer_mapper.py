# SPDX-License-Identifier: Apache-2.0
"""Mappers as they are written for Hadoop Streaming: the peer of `hacctl pipe`.

  peer_mapper.py filter   id TAB key TAB price TAB quantity: key TAB price of those with a quantity above 50
  peer_mapper.py sums     the same lines: key TAB sum of the prices
  peer_mapper.py words    word TAB count
"""

import collections
import sys


def filter_lines(lines):
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        if int(fields[3]) > 50:
            print(fields[1], float(fields[2]), sep="\t")


def sums(lines):
    found = collections.defaultdict(float)
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        found[fields[1]] += float(fields[2])
    for key, value in found.items():
        print(key, value, sep="\t")


def words(lines):
    found = collections.Counter()
    for line in lines:
        found.update(line.split())
    for key, value in found.items():
        print(key, value, sep="\t")


{"filter": filter_lines, "sums": sums, "words": words}[sys.argv[1]](sys.stdin)
