#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""demo_answers.py FOLDER: whether what tools/demo left in FOLDER is right, by plain Python. One line for each flow."""
import array
import collections
import csv
import decimal
import itertools
import operator
import sys
from pathlib import Path

folder = Path(sys.argv[1])


def rows(name):
    with open(folder / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def keys(name):
    numbers = array.array("I")
    numbers.frombytes((folder / name).read_bytes())
    return numbers


def sort():
    before, after = keys("keys.u32"), keys("sorted.u32")
    return (len(before) == len(after) and all(map(operator.le, after, itertools.islice(after, 1, None)))
            and sum(before) == sum(after) and sum(map(operator.mul, before, before)) == sum(map(operator.mul, after, after)))


def by_city():
    revenue, orders = collections.Counter(), collections.Counter()
    for row in rows("sales.csv"):
        orders[row["city"]] += 1
        revenue[row["city"]] += int(row["quantity"]) * decimal.Decimal(row["price"] or 0)
    expected = [(city, str(orders[city]), value) for city, value in revenue.most_common()]
    return [(r["city"], r["orders"], decimal.Decimal(r["revenue"])) for r in rows("cities.csv")] == expected


def words():
    count = collections.Counter((folder / "alice.txt").read_text(encoding="utf-8").lower().split())
    expected = sorted(count.items(), key=lambda item: (-item[1], item[0]))[:5]
    return [(r["word"], int(r["n"])) for r in rows("words.csv")] == expected


def by_month():
    count, dearest = collections.Counter(), collections.defaultdict(decimal.Decimal)
    for row in rows("sales.csv"):
        month = int(row["day"][5:7])
        count[month] += 1
        dearest[month] = max(dearest[month], decimal.Decimal(row["price"] or 0))
    return ([(int(r["month"]), int(r["orders"]), decimal.Decimal(r["dearest"])) for r in rows("months.csv")]
            == [(m, count[m], dearest[m]) for m in sorted(count)][:3])


def ranks():
    links = collections.defaultdict(set)
    for line in (folder / "club.txt").read_text(encoding="utf-8").splitlines():
        a, b = map(int, line.split())
        links[a].add(b)
        links[b].add(a)
    rank = dict.fromkeys(links, 1 / len(links))
    for _ in range(300):
        rank = {n: 0.15 / len(links) + 0.85 * sum(rank[m] / len(links[m]) for m in links[n]) for n in links}
    found = {int(r["node"]): float(r["rank"]) for r in rows("ranks/ranks.csv")}
    return found.keys() == rank.keys() and all(abs(found[n] - rank[n]) < 1e-9 for n in rank)


right = True
for flow, check in {"sort": sort, "mapreduce": by_city, "splice": words, "parquet": by_month, "opsplit": ranks}.items():
    ok = check()
    right &= ok
    print(f"  {flow:10} {'right' if ok else 'WRONG'}")
sys.exit(not right)
