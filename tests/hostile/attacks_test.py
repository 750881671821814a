#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks that once succeeded: what one user did to another user, or to the machine's daemon. Each test stands for a kind
of attack. Needs root, which connects as several users and starts hacd as its service's user."""
import array
import fcntl
import json
import os
import random
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from attacks import ATTACKER, DONE, MIB, SERVICE, VICTIM, AttackTest, Service, as_user  # noqa: E402
from machine import HACCTL, LIBEXEC, ONE_DEVICE, TWO_DEVICES, children, command_of, eventually, main  # noqa: E402
from users import ACKNOWLEDGE, DETACH, FIRST_UID, JOBS, User, UsersTest, failure  # noqa: E402

F_SEAL_FUTURE_WRITE = 0x10
MODELS = 9
EUCLIDEAN = 10


class Memory(AttackTest):
    def test_pages_are_given_back(self):
        """H2: a client seals a buffer against writing, releases it and keeps the descriptor, so that hacd cannot free the
        pages."""
        machine, _ = self.shared(config={"pool_memory_per_user": "8MiB"})
        client = self.user(machine, ATTACKER)
        for _ in range(4):
            got = client.ask(wire.BUFFER_ALLOC, wire.message(f1=6 * MIB))
            self.assertEqual(got[0], wire.R_BUFFER, got)
            with self.assertRaises(PermissionError):
                fcntl.fcntl(client.fds[-1], fcntl.F_ADD_SEALS, F_SEAL_FUTURE_WRITE)
            os.pwrite(client.fds[-1], b"x" * 6 * MIB, 0)
            self.assertEqual(client.ask(wire.BUFFER_RELEASE, wire.field(1, got[1][1][0]))[0], wire.R_OK)

    def test_pages_that_are_kept_stay_charged(self):
        machine, _ = self.shared(config={"pool_memory_per_user": "8MiB"})
        client = self.user(machine, ATTACKER)
        got = client.ask(wire.BUFFER_ALLOC, wire.message(f1=6 * MIB, f2=1))
        self.assertEqual(got[0], wire.R_BUFFER, got)
        number, memfd = got[1][1][0], client.fds[-1]
        fcntl.fcntl(memfd, fcntl.F_ADD_SEALS, F_SEAL_FUTURE_WRITE)
        refused = client.ask(wire.SUBMIT_SORT, wire.sort_buffer("u32", number, 0, 6 * MIB))
        self.assertEqual(refused[0], wire.R_FAILURE, refused)
        self.assertIn("sealed against writing", failure(refused)[1])
        self.assertEqual(client.ask(wire.BUFFER_RELEASE, wire.field(1, number))[0], wire.R_OK)
        self.assertEqual(client.ask(wire.BUFFER_ALLOC, wire.message(f1=6 * MIB))[0], wire.R_FAILURE)
        self.assertEqual(client.ask(wire.BUFFER_ALLOC, wire.message(f1=MIB))[0], wire.R_BUFFER)
        self.assertEqual(self.user(machine, VICTIM).ask(wire.BUFFER_ALLOC, wire.message(f1=6 * MIB))[0], wire.R_BUFFER)


