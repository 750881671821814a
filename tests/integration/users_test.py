#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several users of one hacd: separated from each other, within their limits, and with their fair share.

The test takes on other uids while it connects, because the kernel identifies a peer at connect time. Needs root.
"""
import json
import os
import random
import resource
import statistics
import struct
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from machine import ONE_DEVICE, eventually, main  # noqa: E402
from users import (ACKNOWLEDGE, CANCELLED, DETACH, DONE, FIRST_UID, LOG, PLAN, RECEIPT, SHOW, WHY, User,  # noqa: E402
                   UsersTest, deadline, failure, priority)


# ---- separation ---------------------------------------------------------------------------------------------

class Actor:
    """One user with a model of what is theirs."""

    def __init__(self, uid, client):
        self.uid, self.client = uid, client
        self.jobs = {}  # id: "there" or "cancelled"; released ones are taken out
        self.buffers = []


class Isolation(UsersTest):
    operations = 300

    def test_random_operations(self):
        """Two users ask for each other's jobs and buffers in every way, without effect."""
        machine, daemon = self.shared(config={"result_expiry": "600s", "max_jobs_per_user": "20000"})
        rng = random.Random(4711)
        self.actors = [Actor(uid, self.user(machine, uid)) for uid in (FIRST_UID, FIRST_UID + 1)]
        self.all_jobs = {}  # id: uid
        effects = 0
        for turn in range(self.operations):
            me, other = self.actors if rng.random() < 0.5 else self.actors[::-1]
            effects += self.operate(rng, me, other)
            if turn % 100 == 99:
                effects += self.compare(machine)
        effects += self.compare(machine)
        self.assertEqual(effects, 0)
        self.root_sees_all(machine)
        self.assertTrue(daemon.alive())

    def submit(self, rng, me):
        tag = me.uid & 0xffff
        keys = [tag << 16 | rng.getrandbits(16) for _ in range(rng.randrange(1, 50))]
        data = struct.pack(f"<{len(keys)}I", *keys)
        got = me.client.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", data, options=DETACH + priority(
            rng.randrange(-100, 101))))
        self.assertEqual(got[0], wire.R_ACCEPTED, got)
        me.jobs[got[1][1][0]] = "there"
        self.all_jobs[got[1][1][0]] = me.uid

    def operate(self, rng, me, other):
        """One random operation; returns how many effects across users it had."""
        if not me.jobs or rng.random() < 0.25:
            self.submit(rng, me)
            return 0
        if len(me.buffers) < 5 and rng.random() < 0.1:
            me.buffers.append(self.buffer(me.client, rng.randrange(1, 100000)))
            return 0
        foreign = bool(other.jobs) and rng.random() < 0.6
        job = rng.choice(list(other.jobs if foreign else me.jobs))
        what = rng.choice((wire.WAIT, wire.RESULT, wire.RELEASE, wire.CANCEL, wire.QUERY, wire.BUFFER_RELEASE,
                           wire.BUFFER_GROW, wire.SUBMIT_SORT, wire.DRAIN, wire.RELOAD))
        if what == wire.QUERY:
            got = me.client.ask(what, wire.message(f1=rng.randrange(SHOW, PLAN + 1), f2=job))
            return foreign and got[0] != wire.R_FAILURE
        if what in (wire.BUFFER_RELEASE, wire.BUFFER_GROW, wire.SUBMIT_SORT):
            return self.touch_buffer(me, other, what)
        if what in (wire.DRAIN, wire.RELOAD):
            return me.client.ask(what, b"")[0] != wire.R_FAILURE
        got = me.client.ask(what, wire.field(1, job))
        if foreign:
            return got[0] != wire.R_FAILURE
        return self.check_own(me, job, what, got)

    def touch_buffer(self, me, other, what):
        if not other.buffers:
            return 0
        number = other.buffers[-1]
        body = {wire.BUFFER_RELEASE: wire.field(1, number), wire.BUFFER_GROW: wire.message(f1=number, f2=1 << 20),
                wire.SUBMIT_SORT: wire.sort_buffer("u32", number, 0, 4)}[what]
        return me.client.ask(what, body)[0] != wire.R_FAILURE

    def check_own(self, me, job, what, got):
        """One's own job answers, with one's own keys: nobody else has cancelled, released or replaced it."""
        if what == wire.RELEASE and got[0] == wire.R_OK:
            del me.jobs[job]
        if what == wire.CANCEL:
            me.jobs[job] = "cancelled"  # if it had not ended
        if what not in (wire.WAIT, wire.RESULT) or got[0] == wire.R_FAILURE:
            return what in (wire.WAIT, wire.CANCEL) and got[0] == wire.R_FAILURE
        fields = got[1]
        if fields[2][0] != DONE:
            return me.jobs[job] != "cancelled" or fields[2][0] != CANCELLED
        data = fields.get(4, [b""])[0]
        keys = struct.unpack(f"<{len(data) // 4}I", data)
        return list(keys) != sorted(keys) or any(key >> 16 != me.uid & 0xffff for key in keys)

    def compare(self, machine):
        """Each sees their own jobs, and nobody else's."""
        effects = 0
        for actor in self.actors:
            seen = self.listed(actor.client)
            effects += sum(self.all_jobs[job] != actor.uid for job in seen)
            effects += sum(job not in seen for job in actor.jobs)
        return effects

    def root_sees_all(self, machine):
        root = self.user(machine, 0)
        seen = self.listed(root)
        for actor in self.actors:
            for job in actor.jobs:
                self.assertIn(job, seen)
        job = next(iter(self.actors[0].jobs))
        for topic in (SHOW, WHY, RECEIPT, LOG):
            self.assertEqual(root.ask(wire.QUERY, wire.message(f1=topic, f2=job))[0], wire.R_TEXT)
        self.assertEqual(root.ask(wire.CANCEL, wire.field(1, job))[0], wire.R_OK)
        self.assertEqual(root.ask(wire.RELEASE, wire.field(1, job))[0], wire.R_OK)
        self.assertEqual(self.actors[0].client.ask(wire.RESULT, wire.field(1, job))[0], wire.R_FAILURE)

    def test_forged_fields(self):
        """No field names the user; a message with additional fields ends the connection."""
        machine, daemon = self.shared()
        me = self.user(machine, FIRST_UID)
        job = me.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(400), options=DETACH))[1][1][0]
        for forged in (wire.field(2, FIRST_UID), wire.field(99, FIRST_UID), wire.field(2, f"uid={FIRST_UID}")):
            for what in (wire.RESULT, wire.CANCEL, wire.RELEASE):
                other = self.user(machine, FIRST_UID + 1)
                got = other.ask(what, wire.field(1, job) + forged)
                self.assertTrue(got is None or got[0] == wire.R_FAILURE, got)
        self.assertEqual(me.ask(wire.WAIT, wire.field(1, job))[1][2][0], DONE)
        self.assertTrue(daemon.alive())

    def test_cancel_of_what_runs(self):
        """Only the owner and root may cancel a running job."""
        machine, _ = self.shared()
        me, other, root = (self.user(machine, uid) for uid in (FIRST_UID, FIRST_UID + 1, 0))
        size = 64 << 20
        job = self.sort(me, self.buffer(me, size), size, options=ACKNOWLEDGE)
        for what in (wire.CANCEL, wire.RELEASE, wire.WAIT):
            self.assertIn(f"there is no job {job}", failure(other.ask(what, wire.field(1, job)))[1])
        self.assertEqual(root.ask(wire.CANCEL, wire.field(1, job))[0], wire.R_OK)
        self.assertEqual(me.ask(wire.WAIT, wire.field(1, job))[1][2][0], CANCELLED)

    def test_models(self):
        """The client states how much work a task is: one user's wrong figures change no prediction for another."""
        (machine, _), total = self.shared(), (1, 11, 0, 0, 1, 1, 0, 0, 0, 0)

        def task(units):
            row = (1, 11, 1, 0, 1000, 1, 0, 0, 0, 0)
            return wire.op_task("op.reduce", ((0, 0, 4096, 1), (0, 4096, 8192, 0)), wire.op_call([total, row]), count=1000,
                                f10=float(units))

        def run(client, units):
            buffer = client.ask(wire.BUFFER_ALLOC, wire.message(f1=1 << 16))[1][1][0]
            job = client.ask(wire.SUBMIT_OPS, wire.ops([buffer], [task(units)]))[1][1][0]
            self.assertEqual(client.ask(wire.WAIT, wire.field(1, job))[1][2], [DONE])

        def predicted(client):
            _, fields = client.ask(wire.PLAN_OPS, wire.message(f1=wire.message(f3=[task(1e9)], f4=b""), f2=wire.varint(1 << 16), f3=1))
            return json.loads(fields[1][0])["predicted_seconds"]

        victim, liar = User(machine, FIRST_UID).connect(), User(machine, FIRST_UID + 1).connect()
        for _ in range(4):
            run(victim, 1e3)
        before = predicted(victim)
        for _ in range(40):
            run(liar, 1e9)
        self.assertEqual(predicted(victim), before)
        victim.close()
        liar.close()


