#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Metrics over HTTP: what is answered and what is not, and that no HTTP client delays hacd's work."""
import concurrent.futures
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from asking import Asking  # noqa: E402
from machine import LIBEXEC, SANITIZED, MachineTest, eventually, main  # noqa: E402


HEAD = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
NONSENSE = (b"", b"\n\n", b"GET", b"\0" * 5000, b"\xff" * 5000, b"GET /metrics HTTP/9.9\r\n\r\n", b"X" * 200000,
            HEAD + b"Content-Length: 99999999999999999999\r\n\r\n", HEAD + b"Content-Length: 1000000\r\n\r\n" + b"y" * 1000000,
            HEAD + b"Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n")


def free_port(family=socket.AF_INET, address="127.0.0.1"):
    with socket.socket(family) as s:
        s.bind((address, 0))
        return s.getsockname()[1]


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def listening(pid):
    """Addresses of the TCP sockets that a process listens on, as the kernel writes them."""
    inodes = set(re.findall(r"socket:\[(\d+)\]", " ".join(
        link(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))))
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path("/proc", str(pid), "net", table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                found.append(fields[1])
    return found


def flood(port, seconds):
    """Sends requests one after the other as fast as they are answered; returns how many were."""
    end, served = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as s:
                s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
                while s.recv(65536):
                    pass
                served += 1
        except OSError:
            pass
    return served


class Http(MachineTest):
    def start(self, **more):
        self.port = free_port()
        machine = self.machine(config={"metrics_http": f'"127.0.0.1:{self.port}"', **more})
        return machine, machine.daemon()

    def ask(self, method="GET", path="/metrics", port=None, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=15)
        self.addCleanup(connection.close)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), dict(answer.getheaders())

    def test_off(self):
        self.assertEqual(listening(self.machine().daemon().pid), [])

    def test_answers(self):
        machine, daemon = self.start()
        self.assertEqual(listening(daemon.pid), [f"0100007F:{self.port:04X}"])
        status, text, headers = self.ask()
        self.assertEqual((status, text.endswith("# EOF\n")), (200, True))
        self.assertEqual(headers["Content-Type"], "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.assertEqual(headers["Connection"], "close")
        self.assertIn("hacd_jobs_ended_total", text)
        self.assertNotIn("hacd_user_", text)  # the sender is unknown
        own = machine.good("metrics").decode()
        self.assertEqual(re.findall(r"# TYPE (?!hacd_user)\S+", own), re.findall(r"# TYPE \S+", text))
        for method in ("HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
            status, _, headers = self.ask(method)
            self.assertEqual((status, headers["Allow"]), (405, "GET"), method)
        for path in ("/", "/metrics/", "/metrics/../metrics", "//metrics", "/etc/passwd"):
            self.assertEqual(self.ask(path=path)[0], 404, path)
        self.assertEqual(self.ask(Host="evil.example")[0], 403)
        self.assertEqual(self.ask(Host="localhost:9464")[0], 200)
        self.assertEqual(self.ask(path="/metrics?x=1")[0], 200)
        self.assertEqual(self.ask(**{"X-Long": "x" * 100000})[0], 431)
        self.assertTrue(daemon.alive())

    def test_nonsense(self):
        machine, daemon = self.start()
        def send(data):
            with socket.create_connection(("127.0.0.1", self.port), timeout=8) as s:
                try:
                    s.sendall(data)
                    s.shutdown(socket.SHUT_WR)
                    while s.recv(65536):
                        pass
                except OSError:
                    pass
        with concurrent.futures.ThreadPoolExecutor(5) as pool:  # some are waited for until their time is over
            list(pool.map(send, NONSENSE))
        self.assertEqual(self.ask()[0], 200)
        self.assertTrue(daemon.alive(), machine.log())

    def test_addresses(self):
        machine = self.machine(config={"metrics_http": "0.0.0.0:9464"})  # others: config/src/daemon_config_test.c
        done = subprocess.run([LIBEXEC / "hacd", "--check-config", "--config",
                               machine.root / "config_home/hac/hacd.yaml"], env=machine.environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"hacd\.yaml:\d+: .*metrics_http.*only this machine reaches")

    def test_taken_port(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen(1)
            machine = self.machine(config={"metrics_http": f'"127.0.0.1:{s.getsockname()[1]}"'})
            daemon = machine.daemon()
            checks = {c["name"]: c for c in json.loads(machine.run("--json", "doctor").out)["checks"]}
            self.assertIn("Address already in use", checks["metrics over HTTP"]["message"])
        machine.good("reload")  # the port is free now
        self.assertTrue(eventually(lambda: listening(daemon.pid)))

    def test_reload(self):
        machine, daemon = self.start()
        self.assertEqual(self.ask()[0], 200)
        other = free_port()
        machine.configure(metrics_http=f'"127.0.0.1:{other}"')
        machine.good("reload")
        self.assertEqual(self.ask(port=other)[0], 200)
        self.assertEqual(listening(daemon.pid), [f"0100007F:{other:04X}"])
        machine.configure()
        machine.good("reload")
        self.assertTrue(eventually(lambda: not listening(daemon.pid)))

    def slow_clients(self, n):
        """Some clients never end their request, some never read the answer, some are silent."""
        clients = []
        for i in range(n):
            s = socket.socket()
            s.setblocking(False)
            if i % 3 == 1:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.connect_ex(("127.0.0.1", self.port))
            self.addCleanup(s.close)
            clients.append(s)
        return clients

    def trickle(self, clients, seconds):
        end = time.monotonic() + seconds
        turn = 0
        while time.monotonic() < end:
            for i, s in enumerate(clients):
                try:
                    if i % 3 == 0:
                        s.send(b"GET /metrics HTTP/1.1\r\nX: " if turn == 0 else b"x")
                    elif i % 3 == 1 and turn == 0:
                        s.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
                except OSError:
                    pass
            turn += 1
            time.sleep(0.2)

    def check(self, name, daemon, action):
        for _ in range(6):  # other work on the machine may delay that client
            began, cpu = time.monotonic(), daemon.cpu_seconds()
            median, p99 = Asking(self.m.socket).during(action)
            used = (daemon.cpu_seconds() - cpu) / (time.monotonic() - began)
            if SANITIZED or (median < 0.02 and p99 < 0.25):
                break
        print(f"{name}: another client's answers: median {median * 1e3:.2f} ms, 99 % within {p99 * 1e3:.2f} ms; "
              f"hacd used {used * 100:.1f} % of a core, that client's questions among it")
        if not SANITIZED:
            self.assertLess(median, 0.02)
            self.assertLess(p99, 0.25)
        return used

    def test_slow_clients(self):
        self.m, daemon = self.start()
        clients = self.slow_clients(100)
        self.check("100 slow clients", daemon, lambda: self.trickle(clients, 3))
        self.assertLess(sum(daemon.descriptors().values()), 60)  # they are not even accepted
        for s in clients[30:]:
            s.close()
        began = time.monotonic()
        self.assertTrue(eventually(lambda: self.try_ask() == 200, 60, 0.3))
        print(f"served again {time.monotonic() - began:.1f} s later")
        self.assertTrue(daemon.alive())

    def try_ask(self):
        try:
            return self.ask()[0]
        except OSError:
            return None

    def test_flood(self):
        self.m, daemon = self.start()

        def run():
            processes = [subprocess.Popen([sys.executable, __file__, "--flood", str(self.port), "2"],
                                          stdout=subprocess.PIPE) for _ in range(4)]
            self.served = sum(int(p.communicate()[0]) for p in processes)
        used = self.check("4 floods", daemon, run)
        print(f"{self.served} requests served in 2 s")
        self.assertGreater(self.served, 0)
        if not SANITIZED:
            self.assertLess(used, 0.5)
        self.assertTrue(eventually(lambda: sum(daemon.descriptors().values()) < 40))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--flood"]:
        print(flood(int(sys.argv[2]), float(sys.argv[3])))
    else:
        main()
