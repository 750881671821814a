#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks that once succeeded. What one user takes from others: pages of memory, descriptors, processes, the builder, time of
hacd itself. Each test stands for a kind of attack. Needs root (support/attacks.py)."""
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from attacks import ATTACKER, MIB, SERVICE, VICTIM, AttackTest, Service, as_user  # noqa: E402
from machine import TWO_DEVICES, children, command_of, eventually, main  # noqa: E402
from users import ACKNOWLEDGE, DETACH, JOBS, failure  # noqa: E402

F_SEAL_FUTURE_WRITE = 0x10


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


if __name__ == "__main__":
    main()
