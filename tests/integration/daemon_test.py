#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the private daemon starts and exits, what happens without one, and that users' daemons never meet."""
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from machine import (HACCTL, ONE_DEVICE, TWO_DEVICES, MachineTest, children, command_of, eventually,  # noqa: E402
                     main)

BITONIC = ("--algorithm", "bitonic")


class FakeDaemon:
    """Answers the first frame of every connection with `body`, then closes it."""

    def __init__(self, path, body):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.bind(str(path))
        self.socket.listen(8)
        self.body = body
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self.socket.accept()
                serial = wire.decode(peer.recv(65536)[8:])[1][0]
                peer.send(wire.frame(wire.field(1, serial) + self.body))
                peer.close()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(5)


class Start(MachineTest):
    def test_without_a_daemon(self):
        machine = self.machine(ONE_DEVICE)
        machine.generate("u32", "random", 10)
        for words in (["devices"], ["jobs"], ["sort", "in", "--type", "u32", "-o", "out"], ["drain"], ["metrics"]):
            machine.bad(3, "--no-autostart", *words, says="hacd")
        self.assertIsNone(machine.running())
        self.assertEqual(os.listdir(machine.work), ["in"])
        machine.bad(3, "--socket", machine.path("nowhere"), "devices", says="nowhere")
        self.assertIsNone(machine.running())

    def test_hac_socket(self):
        """HAC_SOCKET names a daemon; no other one is started."""
        machine = self.machine(ONE_DEVICE)
        machine.environment["HAC_SOCKET"] = machine.path("elsewhere")
        machine.bad(3, "devices", says="elsewhere")
        self.assertIsNone(machine.running())
        del machine.environment["HAC_SOCKET"]
        daemon = machine.daemon()
        other = self.machine(ONE_DEVICE)
        other.environment["HAC_SOCKET"] = str(machine.socket)
        self.assertEqual(other.json("version")["daemon"]["pid"], daemon.pid)

    def test_no_opencl(self):
        machine = self.machine(ONE_DEVICE, environment={"OCL_ICD_VENDORS": "/nonexistent"}, seed=False)
        machine.generate("u32", "random", 70000)
        for options in ((), BITONIC):
            err = machine.bad(1, "sort", "in", "--type", "u32", "-o", "out", *options, says="OpenCL")
            self.assertLess(len(err), 500)
        answer = machine.json("devices")
        self.assertEqual(answer["devices"], [])
        self.assertIn("OpenCL", answer["problem"])
        self.assertIn("OpenCL", machine.run("devices").out.decode() + machine.run("devices").err)
        result = machine.run("doctor")
        self.assertEqual(result.code, 1)
        self.assertIn("OpenCL", result.out.decode())
        self.assertEqual(os.listdir(machine.work), ["in"])

    def test_other_protocol(self):
        """Exit 3, with both versions in the message, whichever side detects it."""
        hello = wire.field(wire.R_HELLO, wire.hello(99, "hacd 99.0"))
        failure = wire.field(wire.R_FAILURE, wire.message(f1=3, f2="protocol mismatch: this hacd speaks version 99"))
        for body, says in ((hello, "99"), (failure, "99"), (wire.field(wire.R_OK, b""), "")):
            machine = self.machine(ONE_DEVICE)
            fake = FakeDaemon(str(machine.socket), body)
            for words in (["devices"], ["jobs"]):
                machine.bad(3, *words, says=says)
            fake.close()
            self.assertIsNone(machine.running())

    def test_garbage_from_the_daemon(self):
        machine = self.machine(ONE_DEVICE)
        fake = FakeDaemon(str(machine.socket), b"\xff" * 40)
        machine.bad(3, "devices")
        fake.close()

    def test_leftover_socket(self):
        """The socket of a killed daemon: a new daemon is started."""
        machine = self.machine(ONE_DEVICE)
        machine.socket.parent.mkdir(mode=0o700)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as dead:
            dead.bind(str(machine.socket))
        self.assertTrue(machine.daemon().alive())

    def test_unsafe_directories(self):
        """Whoever can write to the socket's folder can pose as the daemon."""
        machine = self.machine(ONE_DEVICE)
        machine.socket.parent.mkdir(mode=0o777)
        os.chmod(machine.socket.parent, 0o777)
        machine.bad(4, "devices", says="chmod")
        os.rmdir(machine.socket.parent)
        os.symlink(machine.work, machine.socket.parent)
        machine.bad(4, "devices", says=str(machine.socket.parent))
        os.unlink(machine.socket.parent)
        self.assertIsNone(machine.running())

    def test_unsafe_tmp(self):
        """Without XDG_RUNTIME_DIR the socket lies in /tmp/hac-UID, which another user may have created before."""
        folder = Path(f"/tmp/hac-{os.geteuid()}")
        if folder.exists():
            self.skipTest(f"{folder} is in use")
        machine = self.machine(ONE_DEVICE)
        del machine.environment["XDG_RUNTIME_DIR"]
        folder.mkdir(mode=0o755)
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        os.chmod(folder, 0o755)
        machine.bad(4, "devices", says="chmod")
        if os.geteuid() == 0:
            os.chmod(folder, 0o700)
            os.chown(folder, 65534, 65534)
            machine.bad(4, "devices", says="65534")

    def test_bad_configuration(self):
        """Errors are reported with file and line; the daemon does not start with half of a configuration."""
        machine = self.machine(ONE_DEVICE)
        machine.configure(idle_exit="soon")
        result = machine.run("devices")
        self.assertEqual((result.code, result.err.count("\n")), (3, 1), result)
        self.assertIn("hacd.yaml:1", result.err + machine.log())
        eventually(lambda: not children(os.getpid()))

    def test_bad_profile(self):
        """The device is left out, and doctor says so; the other devices serve."""
        machine = self.machine(ONE_DEVICE)
        machine.set_profile("name: x\nkind: abacus\n", "01-bad.yaml")
        self.assertEqual(machine.json("-q", "devices")["devices"][0]["state"], "ready")
        self.assertEqual(machine.run("devices").err,
                         "hacctl: device profiles have problems: `hacctl doctor` tells which\n")
        self.assertIn("01-bad.yaml", machine.run("doctor").out.decode())

    def test_many_start_at_once(self):
        """One daemon for all, whichever client comes first."""
        machine = self.machine(ONE_DEVICE)
        started = [machine.start("version", "--json") for _ in range(20)]
        pids = set()
        for process in started:
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, err), (0, b""))
            pids.add(json.loads(out)["daemon"]["pid"])
        # `version` does not start one by itself
        machine.good("devices")
        started = [machine.start("devices") for _ in range(20)]
        for process in started:
            self.assertEqual((process.communicate(timeout=60)[1], process.returncode), (b"", 0))
        daemons = [p for p in children(os.getpid()) if str(machine.socket) in command_of(p)]
        self.assertEqual(len(daemons), 1)