class LongIsolation(Isolation):
    operations = 10000


# ---- limits -------------------------------------------------------------------------------------------------

class Limits(UsersTest):
    def test_access(self):
        """By name and by group: refused at connect, with the reason; root is always admitted."""
        machine, daemon = self.shared(config={"users": (
            f"{{'{FIRST_UID}': {{max_connections: 0}}, '@60050': {{max_jobs: 0}}, "
            f"'{FIRST_UID + 1}': {{max_connections: 2}}, root: {{max_connections: 0}}}}")})
        for uid, groups in ((FIRST_UID, ()), (FIRST_UID + 2, (60050,))):
            client = User(machine, uid, groups).connect(greet=False)
            got = client.receive()
            self.assertEqual((got[0], got[2][1]), (wire.R_FAILURE, [4]))
            self.assertIn(f"uid {uid} has no access", got[2][2][0].decode())
            self.assertIsNone(client.receive())
            client.close()
        self.user(machine, FIRST_UID + 2, groups=(60051,))
        two = [self.user(machine, FIRST_UID + 1, groups=(60050,)) for _ in range(2)]  # its own entry has precedence
        self.assertRaises(ConnectionRefusedError, self.user, machine, FIRST_UID + 1)
        two[0].close()
        self.assertTrue(eventually(lambda: self.connects(machine, FIRST_UID + 1)))
        self.user(machine, 0)
        self.assertTrue(daemon.alive())

    def connects(self, machine, uid):
        try:
            self.user(machine, uid)
        except ConnectionRefusedError:
            return False
        return True

    def test_results_count(self):
        """A job counts until its result is released; then there is room. A hint says when one expires."""
        machine, _ = self.shared(config={"max_jobs_per_user": "3", "result_expiry": "30s"})
        client = self.user(machine, FIRST_UID)
        body = wire.sort_inline("u32", os.urandom(400), options=DETACH)
        jobs = []
        for _ in range(3):
            what, fields = client.ask(wire.SUBMIT_SORT, body)
            self.assertEqual(what, wire.R_ACCEPTED)
            jobs.append(fields[1][0])
            client.ask(wire.WAIT, wire.field(1, jobs[-1]))
        what, *rest = client.ask(wire.SUBMIT_SORT, body)
        self.assertEqual(what, wire.R_FAILURE)
        code, message, hint = failure((what, *rest))
        self.assertEqual(code, 4)
        self.assertIn("limit of 3 jobs (3 in use)", message)
        self.assertTrue(15 < hint <= 30, hint)
        other = self.user(machine, FIRST_UID + 1)  # has limits of its own
        self.assertEqual(other.ask(wire.SUBMIT_SORT, body)[0], wire.R_ACCEPTED)
        self.assertEqual(client.ask(wire.RELEASE, wire.field(1, jobs[0]))[0], wire.R_OK)
        self.assertEqual(client.ask(wire.SUBMIT_SORT, body)[0], wire.R_ACCEPTED)

    def test_hints_that_would_be_for_nothing(self):
        """What can never be had, and what only root may do, is refused without a hint; held results expire."""
        machine, _ = self.shared(config={"max_jobs_per_user": "3", "pool_memory_per_user": "64MiB", "result_expiry": "30s"})
        client = self.user(machine, FIRST_UID)
        for what, body, says in ((wire.BUFFER_ALLOC, wire.message(f1=200 << 20), "200 MiB alone would exceed"),
                                 (wire.DRAIN, b"", "drain is for administrators"), (wire.RELOAD, b"", "reload is for administrators")):
            code, message, hint = failure(client.ask(what, body))
            self.assertEqual((code, hint), (4, 0), message)
            self.assertIn(says, message)
            self.assertNotIn("try again", message)
        number = self.buffer(client, 32 << 20, os.urandom(1 << 20))
        for _ in range(3):  # they run, but their end frees no place
            self.sort(client, number, 4 << 20, options=DETACH)
        code, message, hint = failure(client.ask(wire.SUBMIT_SORT, wire.sort_buffer("u32", number, 0, 4 << 20, options=DETACH)))
        self.assertEqual(code, 4)
        self.assertTrue(15 < hint <= 40, (hint, message))

    def test_refused_reloads_hide_nothing(self):
        """A user's log records are one a minute; those of root, who corrects a file, are all there."""
        machine, _ = self.shared()
        client, root = self.user(machine, FIRST_UID), self.user(machine, 0)
        for _ in range(100):
            self.assertEqual(client.ask(wire.RELOAD, b"")[0], wire.R_FAILURE)
        for wrong in ("one", "two"):
            (machine.root / "config_home" / "hac" / "hacd.yaml").write_text(f"{wrong}: 1\n")
            self.assertEqual(root.ask(wire.RELOAD, b"")[0], wire.R_FAILURE)
        self.assertEqual(machine.log().count(f"asked for by uid {FIRST_UID}"), 1)
        for wrong in ("one", "two"):
            self.assertIn(f"key `{wrong}`", machine.log())

    def test_hint_of_the_queue(self):
        """Refused with the predicted seconds until the queue's next end, approximately."""
        machine, _ = self.shared(config={"max_jobs_per_user": "2"})
        client = self.user(machine, FIRST_UID)
        size = 32 << 20
        number = self.buffer(client, size, os.urandom(1 << 20))
        for _ in range(3):  # for the models
            job = self.sort(client, number, size, options=ACKNOWLEDGE)
            seconds = client.ask(wire.WAIT, wire.field(1, job))[1]
            client.ask(wire.RELEASE, wire.field(1, job))
        began = time.monotonic()
        body = wire.sort_buffer("u32", number, 0, size, options=ACKNOWLEDGE)
        serials = [client.send(wire.SUBMIT_SORT, body) for _ in range(3)]  # at once: none ends in between
        answers = {serial: client.answer(serial) for serial in serials}  # which come in this order
        self.assertEqual([answers[serial][0] for serial in serials[:2]], [wire.R_ACCEPTED] * 2)
        got = answers[serials[2]]
        code, _, hint = failure(got)
        self.assertEqual(code, 4)
        client.ask(wire.WAIT, wire.field(1, job + 1))
        took = time.monotonic() - began
        self.assertTrue(0.1 <= hint <= max(10 * took, 0.2), f"hint {hint:.3f} s, took {took:.3f} s, {seconds}")
        print(f"hint {hint:.3f} s; the first of two jobs ended after {took:.3f} s", file=sys.stderr)

    def test_deadline(self):
        """A deadline that the models say cannot be met is refused with the prediction; others are met."""
        machine, _ = self.shared()
        client, other = self.user(machine, FIRST_UID), self.user(machine, FIRST_UID + 1)
        size = 32 << 20
        number, theirs = (self.buffer(c, size, os.urandom(1 << 20)) for c in (client, other))
        for _ in range(3):
            job = self.sort(client, number, size, options=ACKNOWLEDGE)
            client.ask(wire.WAIT, wire.field(1, job))
            client.ask(wire.RELEASE, wire.field(1, job))
        began = time.monotonic()
        job = self.sort(client, number, size, options=ACKNOWLEDGE)
        client.ask(wire.WAIT, wire.field(1, job))
        alone = time.monotonic() - began
        code, message, hint = failure((0, self.sort(client, number, size, deadline(0.0005), wire.R_FAILURE)))
        self.assertEqual((code, hint), (4, 0))
        self.assertIn("cannot be met: the job is predicted to take", message)
        job = self.sort(client, number, size, options=deadline(max(20 * alone, 5)) + ACKNOWLEDGE)
        self.assertEqual(client.ask(wire.WAIT, wire.field(1, job))[1][2][0], DONE)
        for _ in range(30):  # a queue of one's own
            self.sort(client, number, size, options=ACKNOWLEDGE)
        code, message, hint = failure((0, self.sort(client, number, size, deadline(3 * alone), wire.R_FAILURE)))
        self.assertEqual(code, 4)
        self.assertRegex(message, r"cannot be met now: .* of waiting beside \d+ other jobs and .* to run")
        self.assertGreater(hint, 0)
        job = self.sort(client, number, size, options=deadline(8 * alone) + priority(50) + ACKNOWLEDGE)
        other_job = self.sort(other, theirs, size, options=deadline(12 * alone) + ACKNOWLEDGE)  # is not behind all of it
        for who, which in ((client, job), (other, other_job)):
            who.ask(wire.WAIT, wire.field(1, which))


