#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/metrics.md, the alert rules and the dashboard name metrics that exist. `--write` renews the page's
tables from the sources (target hac_metrics_docs)."""
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("HAC_TEST_BUILD", SOURCE / "build" / "dev")).resolve()
REFERENCE = BUILD / "daemon" / "server" / "hac-metrics-reference"
PAGE = SOURCE / "docs" / "metrics.md"
EXAMPLES = SOURCE / "docs" / "examples" / "monitoring"
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "info": ("_info",), "histogram": ("_bucket", "_count", "_sum")}


def table(which):
    return subprocess.run([REFERENCE, which], check=True, capture_output=True, text=True).stdout


def renewed(text):
    for which in ("metrics", "log"):
        text, n = re.subn(rf"(<!-- table: {which} -->\n).*?(<!-- end -->)",
                          lambda m, rows=table(which): m[1] + rows + m[2], text, flags=re.S)
        if n != 1:
            raise AssertionError(f"{PAGE} has {n} places for the table of {which}")
    return text


class Page(unittest.TestCase):
    def setUp(self):
        self.families = dict(re.findall(r"^\| `(\w+)` \| (\w+) ", table("metrics"), re.M))
        self.samples = {name + suffix for name, kind in self.families.items() for suffix in SUFFIXES[kind]}
        self.rules = (EXAMPLES / "hacd-alerts.yaml").read_text()

    def known(self, text, where):
        used = set(re.findall(r"\bhacd_\w+", text))
        self.assertTrue(used)
        self.assertEqual(used - self.samples, set(), f"{where} names metrics that there are not")

    def test_page(self):
        self.assertEqual(PAGE.read_text(), renewed(PAGE.read_text()), "build the target hac_metrics_docs")

    def test_names(self):
        for name, kind in self.families.items():
            self.assertRegex(name, r"^hacd_[a-z_]+$")
            self.assertFalse(name.endswith(("_total", "_info", "_bucket", "_count", "_sum")), name)

    def test_alerts(self):
        expressions = re.findall(r"^ +expr: (.*(?:\n {10,}.*)*)", self.rules, re.M)
        alerts = re.findall(r"^ +- alert: (\w+)$", self.rules, re.M)
        self.assertEqual(len(expressions), len(alerts))
        for alert, expression in zip(alerts, expressions):
            self.known(expression, alert)
        named = set(re.findall(r"\balert (\w+)", table("metrics")))
        self.assertEqual(named, set(alerts), "alerts in the table of metrics, and the rules")
        self.assertEqual(set(re.findall(r"^\| `(Hacd\w+)` \|", PAGE.read_text(), re.M)), set(alerts))

    def test_dashboard(self):
        dashboard = json.loads((EXAMPLES / "hacd-dashboard.json").read_text())
        ids, places = set(), set()
        for panel in dashboard["panels"]:
            self.assertNotIn(panel["id"], ids)
            ids.add(panel["id"])
            at = panel["gridPos"]
            for x in range(at["x"], at["x"] + at["w"]):
                for y in range(at["y"], at["y"] + at["h"]):
                    self.assertNotIn((x, y), places, panel["title"])
                    places.add((x, y))
            self.assertLessEqual(at["x"] + at["w"], 24)
            if panel["type"] == "row":
                continue
            self.assertTrue(panel["targets"], panel["title"])
            for target in panel["targets"]:
                self.known(target["expr"], panel["title"])


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(renewed(PAGE.read_text()))
    else:
        unittest.main(verbosity=2)
