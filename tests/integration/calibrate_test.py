#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans are priced by what calibrate measured."""
import collections
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracle"))
import columns  # noqa: E402
import duck  # noqa: E402
from machine import ONE_DEVICE, TWO_DEVICES, MachineTest, main  # noqa: E402
from random_table import Column  # noqa: E402

ROWS = 400000


class Table:
    rows = ROWS


class Calibrate(MachineTest):
    """full"""

    @classmethod
    def setUpClass(cls):
        keys = [i * 7 % 1000 for i in range(ROWS)]
        cls.counts = collections.Counter(keys)
        cls.arrow = columns.Columns(random.Random(1), Table, [Column("k", "k", "u32", True, "u", values=keys)])

    def query(self, client):
        """Rows by key: the candidates that were priced."""
        status, text, receipt = client.query(self.arrow, {"group_by": "k", "select": "count() as c"})
        self.assertEqual(status, 0, text)
        self.assertEqual({int(k): int(c) for k, c in duck.read_csv(text.decode())[1:]}, self.counts)
        return self.m.json("show", json.loads(receipt)["job"])["plan"]["candidates"]

    def start(self, profile):
        self.m = self.machine(profile)
        self.m.daemon()
        client = columns.Client(self.m.socket)
        self.addCleanup(client.close)
        return client

    def test_queries_are_priced(self):
        for profile in (ONE_DEVICE, TWO_DEVICES):
            with self.subTest(profile=profile):
                client = self.start(profile)
                ways = self.query(client)
                self.assertTrue(any("not measured" in way["reason"] for way in ways), ways)
                report = self.m.json("calibrate", timeout=300)
                names = [d["name"] for d in self.m.devices()]
                for device in report["devices"]:
                    measured = {(m["codelet"], m["keys"]) for m in device["models"] if "keys" in m}
                    wanted = {(codelet, keys) for codelet in ("query.aggregate", "hash.aggregate")
                              for keys in (64, 4096, 262144)}
                    self.assertEqual(measured, wanted if device["name"] in names else set())
                    self.assertTrue(all(m["seconds"] > 0 for m in device["models"]))
                for device in self.m.devices():
                    self.assertGreater(device["capability"]["hash.aggregate.none"], 0)
                    self.assertGreater(device["capability"]["query.aggregate.none"], 0)
                ways = self.query(client)
                self.assertTrue(any(way["name"].startswith("device on ") for way in ways))
                self.assertFalse([way for way in ways if "measured" in way["reason"]])
                best = min((way for way in ways if way["predicted_seconds"] is not None),
                           key=lambda way: way["predicted_seconds"])
                chosen = [way for way in ways if way["chosen"]]
                self.assertEqual(len(chosen), 1)
                self.assertLessEqual(chosen[0]["predicted_seconds"], 1.06 * best["predicted_seconds"])

    def test_one_of_two(self):
        """The rate of one device says nothing about both together."""
        for profile, says in ((TWO_DEVICES, "only one device was measured: when a sort of {} is split is not known"),
                              (ONE_DEVICE, "a sort of {} runs on one device at every size")):
            with self.subTest(profile=profile):
                self.m = self.machine(profile)
                report = self.m.json("calibrate", self.m.devices()[0]["name"], timeout=300)
                self.assertEqual([size["text"] for size in report["break_even"]],
                                 [says.format(size["type"]) for size in report["break_even"]])
                self.assertEqual(len(report["break_even"]), 6)


if __name__ == "__main__":
    main()
