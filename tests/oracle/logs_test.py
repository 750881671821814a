#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random logs in the formats clf, logfmt and syslog; Python, which wrote them, says what the rows are."""
import random
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import ONE_DEVICE, SharedMachineTest, main  # noqa: E402

AGENTS = ["Mozilla/5.0 (X11; Linux) \"x\"", "curl/8.0", "-", "", "a\\b", "Zoë, 日本", "tab\there"]
PATHS = ["/", "/a?b=c&d=%20", "/with space", "/q\"uote", "/" + "x" * 300, "/é"]


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '"'


def value(dice, given):
    """As logfmt has it: in quotes where it must be, and sometimes where not."""
    bare = not isinstance(given, str) or not set(given) & set(' "\\\t') and dice.random() < 0.5
    return given if bare else quoted(given)


def nothing(text):
    return None if text in ("-", "") else text


def moment(dice):
    zone = timezone(timedelta(minutes=dice.choice((0, 60, -420, 330, 765))))
    return datetime(1999, 1, 1, tzinfo=zone) + timedelta(seconds=dice.randrange(40 * 365 * 86400))


def in_utc(when):
    return str(when.astimezone(timezone.utc).replace(tzinfo=None))


class Logs(SharedMachineTest):
    profile = ONE_DEVICE

    def rows(self, name, *query):
        return duck.read_csv(self.m.good("-q", "query", name, *query).decode())[1:]

    def test_clf(self):
        dice, lines, wanted = random.Random(1), [], []
        for i in range(4000):
            when, method, path = moment(dice), dice.choice(("GET", "POST")), dice.choice(PATHS)
            host, user, status, size = f"10.0.{i % 256}.1", dice.choice(("-", "jo", "a b")), dice.choice((200, 404, 301)), dice.choice(("-", 0, 123456789012))
            request = f"{method} {path} HTTP/1.1" if i % 7 else dice.choice(("-", "\x16\x03", "GET"))
            line = f"{host} - {user} [{when.strftime('%d/%b/%Y:%H:%M:%S %z')}] {quoted(request)} {status} {size}"
            referer, agent = dice.choice(("-", "http://x/y")), dice.choice(AGENTS)
            if i % 3:
                line += f" {quoted(referer)} {quoted(agent)}"
            rest = "0.123 \"x y\"" if i % 9 == 1 and i % 3 else None
            vhost = dice.choice(("a.example:80", "10.1.2.3:8080", "[::1]:443", "x:1")) if i % 5 == 2 else None
            lines.append((vhost + " " if vhost else "") + line + (" " + rest if rest else ""))
            parts = request.split(" ", 1)[0], request.split(" ", 1)[-1].rsplit(" ", 1)[0], "HTTP/1.1"
            parts = parts if i % 7 else (None, None, None)
            wanted.append((host, None, nothing(user), in_utc(when) + "+00", None if request == "-" else request, *parts, str(status), nothing(str(size)),
                           nothing(referer) if i % 3 else None, (None if agent == "-" else agent) if i % 3 else None, rest, vhost))
        Path(self.m.path("access.log")).write_text("\n".join(lines) + "\n")
        got = self.rows("access.log", "--parse", "clf")
        for line, g, w in zip(lines, got, wanted, strict=True):
            self.assertEqual(g, w, line)
        top = self.rows("access.log", "--parse", "clf", "--group-by", "status", "--select", "count() as n, sum(bytes) as s", "--order-by", "status")
        self.assertEqual(top, [(s, str(sum(w[8] == s for w in wanted)), str(sum(int(w[9]) for w in wanted if w[8] == s and w[9])))
                               for s in ("200", "301", "404")])

    def test_logfmt(self):
        dice, lines, wanted = random.Random(2), [], []
        for i in range(3000):
            row = {"time": moment(dice).isoformat(), "level": dice.choice(("info", "warn", "error")), "msg": dice.choice(AGENTS), "took": dice.random() * 9,
                   "n": dice.randrange(-99, 10**12)}
            row = {k: v for k, v in row.items() if dice.random() < 0.9 or k == "level"}
            order = list(row)
            dice.shuffle(order)
            lines.append("  ".join(f"{k}={value(dice, row[k])}" for k in order) + (" flag" if i % 50 == 0 else ""))
            wanted.append((in_utc(datetime.fromisoformat(row["time"])) + "+00" if "time" in row else None, row["level"], row.get("msg"),
                           row.get("took"), None if "n" not in row else str(row["n"])))
        Path(self.m.path("app.logfmt")).write_text("\n".join(lines) + "\n")
        got = self.rows("app.logfmt", "--select", "time, level, msg, took, n, flag")
        for line, g, w in zip(lines, got, wanted, strict=True):
            self.assertEqual((g[0], g[1], g[2], None if g[3] is None else float(g[3]), g[4]), w, line)
            self.assertEqual(g[5], "" if line.endswith(" flag") else None)
        types = {c[0]: c[1] for c in duck.read_csv(self.m.good("-q", "describe", "app.logfmt").decode())[1:]}
        self.assertEqual({k: types[k] for k in ("time", "level", "took", "n")}, {"time": "timestamptz", "level": "string", "took": "f64", "n": "i64"})
        some = self.rows("app.logfmt", "--schema", "took:f32,later:string", "--select", "later, count() as c, count(took) as t", "--group-by", "1")
        self.assertEqual(some, [(None, "3000", str(sum(w[3] is not None for w in wanted)))])

    def test_syslog(self):
        dice, lines, wanted, today = random.Random(3), [], [], datetime.now(timezone.utc)
        for i in range(3000):
            when, app, pid, message = moment(dice), dice.choice(("su", "sshd", "x/y")), dice.choice((None, 1, 99999)), dice.choice(("m", "a: b [c]", "Zoë"))
            priority, host = dice.randrange(192), f"h{i % 9}"
            if i % 3 == 0:
                data = dice.choice(("-", '[a@1 b="c\\"]"]', '[a][b c="d"]'))
                lines.append(f"<{priority}>1 {when.isoformat()} {host} {app} {pid or '-'} ID {data} {message}")
                wanted.append((in_utc(when), host, app, pid and str(pid), "ID", nothing(data), message, str(priority // 8), str(priority % 8)))
                continue
            head = f"<{priority}>" if i % 2 else ""
            numbers = (str(priority // 8), str(priority % 8)) if i % 2 else (None, None)
            local = when.replace(tzinfo=None)
            if i % 3 == 1:
                year = next(y for y in range(today.year, 0, -1) if not (local.month == 2 and local.day == 29 and (y % 4 or (y % 100 == 0 and y % 400))) and
                            local.replace(year=y).date() <= (today + timedelta(days=1)).date())
                local = local.replace(year=year)
                stamp = f"{local:%b} {local.day:2d} {local:%H:%M:%S}"
            else:
                stamp = local.isoformat()
            lines.append(f"{head}{stamp} {host} {app}" + (f"[{pid}]" if pid else "") + f": {message}")
            wanted.append((str(local), host, app, pid and str(pid), None, None, message, *numbers))
        Path(self.m.path("messages")).write_text("\n".join(lines) + "\n")
        for line, g, w in zip(lines, self.rows("messages", "--parse", "syslog"), wanted, strict=True):
            self.assertEqual(g, w, line)

    def broken(self, form, line, good, bad):
        """Each bad text in the line makes a bad record, also among good ones."""
        for text in bad:
            Path(self.m.path("broken.log")).write_text("".join(line % t + "\n" for t in (*good, text, *good)))
            self.m.bad(1, "query", "broken.log", "--parse", form, "--select", "time, host, message" if form == "syslog" else "time, host, user",
                       says=f"line {len(good) + 1}: byte")
            self.assertEqual(self.rows("broken.log", "--parse", form, "--on-error", "skip", "--select", "count(time)"), [(str(2 * len(good)),)], text)

    def test_errors(self):
        Path(self.m.path("bad.log")).write_text('1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 5\nnot a log\n')
        self.m.bad(1, "query", "bad.log", "--parse", "clf", "--select", "count(status)", says="line 2: byte")
        self.assertEqual(self.rows("bad.log", "--parse", "clf", "--on-error", "skip", "--select", "count(status)"), [("1",)])
        self.broken("clf", '1.2.3.4 - - [%s -0700] "GET / HTTP/1.0" 200 5', ("10/Oct/2000:13:55:36", "02/Jan/1999:00:00:00"),
                    ("10/Oct/2000:13:55\0 36", "10/Oct/2000:13:5", "1\0/Oct/2000:13:55:36", "10/Okt/2000:13:55:36", "10/Oct/2000:13:55:3x", "/</Oct/2000:13:55:36"))
        self.broken("syslog", "%s host app: message", ("Oct  2 22:14:15", "Oct 12 22:14:15"),
                    ("Oct /< 22:14:15", "Oct  0 22:14:15", "Oct 1  22:14:15", "Oct 41 22:14:15", "Oct 12 22:14\0:5", "Oct 12 22-14-15"))
        self.broken("clf", '%s - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 5', ("1.2.3.4", "a.example:80 1.2.3.4", "1.2.3.4:5678"),
                    ("a.example 1.2.3.4", "::1:80 1.2.3.4"))
        self.m.bad(2, "query", "bad.log", "--parse", "clf", "--schema", "a:i64", "--select", "a", says="clf has its own column")
        self.m.bad(2, "query", "bad.log", "--parse", "clf", "--select", "agnt", says="agent")


if __name__ == "__main__":
    main()
