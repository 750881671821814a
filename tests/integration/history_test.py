#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ended jobs are remembered: beyond hacd's end, its kill, a private daemon's leave; for their own user only; whatever
stands in the files."""
import json
import os
import signal
import stat
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from machine import MachineTest, eventually, main  # noqa: E402
from users import DETACH, LOG, PLAN, RECEIPT, SHOW, TRACE, WHY, UsersTest  # noqa: E402

MAX, ALL_JOBS = 1000, 13
LOGIC = """name: twice
inputs: {p: {parse: csv, schema: "k:i64"}}
vectors: {y: {template: FixValueVector, type: i64}}
operators: [map: {expr: "p.k * 2", out: y}]
outputs: {o: {columns: [y]}}
"""


def folder_of(machine, uid=None):
    return machine.root / "state_home" / "hac" / "jobs" / str(os.getuid() if uid is None else uid)


def names(folder):
    return sorted(int(name) for name in os.listdir(folder) if name.isdigit()) if folder.exists() else []


def text_of(client, topic, job=0):
    """The answer, or None and why there is none."""
    got = client.text(wire.QUERY, wire.message(f1=topic, f2=job))
    return (got, None) if isinstance(got, str) else (None, got[1][2][0].decode())


class History(MachineTest):
    def three_jobs(self, m):
        (m.work / "in.csv").write_text("k\n1\n2\n3\n")
        (m.work / "twice.yaml").write_text(LOGIC)
        m.generate("u32", "random", 50000)
        m.sort_and_check("u32", "--algorithm", "bitonic")
        m.good("mapreduce", "in.csv", "--select", "sum(k) as s", "-o", "out.csv")
        m.good("opsplit", "run", "twice.yaml", "--input", "p=in.csv", "-o", "made")
        return [job["id"] for job in m.json("jobs")["jobs"]]

    def answers(self, m, job):
        shown = m.json("show", job)
        shown.pop("memory_bytes")
        return (shown, m.json("why", job), json.loads(m.good("trace", job)), m.good("log", job),
                m.good("show", job, "--format", "svg"), m.good("show", job, "--receipt", "-"))

    def same(self, m, before):
        listed = {job["id"]: job for job in m.json("jobs", "--all")["jobs"]}
        for job, answers in before.items():
            self.assertEqual(self.answers(m, job), answers)
            self.assertEqual({k: v for k, v in listed[job].items() if k != "memory_bytes"},
                             {k: v for k, v in answers[0].items() if k not in ("receipt", "plan")})

    def end(self, m, how):
        daemon = m.daemon()
        os.kill(daemon.pid, how)
        daemon.wait()

    def test_end_and_restart(self):
        m = self.machine()
        ids = self.three_jobs(m)
        time.sleep(0.1)
        self.assertEqual(ids, list(range(1, len(ids) + 1)))
        before = {job: self.answers(m, job) for job in ids}
        newest = m.json("why")
        run = next(job for job in ids if before[job][0]["flow"] == "opsplit")
        self.assertEqual(newest["job"], run)  # not the job that wrote its output
        for _ in range(2):
            self.end(m, signal.SIGTERM)
            self.assertEqual(m.json("jobs")["jobs"], [])
            self.same(m, before)
            self.assertEqual(m.json("why"), newest)
            self.assertEqual(m.json("show")["id"], run)
            self.assertEqual(json.loads(m.good("trace")), before[run][2])
            self.assertIn("Predicted", m.good("why").decode())
        m.sort_and_check("u32", "--algorithm", "bitonic")
        self.assertEqual([job["id"] for job in m.json("jobs")["jobs"]], [len(ids) + 1])
        self.assertEqual([job["id"] for job in m.json("jobs", "--all")["jobs"]], [*ids, len(ids) + 1])
        self.assertEqual(m.json("show")["id"], len(ids) + 1)
        for words in (("show", "77"), ("why", "77"), ("trace", "77"), ("log", "77")):
            m.bad(2, *words, says="there is no job 77 of yours")
        for words in (("result", "1"), ("wait", "1")):
            m.bad(2, *words, says="there is no job 1 of yours that hacd still has at hand")

    def test_parts_under_their_run(self):
        m = self.machine()
        self.three_jobs(m)
        for words in ((), ("--all",)):
            lines = m.good("jobs", *words).decode().splitlines()
            at = next(i for i, line in enumerate(lines) if "  opsplit" in line)
            self.assertEqual([("└" in line) for line in lines[at - 1:]], [False, False, True, True], lines)
        self.end(m, signal.SIGTERM)
        again = m.good("jobs", "--all").decode().splitlines()
        self.assertEqual([line.split()[:3] for line in again], [line.split()[:3] for line in lines])
        self.assertEqual([("└" in line) for line in again], [("└" in line) for line in lines])

    def test_no_job_at_all(self):
        m = self.machine()
        self.assertEqual(m.json("jobs", "--all"), {"jobs": []})
        for command in ("show", "why", "trace", "log"):
            m.bad(2, command, says="you have no jobs")

    def test_killed(self):
        m = self.machine()
        ids = self.three_jobs(m)
        before = {job: self.answers(m, job) for job in ids}
        folder = folder_of(m)
        self.assertTrue(eventually(lambda: names(folder) == ids))
        time.sleep(0.6)  # what they are part of may be written once more
        for path, mode in ((folder, 0o700), (folder.parent, 0o700), *((folder / str(job), 0o600) for job in ids)):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), mode, path)
        self.end(m, signal.SIGKILL)
        self.same(m, before)
        m.sort_and_check("u32")
        self.assertGreater(m.json("show")["id"], ids[-1])

    def test_numbers_after_a_kill(self):
        """A number that was given out is not given out again, even if nothing was written since."""
        m = self.machine()
        last = 0
        data = b"\x03\0\0\0\x01\0\0\0"
        for _ in range(3):
            daemon = m.daemon()
            with wire.Client(m.socket) as client:
                sort = wire.sort_inline("u32", data, options=DETACH)
                given = [client.ask(wire.SUBMIT_SORT, sort)[1][1][0] for _ in range(3)]
                os.kill(daemon.pid, signal.SIGKILL)
            daemon.wait()
            self.assertGreater(given[0], last)
            self.assertEqual(given, list(range(given[0], given[0] + 3)))
            last = given[-1]
        m.daemon()
        with wire.Client(m.socket) as client:
            given = client.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", data))[1][1][0]
            self.assertGreater(given, last)
        self.end(m, signal.SIGTERM)  # what was reserved and not used is given back
        m.daemon()
        with wire.Client(m.socket) as client:
            self.assertEqual(client.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", data))[1][1][0], given + 1)

    def test_private_daemon_leaves(self):
        """A private daemon that has nothing to do ends; who asks starts the next one."""
        m = self.machine(config={"idle_exit": "1s", "executor_idle_timeout": "1s"})
        ids = self.three_jobs(m)
        before = {job: self.answers(m, job) for job in ids}
        self.assertEqual(m.daemon().wait(), 0)
        self.same(m, before)

    def test_many(self):
        """Of 1,100 jobs the last 1,000; numbers go on."""
        m = self.machine()
        m.daemon()
        client = wire.Client(m.socket)
        data = b"\x03\0\0\0\x01\0\0\0"
        for _ in range(1100):
            self.assertEqual(client.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", data))[0], wire.R_DONE)
        client.close()
        self.assertGreater(len(m.json("jobs", "--all")["jobs"]), MAX - 1)
        self.end(m, signal.SIGTERM)
        self.assertEqual(names(folder_of(m)), list(range(101, 1101)))
        self.assertEqual([job["id"] for job in m.json("jobs", "--all")["jobs"]], list(range(101, 1101)))
        self.assertEqual(m.json("show", 101)["flow"], "sort")
        m.bad(2, "show", 100, says="there is no job 100")
        self.assertEqual(m.json("show")["id"], 1100)

    def test_old_records(self):
        """They are removed when hacd starts, whether or not their user comes again."""
        m = self.machine()
        ids = self.three_jobs(m)
        self.end(m, signal.SIGTERM)
        gone = folder_of(m).with_name("60009")
        gone.mkdir()
        for path in (folder_of(m) / "1", gone / "7"):
            path.write_bytes((folder_of(m) / "1").read_bytes())
            os.utime(path, (time.time() - 91 * 86400,) * 2)
        m.daemon()
        self.assertTrue(eventually(lambda: names(folder_of(m)) == ids[1:] and names(gone) == []))
        self.assertEqual([job["id"] for job in m.json("jobs", "--all")["jobs"]], ids[1:])
        m.bad(2, "show", 1, says="there is no job 1 of yours")

    def test_hostile_files(self):
        m = self.machine()
        ids = self.three_jobs(m)
        before = {job: self.answers(m, job) for job in ids}
        self.end(m, signal.SIGTERM)
        folder = folder_of(m)
        good = (folder / "1").read_bytes()
        (folder.parent / "next").write_text("99999999999999999999\n")
        bad = {21: b"", 22: good, 23: good[:-1], 24: good[:len(good) // 2] + bytes(len(good) - len(good) // 2),
               25: b"hac job record 1 25 0000000000000000\nline 99999999999999999999\n", 26: b"\xff" * 5000,
               27: good + b"x", 28: good.replace(b"record 1 1 ", b"record 1 28 ", 1).replace(b'"id":1,', b'"id":9,', 1)}
        for job, content in bad.items():
            (folder / str(job)).write_bytes(content)
        with open(folder / "29", "wb") as file:
            file.truncate(1 << 40)
        (folder / "30").symlink_to(folder / "1")
        os.mkfifo(folder / "31")
        (folder / "32").mkdir()
        (folder / "99999999999999").write_bytes(good)
        (folder / "name").write_bytes(good)
        (folder.parent / "4294967296").mkdir()
        (folder.parent / "12").write_text("")
        os.symlink("/etc", folder.parent / "13")
        self.same(m, before)
        for job in (*range(21, 33), 99999999999999):
            for command in ("show", "why", "trace", "log"):
                said = m.bad(2, command, job)
                self.assertRegex(said, r"there is no job|cannot be used")
        self.assertEqual([job["id"] for job in m.json("jobs", "--all")["jobs"]], ids)
        self.three_jobs(m)
        self.end(m, signal.SIGTERM)
        self.same(m, before)

    def test_no_folder(self):
        """What stands in the way of the folder is no reason not to work."""
        m = self.machine()
        (m.root / "state_home" / "hac").mkdir(exist_ok=True)
        (m.root / "state_home" / "hac" / "jobs").write_text("a file")
        self.three_jobs(m)
        self.assertEqual(m.json("show")["flow"], "opsplit")
        self.assertTrue(eventually(lambda: "/jobs: Not a directory" in m.log()))
        self.assertEqual(m.log().count("/jobs: Not a directory"), 1)
        self.end(m, signal.SIGTERM)
        self.assertEqual(m.json("jobs", "--all"), {"jobs": []})


class Users(UsersTest):
    def test_one_bad_folder(self):
        """What stands in the way of one user's records is nothing to the others."""
        m, daemon = self.shared()
        one, two = self.user(m, 60001), self.user(m, 60002)
        data = b"\x03\0\0\0\x01\0\0\0"
        folder = folder_of(m, 60001)
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        folder.write_text("a file")
        for client in (one, two, one, two):
            self.assertEqual(client.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", data))[0], wire.R_DONE)
        self.assertTrue(eventually(lambda: names(folder_of(m, 60002)) == [2, 4]))
        self.assertTrue(eventually(lambda: "/jobs/60001: Not a directory" in m.log()))
        folder.unlink()  # what waited is written now
        self.assertTrue(eventually(lambda: names(folder) == [1, 3]))
        folder.rename(folder.with_name("away"))
        folder.write_text("a file")
        for client in (one, two):
            self.assertEqual(client.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", data))[0], wire.R_DONE)
            client.close()
        os.kill(daemon.pid, signal.SIGTERM)
        daemon.wait()
        self.assertEqual(names(folder_of(m, 60002)), [2, 4, 6])

    def test_two_users(self):
        """Each sees their own jobs, after a restart too; the service's own user sees all."""
        m, daemon = self.shared()
        one, two = self.user(m, 60001), self.user(m, 60002)
        data = b"\x03\0\0\0\x01\0\0\0"
        for client in (one, two, one):
            self.assertEqual(client.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", data))[0], wire.R_DONE)
        for client in (one, two):
            client.close()
        os.kill(daemon.pid, signal.SIGTERM)
        daemon.wait()
        self.assertEqual((names(folder_of(m, 60001)), names(folder_of(m, 60002))), ([1, 3], [2]))
        self.assertEqual(os.stat(folder_of(m, 60001)).st_uid, 0)
        os.chmod(m.socket.parent, 0o700)
        m.daemon()
        os.chmod(m.socket.parent, 0o755)
        os.chmod(m.socket, 0o666)
        one, two = self.user(m, 60001), self.user(m, 60002)

        def listed(client):
            return [job["id"] for job in json.loads(text_of(client, ALL_JOBS)[0])["jobs"]]

        self.assertEqual((listed(one), listed(two)), ([1, 3], [2]))
        service = self.user(m, 0)
        self.assertEqual(listed(service), [1, 2, 3])
        self.assertEqual(json.loads(text_of(service, SHOW, 2)[0])["user"], 60002)
        self.assertEqual(json.loads(text_of(one, SHOW)[0])["id"], 3)
        self.assertEqual(json.loads(text_of(two, SHOW)[0])["id"], 2)
        for topic in (SHOW, WHY, RECEIPT, LOG, TRACE, PLAN):
            self.assertIsNotNone(text_of(one, topic, 1)[0])
            self.assertIn("there is no job 2 of yours", text_of(one, topic, 2)[1])
            self.assertIn("there is no job 1 of yours", text_of(two, topic, 1)[1])


if __name__ == "__main__":
    main()
