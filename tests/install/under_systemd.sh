#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs as a unit of the container that package_test.sh boots: hacd under a real systemd. Leaves /root/result, whose last
# line is `passed`, and powers the container off.
set -u
exec >/root/result 2>&1
fail() { echo "FAILED: $*"; journalctl -u hacd --no-pager | tail -30; systemctl poweroff; exit 1; }
hacctl() { command hacctl --no-autostart "$@"; }
property() { systemctl show -P "$1" hacd.service; }
seconds() { date +%s.%N; }
since() { awk "BEGIN { print $(seconds) - $1 }"; }

systemctl enable --now hacd.socket || fail "the socket cannot be enabled"
[ "$(systemctl is-active hacd.service)" = inactive ] || fail "the service runs before it is asked"
head -c 4000000 /dev/urandom >/tmp/keys
hacctl devices || fail "no answer"
hacctl sort /tmp/keys --type u32 -o /tmp/sorted || fail "no sort"
[ "$(property SubState)" = running ] || fail "not running but $(property SubState)"
sleep 1.2
property StatusText | grep 'devices usable' || fail "status: $(property StatusText)"

pid=$(property MainPID)
own=$(cat "/proc/$pid/oom_score_adj")
for child in $(pgrep -P "$pid"); do
    score=$(cat "/proc/$child/oom_score_adj") && [ $((score - own)) -lt 500 ] && fail "child at $score, hacd at $own"
done

systemctl reload hacd || fail "reload"
cp /etc/hac/hacd.yaml /tmp/good.yaml
echo 'idle_exit: soon' >/etc/hac/hacd.yaml
systemctl reload hacd && fail "a bad configuration was taken in"
[ "$(property MainPID)" = "$pid" ] || fail "a bad configuration ended hacd"
cp /tmp/good.yaml /etc/hac/hacd.yaml

kill -STOP "$pid"
start=$(seconds)
for _ in $(seq 300); do
    now=$(property MainPID)
    [ "$now" != "$pid" ] && [ "$now" != 0 ] && [ "$(systemctl is-active hacd)" = active ] && break
    sleep 0.1
done
took=$(since "$start")
echo "watchdog: a new hacd after $took s"
[ "$(property NRestarts)" = 1 ] || fail "not restarted"
awk "BEGIN { exit $took > 12 }" || fail "restarted only after $took s"

systemctl stop hacd.service 2>/dev/null
[ "$(property Result) $(property ExecMainStatus)" = "success 0" ] || fail "stop: $(property Result) $(property ExecMainStatus)"
start=$(seconds)
hacctl sort /tmp/keys --type u32 -o /tmp/sorted || fail "not started on demand"
echo "on demand: first job after $(since "$start") s"
systemctl is-failed --quiet hacd.service hacd.socket && fail "something failed"
echo passed
systemctl poweroff
