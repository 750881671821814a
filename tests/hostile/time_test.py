#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks that once succeeded. What one user takes from others' time: plans that no job needs, and tasks that do not end.
Each test stands for a kind of attack. Needs root (support/attacks.py)."""
import array
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from attacks import ATTACKER, DONE, VICTIM, AttackTest, as_user  # noqa: E402
from machine import HACCTL, LIBEXEC, ONE_DEVICE, eventually, main  # noqa: E402
from users import ACKNOWLEDGE, CANCELLED, JOBS, User, failure  # noqa: E402

EUCLIDEAN = 10
SUPPORT = Path(__file__).resolve().parent.parent / "support"


class Plans(AttackTest):
    """L3: what plans cost hacd, which makes them for anybody who asks, was charged to nobody."""
    RATES = ("sort.u32", "mapreduce.none")

    def simulated(self, n):
        rates = [[wire.message(f1=key, f2=1e8 / (1 + i)) for key in self.RATES] for i in range(n)]
        return [wire.message(f1=f"d{i}", f2=f"g{i}", f3="gpu" if i % 2 else "cpu", f5=2, f11=1e9 * (1 + i % 3), f12=1e-5, f13=own)
                for i, own in enumerate(rates)]

    def attack(self, machine, uid, n):
        """Connections that ask for plans all the time. Returns the attackers' process."""
        devices = self.simulated(16)
        questions = [(wire.PLAN_SORT, wire.message(f1=wire.field(1, 1), f2=1 << 34, f3=b"", f4=1, f5=1, f6=devices)),
                     (wire.PLAN_QUERY, wire.message(f1=wire.query_spec(), f2=wire.varint(1 << 30), f3=b"", f4=1, f5=1, f6=devices))]
        clients = [User(machine, uid).connect() for _ in range(n)]
        pid = os.fork()
        if pid > 0:
            for client in clients:
                client.close()
            return pid
        try:
            for i, client in enumerate(clients):
                client.send(*questions[i % 2])
            while True:
                for i, client in enumerate(clients):
                    if select.select([client.socket], [], [], 0)[0] and client.receive() is not None:
                        client.send(*questions[i % 2])
                select.select([client.socket for client in clients], [], [], 1)
        finally:
            os._exit(0)

    def end(self, pid):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def milliseconds(self, client, n):
        """How long each of n small jobs takes."""
        taken, sort = [], wire.sort_inline("u32", bytes(4000))
        for _ in range(n):
            began = time.monotonic()
            self.assertEqual(client.ask(wire.SUBMIT_SORT, sort)[0], wire.R_DONE)
            taken.append((time.monotonic() - began) * 1e3)
        return taken

    def test_small_jobs_beside_plans(self):
        machine, _ = self.shared(config={"executor_idle_timeout": "60s"})
        victim = self.user(machine, VICTIM)
        self.milliseconds(victim, 50)
        alone, beside = [], []
        for _ in range(3):
            alone += self.milliseconds(victim, 150)
            pid = self.attack(machine, ATTACKER, 16)
            try:
                time.sleep(0.1)
                beside += self.milliseconds(victim, 150)
            finally:
                self.end(pid)
        alone.sort()
        beside.sort()
        figures = [times[int(len(times) * part)] for times in (alone, beside) for part in (0.5, 0.99)]
        print("small jobs alone: p50 {:.2f} ms, p99 {:.2f} ms; beside plans: {:.2f}, {:.2f}".format(*figures), file=sys.stderr)
        self.assertLess(figures[2], max(8 * figures[0], 3))
        self.assertLess(figures[3], max(8 * figures[1], 100))

    def spent(self, client, uid):
        lines = [line for line in client.text(wire.QUERY, wire.message(f1=10)).splitlines()
                 if line.startswith("hacd_user_device_seconds_total") and f'"{uid}"' in line]
        return float(lines[0].split()[-1]) if lines else 0.0

    def test_plans_are_charged(self):
        machine, _ = self.shared()
        attacker = self.user(machine, ATTACKER)
        pid = self.attack(machine, ATTACKER, 2)
        try:
            self.assertTrue(eventually(lambda: self.spent(attacker, ATTACKER) > 0.05))
        finally:
            self.end(pid)

    def test_plans_of_others(self):
        """Beside somebody who asks for plans all the time, another user's questions are answered soon, and all in the end."""
        machine, _ = self.shared()
        victim = self.user(machine, VICTIM)
        question = wire.message(f1=wire.field(1, 1), f2=1 << 20, f3=b"", f4=1)
        pid = self.attack(machine, ATTACKER, 16)
        try:
            for _ in range(20):
                self.milliseconds(victim, 1)  # both work, so plans rest
                began = time.monotonic()
                self.assertEqual(json.loads(victim.text(wire.PLAN_SORT, question))["flow"], "sort")
                self.assertLess(time.monotonic() - began, 2)
        finally:
            self.end(pid)

    def test_too_many_wait(self):
        machine, _ = self.shared()
        attacker = self.user(machine, ATTACKER)
        question = wire.message(f1=wire.field(1, 1), f2=1 << 34, f3=b"", f5=1, f6=self.simulated(16))
        for _ in range(8):
            serials = [attacker.send(wire.PLAN_SORT, question) for _ in range(30)]
            answers = {}
            while len(answers) < len(serials):
                what, serial, fields = attacker.receive()
                answers[serial] = (what, fields)
            self.assertEqual({what for what, _ in answers.values()}, {wire.R_TEXT})
        clients = [self.user(machine, ATTACKER) for _ in range(4)]
        for client in clients:
            for _ in range(30):
                client.send(wire.PLAN_SORT, question)
        refused = [got for got in (client.receive() for client in clients for _ in range(30)) if got[0] == wire.R_FAILURE]
        self.assertGreater(len(refused), 0)
        self.assertIn("plans that this user asked for are not made yet", failure((0, refused[0][2]))[1])
        for client in clients:  # leaves with questions that wait
            client.send(wire.PLAN_SORT, question)
            client.close()
        self.assertEqual(attacker.ask(wire.PLAN_SORT, question)[0], wire.R_TEXT)


