#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two graphs of a job are in flight: they run one after the other, and each is answered once, whatever happens."""
import mmap
import os
import random
import signal
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from machine import SharedMachineTest, eventually, main  # noqa: E402

F64, U32 = 11, 8
DONE, FAILED, CANCELLED = 3, 4, 5  # states of jobs


class TwoGraphs(SharedMachineTest):
    def setUp(self):
        super().setUp()
        self.m.good("devices")  # there is a daemon
        self.client = wire.Client(self.m.socket, timeout=60.0)
        self.addCleanup(self.client.close)

    # ---- requests ----

    def buffer(self, size):
        """(Its number, its memory.)"""
        self.client.fds.clear()
        number = self.client.ask(wire.BUFFER_ALLOC, wire.field(1, size))[1][1][0]
        memory = mmap.mmap(self.client.fds[0], size)
        os.close(self.client.fds.pop())
        return number, memory

    def begin(self, options=b""):
        return self.client.ask(wire.SUBMIT_OPS, wire.ops([], [], options, f8=1))[1][1][0]

    def gather(self, rows, to=0, source=1, index=2, after=b""):
        """Buffer `to` becomes the rows of `source` that `index` says."""
        call = wire.op_call([(1, F64, 0, 0, rows, 1, 0, 0, 0, 0), (1, F64, 1, 0, rows, 1, 0, 0, 0, 0),
                             (1, U32, 2, 0, rows, 1, 0, 0, 0, 0)])
        size = (8 * rows + 63) // 64 * 64
        spans = [(to, 0, size, 1), (source, 0, size, 0), (index, 0, (4 * rows + 63) // 64 * 64, 0)]
        return wire.op_task("op.gather", spans, call, count=rows, after=after, f2=f"to {to}")

    def send(self, job, buffers, tasks, **more):
        return self.client.send(wire.APPEND_GRAPH, wire.message(f1=job, f2=wire.ops(buffers, tasks, **more)))

    def answers(self, *serials):
        """The answer to each of these requests, in any order."""
        found = {}
        while len(found) < len(serials):
            what, serial, fields = self.client.receive()
            if serial in serials:
                self.assertNotIn(serial, found)
                found[serial] = (what, fields)
        return [found[serial] for serial in serials]

    def says(self, answer):
        self.assertEqual(answer[0], wire.R_FAILURE)
        return answer[1][2][0].decode()

    def state(self, job):
        return self.client.ask(wire.WAIT, wire.field(1, job))[1][2][0]

    def vectors(self, rows):
        """Random values, the index of each, and two more vectors: their numbers and memory."""
        values = [random.random() for _ in range(min(rows, 5000))]
        values += [0.5] * (rows - len(values))
        order = random.sample(range(rows), rows) if rows <= 5000 else range(rows)
        (x, x_memory), (index, index_memory), (y, y_memory), (z, z_memory) = (self.buffer(8 * rows + 64) for _ in range(4))
        x_memory[:8 * rows] = struct.pack(f"<{rows}d", *values)
        index_memory[:4 * rows] = struct.pack(f"<{rows}I", *order)
        twice = [values[order[i]] for i in order]
        return (x, index, y, z), index_memory, lambda: list(struct.unpack(f"<{rows}d", z_memory[:8 * rows])) == twice

    def again_and_again(self, rows):
        """A graph that takes 60 times as long as one of its tasks."""
        return [self.gather(rows, after=b"" if i == 0 else bytes([i - 1])) for i in range(60)]

    def long_vectors(self):
        """And a graph of some tenths of a second."""
        rows = 1 << 20
        numbers, _, is_right = self.vectors(rows)
        return rows, numbers, self.again_and_again(rows), is_right

    # ---- answers ----

    def test_order(self):
        """The second graph reads what the first one writes; a third one is refused, and so is any other request."""
        refused = 0
        for _ in range(30):
            rows, job = 5000, self.begin()
            (x, index, y, z), _, is_right = self.vectors(rows)
            first = self.send(job, [y, x, index], self.again_and_again(rows))  # they must exist when the others come
            second = self.send(job, [z, y, index], [self.gather(rows)])
            third = self.send(job, [z, y, index], [self.gather(rows)])
            line = self.client.send(wire.APPEND_GRAPH, wire.message(f1=job, f3="a line"))
            one, two, three, four = self.answers(first, second, third, line)
            self.assertEqual((one[0], two[0]), (wire.R_GRAPH_DONE, wire.R_GRAPH_DONE))
            self.assertEqual((one[1].get(2, [0]), two[1][2]), ([0], [1]))
            self.assertTrue(is_right())
            for other, text in ((three, "two graphs"), (four, "a graph")):
                if other[0] == wire.R_FAILURE:
                    self.assertIn(f"{text} of job {job}", self.says(other))
                    refused += 1
            self.assertEqual(self.client.ask(wire.APPEND_GRAPH, wire.message(f1=job, f4=1))[0], wire.R_GRAPH_DONE)
            self.assertEqual(self.state(job), DONE)
        self.assertGreater(refused, 0)

    def test_failure_in_the_second(self):
        rows, job = 5000, self.begin()
        (x, index, y, z), order, _ = self.vectors(rows)
        bad, memory = self.buffer(4 * rows + 64)
        memory[:] = order[:4 * rows + 64]
        memory[:4] = struct.pack("<I", rows)
        first = self.send(job, [y, x, index], [self.gather(rows)])
        second = self.send(job, [z, y, bad], [self.gather(rows)])
        one, two = self.answers(first, second)
        self.assertEqual(one[0], wire.R_GRAPH_DONE)
        self.assertIn("to 0: op.gather: operand 2: row 0", self.says(two))
        self.assertEqual(self.state(job), FAILED)
        # one that may fail
        job = self.begin()
        first = self.send(job, [y, x, index], [self.gather(rows)])
        second = self.send(job, [z, y, bad], [self.gather(rows)], f9=1)
        one, two = self.answers(first, second)
        self.assertEqual((one[0], two[0]), (wire.R_GRAPH_DONE, wire.R_GRAPH_DONE))
        self.assertEqual((one[1][3], two[1][3]), ([b"\0"], [b"\xff"]))
        self.assertEqual(self.answers(self.send(job, [z, y, index], [self.gather(rows)]))[0][0], wire.R_GRAPH_DONE)

    def test_failure_in_the_first(self):
        """Both graphs are answered, and the second one has not run."""
        rows, numbers, tasks, _ = self.long_vectors()
        (x, index, y, z), job = numbers, self.begin()
        bad, memory = self.buffer(4 * rows + 64)
        memory[:4] = struct.pack("<I", rows)
        first = self.send(job, [y, x, index, bad], tasks + [self.gather(rows, index=3, after=bytes([len(tasks) - 1]))])
        second = self.send(job, [z, y, index], [self.gather(rows)])
        one, two = self.answers(first, second)
        self.assertIn("to 0: op.gather: operand 2: row 0", self.says(one))
        self.assertEqual(self.says(two), self.says(one))
        self.assertEqual(self.state(job), FAILED)

    def test_senseless(self):
        """A senseless graph is refused at once or when its turn comes; the first one ends normally."""
        rows, (x, index, y, z), tasks, is_right = self.long_vectors()
        job = self.begin()
        first = self.send(job, [y, x, index], tasks)
        second = self.send(job, [z, y, z + 1000], [self.gather(rows)])
        self.assertIn("holds no buffer", self.says(self.answers(second)[0]))
        second = self.send(job, [z, y, index], [self.gather(rows)])
        one, two = self.answers(first, second)
        self.assertEqual((one[0], two[0]), (wire.R_GRAPH_DONE, wire.R_GRAPH_DONE))
        self.assertTrue(is_right())
        first = self.send(job, [y, x, index], tasks)
        second = self.send(job, [z, y, index], [self.gather(rows), self.gather(rows, 1, 0, after=b"\0")])  # writes what is read
        one, two = self.answers(first, second)
        self.assertEqual(one[0], wire.R_GRAPH_DONE)
        self.assertIn("writes over what", self.says(two))
        self.assertEqual(self.state(job), FAILED)

    def test_cancel(self):
        rows, (x, index, y, z), tasks, _ = self.long_vectors()
        for wait in (0, 0.01, 0.03):
            job = self.begin()
            first = self.send(job, [y, x, index], tasks)
            second = self.send(job, [z, y, index], tasks)
            time.sleep(wait)
            self.client.send(wire.CANCEL, wire.field(1, job))
            one, two = self.answers(first, second)
            self.assertTrue(one[0] == wire.R_GRAPH_DONE or "cancelled" in self.says(one))  # it may have ended before
            self.assertIn("cancelled", self.says(two))
            self.assertEqual(self.state(job), CANCELLED)
            again = self.send(job, [z, y, index], tasks)
            self.assertIn("cancelled", self.says(self.answers(again)[0]))

    def test_kill(self):
        """The executor dies with both in flight: both still run."""
        rows, (x, index, y, z), tasks, is_right = self.long_vectors()
        for wait in (0.02, 0.1, 0.3):
            job = self.begin()
            first = self.send(job, [y, x, index], tasks)
            second = self.send(job, [z, y, index], [self.gather(rows)])
            time.sleep(wait)
            for pid in self.m.daemon().executor_pids():
                os.kill(pid, signal.SIGKILL)
            one, two = self.answers(first, second)
            self.assertEqual((one[0], two[0]), (wire.R_GRAPH_DONE, wire.R_GRAPH_DONE))
            self.assertTrue(is_right())

    def test_memory_limit(self):
        """The memory limit applies to each graph: one that needs more than the job may have fails when its turn comes."""
        rows, job = 5000, self.begin(wire.message(f6=3 * (8 * 5000 + 4096 + 64)))
        (x, index, y, z), _, is_right = self.vectors(rows)
        large, _ = self.buffer(1 << 20)
        first, second = (self.send(job, [to, source, index], [self.gather(rows)]) for to, source in ((y, x), (z, y)))
        one, two = self.answers(first, second)
        self.assertEqual((one[0], two[0]), (wire.R_GRAPH_DONE, wire.R_GRAPH_DONE))
        self.assertTrue(is_right())
        first = self.send(job, [y, x, index], [self.gather(rows)])
        second = self.send(job, [large, y, index], [self.gather(rows)])
        one, two = self.answers(first, second)
        self.assertEqual(one[0], wire.R_GRAPH_DONE)
        self.assertIn("above its limit", self.says(two))
        self.assertEqual(self.state(job), FAILED)

    def test_client_leaves(self):
        """Nothing is left of both."""
        _, (x, index, y, z), tasks, _ = self.long_vectors()
        job = self.begin()
        self.send(job, [y, x, index], tasks)
        self.send(job, [z, y, index], tasks)
        self.client.close()
        self.assertTrue(eventually(lambda: b'kind="used"} 0\n' in self.m.good("metrics"), 20))


if __name__ == "__main__":
    main()
