# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=file.c -DINPUTS=a.cl,b.cl -DBASE=base/include -P embed_kernels.cmake
# Writes each kernel source as a C string array named after it (sort.cl: hac_source_sort). A line
# `#include "other.cl"` is replaced by that file, since drivers see one text only; `#include "base/name.h"` by a
# header of base that C and OpenCL C share.
string(REPLACE "," ";" INPUTS "${INPUTS}")
set(result "/* Made by embed_kernels.cmake. */\n#include \"kernel_sources.h\"\n")
set(declarations "/* Made by embed_kernels.cmake. */\n#ifndef KERNEL_SOURCES_H\n#define KERNEL_SOURCES_H\n")
foreach(input IN LISTS INPUTS)
  get_filename_component(name ${input} NAME_WE)
  get_filename_component(folder ${input} DIRECTORY)
  file(READ ${input} hex HEX)
  # An inclusion is found in the text and replaced in its hexadecimal form, which is free of the characters that
  # CMake's lists give a meaning to; then those of what was included.
  set(texts ${input})
  while(texts)
    list(POP_FRONT texts text)
    file(STRINGS ${text} includes REGEX "^#include \"(base/[a-z0-9_]+\\.h|[a-z0-9_]+\\.cl)\"$")
    list(REMOVE_DUPLICATES includes)
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "^#include \"([a-z0-9_/]+\\.[a-z]+)\"$" "\\1" included "${line}")
      string(HEX "${line}" line_hex)
      set(file ${folder}/${included})
      if(included MATCHES "^base/")
        set(file ${BASE}/${included})
      endif()
      file(READ ${file} included_hex HEX)
      string(REPLACE "${line_hex}" "${included_hex}" hex "${hex}")
      list(APPEND texts ${file})
    endforeach()
  endwhile()
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
         "\\1\n" bytes "${bytes}")
  string(APPEND declarations "extern const char hac_source_${name}[];\n")
  string(APPEND result "const char hac_source_${name}[] = {\n${bytes}0};\n")
endforeach()
get_filename_component(output_folder ${OUTPUT} DIRECTORY)
file(WRITE ${OUTPUT} "${result}")
file(WRITE ${output_folder}/kernel_sources.h "${declarations}#endif\n")
