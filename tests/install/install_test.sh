#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install_test.sh SOURCE CC: a configure, build (without -O and -g: the quickest) and install into a prefix of its own;
# then the command line, and a program built against the library in both documented ways, from there.
set -euo pipefail
source_dir=$1 cc=$2
here=$source_dir/tests/install
base=$(mktemp -d "${TMPDIR:-/tmp}/hac-install.XXXXXX")
prefix=$base/prefix

stop() {
    "$prefix/bin/hacctl" --quiet drain >/dev/null 2>&1 || true
    rm -rf "$base"
}
trap stop EXIT
export XDG_RUNTIME_DIR=$base/run XDG_STATE_HOME=$base/state XDG_CACHE_HOME=$base/cache XDG_CONFIG_HOME=$base/config
unset HAC_SOCKET HAC_LIBEXEC HAC_PROFILES
mkdir -m 700 "$XDG_RUNTIME_DIR"

cmake -S "$source_dir" -B "$base/build" -G Ninja -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG= -DHAC_TESTS=OFF >"$base/log"
cmake --build "$base/build" >>"$base/log" || { tail -50 "$base/log"; exit 1; }
cmake --install "$base/build" >>"$base/log"

for file in bin/hacctl libexec/hacd libexec/hac-executor lib/systemd/system/hacd.service lib/systemd/system/hacd.socket \
    lib/systemd/user/hacd.service lib/sysusers.d/hac.conf lib/tmpfiles.d/hac.conf include/hac/hac.h \
    share/hac/profiles/10-pocl.yaml share/man/man1/hacctl.1; do
    [ -e "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
# The Java interface, where it could be built.
if [ -e "$base/build/bindings/jni/hac.jar" ]; then
    [ -n "$(find "$prefix" -name libhacjni.so)" ] || { echo "not installed: libhacjni.so"; exit 1; }
    [ -e "$prefix/share/java/hac.jar" ] || { echo "not installed: share/java/hac.jar"; exit 1; }
fi
grep -q "^ExecStart=$prefix/libexec/hacd" "$prefix/lib/systemd/system/hacd.service"

echo "== hacctl"
"$prefix/bin/hacctl" version
# The tree it was built from may be gone.
mv "$base/build" "$base/gone"
head -c 4000000 /dev/urandom >"$base/keys"
"$prefix/bin/hacctl" sort "$base/keys" --type u32 -o "$base/sorted"
python3 - "$base/keys" "$base/sorted" <<'END'
import array, sys
def keys(name):
    a = array.array("I")
    a.frombytes(open(name, "rb").read())
    return a
sys.exit(0 if sorted(keys(sys.argv[1])) == keys(sys.argv[2]).tolist() else "the sort is wrong")
END

# A program built against the library that is installed there, in both ways.
build_against() {
    local libdir flags
    libdir=$(dirname "$(find "$prefix" -name libhac.so)")
    export LD_LIBRARY_PATH=$libdir
    echo "== pkg-config, $1"
    flags=$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --cflags --libs hac)
    # shellcheck disable=SC2086 # words
    "$cc" -std=c11 -Wall -Wextra -Werror "$here/example/sort.c" -o "$base/with-pkg-config" $flags
    "$base/with-pkg-config"
    echo "== find_package, $1"
    cmake -S "$here/example" -B "$base/example-$1" -DCMAKE_PREFIX_PATH="$prefix" >>"$base/log"
    cmake --build "$base/example-$1" >>"$base/log"
    "$base/example-$1/example"
    "$prefix/bin/hacctl" drain
}
build_against installed

# The programs know where they were installed; the library's files find themselves.
mv "$prefix" "$base/moved"
prefix=$base/moved
export HAC_LIBEXEC=$prefix/libexec HAC_PROFILES=$prefix/share/hac/profiles
build_against moved