class Descriptors(AttackTest):
    """H1: the kernel counts the descriptors that a process has sent and nobody has read. An attacker made hacd send many and
    read none, so that hacd could send none to anybody, and took its executors for those that do not read."""
    N_JOBS, N_CONNECTIONS = 100, 12

    def results(self, at, uid):
        """Jobs whose results are in memory that each new connection gets a descriptor of."""
        client = self.connect(at, uid)
        jobs = []
        for _ in range(self.N_JOBS):
            number = client.ask(wire.BUFFER_ALLOC, wire.message(f1=1 << 16))[1][1][0]
            got = client.ask(wire.SUBMIT_SORT, wire.sort_buffer("u32", number, 0, 1 << 16, options=DETACH + ACKNOWLEDGE))
            self.assertEqual(got[0], wire.R_ACCEPTED, got)
            jobs.append(got[1][1][0])
        for job in jobs:
            self.assertEqual(client.ask(wire.WAIT, wire.field(1, job))[0], wire.R_DONE)
        for fd in client.fds:
            os.close(fd)
        client.fds.clear()
        return jobs

    def demand(self, at, jobs):
        """Asks for all results on many connections without reading the answers."""
        clients = [self.connect(at, ATTACKER) for _ in range(self.N_CONNECTIONS)]
        for client in clients:
            for job in jobs:
                try:
                    client.send(wire.RESULT, wire.field(1, job))
                except (BrokenPipeError, ConnectionResetError):
                    break
        return clients

    def test_unread_descriptors(self):
        limits = ["prlimit", "--nofile=1024:1024"]
        service = Service(self, "max_connections: 64\nresult_expiry: 120s\nexecutor_idle_timeout: 60s\n", limits)
        victim = self.connect(service, VICTIM)
        sort = wire.sort_inline("u32", bytes(4000))
        self.assertEqual(victim.ask(wire.SUBMIT_SORT, sort)[0], wire.R_DONE)
        jobs = self.results(service, ATTACKER)
        clients = []
        for _ in range(3):  # what a closed connection has left unread counts, too
            clients += self.demand(service, jobs)
            for _ in range(5):
                got = victim.ask(wire.BUFFER_ALLOC, wire.message(f1=1 << 16))
                self.assertEqual(got[0], wire.R_BUFFER, got)
                done = victim.ask(wire.SUBMIT_SORT, wire.sort_buffer("u32", got[1][1][0], 0, 1 << 16))
                self.assertIn(done[0], (wire.R_DONE, wire.R_ACCEPTED), done)
                self.assertEqual(victim.ask(wire.SUBMIT_SORT, sort)[0], wire.R_DONE)
                victim.ask(wire.BUFFER_RELEASE, wire.field(1, got[1][1][0]))
        self.assertIn("descriptors that clients have not read", service.log())
        self.assertNotIn("executor-died", service.log())
        for client in clients:
            client.close()
        again = self.connect(service, ATTACKER)  # all of it comes back
        self.assertEqual(again.ask(wire.RESULT, wire.field(1, jobs[0]))[0], wire.R_DONE)

    def test_long_texts(self):
        """A text is no memory that a client need not take, and what hacd keeps of it is charged."""
        machine, daemon = self.shared(config={"result_expiry": "120s"})
        client = self.user(machine, ATTACKER)
        for _ in range(150):
            got = client.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(400), options=DETACH + ACKNOWLEDGE))
            self.assertIn(got[0], (wire.R_ACCEPTED, wire.R_DONE), got)
        whole = client.text(wire.QUERY, wire.message(f1=JOBS))
        self.assertGreater(len(whole), 32768)
        self.assertEqual(len(json.loads(whole)["jobs"]), 150)
        for topic in [JOBS] * 20:  # only the last few are kept
            got = client.ask(wire.QUERY, wire.message(f1=topic))
            self.assertEqual((got[0], len(got[1][1][0])), (wire.R_TEXT, 32768))
        self.assertEqual(client.fds, [])
        self.assertNotIn("/memfd:hac-text", daemon.descriptors())
        serial = client.serial
        self.assertEqual(client.ask(wire.MORE_TEXT, wire.message(f1=serial, f2=32768))[0], wire.R_TEXT)
        for other in (serial - 10, serial + 1, 1):
            self.assertEqual(client.ask(wire.MORE_TEXT, wire.message(f1=other, f2=32768))[0], wire.R_FAILURE)
        self.assertEqual(client.ask(wire.MORE_TEXT, wire.message(f1=serial - 1, f2=1 << 20))[0], wire.R_FAILURE)


