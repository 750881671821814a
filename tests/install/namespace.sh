#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by tests that mount: they do so in a namespace of their own, whose mounts go with it.

skip() {
    echo "SKIPPED: $*"
    exit 77
}

# enter_namespace SCRIPT ARGUMENT…: the script goes on, from its beginning, in the namespace.
enter_namespace() {
    [ "${HAC_TEST_INSIDE:-}" = "" ] || return 0
    local namespace=(unshare --mount --propagation private)
    [ "$(id -u)" = 0 ] || namespace+=(--map-root-user)
    "${namespace[@]}" true 2>/dev/null || skip "no mount namespaces"
    HAC_TEST_INSIDE=1 exec "${namespace[@]}" "$@"
}

# make_base NAME: prints a folder with a file system of its own; the folder itself is outside.
make_base() {
    local base
    base=$(mktemp -d "${TMPDIR:-/tmp}/$1.XXXXXX")
    mount -t tmpfs -o mode=755 none "$base"
    echo "$base"
}

# remove_base BASE
remove_base() {
    cd /
    umount -R "$1" 2>/dev/null || umount -R -l "$1"
    rmdir "$1"
}
