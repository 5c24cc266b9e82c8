# Headers, the libraries, kinformer.pc, kinformer-apiserver.pc and the CMake package, of which the API server is a component.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(FILES include/kinformer.h include/kinformer.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/kinformer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS kinformer kinformer_static EXPORT kinformer
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS kinformer_apiserver kinformer_apiserver_static EXPORT kinformer-apiserver
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# Written during installation, because only then is the prefix known (cmake --install --prefix). If a folder is absolute,
# cmake_path drops the prefix.
set(pc_libdir "\${prefix}")
set(pc_includedir "\${prefix}")
cmake_path(APPEND pc_libdir "${CMAKE_INSTALL_LIBDIR}")
cmake_path(APPEND pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
# Programs that link our archive still link libcurl as a shared library; its own dependencies need not be linked.
list(JOIN LIBCURL_LDFLAGS " " pc_libcurl)
install(CODE "
    set(KI_LIBCURL [[${pc_libcurl}]])
    set(KI_VERSION [[${PROJECT_VERSION}]])
    set(KI_DESCRIPTION [[${PROJECT_DESCRIPTION}]])
    set(KI_LIBDIR [[${pc_libdir}]])
    set(KI_INCLUDEDIR [[${pc_includedir}]])
    configure_file([[${PROJECT_SOURCE_DIR}/cmake/kinformer.pc.in]] [[${PROJECT_BINARY_DIR}/kinformer.pc]] @ONLY)
    configure_file([[${PROJECT_SOURCE_DIR}/cmake/kinformer-apiserver.pc.in]]
        [[${PROJECT_BINARY_DIR}/kinformer-apiserver.pc]] @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/kinformer.pc ${PROJECT_BINARY_DIR}/kinformer-apiserver.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kinformer)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kinformer-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(EXPORT kinformer NAMESPACE kinformer:: FILE kinformer-targets.cmake DESTINATION ${package_dir})
install(EXPORT kinformer-apiserver NAMESPACE kinformer:: FILE kinformer-apiserver-targets.cmake
    DESTINATION ${package_dir})
install(FILES cmake/kinformer-config.cmake ${PROJECT_BINARY_DIR}/kinformer-config-version.cmake
    DESTINATION ${package_dir})