class Processes(AttackTest):
    """H4: executors of a few users take all processes and threads that hacd may have, and the next one's driver aborts."""

    def test_limit_of_tasks(self):
        old = os.path.exists("/sys/fs/cgroup/pids/tasks")
        group = Path("/sys/fs/cgroup/pids" if old else "/sys/fs/cgroup", f"hac-test-{os.getpid()}")
        # after hacd has ended, which is in it
        self.addCleanup(lambda: group.exists() and eventually(lambda: not (group / "cgroup.procs").read_text()) and group.rmdir())
        machine, daemon = self.shared(config={"executor_idle_timeout": "120s"})
        sort = wire.sort_inline("u32", bytes(4000))
        self.assertEqual(self.user(machine, 0).ask(wire.SUBMIT_SORT, sort)[0], wire.R_DONE)
        try:
            group.mkdir()
            for pid in (daemon.pid, *daemon.executor_pids()):
                (group / "cgroup.procs").write_text(str(pid))
            room = int((group / "pids.current").read_text()) + 5  # for a part of another executor
            (group / "pids.max").write_text(str(room))
        except OSError as error:
            self.skipTest(f"no pids cgroup can be made: {error}: NOT TESTED")
        self.addCleanup(lambda: (group / "pids.max").write_text("max"))
        for uid in range(ATTACKER, ATTACKER + 6):
            self.assertEqual(self.user(machine, uid).ask(wire.SUBMIT_SORT, sort)[0], wire.R_DONE)
        self.assertEqual([d["state"] for d in machine.json("--socket", machine.socket, "devices")["devices"]], ["ready"])
        self.assertNotIn("executor-died", machine.log())


    def test_limit_of_the_user(self):
        """The same by RLIMIT_NPROC, which no cgroup counts."""
        service = Service(self, "executor_idle_timeout: 120s\n")
        sort = wire.sort_inline("u32", bytes(4000))
        first = self.connect(service, ATTACKER)
        self.assertEqual(first.ask(wire.SUBMIT_SORT, sort)[0], wire.R_DONE)
        threads = sum(len(os.listdir(path.parent / "task")) for path in Path("/proc").glob("[0-9]*/status")
                      if f"\nUid:\t{SERVICE}\t" in path.read_text())
        limit = threads + 3  # for a part of another executor
        subprocess.run([*as_user(SERVICE), "prlimit", f"--nproc={limit}:{limit}", "--pid", str(service.process.pid)], check=True)
        for uid in range(ATTACKER, ATTACKER + 4):
            self.assertEqual(self.connect(service, uid).ask(wire.SUBMIT_SORT, sort)[0], wire.R_DONE)
        self.assertNotIn("is quarantined", service.log())

    def test_crashes_of_one_user(self):
        """One user's executors die all the time: the device rests for this user, and works for others."""
        machine, daemon = self.shared(TWO_DEVICES, config={"executor_idle_timeout": "120s"})
        attacker, victim = self.user(machine, ATTACKER), self.user(machine, VICTIM)
        there = wire.field(1, "cpu.1")
        sort = wire.sort_inline("u32", bytes(4000), options=there)
        buffer = self.buffer(attacker, 16 * MIB, os.urandom(MIB))

        def state(client):
            devices = json.loads(client.text(wire.QUERY, wire.message(f1=1)))["devices"]
            return {device["name"]: device["state"] for device in devices}["cpu.1"]
        job = self.sort(attacker, buffer, 16 * MIB, options=there)
        serial = attacker.send(wire.WAIT, wire.field(1, job))
        end = time.monotonic() + 60
        while not select.select([attacker.socket], [], [], 0.002)[0] and time.monotonic() < end:
            for pid in daemon.executors().get("cpu.1", []):
                try:
                    os.kill(pid, signal.SIGSEGV)
                except ProcessLookupError:
                    pass
        self.assertEqual(attacker.receive()[0:2], (wire.R_DONE, serial))
        self.assertEqual((state(attacker), state(victim)), ("quarantined", "ready"))
        began = time.monotonic()
        self.assertEqual(victim.ask(wire.SUBMIT_SORT, sort)[0], wire.R_DONE)
        self.assertLess(time.monotonic() - began, 10)
        failed = attacker.ask(wire.SUBMIT_SORT, sort)
        self.assertIn("of your executors in a row died", str(failed))
        self.assertEqual(attacker.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(4000)))[0], wire.R_DONE)  # elsewhere


class Builds(AttackTest):
    def test_turns(self):
        """L6: one user builds images of kernels all the time; only one is built at a time."""
        machine, daemon = self.shared()
        attacker, victim = self.user(machine, ATTACKER), self.user(machine, VICTIM)

        def stop_builder():
            """A stopped builder takes as long as the test needs, however fast the machine is."""
            for pid in children(daemon.pid):
                if "--build" in command_of(pid).split():
                    os.kill(pid, signal.SIGSTOP)
                    return True
            return False

        def build(client):
            image = os.memfd_create("image")
            serial = client.send(wire.BUILD_KERNELS, wire.field(1, "cpu"), [image])
            os.close(image)
            eventually(stop_builder, 1)
            return serial
        build(attacker)
        time.sleep(0.2)
        refused = victim.answer(build(victim))
        self.assertEqual(refused[0], wire.R_FAILURE)
        self.assertIn("another client", failure(refused)[1])
        attacker.close()  # ends its build
        again = self.user(machine, ATTACKER)
        self.assertTrue(eventually(lambda: "another user waits" in failure(again.answer(build(again)))[1], 20, 0.2))
        build(victim)
        self.assertTrue(eventually(lambda: "another client" in failure(again.answer(build(again)))[1], 20, 0.2))
        victim.close()
        spent = [line for line in again.text(wire.QUERY, wire.message(f1=10)).splitlines()
                 if line.startswith("hacd_user_device_seconds_total") and f'"{ATTACKER}"' in line]
        self.assertGreater(float(spent[0].split()[-1]), 0.1)

        # who has used less time goes before who came first
        first, fresh = self.user(machine, VICTIM), self.user(machine, ATTACKER + 10)
        self.assertTrue(eventually(lambda: self.begins(again, build), 20, 0.2))
        for client in (first, fresh):
            self.assertIn("another client", failure(client.answer(build(client)))[1])
        again.close()
        self.assertTrue(eventually(lambda: "another user waits" in failure(first.answer(build(first)))[1], 20, 0.2))
        build(fresh)
        self.assertTrue(eventually(lambda: "another client" in failure(first.answer(build(first)))[1], 20, 0.2))

    def begins(self, client, build):
        """Whether an image is built for the client now: no refusal comes."""
        serial = build(client)
        client.socket.settimeout(0.5)
        try:
            client.answer(serial)
        except TimeoutError:
            return True
        finally:
            client.socket.settimeout(30)
        return False


