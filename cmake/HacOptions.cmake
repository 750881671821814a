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
  if(CMAKE_C_COMPILER_ID STREQUAL "Clang" AND HAC_SANITIZE MATCHES address)
    # As gcc does: one runtime, which can be loaded into a JVM, and hacd has no dlopen of its own. libFuzzer is a
    # runtime by itself.
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
      OUTPUT_VARIABLE hac_asan_runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
    get_filename_component(hac_asan_folder ${hac_asan_runtime} DIRECTORY)
    target_link_options(hac_flags INTERFACE
      $<$<NOT:$<BOOL:$<TARGET_PROPERTY:HAC_FUZZER>>>:-shared-libasan>
      -Wl,-rpath,${hac_asan_folder})
  endif()
else()
  target_compile_definitions(hac_flags INTERFACE $<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
endif()

# For folders whose code runs little: with sanitizers its optimisation takes three quarters of a build's time, and gains
# nothing. Fuzzing alone is another matter.
macro(hac_quick_folder)
  if(HAC_SANITIZE AND HAC_TESTS)
    string(REPLACE "-O1" "-O0" CMAKE_C_FLAGS_DEBUG "${CMAKE_C_FLAGS_DEBUG}")
  endif()
endmacro()

# hac_private_headers(TARGET): a module's own files include each other from the root of its sources ("jobs/job.h"), and
# its test helpers by name. No other module sees either.
function(hac_private_headers target)
  foreach(folder src tests)
    if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
      target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
    endif()
  endforeach()
endfunction()

# hac_module(TARGET [USES target…]): a library of ours: flags, its own include directory, its uses.
function(hac_module target)
  cmake_parse_arguments(arg "" "" "USES;LIBS" ${ARGN})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
  target_link_libraries(${target} PUBLIC ${arg_USES} PRIVATE hac_flags ${arg_LIBS})
  hac_private_headers(${target})
endfunction()

# hac_version_script(SYMBOLS VARIABLE): a linker's export list from a file with a function a line, which a test compares
# with the headers and the library. Behind a function stands the version that it came with, if that is not 0.1.0.
function(hac_version_script symbols_file variable)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${symbols_file})
  file(STRINGS ${symbols_file} symbols)
  list(TRANSFORM symbols REPLACE " .*" "")
  list(JOIN symbols "; " symbols)
  get_filename_component(name ${symbols_file} NAME_WE)
  file(CONFIGURE OUTPUT ${name}.map CONTENT "HAC_0 {\n  global: @symbols@;\n  local: *;\n};\n" @ONLY)
  set(${variable} ${CMAKE_CURRENT_BINARY_DIR}/${name}.map PARENT_SCOPE)
endfunction()

# hac_test(NAME SOURCES… USES targets… [LABELS …] [TIMEOUT s] [ONE_THREAD]): a cmocka test program. ONE_THREAD, or
# set(HAC_ONE_THREAD ON) for a folder: no second thread, so ThreadSanitizer would see nothing. With sanitizers
# HAC_SANITIZED is defined: numbers of random cases may be smaller; and what `./dev test --full` does not run with them is
# built only by its name.
function(hac_test name)
  cmake_parse_arguments(arg "ONE_THREAD" "TIMEOUT" "SOURCES;USES;LABELS" ${ARGN})
  if(NOT HAC_TESTS)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 180)
  endif()
  if(HAC_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
    math(EXPR arg_TIMEOUT "4 * ${arg_TIMEOUT}")
  endif()
  set(all)
  if((arg_ONE_THREAD OR HAC_ONE_THREAD) AND HAC_SANITIZE MATCHES thread)
    set(arg_LABELS one-thread)
    set(all EXCLUDE_FROM_ALL)
  elseif(NOT arg_LABELS)
    set(arg_LABELS quick)
  elseif(HAC_SANITIZE AND NOT arg_LABELS MATCHES "quick|sanitize")
    set(all EXCLUDE_FROM_ALL)
  endif()
  add_executable(${name} ${all} ${arg_SOURCES})
  if(HAC_SANITIZE)
    target_compile_definitions(${name} PRIVATE HAC_SANITIZED)
  endif()
  hac_private_headers(${name})
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
  hac_test(${name} SOURCES ${arg_SOURCES} USES ${arg_USES} hac_test_oom TIMEOUT ${arg_TIMEOUT} ONE_THREAD)
  if(step GREATER 1)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT HAC_TEST_OOM_STEP=${step})
    add_test(NAME ${name}_all COMMAND ${name})
    set_tests_properties(${name}_all PROPERTIES TIMEOUT 3600 LABELS long)
  endif()
endfunction()

# hac_fuzz_coverage(targets…): libraries whose paths libFuzzer follows.
function(hac_fuzz_coverage)
  if(HAC_FUZZ)
    foreach(target ${ARGN})
      target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endforeach()
  endif()
endfunction()

# hac_fuzz_target(NAME SOURCES… USES targets… [DEFINITIONS…] [INCLUDES…] [FLIPS]): a libFuzzer target with its seeds in
# tests/fuzz/corpus/NAME. Without HAC_FUZZ the same code replays the seeds as a test, and with FLIPS replays them with
# each of their bytes changed.
function(hac_fuzz_target name)
  cmake_parse_arguments(arg "FLIPS" "" "SOURCES;USES;DEFINITIONS;INCLUDES" ${ARGN})
  if(HAC_FUZZ)
    set(mains fuzzer)
  elseif(NOT HAC_TESTS OR HAC_SANITIZE MATCHES thread)
    return()
  elseif(arg_FLIPS)
    set(mains replay flips)
  else()
    set(mains replay)
  endif()
  foreach(main ${mains})
    set(program fuzz_${name}_${main})
    if(main STREQUAL fuzzer)
      set(program fuzz_${name})
      add_executable(${program} ${arg_SOURCES})
      target_compile_options(${program} PRIVATE -fsanitize=fuzzer-no-link)
      target_link_options(${program} PRIVATE -fsanitize=fuzzer)
      set_target_properties(${program} PROPERTIES HAC_FUZZER ON)
    else()
      add_executable(${program} ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/tests/fuzz/${main}.c)
      add_test(NAME ${program} COMMAND ${program} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
      set_tests_properties(${program} PROPERTIES TIMEOUT 60 LABELS quick)
    endif()
    target_compile_definitions(${program} PRIVATE ${arg_DEFINITIONS})
    hac_private_headers(${program})
    target_include_directories(${program} PRIVATE ${arg_INCLUDES})
    target_link_libraries(${program} PRIVATE ${arg_USES} hac_flags m)
  endforeach()
endfunction()
