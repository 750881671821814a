#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install_test.sh BUILD SOURCE CC: what was built is installed, and lies in a layer over the prefix it was configured
# for, in a mount namespace; then the command line, and a program built against the library in both documented ways,
# from there. Needs root, or user namespaces.
set -euo pipefail
build=$1 source_dir=$2 cc=$3
here=$source_dir/tests/install
prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$build/CMakeCache.txt")
# shellcheck source=tests/install/namespace.sh
. "$here/namespace.sh"

[ -d "$prefix" ] || skip "$prefix is not there"
enter_namespace "$0" "$@"
base=$(make_base hac-install)
hacctl=$prefix/bin/hacctl
stop() {
    "$hacctl" --quiet drain >/dev/null 2>&1 || true
    remove_base "$base"
}
trap stop EXIT
export XDG_RUNTIME_DIR=$base/run XDG_STATE_HOME=$base/state XDG_CACHE_HOME=$base/cache XDG_CONFIG_HOME=$base/config
unset HAC_SOCKET HAC_LIBEXEC HAC_PROFILES
mkdir -m 700 "$XDG_RUNTIME_DIR"

DESTDIR=$base/staged cmake --install "$build" >"$base/log" || { cat "$base/log"; exit 1; }
mount -t overlay -o "lowerdir=$base/staged$prefix:$prefix" none "$prefix" 2>/dev/null || skip "no overlay"

for file in bin/hacctl libexec/hacd libexec/hac-executor lib/systemd/system/hacd.service lib/systemd/system/hacd.socket lib/systemd/system/hacd-admin.socket \
    lib/systemd/user/hacd.service lib/sysusers.d/hac.conf lib/tmpfiles.d/hac.conf include/hac/hac.h \
    share/hac/profiles/10-pocl.yaml share/man/man1/hacctl.1 share/man/man3/hac_query_files.3; do
    [ -e "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
[ -n "$(find "$prefix" -name libadbc_driver_hac.so)" ] || { echo "not installed: libadbc_driver_hac.so"; exit 1; }
# The Java interface, where it could be built.
if [ -e "$build/bindings/jni/hac.jar" ]; then
    [ -n "$(find "$prefix" -name libhacjni.so)" ] || { echo "not installed: libhacjni.so"; exit 1; }
    [ -e "$prefix/share/java/hac.jar" ] || { echo "not installed: share/java/hac.jar"; exit 1; }
fi
grep -q "^ExecStart=$prefix/libexec/hacd" "$prefix/lib/systemd/system/hacd.service"

echo "== hacctl"
# The tree it was built in may be gone.
mkdir "$base/empty"
cd "$base"
mount --bind "$base/empty" "$build"
"$hacctl" version
head -c 4000000 /dev/urandom >"$base/keys"
"$hacctl" sort "$base/keys" --type u32 -o "$base/sorted"
python3 - "$base/keys" "$base/sorted" <<'END'
import array, sys
def keys(name):
    a = array.array("I")
    a.frombytes(open(name, "rb").read())
    return a
sys.exit(0 if sorted(keys(sys.argv[1])) == keys(sys.argv[2]).tolist() else "the sort is wrong")
END

# build_against PREFIX NAME: a program built against the library that is installed there, in both ways.
build_against() {
    local prefix=$1 libdir flags
    libdir=$(dirname "$(find "$prefix" -name libhac.so)")
    export LD_LIBRARY_PATH=$libdir
    echo "== pkg-config, $2"
    flags=$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --cflags --libs hac)
    # shellcheck disable=SC2086 # words
    "$cc" -std=c11 -Wall -Wextra -Werror "$here/example/sort.c" -o "$base/with-pkg-config" $flags
    "$base/with-pkg-config"
    echo "== find_package, $2"
    cmake -S "$here/example" -B "$base/example-$2" -DCMAKE_PREFIX_PATH="$prefix" >>"$base/log"
    cmake --build "$base/example-$2" >>"$base/log"
    "$base/example-$2/example"
    "$hacctl" drain
}
build_against "$prefix" installed

# Moved elsewhere, all find each other from where they are.
umount -l "$prefix" # a hacd that is still leaving may hold it
hacctl=$base/staged$prefix/bin/hacctl
build_against "$base/staged$prefix" moved