class Requests(AttackTest):
    def test_long_requests_count(self):
        """L4: what hacd keeps of the requests of jobs that wait for their input."""
        machine, _ = self.shared(config={"pool_memory_per_user": "4MiB"})
        client = self.user(machine, ATTACKER)
        select = ", ".join(f"sum(a * {i}) as s{i}" for i in range(200))
        compiled = wire.compiled_query("schema=a:i64", f"select={select}", "kind=2", "header=0", "skip=0", "output=0",
                                       "where=", "group_by=", "order_by=")
        query = wire.query([], schema="a:i64", kind=2, compiled=compiled) + wire.field(4, 1)
        self.assertGreater(len(query), 8000)
        answers = [client.ask(wire.SUBMIT_QUERY, query) for _ in range(1000)]
        n = sum(what == wire.R_ACCEPTED for what, _ in answers)
        self.assertIn("MiB of memory", failure(answers[-1])[1])
        self.assertLessEqual(n * len(query), 4 * MIB)
        self.assertGreater(n * len(query), 3 * MIB)

    def test_long_graphs_count(self):
        """L4: the graphs that follow are kept, too."""
        machine, _ = self.shared(config={"pool_memory_per_user": "4MiB"})
        client = self.user(machine, ATTACKER)
        number = client.ask(wire.BUFFER_ALLOC, wire.field(1, 4096))[1][1][0]
        call = wire.op_call([(1, 11, 0, 0, 8, 1, 0, 0, 0, 0), (1, 11, 1, 0, 8, 1, 0, 0, 0, 0), (1, 8, 2, 0, 8, 1, 0, 0, 0, 0)])
        spans = [(0, i * 64, 64, 1 if i == 0 else 0) for i in range(3)]
        tasks = [wire.op_task("op.gather", spans, call, count=8, after=b"" if i == 0 else bytes([i - 1])) for i in range(60)]
        graph = wire.ops([number], tasks)
        self.assertGreater(len(graph), 8000)
        answers = []
        while len(answers) < 900 and (not answers or answers[-1][0] == wire.R_GRAPH_DONE):
            job = client.ask(wire.SUBMIT_OPS, wire.ops([], [], b"", f8=1))[1][1][0]
            answers.append(client.ask(wire.APPEND_GRAPH, wire.message(f1=job, f2=graph)))
        self.assertIn("of memory", failure(answers[-1])[1])
        self.assertLessEqual((len(answers) - 1) * len(graph), 4 * MIB)
        self.assertGreater(len(answers) * len(graph), 3 * MIB)

    def test_list_at_the_limit(self):
        """A user whose memory is all taken still sees what to release."""
        machine, _ = self.shared(config={"pool_memory_per_user": "4MiB", "result_expiry": "120s"})
        client = self.user(machine, ATTACKER)
        for _ in range(300):
            self.assertEqual(client.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(400), options=DETACH + ACKNOWLEDGE))[0],
                             wire.R_ACCEPTED)
        self.assertTrue(eventually(lambda: all(job["state"] == "done" for job in self.jobs(client))))
        size = 4 * MIB
        while size >= 4096:
            if client.ask(wire.BUFFER_ALLOC, wire.field(1, size))[0] == wire.R_FAILURE:
                size //= 2
        for _ in range(10):  # nothing of them stays charged
            self.assertEqual(len(self.jobs(client)), 300)
        for job in self.jobs(client):
            self.assertEqual(client.ask(wire.RELEASE, wire.field(1, job["id"]))[0], wire.R_OK)

    def jobs(self, client):
        return json.loads(client.text(wire.QUERY, wire.message(f1=JOBS)))["jobs"]


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
    for a task of a minute or of hours."""

    def slow(self, slowdown, **config):
        """A machine whose device takes that many times as long as it would."""
        profile = ONE_DEVICE.replace("threads: 2", f"threads: 2, testing: {{slowdown: {slowdown}}}")
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

    def until(self, machine, job, victim, note):
        """The victim sorts until the job's log says so; how long each sort took."""
        root, waits = self.user(machine, 0), []

        def noted():
            waits.append(self.sort_seconds(victim))
            return note in root.text(wire.QUERY, wire.message(f1=6, f2=job))
        self.assertTrue(eventually(noted, 30, 0.1), max(waits))
        return waits

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


