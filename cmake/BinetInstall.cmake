# The library as others use it: libbinet.so with its headers, for find_package(binet), pkg-config and add_subdirectory;
# and how it is installed and packed, together with the binet program.
#
#   cmake --install build --prefix DIR        cpack --config build/CPackConfig.cmake -B DIR
include(CMakePackageConfigHelpers)

# Each function in a section of its own, so that the linker can leave out what no user can reach.
target_compile_options(binet_rooms PRIVATE -ffunction-sections -fdata-sections)

add_library(binet_shared SHARED $<TARGET_OBJECTS:binet_rooms>)
add_library(binet::binet ALIAS binet_shared)
set_target_properties(binet_shared PROPERTIES
  OUTPUT_NAME binet EXPORT_NAME binet VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_include_directories(binet_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(binet_shared INTERFACE cxx_std_20)
# binet_rooms once more, after its objects, for what it depends on. Symbols of static libraries stay inside.
target_link_libraries(binet_shared PRIVATE binet_rooms)
target_link_options(binet_shared PRIVATE LINKER:--gc-sections LINKER:--exclude-libs,ALL LINKER:--as-needed)
# Addresses to be set when the library is loaded are marked by bits and not listed with 24 bytes each; glibc since 2.36,
# which Debian 12 has, reads that. Its linker knows it for x86 alone.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_link_options(binet_shared PRIVATE LINKER:-z,pack-relative-relocs)
endif()

file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/binet)

install(TARGETS binet_shared EXPORT binetTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/binet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT binetTargets NAMESPACE binet:: DESTINATION ${config_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/binetConfig.cmake.in ${PROJECT_BINARY_DIR}/binetConfig.cmake
  INSTALL_DESTINATION ${config_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/binetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/binetConfig.cmake ${PROJECT_BINARY_DIR}/binetConfigVersion.cmake
  DESTINATION ${config_dir})
configure_file(${CMAKE_CURRENT_LIST_DIR}/binet.pc.in ${PROJECT_BINARY_DIR}/binet.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/binet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET binet)
  set_target_properties(binet PROPERTIES INSTALL_RPATH $ORIGIN/${to_libraries})
  install(TARGETS binet)
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR TGZ DEB)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_PACKAGE_CONTACT "Binet's maintainers")
  set(CPACK_PACKAGE_VENDOR Binet)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  include(CPack)
endif()
