#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of docs/kubernetes.md: what they say agrees, and hacd with the entry point of its image and the configuration of
the DaemonSet serves ten clients in mount namespaces that have the socket's directory and no device."""
import array
import configparser
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import HACCTL, LIBEXEC, ONE_DEVICE, PROFILES, SEED, SOURCE, eventually, main  # noqa: E402

try:
    import yaml
except ImportError:
    yaml = None
EXAMPLES = SOURCE / "docs" / "examples" / "containers"
CONTAINERFILE = EXAMPLES / "Containerfile"
KUBERNETES = "1.28"
HACD_UID = 899
TEAMS = {"team-a": 20001, "team-b": 20002}

# Mounts of a pod: a /dev without devices, and /run/hac.
POD = """set -e
mount --make-rprivate /
mount -t tmpfs none "$1"
for node in null zero urandom random; do touch "$1/$node"; mount --bind "/dev/$node" "$1/$node"; done
mount --rbind "$1" /dev
mount -t tmpfs none /run
mkdir /run/hac
mount --bind "$2" /run/hac
mount -o remount,bind,ro /run/hac
shift 2
exec "$@"
"""
# Mounts of hacd's container; `nodes` has device nodes that may be there, and closed.
SERVER = """set -e
mount --make-rprivate /
for node in null zero urandom random; do touch "$1/$node"; mount --bind "/dev/$node" "$1/$node"; done
mount --rbind "$1" /dev
mount -t tmpfs none /run
mkdir /run/hac /run/hac-admin
mount --bind "$2" /run/hac
chown "$3:$3" /run/hac-admin
shift 3
exec "$@"
"""


def documents(name):
    return list(yaml.safe_load_all((EXAMPLES / name).read_text()))


def entry_point():
    text = CONTAINERFILE.read_text().replace("\\\n", "")
    return json.loads(re.search(r"^ENTRYPOINT (\[.*\])$", text, re.M)[1])


def daemon_set():
    return next(d for d in documents("daemonset.yaml") if d["kind"] == "DaemonSet")["spec"]["template"]["spec"]


def configuration():
    return next(d for d in documents("daemonset.yaml") if d["kind"] == "ConfigMap")["data"]["hacd.yaml"]


