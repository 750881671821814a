# SPDX-License-Identifier: Apache-2.0
# What is installed is enough to build a program: by find_package(hac) and by pkg-config.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK}/source)
set(prefix ${WORK}/prefix)
if(MPI_EXAMPLE)
  set(mpi_components libhac-mpi libhac-mpi-dev)
endif()
foreach(component libhac libhac-dev ${mpi_components})
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component ${component}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()

file(WRITE ${WORK}/source/CMakeLists.txt "cmake_minimum_required(VERSION 3.20)
project(user LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(hac 0.1 REQUIRED)
add_executable(user ${EXAMPLE})
target_link_libraries(user PRIVATE hac::hac)
add_executable(operators ${OPSPLIT_EXAMPLE})
target_link_libraries(operators PRIVATE hac::opsplit)
add_executable(columns ${CXX_EXAMPLE})
target_link_libraries(columns PRIVATE hac::hac)
")
if(MPI_EXAMPLE)
  file(APPEND ${WORK}/source/CMakeLists.txt "find_package(hac 0.1 REQUIRED COMPONENTS mpi)
add_executable(ranks ${MPI_EXAMPLE})
target_link_libraries(ranks PRIVATE hac::mpi)
")
endif()
set(flags "")
if(SANITIZE)
  set(flags -fsanitize=${SANITIZE})
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/source -B ${WORK}/build -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_C_FLAGS=${flags}
  -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_CXX_FLAGS=${flags} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

find_program(PKG_CONFIG pkg-config REQUIRED)
execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${prefix}/${LIBDIR}/pkgconfig
  ${PKG_CONFIG} --cflags --libs hac
  OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
# It was configured for another prefix: the file has to find its own.
foreach(option I L)
  if(NOT flags MATCHES "-lhac" OR NOT flags MATCHES "-${option}([^ \n]+)")
    message(FATAL_ERROR "pkg-config says: ${flags}")
  endif()
  file(REAL_PATH "${CMAKE_MATCH_1}" place)
  file(REAL_PATH "${prefix}" real_prefix)
  if(NOT place MATCHES "^${real_prefix}/")
    message(FATAL_ERROR "pkg-config says -${option}${CMAKE_MATCH_1}, which is not below ${prefix}")
  endif()
endforeach()
