#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sub-operators whose predecessors are all queued on one executor are sent ahead. The executors are
support/fake_executor.py, which records what it was given and when."""
import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import LIBEXEC, ONE_DEVICE, TWO_DEVICES, Machine, main  # noqa: E402

FAKE = Path(__file__).resolve().parent.parent / "support" / "fake_executor.py"
CHAIN = """name: chain
vectors:
  a: {template: FixValueVector, type: f64, value: 1, rows: 64}
operators:
  - map: {expr: "a + 1", out: b}
  - scan: {in: b, function: sum, out: c}
  - map: {expr: "b * c", out: d}
  - map: {expr: "d - 1", out: e}
outputs: {e: {format: raw, columns: {e: e}}}
"""
CODELETS = ["op.map", "op.scan_sums", "op.scan", "op.map", "op.map"]
SIDE_BY_SIDE = """name: side-by-side
vectors:
  a: {template: FixValueVector, type: f64, value: 1, rows: 64}
operators:
  - op: both
    do:
      - map: {expr: "a + 1", out: b}
      - scan: {in: a, function: sum, out: c}
      - map: {expr: "b * 2", out: d}
outputs:
  c: {format: raw, columns: {c: c}}
  d: {format: raw, columns: {d: d}}
"""
AFTER = [(), (0,), (0, 1), (0, 2), (3,)]


class Ahead(unittest.TestCase):
    def machine(self, profile=ONE_DEVICE):
        root = Path(tempfile.mkdtemp(prefix="hac-ahead-"))
        self.addCleanup(shutil.rmtree, root)
        libexec, self.counts = root / "libexec", root / "counts"
        libexec.mkdir()
        self.counts.mkdir()
        (libexec / "hacd").symlink_to(LIBEXEC / "hacd")
        (libexec / "hac-executor").symlink_to(FAKE)
        machine = Machine(profile, environment={"HAC_LIBEXEC": str(libexec), "HAC_TEST_COUNTS": str(self.counts),
                                                "HAC_TEST_EXECUTOR": str(LIBEXEC / "hac-executor")})
        self.addCleanup(machine.close)
        return machine

    def run_chain(self, machine, *options, text=CHAIN, **how):
        (self.counts / "how").write_text(json.dumps(how))
        (machine.work / "chain.yaml").write_text(text)
        done = machine.run("opsplit", "run", "chain.yaml", "-o", "out", *options)
        log = self.counts / "tasks"
        lines = [line.split() for line in log.read_text().splitlines()]
        log.unlink()
        given = [(w[0], int(w[4]), int(w[5])) for w in lines if w[0] != "left-out"]
        return done, given, [int(w[2]) for w in lines if w[0] == "left-out"]

    def test_one_after_the_other(self):
        """Each task is sent while its predecessor runs, and names it."""
        done, given, left_out = self.run_chain(self.machine(), sleep=0.3)
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual([codelet for codelet, _, _ in given], CODELETS)
        self.assertEqual(given[0][2], 0)
        for (_, _, behind), after in list(zip(given, AFTER))[1:]:
            self.assertIn(behind, [given[i][1] for i in after], given)
        self.assertEqual(left_out, [])

    def test_failed(self):
        """Tasks that depend on a failed task are skipped, and the failure is that task's."""
        done, given, left_out = self.run_chain(self.machine(), sleep=0.3,
                                               fail={"codelet": "op.scan", "code": 1, "message": "no"})
        self.assertEqual(done.code, 1)
        self.assertIn("chain.yaml:6:", done.err)
        self.assertNotIn("left out", done.err)
        self.assertEqual([codelet for codelet, _, _ in given], CODELETS[:3])
        self.assertIn(left_out, ([given[2][1] + 1], [given[2][1] + 1, given[2][1] + 2]))

    def test_killed(self):
        """The next executor gets what a dead one held, in order."""
        done, given, left_out = self.run_chain(self.machine(), sleep=0.3, die={"codelet": "op.scan", "times": 1})
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual([codelet for codelet, _, _ in given], [*CODELETS[:3], *CODELETS[2:]])
        self.assertEqual(left_out, [])

    def test_program_missing(self):
        """Tasks that are skipped because a program has to be built first are sent again."""
        done, given, left_out = self.run_chain(self.machine(), sleep=0.3,
                                               fail={"codelet": "op.scan", "code": 11, "times": 1,
                                                     "program": "selftest"})
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual([codelet for codelet, _, _ in given], [*CODELETS[:3], *CODELETS[2:]])
        self.assertIn(len(left_out), (1, 2))

    def test_another_failed(self):
        """Tasks that are skipped although all their predecessors have ended are sent again, too."""
        done, given, left_out = self.run_chain(self.machine(), text=SIDE_BY_SIDE, sleep=0.3,
                                               fail={"codelet": "op.scan_sums", "code": 11, "times": 1,
                                                     "program": "selftest"})
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted(codelet for codelet, _, _ in given),
                         ["op.map", "op.map", "op.scan", "op.scan_sums", "op.scan_sums"])
        self.assertGreater(len(left_out), 0)

    def test_early(self):
        """An answer for a task that cannot have run yet ends the executor; the next one does its work."""
        machine = self.machine()
        done, given, _ = self.run_chain(machine, sleep=0.3, early={"codelet": "op.scan", "times": 1})
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual([codelet for codelet, _, _ in given].count("op.scan"), 2)
        self.assertIn("reported a task it was not given, or not yet to do", machine.log())

    def test_two_devices(self):
        """Wherever tasks run: every task once, and none before its predecessors."""
        done, given, left_out = self.run_chain(self.machine(TWO_DEVICES), "--components", "2")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted(codelet for codelet, _, _ in given), sorted(CODELETS))
        self.assertEqual(left_out, [])


if __name__ == "__main__":
    main()
