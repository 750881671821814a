#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package as part of a program: threads, Ctrl-C, fork, a daemon that goes, memory over many calls."""
import json
import os
import signal
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import main  # noqa: E402
from python_package import PackageTest, needs, numpy as np  # noqa: E402

# Sorts take a minute where they would take a second.
SLOW_DEVICE = """name: cpu
match: {platform: "Portable Computing Language", type: cpu}
kind: cpu
executors: [{threads: 1, testing: {slowdown: 200.0}}]
memory: {host: true}
"""
MANY = 2_000_000


def rss():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


class Threads(PackageTest):
    def test_threads(self):
        """Each has a connection of its own."""
        import hac
        failures, connections = [], set()

        def work(seed):
            try:
                generator = np.random.default_rng(seed)
                for _ in range(30):
                    a = generator.integers(0, 1000, int(generator.integers(0, 30000)), "int64")
                    if not (hac.sort(a) == np.sort(a)).all() or not (hac.argsort(a) == np.argsort(a, kind="stable")).all():
                        failures.append(len(a))
                connections.add(hac._connection.thread.connection)
            except BaseException as error:  # noqa: B036 - whatever it is, the test must see it
                failures.append(error)
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(connections), 6)

    def test_one_connection_for_all(self):
        """Jobs of one connection, submitted, waited for, and freed by several threads."""
        from hac import _hac
        connection = _hac.Connection()
        failures = []

        def work(seed):
            generator = np.random.default_rng(seed)
            for _ in range(60):
                a = generator.integers(0, 1 << 32, int(generator.integers(1, 20000)), "uint32")
                job = connection.sort_buffer(a, {"type": 1})
                job.wait()
                if not (np.asarray(job) == np.sort(a)).all():
                    failures.append(len(a))
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_gil_is_released(self):
        """While a job is waited for, other threads run."""
        import hac
        ticks, stop = [0], threading.Event()

        def tick():
            while not stop.is_set():
                ticks[0] += 1
                time.sleep(0.001)
        thread = threading.Thread(target=tick)
        a = np.random.default_rng(0).integers(0, 1 << 63, 3_000_000, "uint64")
        thread.start()
        try:
            ticks[0] = 0
            hac.sort(a)
            self.assertGreater(ticks[0], 5)
        finally:
            stop.set()
            thread.join()


class Leaks(PackageTest):
    def flat(self, call, times, warm):
        for _ in range(warm):
            call()
        before, descriptors = rss(), len(os.listdir("/proc/self/fd"))
        for _ in range(times):
            call()
        self.assertLess(rss() - before, 2 << 20)
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), descriptors)

    def test_small_sorts(self):
        import hac
        a = np.random.default_rng(0).integers(0, 1 << 32, 1000, "uint32")
        self.flat(lambda: hac.sort(a), 10000, 500)

    def test_errors(self):
        import hac

        def fail():
            try:
                hac.sort(np.zeros(10), priority=1000)
            except hac.Error:
                return
        self.flat(fail, 5000, 500)

    @needs("pyarrow")
    def test_columns(self):
        import hac
        import pyarrow
        array, chunks = pyarrow.array(np.arange(2000)), pyarrow.chunked_array([[1, 2], [3]])

        def once():
            hac.sort(array).to_arrow()
            pyarrow.chunked_array(hac.sort(chunks))
        self.flat(once, 1500, 300)

    def test_pool_memory(self):
        import hac

        def once():
            a = hac.empty(200000, "uint32")
            a[:] = 7
            hac.sort(a)
        self.flat(once, 100, 20)


