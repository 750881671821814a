#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# oclgrind_test.sh PROGRAM: runs a test of kernels on Oclgrind's device, small sizes, and fails on any data race
# or access out of bounds it reports. Exit 77 (skipped) without Oclgrind. Kernels are not optimised: Oclgrind
# does not know all of LLVM's intrinsics.
if ! command -v oclgrind > /dev/null; then
    echo "SKIPPED: oclgrind is not installed; data races in kernels are NOT looked for" >&2
    exit 77
fi
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
HAC_TEST_SMALL=1 oclgrind --data-races --max-errors 20 --build-options -cl-opt-disable "$1" > "$log" 2>&1
status=$?
cat "$log"
if grep -q -E 'data race|Invalid (read|write)|OCLGRIND FATAL' "$log"; then
    exit 1
fi
exit $status
