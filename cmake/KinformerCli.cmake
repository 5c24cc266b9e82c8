# The program `kinformer`. It uses only the public headers and the shared libraries. All of it except main.c is a separate
# library, so that tests can call it.

file(GLOB_RECURSE cli_sources CONFIGURE_DEPENDS src/cli/*.c)
list(REMOVE_ITEM cli_sources ${PROJECT_SOURCE_DIR}/src/cli/main.c)

add_library(kinformer_cli STATIC ${cli_sources})
target_include_directories(kinformer_cli PUBLIC
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(kinformer_cli PRIVATE kinformer_flags)

add_executable(kinformer_program src/cli/main.c)
# Relative, so that the program finds its libraries below any prefix.
file(RELATIVE_PATH program_to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(kinformer_program PROPERTIES OUTPUT_NAME kinformer
    INSTALL_RPATH "$ORIGIN/${program_to_libraries}")
target_link_libraries(kinformer_program PRIVATE kinformer_cli kinformer kinformer_apiserver kinformer_flags)

install(TARGETS kinformer_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
