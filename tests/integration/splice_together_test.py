#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several streams of one user at once, in memory that is too small for all of them: they wait for each other. The
oracle is what each of them gives alone, computed by Python."""
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import MachineTest, eventually, main  # noqa: E402
from splice_test import GROUPS, MIB, SCHEMA, Flood, csv_of, endless, read_groups, sales  # noqa: E402


class Together(MachineTest):
    """Streams of one user whose memory is too small for all of them at once: they wait for each other."""

    def small(self, memory):
        m = self.machine(config={"pool_memory_per_user": memory})
        m.baseline(lambda: m.good("splice", "-", "--parse", "csv", "--no-header", "--schema", SCHEMA, *GROUPS, data=b"a,1,2\n"))
        return m

    def check_all(self, m, floods, *words):
        running = [flood.start(m, *words) for flood in floods]
        results = [(process.communicate(timeout=300), thread.join(), process.returncode) for process, thread in running]
        for flood, ((out, err), _, code) in zip(floods, results):
            self.assertEqual((code, err), (0, b""), m.log()[-3000:])
            self.assertEqual(read_groups(out), flood.groups)

    def test_four_at_once(self):
        """Memories that hold several of them, or one, or not even one at its preferred size."""
        for memory in ("8MiB", "24MiB", "64MiB"):
            m = self.small(memory)
            self.check_all(m, [Flood(50 * MIB, seed) for seed in range(4)])
            m.check_clean()

    def test_large_splits(self):
        """There is room for two: a stream that has memory goes on with it."""
        self.check_all(self.small("48MiB"), [Flood(60 * MIB, seed) for seed in range(4)], "--split-size", "16MiB")

    def test_rows(self):
        """Rows take as much memory as their input."""
        m, rows = self.small("24MiB"), sales(1000000, 9, odd=False)
        Path(m.path("a.csv")).write_bytes(csv_of(rows))
        wanted = b"".join(b"%d\n" % amount for _, amount, _ in rows)
        running = [m.start("splice", "a.csv", "--schema", SCHEMA, "--select", "amount", "-o", f"out{i}") for i in range(4)]
        for i, process in enumerate(running):
            _, err = process.communicate(timeout=300)
            self.assertEqual((process.returncode, err), (0, b""), m.log()[-3000:])
            self.assertEqual(Path(m.path(f"out{i}")).read_bytes(), b"amount\n" + wanted)

    def test_growing(self):
        """Groups that outgrow the memory beside the others': the first stream has its result, the
        others have theirs, or say what is wrong; none waits for ever."""
        m = self.small("96MiB")
        data = b"".join(b"%d,1,2\n" % (i * 7919 % 150000) for i in range(1500000))
        Path(m.path("a.csv")).write_bytes(data)
        words = ("splice", "a.csv", "--no-header", "--schema", SCHEMA, "--group-by", "city", "--select", "city, count() as n",
                 "-o")
        m.good(*words, "alone")
        wanted = sorted(Path(m.path("alone")).read_bytes().split(b"\n"))
        self.assertEqual(len(wanted), 150002)
        running = [m.start(*words, f"out{i}") for i in range(4)]
        done = 0
        for i, process in enumerate(running):
            _, err = process.communicate(timeout=300)
            if process.returncode == 0:
                self.assertEqual(sorted(Path(m.path(f"out{i}")).read_bytes().split(b"\n")), wanted)
                done += 1
            else:
                self.assertRegex(err, b"its groups do not fit the memory|needs about")
        print(f"{done} of 4 had room for their groups", file=sys.stderr)
        self.assertGreater(done, 0)
        m.check_clean()

    def test_limit_of_its_own(self):
        """A stream whose --memory is too small does not wait for others where there is room."""
        m = self.small("256MiB")  # of 96 the first may reserve so much that not even 8 MiB are left
        first, writer = endless(m, *GROUPS, "-o", "first")
        self.addCleanup(writer.wait)
        self.addCleanup(writer.kill)
        self.assertTrue(eventually(lambda: any(job["state"] == "running" for job in m.json("jobs")["jobs"])))
        data = b"".join(b"%d,1,2\n" % i for i in range(300000))
        result = m.run("splice", "-", "--parse", "csv", "--no-header", "--schema", SCHEMA, *GROUPS, "--memory", "8MiB", data=data,
                       timeout=60)
        self.assertEqual((result.code, result.out), (4, b""), result)
        self.assertIn("memory", result.err)
        first.send_signal(signal.SIGINT)
        self.end(first, 130, b"cancelled")

    def who_waits(self, m):
        """The number of the one job that waits for memory and is therefore called queued."""
        found = eventually(lambda: [job for job in m.json("jobs")["jobs"] if job["stage"] == "waits for memory"])
        self.assertEqual([job["state"] for job in found or []], ["queued"], m.log()[-3000:])
        return found[0]["id"]

    def waiting(self, m):
        """One that holds the memory as long as its input lives, and one that waits for it."""
        first, writer = endless(m, *GROUPS, "-o", "first", "--split-size", "16MiB")
        self.assertTrue(eventually(lambda: any(job["state"] == "running" and job["seconds"] > 0.5
                                               for job in m.json("jobs")["jobs"])))
        second = m.start("splice", "-", "--parse", "csv", "--no-header", "--delimiter", ",", "--schema", SCHEMA, *GROUPS, "--split-size", "16MiB",
                         "--deadline", "60s", stdin=subprocess.PIPE)
        found = self.who_waits(m)
        self.addCleanup(writer.wait)
        self.addCleanup(writer.kill)
        return first, second, found

    def end(self, process, code, says):
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, code, err)
        self.assertIn(says, err)

    def test_ends_of_one_that_waits(self):
        """It says what it waits for, and every way to end it works while it waits; the other stream goes on."""
        m = self.small("42MiB")
        first, second, job = self.waiting(m)
        self.assertIn("waits for memory", m.good("log", str(job)).decode())
        self.assertIn("memory", m.good("show", str(job)).decode())
        second.send_signal(signal.SIGINT)
        self.end(second, 130, b"cancelled")
        for how in ("cancel", "deadline", "kill"):
            words = ("--deadline", "1s") if how == "deadline" else ()
            second = m.start("splice", "-", "--parse", "csv", "--no-header", "--delimiter", ",", "--schema", SCHEMA, *GROUPS, "--split-size", "16MiB",
                             *words, stdin=subprocess.PIPE)
            if how == "deadline":
                self.end(second, 1, b"deadline")
                continue
            found = self.who_waits(m)
            if how == "cancel":
                m.good("cancel", str(found))
                self.end(second, 130, b"cancelled")
            else:
                second.kill()
                second.communicate()
                self.assertTrue(eventually(lambda: m.json("show", found)["state"] == "cancelled"))
        self.assertEqual([j["state"] for j in m.json("jobs")["jobs"] if j["state"] != "cancelled"].count("running"), 1)
        first.send_signal(signal.SIGINT)
        self.end(first, 130, b"cancelled")

    def test_never(self):
        """A stream that does not fit even alone is refused at once."""
        m = self.machine(config={"pool_memory_per_user": "1MiB"})
        m.bad(4, "splice", "-", "--parse", "csv", "--no-header", "--schema", SCHEMA, *GROUPS, data=b"a,1,2\n",
              says="would exceed this user's limit of 1 MiB of memory")


if __name__ == "__main__":
    main()
