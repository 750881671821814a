#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients, inputs and hacd itself disappear in the middle of a job."""
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from load import submit_many  # noqa: E402
from machine import HACCTL, ONE_DEVICE, TWO_DEVICES, MachineTest, children, command_of, eventually, main  # noqa: E402

BITONIC = ("--algorithm", "bitonic")


class Input(MachineTest):
    def test_truncated(self):
        """An input that shrinks while it is read gives an error, or the right answer for its original content."""
        machine = self.machine(TWO_DEVICES)
        machine.baseline()
        rng = random.Random(5)
        outcomes = {0: 0, 1: 0}
        for turn in range(25):
            machine.generate("u64", "random", 400000, turn)
            os.link(machine.path("in"), machine.path("copy"))
            original = Path(machine.path("in")).read_bytes()
            process = machine.start("sort", "in", "--type", "u64", *BITONIC, "-o", "out")
            time.sleep(rng.uniform(0, 0.04))
            with open(machine.path("in"), "r+b") as file:
                end = rng.choice((0, 8, 4096, 1600000, 3199992))
                file.truncate(end)
            out, err = process.communicate(timeout=60)
            self.assertIn(process.returncode, (0, 1), (err, machine.log()[-2000:]))
            outcomes[process.returncode] += 1
            if process.returncode == 0:
                result = Path(machine.path("out")).read_bytes()
                if len(result) == len(original):
                    Path(machine.path("before")).write_bytes(original)
                    self.assertIsNone(machine.wrong("u64", "before", "out"))
                else:  # it had shrunk before hacctl looked at it
                    self.assertIsNone(machine.wrong("u64", "in", "out"))
                os.unlink(machine.path("out"))
            else:
                self.assertEqual(err.count(b"\n"), 1, err)
                if b"truncated while it was read" in err:  # otherwise it had shrunk before it was read
                    self.assertIn(b"the input ended after %d of 3200000 bytes" % end, err)
                self.assertFalse(os.path.exists(machine.path("out")))
            os.unlink(machine.path("copy"))
            os.unlink(machine.path("in"))
        print(f"{outcomes[0]} whole answers, {outcomes[1]} errors", file=sys.stderr)
        self.assertEqual({d["state"] for d in machine.devices()}, {"ready"})
        machine.check_clean(slack=16 << 20)

    def test_changing(self):
        """Keys that change while they are read: no crash, and the result is still sorted."""
        machine = self.machine(TWO_DEVICES)
        machine.baseline()
        machine.generate("u32", "random", 1000000)
        for _ in range(5):
            process = machine.start("sort", "in", "--type", "u32", *BITONIC, "-o", "out")
            with open(machine.path("in"), "r+b") as file:
                while process.poll() is None:
                    file.seek(random.randrange(0, 999000) * 4)
                    file.write(os.urandom(4000))
            process.communicate()
            self.assertEqual(process.returncode, 0)
            self.assertIsNone(machine.wrong("u32", "out", "out"))
        machine.check_clean(slack=16 << 20)


