#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# package_test.sh BUILD SOURCE SEED [debootstrap]: Debian packages of a build folder, as packaging/debian/rules makes them;
# installed, used as an administrator and a user would, and purged, in a root of their own. That root is this machine's with a layer on top that takes all writes, or
# with `debootstrap` a minimal Debian that gets everything else from its mirror. Needs root.
set -euo pipefail
build=$1 source_dir=$2 seed=$3 way=${4:-overlay}
# shellcheck source=tests/install/namespace.sh
. "$(dirname "$0")/namespace.sh"

[ "$(id -u)" = 0 ] || skip "not root"
for tool in dh dh_python3 dh_apparmor dpkg-shlibdeps systemd-sysusers systemd-socket-activate; do
    command -v $tool >/dev/null || skip "no $tool"
done
[ "$way" = overlay ] || command -v debootstrap >/dev/null || skip "no debootstrap"
enter_namespace "$0" "$@"
base=$(make_base hac-package)
root=$base/root
activate=
finish() {
    local status=$?
    [ -z "$activate" ] || kill "$activate" 2>/dev/null || true
    remove_base "$base"
    exit $status
}
trap finish EXIT

echo "== packages"
mkdir -p "$base/packages/source"
cp -r "$source_dir/packaging/debian" "$base/packages/source/debian"
for folder in client-lib config mpi opsplit; do ln -s "$source_dir/$folder" "$base/packages/source"; done
(cd "$base/packages/source" && HAC_BUILD=$build HAC_DH="-phac -phacd -plibhac0 -plibhac-dev" HAC_DEB="-Zgzip -z1" \
    DEB_BUILD_OPTIONS=noautodbgsym debian/rules binary) >"$base/log" 2>&1 || { cat "$base/log"; exit 1; }
if grep -q "^Requires" "$base"/packages/source/debian/libhac-dev/*/*/lib/pkgconfig/hac.pc 2>/dev/null; then
    echo "hac.pc requires what libhac-dev does not depend on"
    exit 1
fi
mkdir -p "$base/upper" "$base/work" "$root"
if [ "$way" = overlay ]; then
    mount -t overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" none "$root" 2>/dev/null || skip "no overlay"
else
    debootstrap --variant=minbase "${HAC_TEST_SUITE:-bookworm}" "$root" >"$base/log" || { tail "$base/log"; exit 1; }
fi
# What somebody left of hac on this machine is not there.
rm -rf "$root"/etc/hac "$root"/var/lib/hacd "$root"/var/cache/hacd
mount -t proc none "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t tmpfs none "$root/run"
mount -t tmpfs -o mode=1777 none "$root/tmp"
mkdir "$root/tmp/packages"
cp "$base"/packages/*.deb "$root/tmp/packages"
inside() { chroot "$root" /usr/bin/env -i PATH="$PATH:/usr/sbin:/sbin" HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }

# All that is there, but for what dpkg, apt, the loader and the user database keep to themselves.
inventory() {
    (
        cd "$root"
        find etc usr var -xdev \( -path var/lib/dpkg -o -path var/lib/apt -o -path var/cache -o -path var/log \
            -o -path etc/.pwd.lock -o -path 'etc/*-' -o -path etc/ld.so.cache -o -path etc/subuid -o -path etc/subgid \) -prune -o -print
        find var/cache var/lib/dpkg run -xdev -path '*hac*'
    ) | LC_ALL=C sort
}

# old_package: one package `hac` of version 0.1.0 with the files of hac and hacd, as CPack made it.
old_package() {
    local tree=$base/old name
    mkdir -p "$tree/DEBIAN"
    for name in hac hacd; do dpkg-deb -x "$base"/packages/${name}_*.deb "$tree"; done
    dpkg-deb -e "$base"/packages/hacd_*.deb "$base/control"
    cp "$base"/control/{conffiles,postinst,prerm,postrm} "$tree/DEBIAN"
    printf 'Package: hac\nVersion: 0.1.0\nArchitecture: %s\nMaintainer: hac <root@localhost>\nDescription: old\n' \
        "$(dpkg --print-architecture)" >"$tree/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip -z1 -b "$tree" "$root/tmp/old.deb" >"$base/log"
}

# check_upgraded: what the administrator wrote and what hacd learnt are still there; the files have their new packages.
check_upgraded() {
    grep -q '^max_jobs: 7$' "$root/etc/hac/hacd.yaml" || { echo "upgraded, and the configuration is another"; exit 1; }
    [ "$(cat "$root/var/lib/hacd/models")" = learnt ] || { echo "upgraded, and what was learnt has gone"; exit 1; }
    cp "$root$prefix/share/hac/hacd.yaml" "$root/etc/hac/hacd.yaml"
    rm -r "$root/var/lib/hacd"
}

packages=(/tmp/packages/{libhac0,hac,hacd,libhac-dev}_*.deb)
old_package
install_old() {
    inside dpkg --install /tmp/old.deb >"$base/log" 2>&1 || { cat "$base/log"; exit 1; }
    echo 'max_jobs: 7' >>"$root/etc/hac/hacd.yaml"
    inside install -d -m 700 -o hacd -g hacd /var/lib/hacd
    echo learnt >"$root/var/lib/hacd/models"
}
echo "== install, over a version before"
if [ "$way" = overlay ]; then
    inventory >"$base/before"
    install_old
    inside bash -c "dpkg --install ${packages[*]}" >"$base/log" 2>&1 || { cat "$base/log"; exit 1; }
else
    # What the packages depend on stays; only what they bring themselves is to go.
    inside apt-get -qq update >"$base/log" 2>&1
    inside bash -c "apt-get -qq install -y --no-install-recommends ocl-icd-libopencl1 pocl-opencl-icd systemd libpam-systemd dbus procps python3-minimal \
        \$(for d in ${packages[*]}; do dpkg-deb -f \$d Depends; done | tr ',' '\n' | sed 's/[|(].*//' | grep -vE '^ *(libhac|hac)')" \
        >"$base/log" 2>&1 || { tail "$base/log"; exit 1; }
    inventory >"$base/before"
    install_old
    inside bash -c "apt-get -qq install -y --no-install-recommends ${packages[*]}" >"$base/log" 2>&1 || { tail "$base/log"; exit 1; }