class Identity(AttackTest):
    def test_users_from_outside_of_the_namespace(self):
        """M3: in a user namespace (PrivateUsers=yes), every user of outside is the overflow uid."""
        if subprocess.run(["unshare", "--user", "--map-root-user", "true"], check=False).returncode != 0:
            self.skipTest("no user namespaces: NOT TESTED")
        machine = self.machine(ONE_DEVICE)
        for path in (machine.root, machine.socket.parent.parent):
            os.chmod(path, 0o755)
        machine.socket.parent.mkdir(mode=0o755)
        process = subprocess.Popen(["unshare", "--user", "--map-root-user", LIBEXEC / "hacd", "--private", "--socket",
                                    machine.socket], env=machine.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.assertTrue(eventually(machine.socket.exists))
        os.chmod(machine.socket, 0o666)
        for uid in (ATTACKER, VICTIM):
            with self.assertRaises(ConnectionRefusedError) as refused:
                User(machine, uid).connect()
            if refused.exception.args[0] is not None:
                self.assertIn("cannot be told apart", failure(refused.exception.args[0])[1])
        root = self.user(machine, 0)  # it is root on both sides
        self.assertEqual(root.ask(wire.DRAIN, b"")[0], wire.R_OK)
        log = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 0, log)
        self.assertIn("cannot be told apart", log)

    def test_memory_of_the_daemon(self):
        """M4: a process of the service's uid reads hacd's memory, which names all users."""
        service = Service(self)
        self.connect(service, VICTIM)
        self.assertEqual(os.stat(f"/proc/{service.process.pid}/mem").st_uid, 0)  # root's, as of all that cannot be dumped
        read = subprocess.run([*as_user(SERVICE), "cat", f"/proc/{service.process.pid}/mem"], capture_output=True, check=False)
        self.assertIn(b"Permission denied", read.stderr)

    def test_tuning_is_not_for_everybody(self):
        """M2: `tune` writes settings that hold for all users."""
        service = Service(self)
        for words in (["tune"], ["tune", "--revert"], ["tune", "--reset"]):
            done = subprocess.run([*as_user(ATTACKER), HACCTL, "--socket", service.socket, *words], capture_output=True,
                                  text=True, check=False, cwd="/", stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 4, done)
            self.assertIn("is for administrators", done.stderr)


class Walls(AttackTest):
    """M4: without Landlock an executor that was taken over reaches more, so users do not share hacd unless it is configured."""
    OFF = {"HAC_FAILPOINTS": "landlock.version=EOPNOTSUPP"}
    SORT = wire.sort_inline("u32", bytes(4000))

    def service(self, config="", environment=None):
        if b"landlock.version" not in (LIBEXEC / "hacd").read_bytes():
            self.skipTest("built without HAC_FAILPOINTS: NOT TESTED")
        return Service(self, config, environment=self.OFF if environment is None else environment)

    def check(self, service):
        path = service.root / "admin.sock"
        done = subprocess.run([HACCTL, "--socket", path, "doctor"], capture_output=True, text=True, check=False, cwd="/",
                              stdin=subprocess.DEVNULL)
        return next(line for line in done.stdout.splitlines() if "users kept apart" in line), done.stdout

    def comes_in(self, service, uid):
        try:
            User(service, uid).connect().close()
        except ConnectionRefusedError:
            return False
        return True

    def test_one_at_a_time(self):
        service = self.service("executor_idle_timeout: 1s\n")
        self.assertTrue(eventually(lambda: self.comes_in(service, VICTIM)))  # root has looked whether hacd listens
        first = self.connect(service, VICTIM)
        self.assertEqual(first.ask(wire.SUBMIT_SORT, self.SORT)[0], wire.R_DONE)
        refused = User(service, ATTACKER).connect(greet=False)
        self.assertIn(b"share_without_landlock: true", refused.receive()[2][2][0])
        refused.close()
        line, text = self.check(service)  # administrators come in
        self.assertIn("one user at a time", text, line)
        self.assertIn("this kernel has no Landlock: one user at a time is served", service.log())
        first.close()
        self.assertFalse(self.comes_in(service, ATTACKER))  # an executor is left
        self.assertTrue(eventually(lambda: self.comes_in(service, ATTACKER), 20, 0.2))

    def test_configured(self):
        service = self.service("share_without_landlock: true\n")
        for uid in (VICTIM, ATTACKER):
            self.assertEqual(self.connect(service, uid).ask(wire.SUBMIT_SORT, self.SORT)[0], wire.R_DONE)
        self.assertIn("share_without_landlock is set", service.log())
        self.assertIn("share_without_landlock is set", self.check(service)[1])

    def test_with_landlock(self):
        service = self.service(environment={})
        if "landlock-missing" in service.log():
            self.skipTest("this kernel has no Landlock: NOT TESTED")
        for uid in (VICTIM, ATTACKER):
            self.assertEqual(self.connect(service, uid).ask(wire.SUBMIT_SORT, self.SORT)[0], wire.R_DONE)
        self.assertIn("the kernel has Landlock", self.check(service)[1])


