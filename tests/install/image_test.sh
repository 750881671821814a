#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# image_test.sh SOURCE: the images of docs/examples/containers/Containerfile, built by buildah on a Debian from its mirror,
# with the packages that `./dev package` left in SOURCE/build/package. hacd then serves from its image, with the image's user
# and entry point, and the client's image, which gets the socket's directory read-only, sorts. Needs root.
set -euo pipefail
source_dir=$1
packages=$source_dir/build/package
# shellcheck source=tests/install/namespace.sh
. "$(dirname "$0")/namespace.sh"

[ "$(id -u)" = 0 ] || skip "not root"
for tool in buildah debootstrap; do command -v $tool >/dev/null || skip "no $tool"; done
compgen -G "$packages/hacd_*.deb" >/dev/null || skip "no packages: ./dev package"
enter_namespace "$0" "$@"
base=$(make_base hac-image)
server=
# What buildah started goes on when buildah is killed.
descendants() {
    local pid
    for pid in $(ps -o pid= --ppid "$1"); do
        descendants "$pid"
        echo "$pid"
    done
}
finish() {
    local status=$?
    if [ -n "$server" ]; then
        # shellcheck disable=SC2046 # words
        kill $(descendants "$server") 2>/dev/null || true
        wait "$server" || true
    fi
    buildah_ umount --all >/dev/null 2>&1 || true
    remove_base "$base"
    exit $status
}
buildah_() { buildah --root "$base/images" --runroot "$base/run" --storage-driver "${HAC_TEST_STORAGE:-overlay}" "$@"; }
log() { "$@" >"$base/log" 2>&1 || { tail -30 "$base/log"; exit 1; }; }
trap finish EXIT

echo "== base"
log debootstrap --variant=minbase "${HAC_TEST_SUITE:-bookworm}" "$base/debian"
container=$(buildah_ from scratch)
log buildah_ copy -q "$container" "$base/debian" /
log buildah_ commit -q "$container" localhost/base
rm -rf "$base/debian"

echo "== images"
mkdir "$base/context"
cp "$packages"/{hac,hacd,libhac0}_*.deb "$base/context"
containerfile=$source_dir/docs/examples/containers/Containerfile
build() { log buildah_ bud --isolation chroot --build-arg BASE=localhost/base -f "$containerfile" "$@" "$base/context"; }
build --target client -t client
build -t hacd
[ "$(buildah_ inspect --type image --format '{{.OCIv1.Config.User}}' hacd)" = 899:899 ]

echo "== use"
service=$(buildah_ from hacd) client=$(buildah_ from client)
[ -z "$(buildah_ run --isolation chroot "$client" -- find / -xdev -name hacd -type f)" ] || { echo "hacd is in the client's image"; exit 1; }
mapfile -t entry < <(buildah_ inspect --type image hacd | python3 -c '
import json, sys
print(*json.load(sys.stdin)["OCIv1"]["config"]["Entrypoint"], sep="\n")')
install -d -o 899 -g 899 "$base/socket"
buildah_ run --isolation chroot -v "$base/socket:/run/hac" "$service" -- "${entry[@]}" 2>"$base/daemon" &
server=$!
for _ in $(seq 300); do [ -S "$base/socket/hacd.sock" ] && break; sleep 0.1; done
head -c 400000 /dev/urandom >"$base/keys"
mkdir -m 777 "$base/data"
cp "$base/keys" "$base/data"
in_client() {
    buildah_ run --isolation chroot --user 20001:20001 -v "$base/socket:/run/hac:ro" -v "$base/data:/data" "$client" -- "$@" ||
        { cat "$base/daemon"; exit 1; }
}
in_client hacctl --no-autostart devices
in_client hacctl --no-autostart sort /data/keys --type u32 -o /data/sorted
python3 - "$base/keys" "$base/data/sorted" <<'END'
import array, sys
def keys(name):
    a = array.array("I")
    a.frombytes(open(name, "rb").read())
    return a
sys.exit(0 if sorted(keys(sys.argv[1])) == keys(sys.argv[2]).tolist() else "the sort is wrong")
END
echo "passed"
