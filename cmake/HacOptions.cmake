# SPDX-License-Identifier: Apache-2.0
# Compiler settings and the helpers every folder uses.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(HAC_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
option(HAC_WERROR "Treat warnings as errors" ON)
option(HAC_FAILPOINTS "Places that fail when a test says so (base/failpoint.h); not for what is installed" OFF)

add_library(hac_flags INTERFACE)
target_compile_definitions(hac_flags INTERFACE _GNU_SOURCE $<$<BOOL:${HAC_FAILPOINTS}>:HAC_FAILPOINTS>)
target_compile_options(hac_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -Wpointer-arith -Wcast-qual -Wformat=2 -Wundef -Wvla -Wno-gnu-statement-expression
  $<$<C_COMPILER_ID:GNU>:-Wno-pedantic-ms-format -Wlogical-op>
  -fno-strict-aliasing -ffp-contract=off -fstack-protector-strong
  $<$<BOOL:${HAC_WERROR}>:-Werror>)
# GNU statement expressions (base/cleanup.h) are the one extension -Wpedantic would refuse.
target_compile_options(hac_flags INTERFACE $<$<C_COMPILER_ID:GNU>:-Wno-pedantic>)
# protobuf-c's …__INIT macros cast const away, and clang looks into system headers' macros; gcc still checks the rest.
target_compile_options(hac_flags INTERFACE $<$<C_COMPILER_ID:Clang>:-Wno-cast-qual>)
if(HAC_SANITIZE)
  target_compile_options(hac_flags INTERFACE -fsanitize=${HAC_SANITIZE} -fno-omit-frame-pointer
    $<$<C_COMPILER_ID:Clang>:-fno-sanitize-recover=all> $<$<C_COMPILER_ID:GNU>:-fno-sanitize-recover=all>)
  target_link_options(hac_flags INTERFACE -fsanitize=${HAC_SANITIZE})
else()
  target_compile_definitions(hac_flags INTERFACE $<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
endif()

# hac_module(TARGET [USES target…]): a library of ours: flags, its own include directory, its uses.
function(hac_module target)
  cmake_parse_arguments(arg "" "" "USES;LIBS" ${ARGN})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
  target_link_libraries(${target} PUBLIC ${arg_USES} PRIVATE hac_flags ${arg_LIBS})
endfunction()

# hac_test(NAME SOURCES… USES targets… [LABELS …] [TIMEOUT s] [ONE_THREAD]): a cmocka test program. ONE_THREAD: much
# work and no second thread, so ThreadSanitizer would see nothing.
function(hac_test name)
  cmake_parse_arguments(arg "ONE_THREAD" "TIMEOUT" "SOURCES;USES;LABELS" ${ARGN})
  if(NOT HAC_TESTS)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  if(HAC_SANITIZE)
    math(EXPR arg_TIMEOUT "4 * ${arg_TIMEOUT}")
  endif()
  if(arg_ONE_THREAD AND HAC_SANITIZE MATCHES thread)
    set(arg_LABELS one-thread)
  elseif(NOT arg_LABELS)
    set(arg_LABELS quick)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_USES} hac_flags PkgConfig::CMOCKA)
  # assert() stays on in tests, whatever the build type
  target_compile_options(${name} PRIVATE -UNDEBUG)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()

# hac_oom_test(NAME STEP SOURCES… USES targets… [TIMEOUT s]): a test that fails allocations (base/test_oom.h). With a
# STEP above 1 the quick test fails every STEP-th one, and NAME_all, in the long tier, all of them.
function(hac_oom_test name step)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;USES" ${ARGN})
  if(NOT HAC_TESTS)
    return()
  endif()
  hac_test(${name} SOURCES ${arg_SOURCES} USES ${arg_USES} hac_test_oom TIMEOUT ${arg_TIMEOUT})
  if(step GREATER 1)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT HAC_TEST_OOM_STEP=${step})
    add_test(NAME ${name}_all COMMAND ${name})
    set_tests_properties(${name}_all PROPERTIES TIMEOUT 3600 LABELS long)
  endif()
endfunction()