fi
prefix=$(inside dpkg -L hacd | sed -n 's,/libexec/hacd$,,p')
grep -q "^ExecStart=$prefix/libexec/hacd$" "$root$prefix/lib/systemd/system/hacd.service"
check_upgraded
inside id hacd >/dev/null
[ "$(stat -c %a "$root/run/hac")" = 755 ]
[ "$(inside dpkg -S /etc/hac/hacd.yaml)" = "hacd: /etc/hac/hacd.yaml" ]
inside dpkg --verify hac hacd libhac0 libhac-dev
for unit in system/hacd.service system/hacd.socket system/hacd-admin.socket user/hacd.service user/hacd.socket; do
    [ -e "$root$prefix/lib/systemd/$unit" ] || { echo "no unit $unit"; exit 1; }
done
[ "$(inside dpkg -S /etc/apparmor.d/hacd)" = "hacd: /etc/apparmor.d/hacd" ]
[ ! -L "$root/etc/systemd/system/sockets.target.wants/hacd.socket" ] || { echo "enabled without being asked"; exit 1; }
inside systemctl enable hacd.socket 2>/dev/null
[ -L "$root/etc/systemd/system/sockets.target.wants/hacd.socket" ]

echo "== configuration"
inside "$prefix/libexec/hacd" --check-config
echo 'idle_exit: soon' >"$root/tmp/bad.yaml"
status=0
inside "$prefix/libexec/hacd" --check-config --config /tmp/bad.yaml 2>"$base/log" || status=$?
[ $status = 2 ] || { echo "exit $status for a bad configuration"; exit 1; }
grep -q "bad.yaml:1: key .idle_exit" "$base/log" || { cat "$base/log"; exit 1; }