# ---- fair ---------------------------------------------------------------------------------------------------

def device_seconds(client, uid):
    """What hacd has counted for that user."""
    for line in client.text(wire.QUERY, wire.message(f1=10)).splitlines():
        if line.startswith("hacd_user_device_seconds_total") and f'user="{uid}"' in line:
            return float(line.rpartition(" ")[2])
    return 0.0


class Load(threading.Thread):
    """A user who always has `depth` sorts of `size` bytes waiting."""

    def __init__(self, test, client, size, depth, options=b""):
        super().__init__(daemon=True)
        self.client, self.size, self.depth, self.options = client, size, depth, options
        self.number = test.buffer(client, size, os.urandom(1 << 20))
        self.done, self.stopping, self.problem, self.latencies = 0, False, None, []

    def submit(self):
        got = self.client.ask(wire.SUBMIT_SORT, wire.sort_buffer("u32", self.number, 0, self.size,
                                                                 options=self.options + ACKNOWLEDGE))
        if got[0] != wire.R_ACCEPTED:
            raise AssertionError(got)
        return got[1][1][0], time.monotonic()

    def run(self):
        try:
            jobs = [self.submit() for _ in range(self.depth)]
            while jobs:
                job, began = jobs.pop(0)
                self.client.ask(wire.WAIT, wire.field(1, job))
                self.latencies.append(time.monotonic() - began)
                self.client.ask(wire.RELEASE, wire.field(1, job))
                self.done += 1
                if not self.stopping:
                    jobs.append(self.submit())
        except Exception as problem:  # pylint: disable=broad-except
            self.problem = problem

    def stop(self, test):
        self.stopping = True
        self.join(150)
        test.assertIsNone(self.problem)


