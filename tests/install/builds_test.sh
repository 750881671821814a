#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# builds_test.sh SOURCE CC bare|plain: a build that nobody makes every day, without a warning. bare: -O3 -DNDEBUG with
# everything optional left out, by one job beside other tests; its hacctl then sorts. plain: -O0, whose quick test
# programs then run.
set -euo pipefail
source_dir=$1 cc=$2 what=$3
base=$(mktemp -d "${TMPDIR:-/tmp}/hac-builds.XXXXXX")
bare=$base/bare

stop() {
    "$bare/hacctl/hacctl" --quiet --no-autostart drain >/dev/null 2>&1 || true
    rm -rf "$base"
}
trap stop EXIT
export XDG_RUNTIME_DIR=$base/run XDG_STATE_HOME=$base/state XDG_CACHE_HOME=$base/cache XDG_CONFIG_HOME=$base/config
unset HAC_SOCKET HAC_FAILPOINTS
export HAC_LIBEXEC=$bare/libexec HAC_PROFILES=$source_dir/config/profiles
mkdir -m 700 "$XDG_RUNTIME_DIR"
jobs=()

# build NAME SETTINGS…
build() {
    local name=$1
    shift
    local began=$SECONDS
    cmake -S "$source_dir" -B "$base/$name" -G Ninja -DCMAKE_C_COMPILER="$cc" -DHAC_WERROR=ON "$@" >"$base/log"
    nice cmake --build "$base/$name" "${jobs[@]}" >"$base/log" || { tail -50 "$base/log"; exit 1; }
    if grep -n 'warning:' "$base/log"; then
        echo "$name: warnings"
        exit 1
    fi
    echo "$name: built in $((SECONDS - began)) s"
}

test_bare() {
    jobs=(-j 1)
    build bare -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O3 -DNDEBUG" -DHAC_TESTS=OFF -DHAC_FAILPOINTS=OFF \
        -DHAC_FUZZ=OFF -DHAC_JNI=OFF -DHAC_MPI=OFF
    local left
    left=$(find "$bare" -name 'libhacjni.so' -o -name 'hac-mpi' -o -name '*_test')
    [ -z "$left" ] || { echo "built, though it was left out: $left"; exit 1; }
    head -c 400000 /dev/urandom >"$base/keys"
    "$bare/hacctl/hacctl" sort "$base/keys" --type u32 -o "$base/sorted"
    python3 - "$base/keys" "$base/sorted" <<'END'
import array, sys
def keys(name):
    a = array.array("I")
    a.frombytes(open(name, "rb").read())
    return a
sys.exit(0 if sorted(keys(sys.argv[1])) == keys(sys.argv[2]).tolist() else "the sort is wrong")
END
    "$bare/hacctl/hacctl" --quiet --no-autostart drain
}

test_plain() {
    build plain -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O0 -g" -DHAC_FAILPOINTS=ON
    unset HAC_LIBEXEC HAC_PROFILES
    # The programs, not the scripts that start whole machines.
    local programs
    programs=$(ctest --test-dir "$base/plain" -L quick --show-only=json-v1 | python3 -c '
import json, os, sys
tests = [t for t in json.load(sys.stdin)["tests"] if "command" in t]
here = os.path.realpath(sys.argv[1]) + os.sep
print("|".join(t["name"] for t in tests if os.path.realpath(t["command"][0]).startswith(here)))' "$base/plain")
    [ -n "$programs" ] || { echo "no test programs"; exit 1; }
    ctest --test-dir "$base/plain" -L quick -R "^($programs)\$" --output-on-failure
}

"test_$what"