class Administration(AttackTest):
    """Root in a container without a user namespace is root here, too: it administers nothing at the socket for everybody."""

    def jobs(self, client):
        return {job["user"] for job in json.loads(client.text(wire.QUERY, wire.message(f1=JOBS)))["jobs"]}

    def test_root_is_a_user(self):
        service = Service(self, "result_expiry: 120s\n")
        victim, root = self.connect(service, VICTIM), self.connect(service, 0)
        job = victim.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(400), options=DETACH + ACKNOWLEDGE))[1][1][0]
        victim.ask(wire.WAIT, wire.field(1, job))
        self.assertEqual(self.jobs(root), set())
        for what, body in ((wire.RESULT, wire.field(1, job)), (wire.RELEASE, wire.field(1, job)), (wire.CANCEL, wire.field(1, job)),
                           (wire.DRAIN, b""), (wire.RELOAD, b"")):
            self.assertEqual(root.ask(what, body)[0], wire.R_FAILURE, what)
        self.assertEqual(victim.ask(wire.RESULT, wire.field(1, job))[0], wire.R_DONE)

    def test_socket_for_administrators(self):
        service = Service(self, "result_expiry: 120s\n")
        path = service.root / "admin.sock"
        self.assertEqual((path.stat().st_uid, path.stat().st_mode & 0o777), (SERVICE, 0o600))
        victim = self.connect(service, VICTIM)
        job = victim.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(400), options=DETACH + ACKNOWLEDGE))[1][1][0]
        victim.ask(wire.WAIT, wire.field(1, job))
        service.socket, everybody = path, service.socket
        with self.assertRaises(PermissionError):
            User(service, ATTACKER).connect()
        admin = self.connect(service, 0)
        self.assertEqual(self.jobs(admin), {VICTIM})
        self.assertEqual(admin.ask(wire.RELOAD, b"")[0], wire.R_OK)
        self.assertEqual(admin.ask(wire.RELEASE, wire.field(1, job))[0], wire.R_OK)
        self.assertIn('user="0-admin"', admin.text(wire.QUERY, wire.message(f1=10)))
        for socket, code in ((everybody, 4), (path, 0)):
            done = subprocess.run([HACCTL, "--socket", socket, "reload"], capture_output=True, text=True, check=False, cwd="/",
                                  stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, code, done)
        self.assertEqual(admin.ask(wire.DRAIN, b"")[0], wire.R_OK)
        service.process.wait(60)
        self.assertFalse(path.exists())

    def test_sockets_in_one_directory(self):
        """Daemons that share a directory do not share the socket for administrators."""
        service = Service(self, name="other.sock")
        self.assertEqual((service.root / "other.admin.sock").stat().st_mode & 0o777, 0o600)
        self.assertFalse((service.root / "admin.sock").exists())
        (service.root / "other.admin.sock").rename(service.root / "aside")
        (service.root / "other.admin.sock").write_text("of another daemon")
        service.process.send_signal(signal.SIGTERM)
        service.process.wait(60)
        self.assertTrue((service.root / "other.admin.sock").exists())


