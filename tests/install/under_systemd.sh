#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs as a unit of the container that package_test.sh boots: hacd under a real systemd, as the machine's service and
# then as one user's. Leaves /root/result, whose last line is `passed`, and powers the container off.
set -u
exec >/root/result 2>&1
fail() {
    echo "FAILED: $*"
    journalctl --no-pager _SYSTEMD_UNIT=hacd.service + _SYSTEMD_USER_UNIT=hacd.service | tail -30
    systemctl poweroff
    exit 1
}
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

# One user's own units, where the machine has no service.
systemctl disable --now hacd.socket hacd.service 2>/dev/null || fail "the machine's service cannot be disabled"
useradd --create-home anna || fail "no user"
loginctl enable-linger anna || fail "no lingering"
runtime=/run/user/$(id -u anna)
as_anna() { runuser -u anna -- env XDG_RUNTIME_DIR="$runtime" "$@"; }
unit() { as_anna systemctl --user "$@"; }
own_property() { unit show -P "$1" hacd.service; }
for _ in $(seq 300); do [ -S "$runtime/systemd/private" ] && break; sleep 0.1; done
unit enable --now hacd.socket || fail "the user's socket cannot be enabled"
[ "$(unit is-active hacd.service)" = inactive ] || fail "the user's service runs before it is asked"
[ "$(stat -c '%U %a' "$runtime/hac/hacd.sock")" = "anna 600" ] || fail "others may use the user's socket"
start=$(seconds)
as_anna hacctl --no-autostart sort /tmp/keys --type u32 -o /tmp/sorted.anna || fail "no sort by the user's service"
echo "user's units: first job after $(since "$start") s"
cmp /tmp/sorted /tmp/sorted.anna || fail "another answer"
pid=$(own_property MainPID)
[ "$(stat -c %U "/proc/$pid") $(own_property SubState)" = "anna running" ] || fail "not anna's and running"
grep -q "user@$(id -u anna).service/.*hacd.service" "/proc/$pid/cgroup" || fail "in another cgroup: $(cat "/proc/$pid/cgroup")"
unit reload hacd || fail "reload of the user's service"
unit stop hacd.service 2>/dev/null
[ "$(own_property Result) $(own_property ExecMainStatus)" = "success 0" ] || fail "stop of the user's service"
as_anna hacctl --no-autostart sort /tmp/keys --type u32 -o /tmp/sorted.anna || fail "the user's service is not started on demand"
# after 30 s; kernels that nobody waits for are built another time
for _ in $(seq 120); do [ "$(unit is-active hacd.service)" = inactive ] && break; sleep 1; done
[ "$(own_property Result) $(unit is-active hacd.service)" = "success inactive" ] || fail "does not leave without work"
as_anna hacctl --no-autostart devices || fail "not started again after it left"
unit is-failed --quiet hacd.service hacd.socket && fail "something of the user's failed"
journalctl --no-pager _SYSTEMD_USER_UNIT=hacd.service | grep -q 'device cpu' || fail "nothing of it in the journal"
echo passed
systemctl poweroff