class Clients(MachineTest):
    def test_killed(self):
        """SIGKILL of hacctl in the middle of a job: the job is cancelled, its resources come back, and no half-written file is left."""
        machine = self.machine(TWO_DEVICES, config={"result_expiry": "4s"})
        machine.baseline()
        machine.generate("u32", "random", 6000000)
        for delay in (0.0, 0.01, 0.03, 0.06, 0.1, 0.15):
            process = machine.start("sort", "in", "--type", "u32", *BITONIC, "-o", "out")
            eventually(lambda: any(j["state"] == "running" for j in machine.json("jobs")["jobs"]) or process.poll() is not None,
                       20, 0.002)
            time.sleep(delay)
            process.kill()
            process.communicate()
            self.assertTrue(eventually(lambda: all(
                j["state"] in ("cancelled", "done") for j in machine.json("jobs")["jobs"])))
            if os.path.exists(machine.path("out")):  # the job was already done
                self.assertIsNone(machine.wrong("u32", "in", "out"))
                os.unlink(machine.path("out"))
            # a SIGKILL may leave a temporary file, but none under the result's name
            for name in os.listdir(machine.work):
                self.assertRegex(name, r"^(in|\.warm(\.out)?|\.out\.hacctl-.*)$")
        self.assertRegex(machine.good("metrics").decode(), r'ended_total\{state="cancelled",flow="[a-z]+"\} [1-9]')
        machine.check_clean(slack=16 << 20)

    def test_killed_while_it_writes(self):
        """A logic file's outputs appear under their names only when all are whole: a SIGKILL leaves none of them."""
        machine = self.machine(ONE_DEVICE)
        out = Path(machine.path("out"))
        out.mkdir()
        try:
            os.close(os.open(out, os.O_TMPFILE | os.O_WRONLY))
        except OSError as error:
            self.skipTest(f"files without a name: {error}")
        (machine.work / "many.yaml").write_text(
            'name: many\ninputs: {p: {parse: csv, schema: "k:i64"}}\noperators: [map: {expr: p.k + 1, out: y}]\n'
            "outputs: {" + ", ".join(f"y{i}: {{columns: [y]}}" for i in range(20)) + "}\n")
        (machine.work / "in.csv").write_text("k\n" + "".join(f"{i}\n" for i in range(100000)))
        words = ("opsplit", "run", "many.yaml", "--input", "p=in.csv", "-o", "out")
        machine.good(*words[:-1], "warm")

        def writes(pid):
            folder = f"/proc/{pid}/fd"
            try:
                return any(os.readlink(f"{folder}/{fd}").startswith(f"{out}/") for fd in os.listdir(folder))
            except OSError:  # the descriptor or the process is gone
                return False
        for _ in range(20):  # on a busy machine the run may have ended, or renamed whole files, before the kill
            process = machine.start(*words)
            self.assertTrue(eventually(lambda: writes(process.pid) or process.poll() is not None, 30, 0.001))
            process.kill()
            process.communicate()
            names = os.listdir(out)
            for name in names:
                self.assertEqual((out / name).read_bytes(), Path(machine.path("warm"), name).read_bytes())
                (out / name).unlink()
            if process.returncode == -signal.SIGKILL and not names:
                break
        self.assertEqual((process.returncode, names), (-signal.SIGKILL, []), "it had ended already, each time")
        machine.good(*words)
        machine.good(*words)  # replace the existing ones
        self.assertEqual(sorted(os.listdir(out)), sorted(f"y{i}.csv" for i in range(20)))
        for name in os.listdir(out):
            self.assertEqual((out / name).read_bytes(), Path(machine.path("warm"), name).read_bytes())

    def test_detached_goes_on(self):
        machine = self.machine(ONE_DEVICE, config={"result_expiry": "20s"})
        machine.baseline()
        machine.generate("u32", "random", 2000000)
        job = machine.good("sort", "in", "--type", "u32", *BITONIC, "--detach").decode().strip()
        waiting = machine.start("wait", job)
        time.sleep(0.01)
        waiting.kill()
        waiting.communicate()
        machine.good("wait", job)
        machine.good("result", job, "-o", "out")
        self.assertIsNone(machine.wrong("u32", "in", "out"))
        machine.check_clean(slack=16 << 20, seconds=60)

    def test_come_and_go(self):
        """Many clients connect, ask, and vanish at any moment."""
        machine = self.machine(ONE_DEVICE)
        machine.baseline()
        rng = random.Random(8)
        for _ in range(150):
            client = wire.Client(machine.socket)
            for _ in range(rng.randrange(4)):
                data = os.urandom(4 * rng.randrange(1, 6000))
                what = rng.randrange(3)
                if what == 0:
                    client.send(wire.SUBMIT_SORT, wire.sort_inline("u32", data))
                elif what == 1:
                    client.send(wire.BUFFER_ALLOC, wire.message(f1=len(data)))
                else:
                    client.send(wire.QUERY, wire.message(f1=rng.randrange(12)))
            client.close()
        machine.check_clean(slack=16 << 20)


