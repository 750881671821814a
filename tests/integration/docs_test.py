#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of the pages, run in their order in a folder with docs/examples and its data; what they print is what the
pages say. Blocks that begin with ```console are run. In them a line that begins with `$ ` is a command, which goes on
while the next lines are indented by six; the lines behind it are its standard output, and `…` there stands for any lines.
```console terminal is run on a terminal of 100 columns, with what it writes to standard error. `--write` renews outputs
that have no `…`."""
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import HACCTL, SANITIZED, SOURCE, Machine, main  # noqa: E402

BLOCK = re.compile(r"^```console( terminal)?\n(.*?)^```$", re.S | re.M)
ANY = "…"
COMMANDS_MIN = 40  # in all pages: if there are fewer, blocks have lost their mark
PROMPT, MORE = "$ ", " " * 6


def pages():
    return [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]


def commands_of(text):
    """(lines of a command, lines of its output), for each command of a block."""
    found = []
    for line in text.splitlines():
        if line.startswith(PROMPT):
            found.append(([line], []))
        elif found and not found[-1][1] and line.startswith(MORE):
            found[-1][0].append(line)
        elif found:
            found[-1][1].append(line)
        else:
            raise ValueError(f"a block begins with output: {line}")
    return found


def shell_text(lines):
    return "\n".join([lines[0][len(PROMPT):], *lines[1:]])


def is_like(wanted, got):
    """Whether the lines are as wanted, where … stands for any number of lines."""
    pattern = "".join(".*" if line == ANY else re.escape(line) + "\n" for line in wanted)
    return re.fullmatch(pattern, "".join(line + "\n" for line in got), re.S) is not None


class Shell:
    """Runs commands as a reader of a page types them."""

    def __init__(self):
        self.m = Machine(config={"result_expiry": "10min"})
        self.m.good("devices")  # pages do not show that a daemon starts
        self.folder = Path(self.m.path("page"))
        shutil.copytree(SOURCE / "docs/examples", self.folder)
        for file in (SOURCE / "docs/examples/data").iterdir():
            shutil.copy(file, self.folder)
        path = f"{HACCTL.parent}:{self.m.environment.get('PATH', os.environ['PATH'])}"
        self.environment = dict(self.m.environment, PATH=path, TERM="xterm", LC_ALL="C.UTF-8")

    def run(self, command):
        ended = subprocess.run(["bash", "-c", "set -o pipefail; " + command], cwd=self.folder, env=self.environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                               check=False)
        return ended.returncode, ended.stdout.decode(), ended.stderr.decode()

    def run_on_terminal(self, command):
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        with subprocess.Popen(["bash", "-c", command], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=follower, stderr=follower) as process:
            os.close(follower)
            out = b""
            while True:
                try:
                    more = os.read(leader, 65536)
                except OSError:
                    break
                out += more
            os.close(leader)
        shown = re.sub(r"[^\n]*\r", "", out.decode().replace("\r\n", "\n"))  # a line that is written again
        return process.returncode, re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", shown), ""


class Pages(unittest.TestCase):
    def test_all_commands(self):
        count = 0
        for page in pages():
            blocks = BLOCK.findall(page.read_text())
            if not blocks:
                continue
            shell = Shell()
            self.addCleanup(shell.m.close)
            for terminal, block in blocks:
                for lines, wanted in commands_of(block):
                    count += 1
                    with self.subTest(page=str(page.relative_to(SOURCE)), command=lines[0]):
                        run = shell.run_on_terminal if terminal else shell.run
                        code, out, err = run(shell_text(lines))
                        self.assertEqual(code, 0, err + out)
                        self.assertTrue(is_like(wanted, out.splitlines()), f"wanted {wanted}\ngot {out}")
        self.assertGreaterEqual(count, COMMANDS_MIN)

    def test_comparison(self):
        """What the test above relies on."""
        self.assertTrue(is_like(["a", ANY, "d"], ["a", "b", "c", "d"]))
        self.assertTrue(is_like([ANY], []))
        self.assertFalse(is_like([], ["a"]))
        self.assertFalse(is_like(["a"], []))
        self.assertFalse(is_like(["a.c"], ["abc"]))
        self.assertEqual(commands_of("$ a \\\n      b\n1\n$ c\n"), [(["$ a \\", "      b"], ["1"]), (["$ c"], [])])


def write():
    for page in pages():
        text = page.read_text()
        if not BLOCK.search(text):
            continue
        shell = Shell()

        def renew(match, shell=shell):
            lines = []
            for command, wanted in commands_of(match[2]):
                code, out, err = (shell.run_on_terminal if match[1] else shell.run)(shell_text(command))
                if code != 0:
                    print(f"{command}\n{err}{out}", file=sys.stderr)
                kept = ANY in wanted and is_like(wanted, out.splitlines())
                lines += command + (wanted if kept else out.splitlines())
            return f"```console{match[1] or ''}\n" + "".join(line + "\n" for line in lines) + "```"

        page.write_text(BLOCK.sub(renew, text))
        shell.m.close()


if __name__ == "__main__":
    if SANITIZED:
        sys.exit("these commands are run by tests of their own in sanitizer builds")
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        main()