class Fair(UsersTest):
    hostile = 3
    seconds = 5

    def test_device_time(self):
        """Hostile users with many long jobs of high priority, and one with small jobs: all get the same share."""
        machine, _ = self.shared(profile=ONE_DEVICE)
        root = self.user(machine, 0)
        loads = [Load(self, self.user(machine, FIRST_UID + i), 8 << 20, 8, options=priority(100))
                 for i in range(self.hostile)]
        # so many wait that a slow client on a busy machine still asks for its whole share
        honest = Load(self, self.user(machine, FIRST_UID + 50), 1 << 20, 32)
        everybody = [*loads, honest]
        uids = [*range(FIRST_UID, FIRST_UID + self.hostile), FIRST_UID + 50]
        for load in everybody:
            load.start()
        # executors start, which takes long on a busy machine
        self.assertTrue(eventually(lambda: all(load.done > 0 for load in everybody), 100, 0.1))
        due = 1 / (self.hostile + 1)
        for _ in range(8):  # on a busy machine a client may ask for less than its share for a while
            before = [device_seconds(root, uid) for uid in uids]
            time.sleep(self.seconds)
            spent = [device_seconds(root, uid) - b for uid, b in zip(uids, before)]
            part = spent[-1] / sum(spent)
            if part > 0.95 * due:
                break
        for load in everybody:
            load.stop(self)
        print(f"device seconds of {self.hostile} hostile users and an honest one: "
              f"{' '.join(f'{s:.3f}' for s in spent)}; the honest one's part {part:.3f}, due {due:.3f}; "
              f"its jobs took {statistics.median(honest.latencies):.3f} s in the middle", file=sys.stderr)
        self.assertGreater(part, 0.95 * due)

    def test_bytes_and_descriptors(self):
        """Hostile users take all they can get; a new user gets 1/(n + 1) of what is free."""
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        machine, _ = self.shared(config={"pool_memory": "256MiB", "pool_memory_per_user": "100%"},
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024)))
        self.assertGreater(limits[1], 1024)
        page, total = 4096, 256 << 20
        hostile = [self.user(machine, FIRST_UID + i) for i in range(self.hostile)]
        held = 0
        for client in hostile:
            size = total
            while size >= page:  # all that is left, to the page
                got = client.ask(wire.BUFFER_ALLOC, wire.message(f1=size))
                held += size if got[0] == wire.R_BUFFER else 0
                size = size if got[0] == wire.R_BUFFER else size // 2 // page * page
            self.drop(client)
        honest = self.user(machine, FIRST_UID + 50)
        free, got_bytes, size = total - held, 0, total
        while size >= page:
            got = honest.ask(wire.BUFFER_ALLOC, wire.message(f1=size))
            got_bytes += size if got[0] == wire.R_BUFFER else 0
            size = size if got[0] == wire.R_BUFFER else size // 2 // page * page
        part = got_bytes / free * (self.hostile + 1)
        print(f"of {free >> 10} KiB that {self.hostile} hostile users left, the honest one got {got_bytes >> 10} KiB: "
              f"{part:.3f} of its part", file=sys.stderr)
        self.assertGreater(part, 0.95)
        self.drop(honest)

    def test_descriptors(self):
        machine, _ = self.shared(config={"executor_idle_timeout": "1s"},
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024)))
        counts = []
        for uid in (*range(FIRST_UID, FIRST_UID + self.hostile), FIRST_UID + 50):
            client = self.user(machine, uid)
            count = 0
            while client.ask(wire.BUFFER_ALLOC, wire.message(f1=1))[0] == wire.R_BUFFER:
                count += 1
                self.drop(client)
            counts.append(count)
        free = 256 - sum(counts[:-1])  # half of what hacd may open, less its own
        print(f"buffers of {self.hostile} hostile users and an honest one, of 256 descriptors: {counts}", file=sys.stderr)
        self.assertGreaterEqual(counts[-1], int(0.95 * free / (self.hostile + 1)))

    def drop(self, client):
        for fd in client.fds:
            os.close(fd)
        client.fds.clear()

    def test_short_beside_long(self):
        """A short job of another user waits for one task, not for the long job or its queue."""
        machine, _ = self.shared()
        long_user, short_user = self.user(machine, FIRST_UID), self.user(machine, FIRST_UID + 1)
        short = Load(self, short_user, 64 << 10, 1)
        job, _ = short.submit()
        short_user.ask(wire.WAIT, wire.field(1, job))  # its executor is there
        alone = []
        for _ in range(20):
            job, began = short.submit()
            short_user.ask(wire.WAIT, wire.field(1, job))
            alone.append(time.monotonic() - began)
        load = Load(self, long_user, 128 << 20, 4, options=priority(100))
        load.start()
        time.sleep(1.5)
        beside = []
        for _ in range(15):
            job, began = short.submit()
            short_user.ask(wire.WAIT, wire.field(1, job))
            beside.append(time.monotonic() - began)
            time.sleep(0.05)
        load.stop(self)
        took = statistics.median(load.latencies)
        print(f"a sort of 64 KiB: {statistics.median(alone) * 1e3:.1f} ms alone, {statistics.median(beside) * 1e3:.1f} ms "
              f"(at most {max(beside) * 1e3:.0f}) beside sorts of 128 MiB, which took {took:.2f} s with their queue",
              file=sys.stderr)
        self.assertLess(statistics.median(beside), 1.0)
        self.assertLess(statistics.median(beside), took / 3)


