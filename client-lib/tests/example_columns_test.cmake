# SPDX-License-Identifier: Apache-2.0
# docs/examples/columns.cpp: the sums of docs/examples/data/sales.csv, and an exception.
include(${CMAKE_CURRENT_LIST_DIR}/example_daemon.cmake)
expect(STREQUAL "sorted: -1 0.5 2.5 8\n")
expect(MATCHES "^sorted: -1 0.5 2.5 8\ncities: 5, n: 5485\nrefused with code 2: --where: character [0-9]+: .*\n$"
  ${CMAKE_CURRENT_LIST_DIR}/../../docs/examples/data/sales.csv)
finish()