class Life(MachineTest):
    def test_environment(self):
        """A daemon keeps nothing of its starter's environment but what the contract lists."""
        machine = self.machine(ONE_DEVICE)
        inherited = os.open(machine.path("inherited"), os.O_RDWR | os.O_CREAT)
        os.set_inheritable(inherited, True)
        environment = dict(machine.environment, SECRET="x", LD_PRELOAD="", POCL_TEST="1", CUDA_TEST="1", LP_TEST="1")
        machine.good("devices", env=environment, pass_fds=(inherited,), cwd=machine.work)
        os.close(inherited)
        daemon = machine.daemon()
        seen = dict(v.split("=", 1) for v in Path(f"/proc/{daemon.pid}/environ").read_text().split("\0") if "=" in v)
        for name in seen:
            self.assertTrue(name in ("HOME", "PATH", "LANG", "LD_LIBRARY_PATH") or name.startswith(
                ("XDG_", "HAC_", "OCL_ICD_", "POCL_", "RUSTICL_", "LP_", "CUDA_")), name)
        self.assertEqual((seen.get("POCL_TEST"), "SECRET" in seen), ("1", False))
        self.assertEqual(os.readlink(f"/proc/{daemon.pid}/cwd"), "/")
        targets = {name: os.readlink(f"/proc/{daemon.pid}/fd/{name}") for name in os.listdir(f"/proc/{daemon.pid}/fd")}
        self.assertEqual(targets["0"], "/dev/null")
        self.assertNotIn(machine.path("inherited"), targets.values())
        stat = Path(f"/proc/{daemon.pid}/stat").read_text().rpartition(")")[2].split()
        self.assertNotEqual(int(stat[3]), os.getsid(0))  # a session of its own
        umask = [line for line in Path(f"/proc/{daemon.pid}/status").read_text().splitlines() if "Umask" in line]
        self.assertEqual(umask, ["Umask:\t0077"])
        for path in (machine.socket.parent, machine.root / "state_home" / "hac", machine.root / "cache_home" / "hac"):
            self.assertEqual(os.stat(path).st_mode & 0o077, 0, path)

    def test_executors_hold_nothing_else(self):
        """Executors hold no descriptor of hacd's but their socket; buffers and files only while jobs need them."""
        machine = self.machine(TWO_DEVICES, config={"executor_idle_timeout": "60s"})
        daemon = machine.daemon()
        machine.generate("u32", "random", 300000)
        machine.sort_and_check("u32", *BITONIC, "--scheme", "upper")
        for pid in daemon.executor_pids():
            targets = [os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]
            sockets = [t for t in targets if t.startswith("socket:")]
            self.assertEqual(len(sockets), 1, targets)
            for target in targets:
                self.assertTrue(target.startswith(("socket:", "/memfd:", "/dev/null", "pipe:", "anon_inode:")) or
                                target == str(machine.log_path), target)
                self.assertNotIn(str(machine.work), target)

    def test_idle_exit(self):
        machine = self.machine(ONE_DEVICE, config={"idle_exit": "1s"})
        daemon = machine.daemon()
        machine.warm_up()
        began = time.monotonic()
        machine.good("jobs")
        self.assertEqual(daemon.wait(), 0)
        self.assertGreater(time.monotonic() - began, 0.9)
        self.assertFalse(machine.socket.exists())
        self.assertNotEqual(machine.daemon().pid, daemon.pid)  # and the next client has one again

    def test_client_at_the_moment_of_leaving(self):
        """A client that comes just when the daemon decides to exit is served, by this daemon or a new one."""
        machine = self.machine(ONE_DEVICE, config={"idle_exit": "1s"})
        machine.daemon()
        for turn in range(10):
            time.sleep(0.95 + 0.035 * turn)  # it looks four times a second
            burst = [machine.start("jobs") for _ in range(4)]
            for process in burst:
                out, err = process.communicate(timeout=60)
                self.assertEqual((process.returncode, err), (0, b""), f"turn {turn}")

    def test_idle_exit_waits_for_clients(self):
        machine = self.machine(ONE_DEVICE, config={"idle_exit": "1s"})
        daemon = machine.daemon()
        with wire.Client(machine.socket):
            time.sleep(3)
            self.assertTrue(daemon.alive())
        self.assertEqual(daemon.wait(), 0)

    def test_idle_exit_keeps_results(self):
        """The result of a detached job keeps the daemon alive until it is fetched or has expired."""
        machine = self.machine(ONE_DEVICE, config={"idle_exit": "1s", "result_expiry": "20s"})
        daemon = machine.daemon()
        machine.generate("u32", "random", 70000)
        job = machine.good("sort", "in", "--type", "u32", *BITONIC, "--detach").decode().strip()
        time.sleep(2.5)
        self.assertTrue(daemon.alive())
        machine.good("result", job, "-o", "out")
        self.assertEqual(daemon.wait(), 0)
        self.assertIsNone(machine.wrong("u32", "in", "out"))

    def test_builds_broken_off(self):
        """A build that hacd aborts when it exits must not count as failed by the driver."""
        machine = self.machine(ONE_DEVICE, seed=False)
        programs = machine.root / "cache_home" / "hac" / "programs"
        for pause in (0.3, 1.0, 1.5, 2.0):
            daemon = machine.daemon()
            time.sleep(pause)
            machine.good("drain")
            self.assertEqual(daemon.wait(), 0)
            self.assertEqual(list(programs.glob("*/*.attempts")), [])
        self.assertEqual(machine.devices()[0]["state"], "ready")

    def test_drain(self):
        machine = self.machine(ONE_DEVICE)
        daemon = machine.daemon()
        machine.good("drain")
        self.assertEqual(daemon.wait(), 0)
        self.assertFalse(machine.socket.exists())
        machine.bad(3, "drain")  # `drain` starts no daemon
        self.assertIsNone(machine.running())

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            machine = self.machine(ONE_DEVICE)
            daemon = machine.daemon()
            machine.warm_up()
            os.kill(daemon.pid, number)
            self.assertEqual(daemon.wait(), 0)
            self.assertFalse(machine.socket.exists())

    def leave_under(self, number):
        """How many of these signals hacd got during its shutdown, after a SIGTERM."""
        machine = self.machine(ONE_DEVICE)
        daemon = machine.daemon()
        machine.warm_up()
        os.kill(daemon.pid, signal.SIGTERM)
        sent = 0
        while not daemon.reap():
            os.kill(daemon.pid, number)
            sent += 1
            time.sleep(0.0002)
        self.assertEqual(daemon.status, 0)
        self.assertTrue((machine.root / "state_home/hac/models").exists())
        return sent

    def test_signals_while_leaving(self):
        """However many signals come: hacd writes its models, removes its files and exits as it should."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            # on a busy machine it may have exited before the first one
            self.assertTrue(any(self.leave_under(number) > 5 for _ in range(10)))

    def test_socket_removed(self):
        """Nobody can connect any more: hacd exits at once when idle, after its jobs otherwise."""
        machine = self.machine(ONE_DEVICE)
        daemon = machine.daemon()
        machine.socket.unlink()
        self.assertEqual(daemon.wait(), 0)

    def test_socket_replaced(self):
        """Another daemon's socket is left alone."""
        machine = self.machine(ONE_DEVICE)
        first = machine.daemon()
        os.rename(machine.socket, f"{machine.socket}.old")
        second = machine.daemon()
        self.assertNotEqual(first.pid, second.pid)
        self.assertEqual(first.wait(), 0)
        self.assertTrue(machine.socket.exists())
        self.assertEqual(machine.daemon().pid, second.pid)

    def test_runtime_directory_removed(self):
        """As at the end of a login."""
        machine = self.machine(ONE_DEVICE)
        daemon = machine.daemon()
        shutil.rmtree(machine.socket.parent)
        self.assertEqual(daemon.wait(), 0)

    def test_version(self):
        machine = self.machine(ONE_DEVICE)
        daemon = machine.daemon()
        version = machine.json("version")
        self.assertEqual(version["daemon"]["pid"], daemon.pid)
        self.assertEqual(version["daemon"]["socket"], str(machine.socket))
        self.assertEqual(command_of(daemon.pid).split()[0], "hacd")

    def test_reload(self):
        """New devices are used, a bad file keeps the old ones, and nothing grows with reloads."""
        machine = self.machine(ONE_DEVICE)
        daemon = machine.baseline()
        machine.set_profile(TWO_DEVICES)
        machine.good("reload")
        self.assertEqual([d["name"] for d in machine.devices()], ["cpu.0", "cpu.1"])
        machine.configure(idle_exit="never ever")
        machine.bad(2, "reload", says="idle_exit")
        self.assertIn("idle_exit", machine.run("doctor").out.decode())
        machine.configure()
        machine.set_profile("name: x\nkind: abacus\n", "01-bad.yaml")
        machine.bad(2, "reload", says="01-bad.yaml")
        for _ in range(2):
            doctor = machine.run("doctor")
            self.assertEqual(doctor.code, 1)
            self.assertRegex(doctor.out.decode(), r"(?m)^FAILED  profiles: not taken in by `reload`, .*01-bad.yaml")
        os.unlink(machine.root / "config_home" / "hac" / "profiles" / "01-bad.yaml")
        machine.good("reload")
        self.assertEqual(machine.run("doctor").code, 0)
        machine.warm_up()
        machine.set_profile(ONE_DEVICE)
        for _ in range(10):
            machine.good("reload")
            machine.devices()
        os.kill(daemon.pid, signal.SIGHUP)
        machine.warm_up()
        machine.check_clean()

    def test_no_busy_waiting(self):
        machine = self.machine(ONE_DEVICE)
        daemon = machine.baseline()
        before = daemon.cpu_seconds()
        time.sleep(2)
        self.assertLess(daemon.cpu_seconds() - before, 0.05)
        machine.check_clean()


