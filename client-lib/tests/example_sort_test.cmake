# SPDX-License-Identifier: Apache-2.0
# docs/examples/sort.c: small enough for a message, and beyond.
include(${CMAKE_CURRENT_LIST_DIR}/example_daemon.cmake)
foreach(items 1 1000 1000000)
  expect(MATCHES "^${items} numbers, job [0-9]+: sorted" ${items})
endforeach()
finish()
