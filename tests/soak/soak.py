#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A chaos soak: soak.py [--minutes N] [--summary FILE] [--seed N].

One private hacd with two devices serves jobs of all flows at once, from libhac (stress.c) and from hacctl
(catalogue.py), each with an answer that is known beforehand, while executors are killed, configurations are reloaded,
good ones and bad ones, and one client in a hundred is hostile (hostile.py). Memory and descriptors are looked at every
5 s, and, because then they depend on what just runs, every seven and a half minutes at rest: all clients pause, and old results expire.
At the end, and after an interrupt, it prints what was done and writes it to the summary as JSON; the exit code is 1
when a job failed or was lost, or when memory or descriptors grew.

HAC_TEST_SECONDS: how long without --minutes; an hour without both.
"""
import argparse
import array
import collections
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from catalogue import TIMEOUT, Catalogue, Lost, Refused, Worker, Wrong  # noqa: E402
from hostile import Attacker, Stranger  # noqa: E402
from machine import BUILD, SANITIZED, TWO_DEVICES, Machine, children, eventually  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
SAMPLE_SECONDS, PROGRESS_SECONDS, RELOAD_SECONDS = 5, 30, 20
WORKERS, CLIENTS, THREADS = 3, 2, 3  # of hacctl; processes with libhac, and threads of each
PAUSE_MS = 40  # of a thread with libhac, on average
REST_SECONDS = 450
SHORT = 900  # seconds: what is measured in less says nothing of slopes
RSS_SLOPE = 1.0  # MiB an hour, beside what the samples' noise explains
BAD_CONFIGURATIONS = ("log_level: loud\n", "max_jobs_per_user: many\n", "no_such_key: 1\n", "result_expiry: [1s\n", "\0\0\n")
BAD_PROFILE = "name: cpu\nmatch: {type: no}\n"


def slope(points):
    """Least squares through (seconds, value): how much more an hour, and the standard error of that."""
    n = len(points)
    if n < 3:
        return 0.0, 0.0
    x0, y0 = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    xx = sum((x - x0) ** 2 for x, _ in points)
    if xx == 0:
        return 0.0, 0.0
    b = sum((x - x0) * (y - y0) for x, y in points) / xx
    rest = sum((y - y0 - b * (x - x0)) ** 2 for x, y in points)
    return b * 3600, (rest / (n - 2) / xx) ** 0.5 * 3600


def percentile(ordered, share):
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


class Record:
    """What happened: jobs by flow with when they ended and how long they took, and what went wrong."""

    def __init__(self):
        self.lock = threading.Lock()
        self.began = time.monotonic()
        self.flows = collections.defaultdict(lambda: (array.array("f"), array.array("f")))
        self.problems = collections.Counter()  # kind -> how many
        self.texts = []

    def elapsed(self):
        return time.monotonic() - self.began

    def job(self, flow, seconds):
        with self.lock:
            ended, took = self.flows[flow]
            ended.append(self.elapsed())
            took.append(seconds * 1000)

    def jobs(self):
        with self.lock:
            return sum(len(ended) for ended, _ in self.flows.values())

    def problem(self, kind, text):
        """Printed at once: one looks into it while the rest goes on."""
        with self.lock:
            self.problems[kind] += 1
            if len(self.texts) < 200:
                self.texts.append(f"{self.elapsed():.0f} s: {kind}: {text}")
                print(f"soak: {self.texts[-1]}", flush=True)


class Soak:
    def __init__(self, seconds, seed):
        self.seconds, self.seed, self.brief = seconds, seed, seconds < 120
        self.stopping = threading.Event()
        self.paused = threading.Event()
        self.reloading = threading.Lock()
        self.clients = []  # processes with libhac
        self.record = None
        hold = 3 if self.brief else 8  # seconds that results wait for their client
        self.settings = {"idle_exit": "none", "result_expiry": "30s" if self.brief else "60s", "log_level": "info", "max_jobs_per_user": 4000,
                         "executor_idle_timeout": "1s" if self.brief else "5s"}
        self.m = Machine(TWO_DEVICES, config=self.settings)
        self.daemon = self.m.baseline()
        self.workers = [Worker(self.m, i, seed * 1000 + i, hold) for i in range(WORKERS)]
        self.catalogue = Catalogue(self.m, self.brief, seed)
        self.attacker = Attacker(self.m.socket, seed)
        self.stranger = Stranger(self.m, seed)
        self.chaos = collections.Counter()
        self.samples = []  # {"t", "rss", "descriptors", "pool", "executors", …}
        self.rests = []  # the same, at rest

    # ---- those who give work ----

    def hacctl(self, worker):
        try:
            while not self.stopping.is_set():
                if self.paused.is_set():
                    self.guarded(worker, lambda: worker.fetch(all_of_them=True))
                    worker.idle = True
                    self.stopping.wait(0.1)
                else:
                    worker.idle = False
                    self.guarded(worker, lambda: self.catalogue.one(worker))
            self.guarded(worker, lambda: worker.fetch(all_of_them=True))
        except Exception as problem:  # pylint: disable=broad-except
            self.record.problem("test", f"a worker has ended: {problem!r}")

    def guarded(self, worker, what):
        try:
            what()
        except Wrong as wrong:
            self.record.problem("failed", f"{wrong}")
        except Lost as lost:
            self.record.problem("lost", f"{lost}")
            self.stopping.wait(1)
        except Refused as refused:
            self.record.problem("refused", f"{refused}")
            self.stopping.wait(0.5)
        for flow, seconds in worker.jobs:
            self.record.job(flow, seconds)
        worker.jobs.clear()

    def libhac(self, number):
        process = subprocess.Popen([BUILD / "tests" / "stress", str(THREADS), "0", str(self.seed + number), str(PAUSE_MS)],
                                   env=self.m.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.clients.append(process)
        stop = threading.Thread(target=lambda: (self.stopping.wait(), process.stdin.close()), daemon=True)
        stop.start()
        for line in process.stdout:
            flow, _, rest = line.rstrip().partition(" ")
            if flow in ("failed", "refused"):
                self.record.problem(flow, rest)
            else:
                self.record.job(flow, int(rest) / 1e6)
        if process.wait() != 0:
            self.record.problem("failed", f"a client with libhac has ended with {process.returncode}")

    # ---- those who make trouble ----

    def hostile(self):
        while not self.stopping.wait(0.05):
            if not self.paused.is_set() and self.chaos["hostile"] < self.record.jobs() / 100:
                self.attacker.attack()
                self.chaos["hostile"] += 1

    def strange(self):
        while not self.stopping.wait(1) and self.stranger.can:
            if not self.paused.is_set():
                self.stranger.attack()
                self.chaos["attacks_of_another_user"] += 1

    def killer(self):
        rng = random.Random(self.seed)
        while not self.stopping.wait(rng.uniform(1, 3) if self.brief else rng.uniform(2, 6)):
            pids = self.daemon.executor_pids()
            if pids:
                try:
                    os.kill(rng.choice(pids), signal.SIGKILL)
                    self.chaos["executors_killed"] += 1
                except ProcessLookupError:
                    pass

    def reloader(self):
        rng = random.Random(self.seed)
        turn = 0
        while not self.stopping.wait(3 if self.brief else RELOAD_SECONDS):
            turn += 1
            with self.reloading:
                if turn % 3 == 0:
                    self.bad_reload(rng)
                else:
                    self.m.configure(**{**self.settings, "log_level": rng.choice(("info", "warning")),
                                        "max_jobs_per_user": rng.randrange(4000, 5000)})
                    self.reload(good=True)

    def bad_reload(self, rng):
        """Refused, with what is wrong; then the files are as they were."""
        config = self.m.root / "config_home" / "hac" / "hacd.yaml"
        before = config.read_bytes()
        try:
            if rng.random() < 0.3:
                self.m.set_profile(BAD_PROFILE)
            else:
                config.write_text(rng.choice(BAD_CONFIGURATIONS))
            self.reload(good=False)
        finally:
            config.write_bytes(before)
            self.m.set_profile(TWO_DEVICES)

    def reload(self, good):
        result = self.m.run("reload", timeout=120)
        if result.code == 4:
            self.chaos["reloads_put_off"] += 1  # it says why: jobs run, or a reload is under way
        elif (result.code == 0) != good:
            self.record.problem("reload", f"a {'good' if good else 'bad'} configuration: exit {result.code}: {result.err}")
        else:
            self.chaos["reloads_taken" if good else "reloads_refused"] += 1

    # ---- looking on ----

    def tell_clients(self, word):
        for process in self.clients:
            try:
                process.stdin.write(word)
                process.stdin.flush()
            except (OSError, ValueError):
                pass  # it has ended

    def take(self, **settings):
        """A good configuration that has to be taken in, whoever else has a reload under way."""
        self.m.configure(**{**self.settings, **settings})
        if not eventually(lambda: self.stopping.is_set() or self.m.run("reload", timeout=120).code == 0, 120, 0.5):
            self.record.problem("reload", "none is taken in for two minutes while nothing runs")

    def rest(self):
        """What hacd holds when nothing runs and no result waits."""
        with self.reloading:
            self.paused.set()
            self.tell_clients("p")
            eventually(lambda: all(worker.idle for worker in self.workers), TIMEOUT, 0.1)
            self.stopping.wait(3)  # rounds of libhac
            self.ended()
            self.take(result_expiry="1s")
            if not eventually(lambda: self.stopping.is_set() or not children(self.daemon.pid), 60, 0.2):
                self.record.problem("rest", "executors without work do not end")
            self.stopping.wait(75)  # old records go with a tick, memory of the pool after a minute, what malloc keeps 5 s later
            if not self.stopping.is_set():
                self.rests.append(self.look())
            self.take()
            self.tell_clients("g")
            self.paused.clear()

    def look(self):
        descriptors = self.daemon.descriptors(pool=True)
        pool = descriptors.pop("/memfd:hac-pool", 0)
        now = {"t": self.record.elapsed(), "rss": self.daemon.rss(), "descriptors": sum(descriptors.values()), "pool": pool,
               "jobs": self.record.jobs(), "executors": 0, "executor_rss": 0, "executor_descriptors": 0, "cpu": 0.0}
        for pid in [self.daemon.pid, *children(self.daemon.pid)]:
            try:
                fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
                now["cpu"] += sum(map(int, fields[11:15])) / TICKS
                if pid != self.daemon.pid and self.is_executor(pid):
                    now["executors"] += 1
                    now["executor_rss"] = max(now["executor_rss"], self.anonymous(pid))
                    now["executor_descriptors"] = max(now["executor_descriptors"], len(os.listdir(f"/proc/{pid}/fd")))
            except OSError:
                continue  # it has just ended
        return now

    def is_executor(self, pid):
        return pid in self.daemon.executor_pids()

    @staticmethod
    def anonymous(pid):
        """Resident memory of its own, without the pool's that it has mapped."""
        for line in Path("/proc", str(pid), "status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        return 0

    def progress(self):
        last = self.samples[-1]
        print(f"soak: {last['t'] / 60:.1f} of {self.seconds / 60:.1f} min, {last['jobs']} jobs, "
              f"{dict(self.record.problems) or 'no problems'}, hacd {last['rss'] >> 10} KiB and {last['descriptors']} descriptors "
              f"(+{last['pool']} of the pool), {self.chaos['executors_killed']} kills, {self.chaos['reloads_taken']} reloads, "
              f"{self.chaos['hostile']} hostile", flush=True)

    def watch(self):
        """Until the time is up, an interrupt comes, or the daemon is gone."""
        end, next_line, next_rest = self.record.began + self.seconds, PROGRESS_SECONDS, REST_SECONDS
        while not self.stopping.is_set() and time.monotonic() < end:
            if not self.daemon.alive():
                self.record.problem("lost", f"hacd has ended with status {self.daemon.status}\n{self.m.log()[-3000:]}")
                break
            self.samples.append(self.look())
            if self.record.elapsed() >= next_line:
                self.progress()
                next_line += PROGRESS_SECONDS
            if self.seconds >= SHORT and self.record.elapsed() >= next_rest:
                self.rest()
                next_rest += REST_SECONDS
            self.stopping.wait(min(1 if self.brief else SAMPLE_SECONDS, max(0.01, end - time.monotonic())))

    # ---- the whole ----

    def run(self):
        self.record = Record()
        threads = [threading.Thread(target=self.hacctl, args=(worker,)) for worker in self.workers]
        threads += [threading.Thread(target=self.libhac, args=(number,)) for number in range(CLIENTS)]
        threads += [threading.Thread(target=what) for what in (self.hostile, self.strange, self.killer, self.reloader)]
        for thread in threads:
            thread.start()
        try:
            self.watch()
        finally:
            self.stopping.set()
            for thread in threads:
                thread.join(300)
        self.measured = self.record.elapsed()
        self.at_rest()

    def ended(self):
        """Waits for every job's end."""
        if not eventually(lambda: all(job["state"] in ("done", "failed", "cancelled") for job in self.m.json("jobs")["jobs"]),
                          60, 0.5):
            self.record.problem("lost", "jobs have not ended a minute after the last one was begun")

    def at_rest(self):
        """What the daemon holds when nobody asks for anything."""
        if not self.daemon.alive():
            return
        try:
            self.ended()
            self.metrics = self.m.good("metrics").decode()
            self.m.check_clean(slack=64 << 20, seconds=60)  # of its memory the slope says more
        except AssertionError as problem:
            self.record.problem("rest", str(problem)[:2000])

    def close(self):
        try:
            self.m.close()
        except AssertionError as problem:
            self.record.problem("rest", str(problem)[:2000])

    # ---- what came of it ----

    def slopes(self):
        """Of hacd at rest after warm-up; of executors, which do not live long, between rests."""
        warm = min(600, self.measured / 4) - 1
        found = {}
        for name, looks, key, unit in (("rss_mib_per_hour", self.rests, "rss", 1 << 20),
                                       ("descriptors_per_hour", self.rests, "descriptors", 1),
                                       ("busy_rss_mib_per_hour", self.samples, "rss", 1 << 20),
                                       ("executor_rss_mib_per_hour", self.samples, "executor_rss", 1 << 20),
                                       ("executor_descriptors_per_hour", self.samples, "executor_descriptors", 1)):
            points = [(s["t"], s[key] / unit) for s in looks if s["t"] >= warm and (s[key] or "executor" not in key)]
            found[name], found[name + "_error"] = slope(points)
        return found

    def judge(self, slopes):
        """What is wrong, as texts."""
        wrong = [f"{count} × {kind}" for kind, count in self.record.problems.items()]
        grown = slopes["rss_mib_per_hour"] - 3 * slopes["rss_mib_per_hour_error"]
        if not SANITIZED and grown > RSS_SLOPE:
            wrong.append(f"hacd grows by {slopes['rss_mib_per_hour']:.2f} ± {slopes['rss_mib_per_hour_error']:.2f} MiB an hour")
        if len({rest["descriptors"] for rest in self.rests}) > 1:
            wrong.append(f"hacd's descriptors at rest were {[rest['descriptors'] for rest in self.rests]}")
        return wrong

    def quarter(self, flow, number):
        """Milliseconds of a flow's jobs that ended in that quarter of the run."""
        ended, took = self.record.flows[flow]
        return sorted(ms for t, ms in zip(ended, took) if min(3, int(4 * t / self.measured)) == number)

    def cpu_per_job(self):
        """Milliseconds of processor time of hacd and its executors for a job, by quarter."""
        found = []
        for number in range(4):
            inside = [s for s in self.samples if min(3, int(4 * s["t"] / self.measured)) == number]
            jobs = inside[-1]["jobs"] - inside[0]["jobs"] if inside else 0
            found.append((inside[-1]["cpu"] - inside[0]["cpu"]) * 1000 / jobs if jobs else 0.0)
        return found

    def summary(self):
        flows = {}
        for flow in sorted(self.record.flows):
            quarters = [self.quarter(flow, number) for number in range(4)]
            p99 = [percentile(q, 0.99) for q in quarters]
            flows[flow] = {"jobs": len(self.record.flows[flow][0]), "p50_ms": [percentile(q, 0.5) for q in quarters], "p99_ms": p99,
                           "p99_drift": p99[3] / p99[1] - 1 if p99[1] else 0.0}  # the first quarter is warm-up
        slopes = self.slopes()
        last = self.samples[-1] if self.samples else {}
        ended = collections.Counter()
        for labels, count in re.findall(r"^hacd_jobs_ended_total\{(.*)\} (\d+)", getattr(self, "metrics", ""), re.M):
            ended[re.search(r'state="(\w+)"', labels)[1]] += int(count)
        return {"seconds": self.measured, "asked_seconds": self.seconds, "seed": self.seed, "jobs": self.record.jobs(),
                "flows": flows, "jobs_ended_by_hacd": dict(ended), "cancelled": flows.get("cancelled", {}).get("jobs", 0),
                "problems": dict(self.record.problems), "texts": self.record.texts, "chaos": dict(self.chaos),
                "hostile": self.attacker.done, "another_user": self.stranger.done, "slopes": slopes, "cpu_ms_per_job": self.cpu_per_job(),
                "rss_first": self.samples[0]["rss"] if self.samples else 0, "rss_last": last.get("rss", 0),
                "load_average": os.getloadavg(), "wrong": self.judge(slopes), "rests": self.rests, "samples": self.samples}


def rounded(values):
    return " ".join(f"{value:9.2f}" for value in values)


def print_summary(s):
    print(f"\nsoak: {s['seconds'] / 60:.1f} minutes, {s['jobs']} jobs; hacd counts {s['jobs_ended_by_hacd']}")
    print(f"{'flow':16} {'jobs':>8}   p50 in ms, by quarter {'':16}  p99 in ms, by quarter {'':16}  drift of p99")
    for flow, f in s["flows"].items():
        print(f"{flow:16} {f['jobs']:8}   {rounded(f['p50_ms'])}   {rounded(f['p99_ms'])}   {f['p99_drift']:+.1%}")
    print(f"processor time of hacd and executors for a job, ms, by quarter: {rounded(s['cpu_ms_per_job'])}")
    print(f"chaos: {s['chaos']}; hostile clients: {s['hostile']}, of another user: {s['another_user']}")
    print("slopes after warm-up (± standard error): " + ", ".join(
        f"{name} {value:+.2f} ± {s['slopes'][name + '_error']:.2f}" for name, value in s["slopes"].items() if "error" not in name))
    print("hacd at rest, minute: KiB, descriptors: " + (", ".join(
        f"{r['t'] / 60:.0f}: {r['rss'] >> 10}, {r['descriptors']}" for r in s["rests"]) or "not looked at in less than 15 minutes"))
    print(f"hacd's memory: {s['rss_first'] >> 10} KiB at first, {s['rss_last'] >> 10} KiB at last; "
          f"load average {s['load_average'][0]:.1f}")
    for text in s["texts"]:
        print(f"  {text}")
    print(f"soak: {'; '.join(s['wrong']) or 'all is well'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="A chaos soak of hacd.")
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("HAC_TEST_SECONDS", "3600")) / 60)
    parser.add_argument("--summary", type=Path, default=BUILD / "soak.json")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("HAC_TEST_RANDOM", "1")))
    options = parser.parse_args()
    if SANITIZED and options.minutes > 30:
        print("soak: a sanitizer is in this build: no slopes are measured", flush=True)
    soak = Soak(options.minutes * 60, options.seed)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: soak.stopping.set())
    try:
        soak.run()
    finally:
        soak.close()
    summary = soak.summary()
    options.summary.write_text(json.dumps(summary, indent=1) + "\n")
    print_summary(summary)
    sys.exit(1 if summary["wrong"] else 0)


if __name__ == "__main__":
    main()