class Users(MachineTest):
    """Two users: root and another one. Needs root and setpriv."""
    OTHER = 65534

    def setUp(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("needs root and setpriv: NOT TESTED that users are kept apart")

    def as_other(self, machine, *words, **more):
        """hacctl as another user, with that machine's environment."""
        return subprocess.run(["setpriv", "--reuid", str(self.OTHER), "--regid", str(self.OTHER), "--clear-groups",
                               HACCTL, *map(str, words)], env=machine.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, cwd="/", timeout=60, check=False, **more)

    def others_machine(self):
        machine = self.machine(ONE_DEVICE)
        for folder, _, files in os.walk(machine.root):
            for name in [folder, *(os.path.join(folder, f) for f in files)]:
                os.chown(name, self.OTHER, self.OTHER)
        for parent in (HACCTL, Path(machine.environment["HAC_PROFILES"])):
            while parent != parent.parent:
                if not os.stat(parent).st_mode & 0o001 and not parent.is_file():
                    self.skipTest(f"{parent} cannot be reached by another user: NOT TESTED")
                parent = parent.parent
        return machine

    def test_daemons_of_their_own(self):
        machine, other = self.machine(ONE_DEVICE), self.others_machine()
        mine = machine.daemon()
        done = self.as_other(other, "devices")
        self.assertEqual((done.returncode, done.stderr), (0, ""), other.log())
        theirs = other.running()
        self.assertNotEqual(mine.pid, theirs.pid)
        self.assertEqual(os.stat(f"/proc/{theirs.pid}").st_uid, self.OTHER)
        version = json.loads(self.as_other(other, "version", "--json").stdout)
        self.assertEqual(version["daemon"]["pid"], theirs.pid)
        os.kill(theirs.pid, signal.SIGTERM)
        self.assertEqual(theirs.wait(), 0)

    def test_no_capabilities(self):
        """hacd and its executors work without capabilities: none effective, none obtainable."""
        machine = self.others_machine()
        data = os.urandom(40000)
        (machine.work / "in").write_bytes(data)
        done = subprocess.run(["setpriv", "--reuid", str(self.OTHER), "--regid", str(self.OTHER), "--clear-groups",
                               "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", HACCTL, "sort", "in", "--type",
                               "u32", "-o", "out"], env=machine.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, cwd=machine.work, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), machine.log())
        self.assertIsNone(machine.wrong("u32", "in", "out"))
        daemon = machine.running()
        pids = [daemon.pid, *daemon.executor_pids()]
        self.assertGreater(len(pids), 1)
        for pid in pids:
            status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
            for which in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                self.assertEqual(int(status[which], 16), 0, f"{which} of {pid}")
            self.assertEqual(status["NoNewPrivs"], "1")
        os.kill(daemon.pid, signal.SIGTERM)
        self.assertEqual(daemon.wait(), 0)

    def test_not_the_others_daemon(self):
        """Users cannot reach another's daemon by environment or by name: directories and sockets are private."""
        machine = self.machine(ONE_DEVICE)
        daemon = machine.daemon()
        for words in (["devices"], ["--socket", machine.socket, "devices"], ["--socket", machine.socket, "drain"]):
            done = self.as_other(machine, *words, "--no-autostart")
            self.assertIn(done.returncode, (3, 4), done)
        self.assertTrue(daemon.alive())

    def test_not_a_foreign_listener(self):
        """A client does not talk to a daemon that another user put at its path."""
        machine = self.machine(ONE_DEVICE)
        os.chmod(machine.root, 0o755)
        machine.socket.parent.mkdir(mode=0o700)
        code = ("import socket,sys,time; s=socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.bind(sys.argv[1]); "
                "s.listen(5); print('up', flush=True); time.sleep(60)")
        os.chown(machine.socket.parent, self.OTHER, self.OTHER)
        os.chmod(machine.socket.parent.parent, 0o755)
        impostor = subprocess.Popen(["setpriv", "--reuid", str(self.OTHER), "--regid", str(self.OTHER),
                                     "--clear-groups", "/usr/bin/env", "python3", "-c", code, str(machine.socket)],
                                    stdout=subprocess.PIPE)
        self.addCleanup(impostor.stdout.close)
        self.addCleanup(impostor.wait)
        self.addCleanup(impostor.kill)
        if impostor.stdout.readline() != b"up\n":
            self.skipTest("python3 cannot be run by another user: NOT TESTED")
        os.chown(machine.socket.parent, 0, 0)
        machine.generate("u32", "random", 10)
        machine.bad(4, "sort", "in", "--type", "u32", "-o", "out", says="65534")

    def test_shared_daemon(self):
        """A daemon that serves several users: each sees and touches only what is its own."""
        machine = self.machine(ONE_DEVICE, config={"result_expiry": "300s"})  # the other user's Python may take a while
        daemon = machine.daemon()
        for path in (machine.root, machine.socket.parent.parent, machine.socket.parent):
            os.chmod(path, 0o755)
        self.addCleanup(os.chmod, machine.socket.parent, 0o700)
        os.chmod(machine.socket, 0o666)
        machine.generate("u32", "random", 70000)
        with wire.Client(machine.socket) as mine:
            data = os.urandom(40000)
            what, buffer = mine.ask(wire.BUFFER_ALLOC, wire.message(f1=len(data)))
            self.assertEqual(what, wire.R_BUFFER)
            what, accepted = mine.ask(wire.SUBMIT_SORT, wire.sort_buffer(
                "u32", buffer[1][0], 0, len(data), options=wire.field(2, 1), spec=wire.field(4, 1)))
            self.assertEqual(what, wire.R_ACCEPTED)
            job = accepted[1][0]
            mine.ask(wire.WAIT, wire.field(1, job))
            code = f"""
import sys; sys.path.insert(0, {str(Path(wire.__file__).parent)!r})
import wire
c = wire.Client({str(machine.socket)!r})
for what in (wire.WAIT, wire.RESULT, wire.RELEASE, wire.CANCEL):
    print(c.ask(what, wire.field(1, {job}))[0])
for topic in (3, 4, 5, 6, 7, 8):
    print(c.ask(wire.QUERY, wire.message(f1=topic, f2={job}))[0])
print(c.ask(wire.DRAIN, b"")[0], c.ask(wire.RELOAD, b"")[0])
print(c.ask(wire.BUFFER_RELEASE, wire.field(1, {buffer[1][0]}))[0])
print(c.ask(wire.SUBMIT_SORT, wire.sort_buffer("u32", {buffer[1][0]}, 0, 4096))[0])
print(c.ask(wire.QUERY, wire.message(f1=2))[1][1][0].decode())
"""
            done = subprocess.run(["setpriv", "--reuid", str(self.OTHER), "--regid", str(self.OTHER), "--clear-groups",
                                   "/usr/bin/env", "python3", "-c", code], capture_output=True, text=True, timeout=60,
                                  check=False, env=machine.environment, cwd="/")
            if "ModuleNotFoundError" in done.stderr or "Permission denied" in done.stderr:
                self.skipTest(f"python3 cannot be run by another user: NOT TESTED: {done.stderr[-200:]}")
            *codes, jobs = done.stdout.splitlines()
            self.assertEqual(" ".join(codes).split(), [str(wire.R_FAILURE)] * 14, done.stderr)
            self.assertEqual(json.loads(jobs), {"jobs": []})
            what, result = mine.ask(wire.RESULT, wire.field(1, job))
            self.assertEqual(what, wire.R_DONE)
        self.assertTrue(daemon.alive())


if __name__ == "__main__":
    main()