class Shown(AttackTest):
    """What others and the log get to see."""

    def learn(self, client, n=1, kinds=(11,)):
        """Small reductions, which are learnt for the client's user alone; each with another amount of work."""
        number = client.ask(wire.BUFFER_ALLOC, wire.field(1, 1 << 16))[1][1][0]
        for kind in kinds:
            call = wire.op_call([(1, kind, 0, 0, 1, 1, 0, 0, 0, 0), (1, kind, 1, 0, 512, 1, 0, 0, 0, 0)])
            spans = [(0, 0, 64, 1), (0, 4096, 4096, 0)]
            for i in range(n):
                done = client.ask(wire.SUBMIT_OPS, wire.ops([number], [wire.op_task("op.reduce", spans, call, count=512,
                                                                                    f10=4.0 ** (i % 60))], options=b"\x40\x00"))
                self.assertEqual(done[0], wire.R_DONE if done[0] == wire.R_DONE else wire.R_ACCEPTED, done)

    def models(self, client):
        return json.loads(client.text(wire.QUERY, wire.message(f1=MODELS)))["models"]

    def test_models(self):
        """L1 and M1: a user's own models are shown to nobody else, and drive out none that others use."""
        machine, _ = self.shared()
        attacker, victim, root = (self.user(machine, uid) for uid in (ATTACKER, VICTIM, 0))
        for client in (victim, attacker):
            self.learn(client)

        def learners(client):
            return {m["codelet"].partition("@")[2] for m in self.models(client)} - {""}
        self.assertTrue(eventually(lambda: learners(root) == {str(ATTACKER), str(VICTIM)}), learners(root))
        self.assertEqual(learners(attacker), {str(ATTACKER)})
        self.assertEqual(learners(victim), {str(VICTIM)})

    def test_names(self):
        """L7: a name that turns the text around it, or speaks to the terminal."""
        machine, _ = self.shared()
        attacker = self.user(machine, ATTACKER)
        name = "a\u202eb\u2066c\x9bd\x1b[2Je"
        got = attacker.ask(wire.SUBMIT_SORT, wire.message(f1=wire.field(1, 1), f2=wire.message(f1=bytes(400), f5=400, f6=name),
                                                          f4=DETACH + ACKNOWLEDGE))
        self.assertIn(got[0], (wire.R_ACCEPTED, wire.R_DONE), got)
        jobs = json.loads(self.user(machine, 0).text(wire.QUERY, wire.message(f1=JOBS)))["jobs"]
        self.assertEqual([job["name"] for job in jobs], ["a b c d [2Je"])


class Inherited(AttackTest):
    def limited(self, machine, kind, limit):
        machine.generate("u32", "random", 100000)
        return machine.run("sort", "in", "--type", "u32", "-o", "out",
                           preexec_fn=lambda: resource.setrlimit(kind, limit))

    def test_soft_limits(self):
        """M6: a private daemon starts with its starter's soft limits, and others use it."""
        for kind, soft in ((resource.RLIMIT_FSIZE, 100 << 10), (resource.RLIMIT_CPU, 1), (resource.RLIMIT_STACK, 64 << 10),
                           (resource.RLIMIT_NOFILE, 64)):
            machine = self.machine(ONE_DEVICE)
            machine.run("devices", preexec_fn=lambda k=kind, s=soft: resource.setrlimit(k, (s, resource.getrlimit(k)[1])))
            machine.generate("u32", "random", 100000)
            machine.sort_and_check("u32")
            self.assertEqual(len(machine.daemons), 0)
            now, most = resource.prlimit(machine.daemon().pid, kind)
            self.assertTrue(now == most or kind == resource.RLIMIT_STACK and now == 8 << 20, (kind, now, most))

    def test_hard_limits(self):
        """A daemon that could not work says which limit it is, and does not stay in the way of others."""
        for kind, limit, option in ((resource.RLIMIT_FSIZE, 100 << 10, "-f"), (resource.RLIMIT_CPU, 30, "-t"),
                                    (resource.RLIMIT_STACK, 64 << 10, "-s")):
            machine = self.machine(ONE_DEVICE)
            result = self.limited(machine, kind, (limit, limit))
            self.assertEqual(result.code, 3, result)
            self.assertIn(f"`ulimit {option}`", result.err)
            machine.sort_and_check("u32")