class LongTasks(AttackTest):
    """H3: the client of a graph of sub-operators said how finely its tasks are cut and how much work they are, so others waited
    for a task of a minute or of hours. On processors and GPUs the others' tasks run beside it; elsewhere it gives way."""

    def slow(self, slowdown, kind="dsp", **config):
        """A machine whose device takes that many times as long as it would."""
        profile = ONE_DEVICE.replace("threads: 2", f"threads: 2, testing: {{slowdown: {slowdown}}}").replace("kind: cpu", f"kind: {kind}")
        return self.shared(profile, config={"task_deadline_minimum": "10min", "executor_idle_timeout": "60s"} | config)[0]

    def nearest(self, client, rows, centres, columns):
        """The job of one task that finds the nearest of `centres` rows for each row."""
        sizes = [4 * rows, 8 * rows * columns, 8 * centres * columns]
        at = [0]
        for size in sizes:
            at.append(at[-1] + (size + 4095) // 4096 * 4096)
        number = client.ask(wire.BUFFER_ALLOC, wire.field(1, at[-1]))[1][1][0]
        rng = random.Random(39)
        self.values = array.array("d", (rng.random() for _ in range((rows + centres) * columns)))
        os.pwrite(client.fds[-1], self.values[:rows * columns].tobytes(), at[1])
        os.pwrite(client.fds[-1], self.values[rows * columns:].tobytes(), at[2])
        call = wire.op_call([(1, 8, 0, 0, rows, 1, 0, 0, 0, 0), (1, 11, 1, 0, rows, columns, 0, 0, 0, 0),
                             (1, 11, 2, 0, centres, columns, 0, 0, 0, 0)], function=EUCLIDEAN)
        spans = [(0, offset, size, 1 if i == 0 else 0) for i, (offset, size) in enumerate(zip(at, sizes))]
        return self.submit(client, number, wire.op_task("op.nearest", spans, call, f10=1e12))

    def scatter(self, client, rows):
        """A task that cannot be cut."""
        part = 8 * rows
        number = client.ask(wire.BUFFER_ALLOC, wire.field(1, 3 * part))[1][1][0]
        call = wire.op_call([(1, 11, 0, 0, rows, 1, 0, 0, 0, 0), (1, 11, 1, 0, rows, 1, 0, 0, 0, 0),
                             (1, 9, 2, 0, rows, 1, 0, 0, 0, 0)])
        spans = [(0, i * part, part, 1 if i == 0 else 0) for i in range(3)]
        return self.submit(client, number, wire.op_task("op.scatter", spans, call, f10=1e12))

    def submit(self, client, number, task):
        got = client.ask(wire.SUBMIT_OPS, wire.ops([number], [task], options=ACKNOWLEDGE))
        self.assertEqual(got[0], wire.R_ACCEPTED, got)
        return got[1][1][0]

    def sort_seconds(self, client):
        began = time.monotonic()
        got = client.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(400)))
        self.assertEqual(got[0], wire.R_DONE, got)
        return time.monotonic() - began

    def test_steps_for_ever(self):
        """An executor that counts steps of work and never ends one: on a device without time slices it gives way all the
        same, when another user has waited for its time limit."""
        libexec = Path(tempfile.mkdtemp(prefix="hac-libexec-"))
        self.addCleanup(shutil.rmtree, libexec)
        (libexec / "hacd").symlink_to(LIBEXEC / "hacd")
        (libexec / "hac-executor").symlink_to(SUPPORT / "fake_executor.py")
        how = libexec / "how"
        how.write_text(json.dumps({"sleep": 90, "slow": "query.finish", "steps": True}))
        machine = self.machine(ONE_DEVICE.replace("kind: cpu", "kind: dsp"), config={"task_deadline_minimum": "1s", "task_deadline_factor": 2},
                               environment={"HAC_LIBEXEC": str(libexec), "HAC_TEST_EXECUTOR": str(LIBEXEC / "hac-executor"),
                                            "HAC_TEST_COUNTS": str(libexec)})
        self.open_to_all(machine)
        path = machine.root / "in.txt"
        path.write_bytes(b"abc\n" * 700000)
        os.chmod(path, 0o644)

        def begin(uid):
            process = subprocess.Popen([*as_user(uid), HACCTL, "--socket", machine.socket, "mapreduce", path, "--parse", "lines",
                                        "--group-by", "line", "--select", "count()"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, cwd="/")
            self.addCleanup(process.communicate)
            self.addCleanup(process.kill)
            return process
        attacker = begin(ATTACKER)
        tasks = libexec / "tasks"
        self.assertTrue(eventually(lambda: tasks.exists() and "query.finish" in tasks.read_text(), 20), machine.log())
        how.write_text("{}")
        began = time.monotonic()
        victim = begin(VICTIM)
        out, _ = victim.communicate(timeout=60)
        self.assertEqual(victim.returncode, 0, out)
        self.assertLess(time.monotonic() - began, 30)
        out, _ = attacker.communicate(timeout=60)  # whose task ran again
        self.assertEqual(attacker.returncode, 0, out)

    def until(self, machine, job, victim, note):
        """The victim sorts until the job's log says so; how long each sort took."""
        root, waits = self.user(machine, 0), []

        def noted():
            waits.append(self.sort_seconds(victim))
            return note in root.text(wire.QUERY, wire.message(f1=6, f2=job))
        self.assertTrue(eventually(noted, 30, 0.1), max(waits))
        return waits

    def test_beside(self):
        """The victim hardly waits, and the task is not ended."""
        machine = self.slow(2000, "cpu")
        attacker, victim = self.user(machine, ATTACKER), self.user(machine, VICTIM)
        self.sort_seconds(victim)
        job = self.scatter(attacker, 1 << 20)
        end, waits = time.monotonic() + 3, []
        while time.monotonic() < end:
            waits.append(self.sort_seconds(victim))
        print(f"beside it: {max(waits):.3f} s", file=sys.stderr)
        self.assertLess(sorted(waits)[len(waits) // 2], 0.5)
        self.assertNotIn("kept other users waiting", self.user(machine, 0).text(wire.QUERY, wire.message(f1=6, f2=job)))
        began = time.monotonic()
        self.assertEqual(attacker.ask(wire.CANCEL, wire.field(1, job))[0], wire.R_OK)
        self.assertEqual(attacker.ask(wire.WAIT, wire.field(1, job))[1][2][0], CANCELLED)
        self.assertLess(time.monotonic() - began, 5)

    def test_task_that_can_be_cut(self):
        machine = self.slow(800)
        attacker, victim = self.user(machine, ATTACKER), self.user(machine, VICTIM)
        self.sort_seconds(victim)
        job = self.nearest(attacker, 1 << 17, 16, 16)
        waits = self.until(machine, job, victim, "op.nearest kept other users waiting for cpu: goes on in pieces of 8192")
        print(f"beside a task that can be cut: {max(waits):.1f} s", file=sys.stderr)
        self.assertEqual(attacker.ask(wire.WAIT, wire.field(1, job))[1][2][0], DONE)
        self.assertLess(max(waits), 15)
        found = array.array("I", os.pread(attacker.fds[-1], 4 << 17, 0))
        centres = [self.values[i:i + 16] for i in range(16 << 17, len(self.values), 16)]
        for row in (0, 4095, 4096, 8191, 8192, 65535, 65536, 131071):  # what the pieces give is what the whole gives
            point = self.values[16 * row:16 * row + 16]
            distances = [sum((x - y) ** 2 for x, y in zip(point, centre)) for centre in centres]
            self.assertEqual(found[row], distances.index(min(distances)))

    def test_task_that_cannot_be_cut(self):
        machine = self.slow(2000)
        attacker, victim = self.user(machine, ATTACKER), self.user(machine, VICTIM)
        self.sort_seconds(victim)
        job = self.scatter(attacker, 1 << 20)
        waits = self.until(machine, job, victim, "runs again when they have had their turn")
        print(f"beside a task that cannot be cut: {max(waits):.1f} s", file=sys.stderr)
        self.assertLess(max(waits), 15)
        self.assertEqual(attacker.ask(wire.CANCEL, wire.field(1, job))[0], wire.R_OK)

    def test_patterns(self):
        """Time quadratic in the length of a text, as each match looks at all the rest: the query's piece gives way."""
        machine = self.slow(1)
        victim = self.user(machine, VICTIM)
        self.sort_seconds(victim)
        path = machine.root / "long.csv"
        path.write_text("t\n" + ("a" * 30000 + "\n") * 2000)
        os.chmod(path, 0o644)
        with open(machine.root / "said", "w+", encoding="utf-8") as said:
            query = subprocess.Popen([*as_user(ATTACKER), HACCTL, "--socket", machine.socket, "query", path, "--schema", "t:string",
                                      "--select", "sum(length(regexp_replace(t, 'a*b|a', '', 'g'))) as n"],
                                     stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd="/")
            self.addCleanup(query.wait)
            self.addCleanup(query.kill)
            root = self.user(machine, 0)

            def running():
                jobs = json.loads(root.text(wire.QUERY, wire.message(f1=JOBS)))["jobs"]
                return [job["id"] for job in jobs if job["user"] == ATTACKER and job["state"] == "running"]
            jobs = eventually(running, 20)
            self.assertTrue(jobs, (machine.root / "said").read_text(encoding="utf-8"))
            waits = self.until(machine, jobs[0], victim, "kept other users waiting for cpu: ")
        print(f"beside a pattern: {max(waits):.1f} s", file=sys.stderr)
        self.assertLess(max(waits), 15)


if __name__ == "__main__":
    main()