class CtrlC(PackageTest):
    profile = SLOW_DEVICE

    def test_interrupt(self):
        """SIGINT while a job runs: KeyboardInterrupt, soon, and hacd has cancelled the job."""
        process = subprocess.Popen(
            [sys.executable, "-c", "import hac, numpy, sys\n"
             f"a = numpy.random.default_rng(0).integers(0, 1 << 32, {MANY}, 'uint32')\n"
             "hac.devices(); print('begins', flush=True)\n"
             "try: hac.sort(a)\n"
             "except KeyboardInterrupt: print('interrupted', hac.why(), flush=True)\n"
             "print(hac.sort(a[:5]).tolist() == sorted(a[:5].tolist()))"],
            env=self.environment(), stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "begins\n")
        time.sleep(1.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        out, _ = process.communicate(timeout=30)
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(process.returncode, 0)
        self.assertIn("interrupted", out)
        self.assertIn("cancelled", out)
        self.assertTrue(out.endswith("True\n"), out)

    def test_interrupted_twice(self):
        """Who does not wait for the end leaves the descriptor to the thread that looks at it."""
        out = self.python("""
import signal, threading, time
seen = []
def call(stop):
    for _ in range(2):
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.5)
    seen.append(os.eventfd_read(stop))
try:
    hac._connection.run_aside(call)
except KeyboardInterrupt:
    print(seen)
end = time.monotonic() + 20
while threading.active_count() > 1 and time.monotonic() < end:
    time.sleep(0.05)
print(seen)
""")
        self.assertEqual(out, "[]\n[1]\n")

    def test_cancel_from_a_thread(self):
        import hac
        from hac import _hac
        connection = _hac.Connection()
        a = np.random.default_rng(0).integers(0, 1 << 32, MANY, "uint32")
        job = connection.sort_buffer(a, {"type": 1})
        self.assertFalse(job.wait(0))
        self.assertFalse(job.wait(0.2))
        threading.Timer(0.3, job.cancel).start()
        with self.assertRaises(hac.CancelledError) as caught:
            job.wait()
        self.assertEqual(caught.exception.status, hac.Status.CANCELLED)
        with self.assertRaises(hac.CancelledError):
            job.wait()
        job.cancel()  # has no effect any more

    def test_dropped_while_it_runs(self):
        """Nobody has the job any more: hacd cancels it, and the keys' memory goes back."""
        import hac
        from hac import _hac
        connection = _hac.Connection()
        for _ in range(3):
            keys = hac.empty(MANY, "uint32")
            keys[...] = 1
            connection.sort_buffer(keys, {"type": 1})
            del keys
        self.assertEqual(hac.sort(np.array([2, 1], "uint32")).tolist(), [1, 2])


class Progress(PackageTest):
    profile = SLOW_DEVICE

    def shown(self, call, terminal=True, tqdm=False):
        """What a call writes to standard error, which is a terminal or a pipe."""
        from unittest import mock
        from hac import _progress
        mine, theirs = os.openpty() if terminal else os.pipe()
        if terminal:
            termios.tcsetwinsize(theirs, (24, 80))
        out = []

        def read():
            while not out or not out[-1].endswith(b"end"):
                out.append(os.read(mine, 1 << 16))
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        with os.fdopen(theirs, "w") as stderr, mock.patch.object(sys, "stderr", stderr), \
                mock.patch.object(_progress, "DELAY", 0.05), mock.patch.dict(sys.modules, {} if tqdm else {"tqdm": None}):
            call()
            stderr.write("end")
            stderr.flush()
            reader.join(10)
        os.close(mine)
        return b"".join(out).decode()[:-3]

    def test_bar(self):
        import hac
        keys = np.random.default_rng(0).integers(0, 1 << 32, MANY // 20, "uint32")
        bar = r"^(\r\[#*-*\] +\d+%  [ -~]*)+\r *\r$"
        self.assertRegex(self.shown(lambda: hac.sort(keys)), bar)
        self.assertEqual(self.shown(lambda: hac.sort(keys, progress=False)), "")
        self.assertEqual(self.shown(lambda: hac.sort(keys), terminal=False), "")
        self.assertRegex(self.shown(lambda: hac.argsort(keys, progress=True), terminal=False), bar)
        self.assertEqual(self.shown(lambda: hac.submit(hac.sort, keys).result()), "")
        self.assertEqual(self.shown(lambda: hac.sort(keys[:3])), "", "a short call has no bar")

    @needs("tqdm")
    def test_tqdm(self):
        import hac
        keys = np.random.default_rng(0).integers(0, 1 << 32, MANY // 20, "uint32")
        out = self.shown(lambda: hac.sort(keys), tqdm=True)
        self.assertRegex(out, r"\d+%\|.*\|")

    def test_a_stream(self):
        """A file that this process reads: the bar is there while its writer is slow."""
        import hac
        path = self.m.path("slow")
        os.mkfifo(path)

        def feed():
            with open(path, "w", encoding="ascii") as file:
                for i in range(12):
                    file.write(f"{i}\n" * 100000)
                    file.flush()
                    time.sleep(0.1)
        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        results = []
        out = self.shown(lambda: results.append(hac.query(path, format="csv", schema="n:i64", input={"header": "false"},
                                                          select="sum(n) as s", progress=True)))
        feeder.join()
        self.assertEqual(results[0].to_numpy()["s"].tolist(), [6600000])
        self.assertIn("%", out)

    def test_news(self):
        """The record by itself: nothing until hacd has spoken, and no other object in its place."""
        import hac
        from hac import _hac, _progress
        self.assertIsNone(_hac.Progress().read())
        with self.assertRaises(TypeError):
            _hac.Connection().sort_buffer(np.zeros(9, "uint32"), {"type": 1, "progress": 5})
        with self.assertRaisesRegex(TypeError, "takes no|argument"):
            _hac.Progress(1)
        text = _progress._text_of((0.5, "merge\033[2J", "cpu", 1.18e6, 5, "building"))
        self.assertEqual(text, "merge?[2J  1.18 M items/s  5.0 s left  (building)")
        self.assertEqual(_progress._text_of((0, "queued", "", 0, 5, "")), "queued")
        self.assertEqual(hac.sort(np.array([2, 1], "uint32"), progress=True).tolist(), [1, 2])


class Fork(PackageTest):
    def test_child_has_its_own_connection(self):
        out = self.python("""
a = numpy.arange(100000, dtype='uint32')[::-1]
result = hac.sort(a)
sys.stdout.flush()
child = os.fork()
if child == 0:
    mine = hac.sort(a)
    ok = bool((mine == result).all()) and result[0] == 0
    del result, mine
    os._exit(0 if ok else 7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(bool((hac.sort(a) == result).all()))
""")
        self.assertEqual(out, "0\nTrue\n")

    def test_inherited_objects_are_refused(self):
        out = self.python("""
import numpy
column = hac._connection.connection().sort_buffer(numpy.arange(50000, dtype='uint32'), {'type': 1})
column.wait()
connection = hac._connection.connection()
sys.stdout.flush()
child = os.fork()
if child == 0:
    for call in (connection.ask, column.cancel, column.arrow_array, column.arrow_stream, column.wait):
        try:
            call(1) if call == connection.ask else call()
            os._exit(8)
        except hac.InvalidError as error:
            if 'forked' not in str(error):
                os._exit(9)
    del column, connection
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), numpy.asarray(column)[-1])
""")
        self.assertEqual(out, "0 49999\n")

    def test_futures_in_a_child(self):
        """The child's future cancels the child's job."""
        out = self.python("""
import threading, time
hac.submit(hac.devices).result()
os.mkfifo(sys.argv[1])
sys.stdout.flush()
child = os.fork()
if child == 0:
    future = hac.submit(hac.query, sys.argv[1], format='csv')
    with open(sys.argv[1], 'w') as writer:
        time.sleep(0.3)
        future.cancel()
        try:
            future.result(20)
        except hac.CancelledError:
            os._exit(0)
        except BaseException:
            pass
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""", self.m.path("pipe"))
        self.assertEqual(out, "0\n")

    def test_child_leaves_the_parents_socket(self):
        """hacd sees the parent's end while its child lives on."""
        import hac
        program = self.m.path("parent.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write("import hac, numpy, os, sys\n"
                       "a, b = hac.sort(numpy.arange(100000, dtype='u4')), hac._hac.Connection()\n"
                       "if os.fork() == 0:\n"
                       "    b = None\n"
                       "    sys.stdin.read()\n"
                       "os._exit(0)\n")

        def connections():
            return json.loads(hac._connection.connection().ask(0))["daemon"]["connections"]
        before = connections()
        process = subprocess.Popen([sys.executable, program], env=self.environment(), stdin=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        self.assertEqual(process.wait(60), 0)
        end = time.monotonic() + 20
        while connections() > before and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual(connections(), before)

    def test_multiprocessing(self):
        out = self.python("""
import multiprocessing
def work(seed):
    a = numpy.random.default_rng(seed).integers(0, 1000, 50000, 'int64')
    return bool((hac.sort(a) == numpy.sort(a)).all())
hac.devices()
with multiprocessing.get_context('fork').Pool(3) as pool:
    print(pool.map(work, range(9)) == [True] * 9)
""")
        self.assertEqual(out, "True\n")


class Daemon(PackageTest):
    def test_no_daemon(self):
        environment = {**self.environment(), "HAC_SOCKET": self.m.path("nobody.sock")}
        program = ("import hac, numpy\n"
                   "try: hac.sort(numpy.zeros(3))\n"
                   "except ConnectionError as error: print(type(error).__name__, error.status.name)")
        out = subprocess.run([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(out.stdout, "NoDaemonError NO_DAEMON\n")


class Restart(PackageTest):
    @classmethod
    def tearDownClass(cls):
        cls.m.baseline()  # of the daemon that serves now
        super().tearDownClass()

    def test_daemon_that_went(self):
        """What it had made stays readable, and the next call meets the next daemon."""
        import hac
        a = np.random.default_rng(0).integers(0, 1 << 32, 100000, "uint32")
        result = hac.sort(a)
        self.m.good("drain")
        self.m.running() and self.m.running().wait()
        self.assertFalse(hac._connection.thread.connection.usable)
        self.assertTrue((result == np.sort(a)).all())
        self.assertTrue((hac.sort(a) == result).all())


if __name__ == "__main__":
    main()
