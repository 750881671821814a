# SPDX-License-Identifier: Apache-2.0
# Debian packages by CPack (packaging/README.md). One package for each component of install().
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hac)
set(CPACK_PACKAGE_VENDOR hac)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
# With the prefix that was configured, which programs and units name; and /etc is no part of it.
set(CPACK_SET_DESTDIR ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(HAC_PACKAGE_MAINTAINER "hac <root@localhost>" CACHE STRING "Maintainer: of Debian packages")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${HAC_PACKAGE_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)

# Libraries of others become Depends: by dpkg-shlibdeps; libhac is ours and named below.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Programs of others that link libhac depend on just this version until its interface is settled.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY =)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/client-lib)
set(libhac_dependency "libhac0 (= ${PROJECT_VERSION})")

set(CPACK_COMPONENTS_ALL hac libhac libhac-dev)

set(CPACK_DEBIAN_HAC_PACKAGE_NAME hac)
set(CPACK_DEBIAN_HAC_PACKAGE_SECTION admin)
set(CPACK_COMPONENT_HAC_DESCRIPTION "A service and a command line that sort, query and compute on every OpenCL device of a machine
at once, planned by what each device was measured to do.")
set(CPACK_DEBIAN_HAC_PACKAGE_DEPENDS
  "${libhac_dependency}, systemd | systemd-standalone-sysusers, systemd | systemd-standalone-tmpfiles")
set(CPACK_DEBIAN_HAC_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_HAC_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/conffiles
  ${PROJECT_SOURCE_DIR}/packaging/debian/postinst ${PROJECT_SOURCE_DIR}/packaging/debian/prerm
  ${PROJECT_SOURCE_DIR}/packaging/debian/postrm)

set(CPACK_DEBIAN_LIBHAC_PACKAGE_NAME libhac0)
set(CPACK_DEBIAN_LIBHAC_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBHAC_DESCRIPTION "This is the library that programs are linked with.")

set(CPACK_DEBIAN_LIBHAC-DEV_PACKAGE_NAME libhac-dev)
set(CPACK_DEBIAN_LIBHAC-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBHAC-DEV_PACKAGE_DEPENDS "${libhac_dependency}")
set(CPACK_COMPONENT_LIBHAC-DEV_DESCRIPTION "These are the headers of libhac, for pkg-config and CMake.")

if(TARGET hac-mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME hac-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "hac (= ${PROJECT_VERSION}), ${libhac_dependency}")
  set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS openmpi-bin)
  set(CPACK_COMPONENT_MPI_DESCRIPTION "This is hac-mpi: the accelerators of several machines, under Open MPI.")
endif()
list(APPEND CPACK_COMPONENTS_ALL adbc)
set(CPACK_DEBIAN_ADBC_PACKAGE_NAME libadbc-driver-hac)
set(CPACK_DEBIAN_ADBC_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_ADBC_PACKAGE_DEPENDS "hac (= ${PROJECT_VERSION}), ${libhac_dependency}")
set(CPACK_COMPONENT_ADBC_DESCRIPTION "This is the ADBC driver: SQL from Python, R, Go and other programs.")
if(TARGET hacjni)
  list(APPEND CPACK_COMPONENTS_ALL jni)
  set(CPACK_DEBIAN_JNI_PACKAGE_NAME libhac-java)
  set(CPACK_DEBIAN_JNI_PACKAGE_SECTION java)
  set(CPACK_DEBIAN_JNI_PACKAGE_DEPENDS "hac (= ${PROJECT_VERSION}), ${libhac_dependency}")
  set(CPACK_COMPONENT_JNI_DESCRIPTION "This is org.hac: queries from Java, Scala and Spark.")
endif()

# The configuration of the machine is part of the package only: `cmake --install` into a prefix leaves /etc alone.
install(FILES ${PROJECT_SOURCE_DIR}/config/hacd.yaml DESTINATION /etc/hac COMPONENT hac EXCLUDE_FROM_ALL)
install(DIRECTORY DESTINATION /etc/hac/profiles.d COMPONENT hac EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_BINARY_DIR}/bindings/adbc/hac.toml DESTINATION /etc/adbc/drivers COMPONENT adbc EXCLUDE_FROM_ALL)
foreach(package hac libhac libhac-dev mpi jni adbc)
  if(package IN_LIST CPACK_COMPONENTS_ALL)
    string(TOUPPER ${package} upper)
    install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/copyright
      DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME} COMPONENT ${package} EXCLUDE_FROM_ALL)
  endif()
endforeach()

include(CPack)
