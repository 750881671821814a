#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacctl tune: what it measures, keeps, shows, reverts and forgets."""
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import ONE_DEVICE, MachineTest, main  # noqa: E402

HEAD = """name: cpu
match: {platform: "Portable Computing Language", type: cpu}
kind: cpu
memory: {host: true}
tuning: {block_items: BLOCK}
"""
# Only the placement is left to tune: no kernels are built for it.
PLACEMENT = HEAD + "style: block\nexecutors: [{threads: 1}]\n"
# Only the style.
STYLE = HEAD + "executors: [{threads: 1, affinity: [0]}]\n"
FIXED = STYLE + "style: block\n"
SETTINGS = ("threads", "placement", "style", "block_items", "work_group")


class Tune(MachineTest):
    """full"""

    def fixed(self, profile):
        """A machine with that profile, whose blocks have the size that programs were built for before the tests."""
        m = self.machine(ONE_DEVICE)
        block = self.shown(m)["block_items"]
        m.good("drain")
        m.set_profile(profile.replace("BLOCK", str(block)))
        return m

    def shown(self, machine):
        return machine.json("tune", "--show")["devices"][0]

    def settings(self, machine):
        device = self.shown(machine)
        return {name: (device[name], device["from"][name]) for name in SETTINGS}

    def starts(self, machine):
        text = machine.good("metrics").decode()
        return sum(float(n) for n in re.findall(r"^hacd_executor_starts_total\{.*\} (\S+)$", text, re.M))

    def check_contest(self, contest):
        """A setting is kept if, and only if, its rounds say so."""
        rounds = sorted(contest["rounds"])
        self.assertLessEqual(len(rounds), 10)
        wins = sum(time < 1 for time in rounds)
        median = (rounds[(len(rounds) - 1) // 2] + rounds[len(rounds) // 2]) / 2 if rounds else 1
        if contest["kept"]:
            self.assertEqual(len(rounds), 10, contest)
            self.assertGreaterEqual(wins, 9, contest)
            self.assertLessEqual(median, 0.971, contest)  # the report rounds
        elif rounds and len(rounds) == 10 and wins >= 9 and median < 0.969:
            self.assertRegex(contest["verdict"], r"worst for .*, time × 1\.[1-9]", contest)

    def test_search(self):
        """Every contest keeps what its rounds justify, with one start of an executor for each visit at most."""
        m = self.fixed(PLACEMENT)
        m.daemon()
        before = self.settings(m)
        report = m.json("tune", "cpu", timeout=900)
        device = report["devices"][0]
        self.assertEqual([c["subject"] for c in device["contests"]], ["threads and placement", "kernel style", "block items"])
        self.assertEqual([c["verdict"] for c in device["contests"][1:]], ["nothing to try"] * 2)
        places = device["contests"][0]
        self.assertEqual([tried["setting"] for tried in places["tried"]], ["auto threads, compact"])
        self.check_contest(places)
        self.assertEqual(len(device["workloads"]), 6, device["workloads"])
        # 2 candidates, twice, and 10 rounds of two: not one start for each of the 5 runs of 6 workloads
        self.assertLessEqual(device["restarts"], 2 * 2 + 2 * 10 + 1)
        self.assertLessEqual(self.starts(m), device["restarts"] + 2)
        after = self.settings(m)
        self.assertEqual(device["kept"], places["kept"])
        self.assertEqual(after == before, not device["kept"], (before, after))
        self.assertEqual(self.shown(m)["steps"], int(device["kept"]))
        log = m.good("log", "1").decode()
        self.assertIn("cpu, threads and placement: " + places["verdict"][:20], log)

    def test_slow_on_purpose(self):
        """Settings that are bad on purpose lose; --revert and --reset go back."""
        m = self.fixed(STYLE)
        plain = self.settings(m)
        driver = m.devices()[0]["driver"].replace(" ", "_")
        kernels = self.kernel_hash(m)
        tuning = m.root / "state_home" / "hac" / "tuning"
        tuning.write_text(f"cpu {kernels} {driver} 0 0 2 0 0\n")
        slow = self.settings(m)
        self.assertEqual(slow["style"], ("simt", "tune"))
        self.assertEqual(self.shown(m)["steps"], 1)
        device = m.json("tune", timeout=900)["devices"][0]
        self.assertTrue(device["kept"], device)
        self.assertGreater(device["gain"], 1.5, device)
        better = self.settings(m)
        self.assertEqual(better["style"], ("block", "driver"))
        shown = self.shown(m)
        self.assertEqual(shown["steps"], 2)
        self.assertAlmostEqual(shown["gain"], device["gain"], 2)
        self.assertIsNotNone(shown["tuned_at"])
        m.good("drain")  # it is kept
        self.assertEqual(self.settings(m), better)
        self.assertEqual(json.loads(m.good("--json", "tune", "--revert", "cpu"))["devices"][0]["style"], "simt")
        self.assertEqual(self.shown(m)["steps"], 1)
        m.good("tune", "--reset")
        self.assertEqual(self.settings(m), plain)
        m.good("tune", "--revert")  # nothing is left to take back
        self.assertEqual(self.settings(m), plain)
        self.assertEqual(tuning.read_text(), "")

    def kernel_hash(self, machine):
        """The version of the kernels, under which settings are stored. Ends the daemon."""
        machine.good("drain")
        tested = (machine.root / "state_home" / "hac" / "tested-devices").read_text()
        return tested.splitlines()[-1].split("|")[4]

    def test_profile_wins(self):
        """What the profile states is not tuned, and a search has nothing to do."""
        m = self.fixed(FIXED)
        report = m.json("tune", timeout=300)
        self.assertEqual([c["verdict"] for c in report["devices"][0]["contests"]], ["nothing to try"] * 3)
        self.assertFalse(report["devices"][0]["kept"])
        shown = self.shown(m)
        self.assertEqual({shown["from"][name] for name in SETTINGS[:4]}, {"profile"})
        self.assertIn(f"{shown['block_items']} (profile)", m.good("tune", "--show").decode())
        self.assertIn("the settings stay as they are", m.good("tune", timeout=300).decode())

    def test_cancelled(self):
        """A search that is cancelled restores the settings; two searches at a time are refused."""
        m = self.machine(ONE_DEVICE.replace("executors: [{threads: 2}]\n", ""))
        m.daemon()
        before = self.settings(m)
        job = m.good("tune", "--detach").decode().strip()
        m.bad(4, "tune", says=f"job {job} tunes devices")
        m.bad(4, "tune", "--revert", says=f"job {job} tunes devices")
        m.good("cancel", job)
        m.run("wait", job)
        self.assertEqual(self.settings(m), before)
        self.assertEqual(self.shown(m)["steps"], 0)
        m.bad(2, "tune", "--revert", "gpu", says="unknown device `gpu`")


if __name__ == "__main__":
    main()