class Daemon(MachineTest):
    def test_killed(self):
        """SIGKILL of hacd: its clients hear of it at once, its executors exit, and the next client gets a new daemon."""
        machine = self.machine(TWO_DEVICES)
        machine.generate("u32", "random", 6000000)
        for _ in range(3):
            daemon = machine.daemon()
            process = machine.start("sort", "in", "--type", "u32", *BITONIC, "-o", "out")
            self.assertTrue(eventually(daemon.executor_pids))
            executors = daemon.executor_pids()
            time.sleep(0.05)
            os.kill(daemon.pid, signal.SIGKILL)
            began = time.monotonic()
            out, err = process.communicate(timeout=30)
            self.assertLess(time.monotonic() - began, 10)
            self.assertIn(process.returncode, (1, 3), err)
            self.assertEqual((out, err.count(b"\n")), (b"", 1), err)
            self.assertIn(b"hacd", err)
            self.assertFalse(os.path.exists(machine.path("out")))
            self.assertEqual(daemon.wait(), -signal.SIGKILL)

            def left():
                for pid in executors:
                    try:
                        os.waitpid(pid, os.WNOHANG)
                    except ChildProcessError:
                        pass
                return [p for p in executors if "hac-executor" in command_of(p)]
            self.assertTrue(eventually(lambda: not left(), 20), "executors outlive hacd")
        machine.sort_and_check("u32", *BITONIC)
        # the next start removes what the killed daemons left
        scratch = machine.root / "cache_home" / "hac" / "scratch"
        names = [str(machine.daemon().pid)]
        self.assertTrue(eventually(lambda: os.listdir(scratch) == names), os.listdir(scratch))

    def test_drain_under_load(self):
        """SIGTERM while jobs run and wait: no new jobs, each accepted one ends exactly once, and then hacd exits."""
        for turn in range(5):
            machine = self.machine(TWO_DEVICES)
            daemon = machine.daemon()
            machine.warm_up()
            machine.generate("u32", "random", 300000, turn)
            # a late client must not start the next daemon: its socket would be taken for this one's
            hacctls = [machine.start("--no-autostart", "sort", "in", "--type", "u32", *BITONIC, "-o", f"out{i}",
                                     *(("--receipt", f"r{i}") if i % 2 else ())) for i in range(8)]
            outcomes = [[] for _ in range(4)]
            raw = [threading.Thread(target=submit_many, args=(machine.socket, outcome)) for outcome in outcomes]
            for thread in raw:
                thread.start()
            time.sleep(0.02 * turn)
            os.kill(daemon.pid, signal.SIGTERM)
            began = time.monotonic()
            for thread in raw:
                thread.join(30)
            self.assertEqual(daemon.wait(), 0, machine.log()[-2000:])
            self.assertLess(time.monotonic() - began, 24)  # jobs that have not ended after 25 s are cancelled
            for outcome in outcomes:
                self.assertEqual([o for o in outcome if o not in ("done", "refused")], [])
            for number, process in enumerate(hacctls):
                out, err = process.communicate(timeout=30)
                self.assertIn(process.returncode, (0, 3, 4), err)
                if process.returncode == 0:
                    self.assertIsNone(machine.wrong("u32", "in", f"out{number}"))
                else:
                    self.assertEqual(err.count(b"\n"), 1, err)
                    self.assertFalse(os.path.exists(machine.path(f"out{number}")))
            self.assertFalse(machine.socket.exists())

    def test_drain_finishes_what_runs(self):
        machine = self.machine(TWO_DEVICES)
        daemon = machine.daemon()
        machine.generate("u32", "random", 6000000)
        process = machine.start("sort", "in", "--type", "u32", *BITONIC, "-o", "out", "--receipt", "r.json")
        self.assertTrue(eventually(lambda: any(j["state"] == "running" for j in machine.json("jobs")["jobs"])))
        began = time.monotonic()
        with wire.Client(machine.socket) as client:
            os.kill(daemon.pid, signal.SIGTERM)
            time.sleep(0.01)
            what, fields = client.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(16)))
            self.assertEqual(what, wire.R_FAILURE)
            self.assertEqual(fields[1][0], 4)
            out, err = process.communicate(timeout=30)
            self.assertEqual((process.returncode, out, err), (0, b"", b""), "a job that ran was cut off")
        self.assertIsNone(machine.wrong("u32", "in", "out"))
        self.assertEqual(json.loads(Path(machine.path("r.json")).read_text())["state"], "done")
        self.assertEqual(daemon.wait(), 0)
        self.assertLess(time.monotonic() - began, 24)  # jobs that have not ended after 25 s are cancelled

    def test_second_signal(self):
        """A second signal ends hacd at once, whatever runs, detached or not."""
        for detach in ((), ("--detach",)):
            for _ in range(5):  # other work on the machine may delay it
                machine = self.machine(TWO_DEVICES)
                daemon = machine.daemon()
                machine.generate("u32", "random", 20000000)
                process = machine.start("sort", "in", "--type", "u32", *BITONIC, *detach)
                self.assertTrue(eventually(lambda m=machine: any(j["state"] == "running" for j in m.json("jobs")["jobs"])))
                os.kill(daemon.pid, signal.SIGTERM)
                time.sleep(0.05)
                os.kill(daemon.pid, signal.SIGTERM)
                began = time.monotonic()
                self.assertEqual(daemon.wait(), 0)
                seconds = time.monotonic() - began
                process.communicate(timeout=30)
                os.unlink(machine.path("in"))
                if seconds < 1.5:
                    break
            self.assertLess(seconds, 1.5)

    def test_few_descriptors(self):
        """Out of descriptors: hacd serves existing clients, does not spin, and recovers."""
        machine = self.machine(ONE_DEVICE)
        daemon = machine.baseline()
        used = len(os.listdir(f"/proc/{daemon.pid}/fd"))
        honest = wire.Client(machine.socket)
        subprocess.run(["prlimit", "--pid", str(daemon.pid), f"--nofile={used + 24}"], check=True)
        clients = []
        cpu = daemon.cpu_seconds()
        for _ in range(60):
            client = wire.Client.__new__(wire.Client)
            client.socket = wire.socket.socket(wire.socket.AF_UNIX, wire.socket.SOCK_SEQPACKET)
            client.socket.setblocking(False)
            try:
                client.socket.connect(str(machine.socket))
            except BlockingIOError:
                client.socket.close()
                continue
            clients.append(client)
        began = time.monotonic()
        while time.monotonic() - began < 2:
            what, fields = honest.ask(wire.QUERY, wire.message(f1=0))
            self.assertEqual(what, wire.R_TEXT)
            time.sleep(0.05)
        self.assertLess(daemon.cpu_seconds() - cpu, 0.4)
        for client in clients:
            client.socket.close()
        honest.close()
        time.sleep(1)
        machine.warm_up()
        machine.check_clean()

    def test_sixty_four_descriptors(self):
        """64 descriptors and 1,000 connects: hacd uses below 5 % of a core, serves existing clients, and recovers within 1 s."""
        machine = self.machine(ONE_DEVICE)
        daemon = machine.baseline()
        honest = wire.Client(machine.socket)
        subprocess.run(["prlimit", "--pid", str(daemon.pid), "--nofile=64:"], check=True)
        clients, refused = [], 0

        def connect():
            nonlocal refused
            for _ in range(1000):
                sock = wire.socket.socket(wire.socket.AF_UNIX, wire.socket.SOCK_SEQPACKET)
                sock.setblocking(False)
                try:
                    sock.connect(str(machine.socket))
                    clients.append(sock)
                except BlockingIOError:
                    sock.close()
                    refused += 1

        def recover():
            """Seconds from the end of the connections until another client is answered."""
            while clients:
                clients.pop().close()
            began = time.monotonic()
            with wire.Client(machine.socket) as client:
                self.assertEqual(client.ask(wire.QUERY, wire.message(f1=0))[0], wire.R_TEXT)
            return time.monotonic() - began
        began, cpu = time.monotonic(), daemon.cpu_seconds()
        connect()
        taken, connecting = time.monotonic() - began, daemon.cpu_seconds() - cpu
        began, cpu, slowest = time.monotonic(), daemon.cpu_seconds(), 0
        while time.monotonic() - began < 4:
            asked = time.monotonic()
            what, _ = honest.ask(wire.QUERY, wire.message(f1=0))
            self.assertEqual(what, wire.R_TEXT)
            slowest = max(slowest, time.monotonic() - asked)
            time.sleep(0.05)
        share = (daemon.cpu_seconds() - cpu) / (time.monotonic() - began)
        self.assertLess(share, 0.05)
        connected, not_connected, recovered = len(clients), refused, recover()
        for _ in range(5):  # other work on the machine may delay it
            if recovered < 1:
                break
            connect()
            recovered = recover()
        self.assertLess(recovered, 1)
        print(f"{connected} connected, {not_connected} not, in {taken:.2f} s ({connecting:.2f} s of CPU); then {share:.1%} of "
              f"a core, slowest answer {slowest * 1e3:.0f} ms; well again after {recovered * 1e3:.0f} ms", file=sys.stderr)
        honest.close()
        machine.warm_up()
        machine.check_clean()

    def test_no_room_for_executors(self):
        """No process or descriptor left for an executor: the job waits or fails, and hacd goes on."""
        machine = self.machine(ONE_DEVICE)
        daemon = machine.baseline()
        used = len(os.listdir(f"/proc/{daemon.pid}/fd"))
        subprocess.run(["prlimit", "--pid", str(daemon.pid), f"--nofile={used + 2}:"], check=True)
        machine.generate("u32", "random", 70000)
        process = subprocess.Popen([HACCTL, "sort", "in", "--type", "u32", *BITONIC, "-o", "out"], cwd=machine.work,
                                   env=machine.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1.5)
        subprocess.run(["prlimit", "--pid", str(daemon.pid), "--nofile=1024:"], check=True)
        _, err = process.communicate(timeout=30)
        self.assertIn(process.returncode, (0, 1, 3, 4), err)
        machine.sort_and_check("u32", *BITONIC)
        self.assertTrue(daemon.alive())
        self.assertEqual([p for p in children(daemon.pid) if "--probe" in command_of(p)], [])
        machine.check_clean(slack=16 << 20)


if __name__ == "__main__":
    main()