@unittest.skipIf(yaml is None, "no PyYAML: NOT TESTED what the files of containers say")
class Files(unittest.TestCase):
    def test_schemas(self):
        try:
            import kubernetes_validate
        except ImportError:
            self.skipTest("no kubernetes-validate (PyPI): NOT TESTED against the schemas of Kubernetes")
        for name in ("daemonset.yaml", "ten-pods.yaml"):
            for document in documents(name):
                kubernetes_validate.validate(document, KUBERNETES, strict=True)

    def test_pods_have_no_device(self):
        pods = documents("ten-pods.yaml")
        self.assertEqual(sum(d["spec"]["replicas"] for d in pods), 10)
        self.assertEqual({d["metadata"]["name"]: d["spec"]["template"]["spec"]["securityContext"]["runAsUser"] for d in pods}, TEAMS)
        for document in pods:
            spec = document["spec"]["template"]["spec"]
            self.assertEqual([v["hostPath"]["path"] for v in spec["volumes"] if "hostPath" in v], ["/run/hac/shared"])
            for container in spec["containers"]:
                self.assertNotIn("volumeDevices", container)
                self.assertNotIn("privileged", container["securityContext"])
                mounts = {m["mountPath"]: m for m in container["volumeMounts"]}
                self.assertTrue(mounts["/run/hac"]["readOnly"])

    def test_daemon_set(self):
        spec = daemon_set()
        self.assertEqual(spec["securityContext"]["runAsUser"], HACD_UID)
        self.assertIn(f"--uid {HACD_UID} ", CONTAINERFILE.read_text())
        self.assertEqual(spec["initContainers"][0]["command"][:2], ["chown", f"{HACD_UID}:{HACD_UID}"])
        container = spec["containers"][0]
        mounted = {m["mountPath"]: m["name"] for m in container["volumeMounts"]}
        volumes = {v["name"]: v for v in spec["volumes"]}
        words = entry_point() + container["args"]
        socket, admin = (Path(words[words.index(o) + 1]) for o in ("--socket", "--admin-socket"))
        self.assertEqual(volumes[mounted[str(socket.parent)]]["hostPath"]["path"], "/run/hac/shared")
        self.assertIn("emptyDir", volumes[mounted[str(admin.parent)]])  # no other pod can get this one
        for path in re.search(r"^VOLUME (\[.*\])$", CONTAINERFILE.read_text(), re.M)[1].strip('[]"').split('", "'):
            self.assertIn(path, mounted)
        self.assertEqual(words[words.index("--socket-mode") + 1], "0666")

    def test_versions(self):
        version = re.search(r"^project\(hac VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text(), re.M)[1]
        for path in (*EXAMPLES.iterdir(), SOURCE / "docs" / "kubernetes.md"):
            for image, tag in re.findall(r"hac/(hacd|client):([0-9][0-9.]*[0-9])", path.read_text()):
                self.assertEqual((image, tag), (image, version), path)

    def test_cdi(self):
        """Fields and values of the CDI specification 0.5.0, and nothing but one read-only mount."""
        spec = yaml.safe_load((EXAMPLES / "hac-socket.yaml").read_text())
        self.assertEqual(set(spec), {"cdiVersion", "kind", "devices"})
        self.assertRegex(spec["kind"], r"^[A-Za-z][A-Za-z0-9_.-]*/[A-Za-z][A-Za-z0-9_-]*$")
        edits, = (d["containerEdits"] for d in spec["devices"])
        self.assertEqual(set(edits), {"mounts"})
        mount, = edits["mounts"]
        self.assertEqual(set(mount), {"hostPath", "containerPath", "type", "options"})
        self.assertIn("ro", mount["options"])
        drop_in = (EXAMPLES / "hacd-socket.conf").read_text()
        self.assertIn(f"ListenSequentialPacket={mount['hostPath']}/hacd.sock\n", drop_in)

    def test_drop_ins(self):
        """Those that `hacctl doctor` names are those that there are, and they allow device nodes and nothing else."""
        table = (SOURCE / "daemon" / "server" / "resources" / "device_nodes.c").read_text()
        folder = SOURCE / "systemd" / "hacd.service.d"
        self.assertEqual(set(re.findall(r'"(\w+\.conf)"', table)), {p.name for p in folder.iterdir()})
        for path in folder.iterdir():
            lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
            self.assertEqual(lines[0], "[Service]")
            for line in lines[1:]:
                self.assertRegex(line, r"^DeviceAllow=char-[a-z*-]+ rw$")

    def test_quadlet(self):
        unit = configparser.RawConfigParser(strict=False, interpolation=None)
        unit.optionxform = str
        unit.read_string((EXAMPLES / "hacd.container").read_text())
        self.assertEqual(set(unit.sections()), {"Unit", "Container", "Service", "Install"})
        known = {"ContainerName", "Image", "Volume", "AddDevice", "PodmanArgs", "DropCapability", "NoNewPrivileges", "Network"}
        self.assertEqual(set(unit["Container"]), known)


@unittest.skipIf(yaml is None or os.geteuid() != 0 or shutil.which("setpriv") is None,
                 "needs root, setpriv and PyYAML: NOT TESTED that pods share devices without having them")
class Pods(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="hac-pods-"))
        self.root.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.root)
        for name, mode in (("socket", 0o755), ("state", 0o700), ("cache", 0o700), ("work", 0o1777), ("profiles", 0o755), ("dev", 0o755),
                           ("nodes", 0o755)):
            (self.root / name).mkdir()
            (self.root / name).chmod(mode)
        if SEED:
            shutil.copytree(Path(SEED, "programs"), self.root / "cache" / "programs")
            shutil.copy(Path(SEED, "tested-devices"), self.root / "state")
        for name in ("socket", "state", "cache"):
            for path in (self.root / name, *(self.root / name).rglob("*")):
                os.chown(path, HACD_UID, HACD_UID)
        (self.root / "profiles" / "cpu.yaml").write_text(ONE_DEVICE)
        (self.root / "hacd.yaml").write_text(configuration() + f"profile_directories: [{self.root}/profiles]\n")
        self.environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "OCL_ICD_VENDORS": "pocl.icd", "HOME": "/nonexistent"}

    def start(self):
        command = entry_point() + ["--config", str(self.root / "hacd.yaml")]
        self.assertEqual(command[0], "/usr/libexec/hacd")
        server = {**self.environment, "STATE_DIRECTORY": str(self.root / "state"), "CACHE_DIRECTORY": str(self.root / "cache"),
                  "HOME": str(self.root / "state"), "HAC_LIBEXEC": str(LIBEXEC), "HAC_PROFILES": str(PROFILES)}
        log = open(self.root / "log", "wb")
        self.addCleanup(log.close)
        self.hacd = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", SERVER, "sh", self.root / "nodes", self.root / "socket", str(HACD_UID), "setpriv", "--reuid", str(HACD_UID),
             "--regid", str(HACD_UID), "--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs",
             LIBEXEC / "hacd", *command[1:]], env=server, stderr=log)
        self.addCleanup(self.stop)
        socket = self.root / "socket" / "hacd.sock"
        self.assertTrue(eventually(lambda: self.hacd.poll() is not None or socket.exists() and socket.stat().st_mode & 0o777 == 0o666),
                        self.log())
        self.assertIsNone(self.hacd.poll(), self.log())

    def stop(self):
        if self.hacd.poll() is None:
            self.hacd.send_signal(signal.SIGTERM)
        self.assertEqual(self.hacd.wait(60), 0, self.log())

    def log(self):
        return (self.root / "log").read_text()

    def pod(self, uid, *words):
        """A command in a pod of that uid. Root keeps all capabilities, which is more than containers have."""
        confined = ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
                    "--no-new-privs"] if uid != 0 else []
        return subprocess.Popen(["unshare", "--mount", "sh", "-c", POD, "sh", self.root / "dev", self.root / "socket", *confined, *words],
                                env=self.environment, cwd=self.root / "work", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def done(self, uid, *words, code=0):
        process = self.pod(uid, *words)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, f"{words}: {out}{err}\n{self.log()}")
        return out + err

    def hacctl(self, uid, *words, code=0):
        return self.done(uid, HACCTL, "--no-autostart", *words, code=code)

    def test_ten_pods(self):
        self.start()
        running = []
        for i in range(10):
            keys = array.array("I", os.urandom(400_000))
            (self.root / "work" / f"in{i}").write_bytes(keys.tobytes())
            uid = list(TEAMS.values())[i % 2]
            running.append((keys, self.pod(uid, HACCTL, "--no-autostart", "sort", f"in{i}", "--type", "u32", "-o", f"out{i}")))
        for i, (keys, process) in enumerate(running):
            out, err = process.communicate(timeout=120)
            self.assertEqual((process.returncode, out), (0, ""), err + self.log())
            self.assertEqual((self.root / "work" / f"out{i}").read_bytes(), array.array("I", sorted(keys)).tobytes())
        self.assertEqual(sorted(self.done(TEAMS["team-a"], "ls", "/dev").split()), ["null", "random", "urandom", "zero"])
        self.assertEqual(self.done(TEAMS["team-a"], "ls", "/run/hac").split(), ["hacd.sock"])

    def test_limits(self):
        """The ninth job of a user is refused while results of eight are kept; the other user's goes on."""
        self.start()
        (self.root / "work" / "keys").write_bytes(os.urandom(4000))
        limit = int(re.search(r"^max_jobs_per_user: (\d+)$", configuration(), re.M)[1])
        first, other = TEAMS.values()
        for _ in range(limit):
            self.hacctl(first, "sort", "keys", "--type", "u32", "--detach")
        self.assertIn("jobs", self.hacctl(first, "sort", "keys", "--type", "u32", "--detach", code=4))
        self.hacctl(other, "sort", "keys", "--type", "u32", "-o", "sorted")

    def test_closed_device(self):
        """A node that is there and that hacd's user may not open: doctor names it, and the group."""
        (self.root / "nodes" / "kfd").touch()
        (self.root / "nodes" / "kfd").chmod(0o660)
        self.start()
        said = self.hacctl(TEAMS["team-a"], "doctor", code=1)
        self.assertIn("device node /dev/kfd", said)
        self.assertIn("SupplementaryGroups=root", said)
        (self.root / "nodes" / "kfd").chmod(0o666)
        self.assertNotIn("kfd", self.hacctl(TEAMS["team-a"], "doctor"))

    def test_device_policy(self):
        """A node that everybody may open, and that the policy of hacd's cgroup denies, as DevicePolicy= of the unit does."""
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        own = next((line.split(":", 2)[2] for line in lines if "devices" in line.split(":")[1].split(",")), None)
        if own is None:
            self.skipTest("no devices cgroup (version 1): NOT TESTED what doctor says of a device policy")
        cgroup = Path(f"/sys/fs/cgroup/devices{own}", f"hac-test-{os.getpid()}")
        node = self.root / "nodes" / "kfd"
        try:
            cgroup.mkdir()
            self.addCleanup(cgroup.rmdir)
            (cgroup / "devices.deny").write_text("c 510:* rwm")
            os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(510, 0))
            node.chmod(0o666)
        except OSError as problem:
            self.skipTest(f"{problem}: NOT TESTED what doctor says of a device policy")
        self.start()
        self.assertNotIn("kfd", self.hacctl(TEAMS["team-a"], "doctor"))
        (cgroup / "cgroup.procs").write_text(str(self.hacd.pid))
        said = self.hacctl(TEAMS["team-a"], "doctor", code=1)
        self.assertIn("device node /dev/kfd", said)
        self.assertIn("Operation not permitted", said)
        self.assertIn("share/hac/systemd/rocm.conf", said)

    def test_root_is_a_user(self):
        """Root in a pod, with all capabilities, or hacd's uid: no administration, no other socket, and no way to replace the
        socket."""
        self.start()
        self.assertIn("administrators", self.hacctl(HACD_UID, "drain", code=4))
        self.hacctl(0, "devices")
        self.assertIn("administrators", self.hacctl(0, "drain", code=4))
        self.done(0, "sh", "-c", "test ! -e /run/hac/admin.sock && test ! -e /run/hac-admin")
        self.assertIn("Read-only", self.done(0, "rm", "-f", "/run/hac/hacd.sock", code=1))
        self.assertIsNone(self.hacd.poll())


if __name__ == "__main__":
    main()