echo "== use"
# What systemd does of itself: directories, user, sockets.
as_service() { inside setpriv --reuid hacd --regid hacd --init-groups --inh-caps=-all --no-new-privs "$@"; }
as_user() { inside setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
inside install -d -m 700 -o hacd -g hacd /var/lib/hacd /var/cache/hacd
if [ "$way" = overlay ] && [ -d "$seed/programs" ]; then
    cp -r "$seed/programs" "$root/var/cache/hacd/programs"
    cp "$seed/tested-devices" "$root/var/lib/hacd"
    inside chown -R hacd:hacd /var/cache/hacd /var/lib/hacd
fi
inside chown hacd /run/hac # root's manager binds there; this one is hacd's
as_service env HOME=/var/lib/hacd OCL_ICD_VENDORS=pocl.icd systemd-socket-activate --seqpacket -E OCL_ICD_VENDORS -E HOME \
    -l /run/hac/hacd.sock -l /run/hac/admin.sock --fdname hacd.socket:admin "$prefix/libexec/hacd" 2>"$base/daemon" &
activate=$!
for _ in $(seq 300); do [ -S "$root/run/hac/admin.sock" ] && break; sleep 0.1; done
chmod 666 "$root/run/hac/hacd.sock" # SocketMode= of the units
chmod 600 "$root/run/hac/admin.sock"
mkdir -m 777 "$root/tmp/user"
head -c 4000000 /dev/urandom >"$root/tmp/user/keys"
for command in devices 'sort /tmp/user/keys --type u32 -o /tmp/user/sorted' jobs; do
    # shellcheck disable=SC2086 # words
    as_user "$prefix/bin/hacctl" --no-autostart $command || { cat "$base/daemon"; exit 1; }
done
python3 - "$root/tmp/user/keys" "$root/tmp/user/sorted" <<'END'
import array, sys
def keys(name):
    a = array.array("I")
    a.frombytes(open(name, "rb").read())
    return a
sys.exit(0 if sorted(keys(sys.argv[1])) == keys(sys.argv[2]).tolist() else "the sort is wrong")
END
status=0
as_user "$prefix/bin/hacctl" drain 2>/dev/null || status=$?
[ $status = 4 ] || { echo "anybody may drain"; exit 1; }
# ExecReload= runs as hacd's user, who is like any other at the socket for everybody.
as_service "$prefix/bin/hacctl" --socket /run/hac/admin.sock reload || { echo "ExecReload= fails"; exit 1; }
status=0
as_service "$prefix/bin/hacctl" --socket /run/hac/hacd.sock reload 2>/dev/null || status=$?
[ $status = 4 ] || { echo "hacd's uid administers at the socket for everybody"; exit 1; }
inside "$prefix/bin/hacctl" drain # through admin.sock
wait $activate || { echo "hacd ended with $?"; cat "$base/daemon"; exit 1; }
activate=

# With a systemd of its own, in a container.
under_systemd() {
    local unit=$root/etc/systemd/system/under-systemd.service
    umount -R "$root/run" "$root/tmp" "$root/proc" "$root/dev" "$root/sys"
    mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
    cp "$(dirname "$0")/under_systemd.sh" "$root/root"
    printf '[Unit]\nAfter=basic.target\n[Service]\nType=oneshot\nExecStart=/root/under_systemd.sh\nTimeoutStartSec=580\n' >"$unit"
    ln -s ../under-systemd.service "$root/etc/systemd/system/multi-user.target.wants"
    timeout 600 systemd-nspawn -D "$root" --boot --register=no --keep-unit >"$base/log" 2>&1 </dev/null || true
    cat "$root/root/result"
    [ "$(tail -1 "$root/root/result")" = passed ] || { tail -20 "$base/log"; exit 1; }
    rm "$unit" "$root/etc/systemd/system/multi-user.target.wants/under-systemd.service" "$root"/root/{result,under_systemd.sh}
}
if [ "$way" = debootstrap ]; then
    if command -v systemd-nspawn >/dev/null; then
        echo "== under systemd"
        under_systemd
    else
        echo "SKIPPED: under systemd: no systemd-nspawn"
    fi
fi

echo "== purge"
inside dpkg --remove libhac-dev hacd hac libhac0 >"$base/log" 2>&1 || { cat "$base/log"; exit 1; }
[ ! -L "$root/etc/systemd/system/sockets.target.wants/hacd.socket" ] || { echo "still enabled"; exit 1; }
[ -e "$root/etc/hac/hacd.yaml" ] || { echo "removed, and the configuration has gone"; exit 1; }
[ -d "$root/var/lib/hacd" ] || { echo "removed, and what was learnt has gone"; exit 1; }
inside dpkg --purge libhac-dev hacd hac libhac0 >"$base/log" 2>&1 || { cat "$base/log"; exit 1; }
inventory >"$base/after"
# dpkg also takes directories of /usr/local that were empty before.
if diff "$base/before" "$base/after" | grep '^[<>]' | grep -v '^< usr/local/' >"$base/log"; then
    echo "not as before (<: was there, >: is left):"
    cat "$base/log"
    exit 1
fi
echo "nothing is left"