class Outputs(AttackTest):
    """M5: what a file that `-o` replaces, or its directory, lets others do with the result."""
    ACL, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"

    def acl(self, user, group, mask, bob):
        """An access list: the owner, user VICTIM, the group, the mask, nobody else."""
        everybody = 0xffffffff
        entries = [(1, user, everybody), (2, bob, VICTIM), (4, group, everybody), (16, mask, everybody), (32, 0, everybody)]
        return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)

    def prepared(self):
        machine = self.machine(ONE_DEVICE)
        machine.generate("u32", "random", 1000)
        os.chmod(machine.root, 0o755)
        folder = machine.work / "out"
        folder.mkdir(mode=0o755)
        return machine, folder

    def xattr(self, path, name):
        try:
            return os.getxattr(path, name)
        except OSError:
            return None

    def set_acl(self, path, name, value):
        try:
            os.setxattr(path, name, value)
        except OSError as error:
            self.skipTest(f"no access lists here: {error}: NOT TESTED")

    def test_list_of_the_file(self):
        """The file's group may not read: its bits in the mode are the mask of the list."""
        machine, folder = self.prepared()
        out = folder / "a"
        out.write_bytes(b"old")
        wanted = self.acl(6, 0, 4, 4)
        self.set_acl(out, self.ACL, wanted)
        machine.good("sort", "in", "--type", "u32", "-o", out)
        self.assertEqual(self.xattr(out, self.ACL), wanted)
        self.assertEqual(out.stat().st_size, 4000)

    def test_without_proc(self):
        """In a chroot, /proc need not be mounted."""
        if subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
            self.skipTest("no mount namespaces: NOT TESTED")
        machine, folder = self.prepared()
        machine.good("devices")  # starts hacd
        out, listed = folder / "a", folder / "b"
        for path in (out, listed):
            path.write_bytes(b"old")
            path.chmod(0o664)
        wanted = self.acl(6, 0, 4, 4)
        self.set_acl(listed, self.ACL, wanted)
        for path in (out, listed):
            command = f"mount -t tmpfs tmpfs /proc && exec {HACCTL} sort in --type u32 -o {path}"
            done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", command], env=machine.environment,
                                  capture_output=True, text=True, cwd=machine.work, stdin=subprocess.DEVNULL, check=False)
            self.assertEqual((done.returncode, path.stat().st_size), (0, 4000), done)
        self.assertEqual(out.stat().st_mode & 0o777, 0o664)
        self.assertEqual(self.xattr(listed, self.ACL), wanted)

    def test_list_of_the_directory(self):
        """What new files get in the directory does not hold for a file that was there before."""
        machine, folder = self.prepared()
        out = folder / "a"
        out.write_bytes(b"old")
        out.chmod(0o640)
        self.set_acl(folder, self.DEFAULT, self.acl(7, 0, 7, 7))
        machine.good("sort", "in", "--type", "u32", "-o", out)
        self.assertIsNone(self.xattr(out, self.ACL))
        self.assertEqual(out.stat().st_mode & 0o777, 0o640)
        new = folder / "b"
        machine.good("sort", "in", "--type", "u32", "-o", new)
        self.assertIsNotNone(self.xattr(new, self.ACL))  # a new file gets it

    def test_strangers_in_a_sticky_directory(self):
        machine, folder = self.prepared()
        folder.chmod(0o1777)
        regular, fifo, link = folder / "file", folder / "fifo", machine.work / "link"
        regular.write_bytes(b"old")
        os.mkfifo(fifo, 0o666)
        link.symlink_to(regular)
        for path in (regular, fifo):
            os.chown(path, ATTACKER, ATTACKER)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        for path in (regular, fifo, link):
            machine.bad(1, "sort", "in", "--type", "u32", "-o", path, says="belongs to another user")
        self.assertEqual(regular.read_bytes(), b"old")
        os.chown(fifo, 0, 0)
        machine.good("sort", "in", "--type", "u32", "-o", fifo)
        self.assertEqual(len(os.read(reader, 5000)), 4000)
        folder.chmod(0o755)  # elsewhere a file keeps its owner
        machine.good("sort", "in", "--type", "u32", "-o", regular)
        self.assertEqual((regular.stat().st_uid, regular.stat().st_size), (ATTACKER, 4000))


class Caches(AttackTest):
    def test_cache_of_another_user(self):
        """M7: without HOME, a driver would take the cache below /tmp that whoever came first has made."""
        if subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
            self.skipTest("no mount namespaces: NOT TESTED")
        if str(HACCTL).startswith("/tmp/"):
            self.skipTest("the build is below /tmp, which this test covers: NOT TESTED")
        command = ("mount -t tmpfs tmpfs /tmp && chmod 1777 /tmp && mkdir -m 0700 /tmp/pocl && "
                   f"exec {' '.join(as_user(ATTACKER))} sh -c '{HACCTL} --json devices && {HACCTL} drain'")
        environment = {"PATH": os.environ["PATH"], "HAC_LIBEXEC": str(LIBEXEC), "LC_ALL": "C.UTF-8",
                       "HAC_PROFILES": self.machine(None).environment["HAC_PROFILES"],
                       "OCL_ICD_VENDORS": os.environ.get("OCL_ICD_VENDORS", "pocl.icd")}
        done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", command], env=environment,
                              capture_output=True, text=True, cwd="/", stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("Portable Computing Language", done.stdout)
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    main()