class LongFair(Fair):
    hostile = 7
    seconds = 10


# ---- a client that does not read ------------------------------------------------------------------------------

class SlowReader(UsersTest):
    rounds = 3

    def latencies(self, client, n):
        seconds = []
        data = os.urandom(4000)
        for _ in range(n):
            began = time.monotonic()
            self.assertEqual(client.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", data))[0], wire.R_DONE)
            seconds.append(time.monotonic() - began)
        return seconds

    def test_never_reads(self):
        """1,000 results wait for a client that never reads: it is disconnected, and others do not notice. They are compared with
        the figures after as many jobs of a client that reads."""
        machine, daemon = self.shared(config={"max_jobs_per_user": "2000"})
        honest, root = self.user(machine, FIRST_UID), self.user(machine, 0)
        self.latencies(honest, 50)
        without, beside, cpu, rss = [], [], [0.0, 0.0], daemon.rss()
        for turn in range(self.rounds):
            reader = self.user(machine, FIRST_UID + 1 + self.rounds + turn)
            self.latencies(reader, 1000)
            reader.close()
            self.latencies(honest, 20)  # its executor was idle meanwhile
            began = daemon.cpu_seconds()
            without += self.latencies(honest, 400)
            cpu[0] += daemon.cpu_seconds() - began
            slow = self.user(machine, FIRST_UID + 1 + turn)
            for _ in range(1000):
                try:
                    slow.send(wire.SUBMIT_SORT, wire.sort_inline("u32", os.urandom(4000)))
                except OSError:
                    break  # already disconnected
            # its jobs' own time is not measured here
            self.assertTrue(eventually(lambda: not any(
                job["state"] in ("queued", "planned", "running") for job in self.listed(root).values()), 20))
            self.latencies(honest, 20)
            began = daemon.cpu_seconds()
            beside += self.latencies(honest, 400)
            cpu[1] += daemon.cpu_seconds() - began
            self.assertTrue(eventually(lambda: slow.ended() or True, 15))
        ratio = statistics.median(beside) / statistics.median(without)
        quantile = [statistics.quantiles(s, n=100)[98] for s in (without, beside)]
        print(f"median {statistics.median(without) * 1e3:.3f} ms without, {statistics.median(beside) * 1e3:.3f} ms beside "
              f"a client that does not read ({ratio:.2f}); p99 {quantile[0] * 1e3:.2f} and {quantile[1] * 1e3:.2f} ms; "
              f"hacd's own {cpu[0]:.2f} and {cpu[1]:.2f} s; resident +{(daemon.rss() - rss) >> 10} KiB", file=sys.stderr)
        self.assertIn("does not read", machine.log())
        self.assertLess(cpu[1], 2 * cpu[0] + 0.1)  # latencies say less on machines that do other things as well
        self.assertLess(ratio, 4)
        self.assertTrue(daemon.alive())

    def test_reads_nothing_of_a_little(self):
        """Less than the limit, and left unread for 10 s: disconnected as well."""
        machine, daemon = self.shared()
        slow = self.user(machine, FIRST_UID)
        data = os.urandom(20000)
        sent = 0
        for _ in range(16):  # more than the socket takes, less than what hacd keeps
            slow.send(wire.SUBMIT_SORT, wire.sort_inline("u32", data))
            sent += 1
        began = time.monotonic()
        self.assertTrue(eventually(lambda: "does not read" in machine.log(), 20, 0.2), machine.log()[-2000:])
        print(f"cut off after {time.monotonic() - began:.1f} s with {sent * len(data) >> 10} KiB unread", file=sys.stderr)
        self.assertGreater(time.monotonic() - began, 8)
        self.assertTrue(daemon.alive())


if __name__ == "__main__":
    main()
