# Every bench/bench_*.c is a benchmark, and every bench/cmd_<name>.c is a tool <name>; they share the other files of bench/.
# The other JSON libraries are Debian packages. simdjson needs C++.

enable_language(CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)

find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(CJSON REQUIRED IMPORTED_TARGET libcjson)
pkg_check_modules(SIMDJSON REQUIRED IMPORTED_TARGET simdjson)

file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.c bench/*.cpp)
file(GLOB bench_programs CONFIGURE_DEPENDS bench/bench_*.c bench/cmd_*.c)
list(REMOVE_ITEM bench_sources ${bench_programs})

# As simdjson's manual advises: On-Demand chooses its instruction set at compile time. Our library is compiled with -O2, and
# chooses at run time.
set_source_files_properties(bench/reference_simdjson.cpp PROPERTIES COMPILE_OPTIONS "-O3;-march=native")

add_library(kinformer_bench STATIC ${bench_sources})
target_include_directories(kinformer_bench PUBLIC
    ${PROJECT_SOURCE_DIR}/bench ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(kinformer_bench PUBLIC
    kinformer_static kinformer_apiserver_static kinformer_flags PkgConfig::JANSSON PkgConfig::CJSON PkgConfig::SIMDJSON m)

foreach(source IN LISTS bench_programs)
    cmake_path(GET source STEM name)
    string(REGEX REPLACE "^cmd_" "" name ${name})
    add_executable(${name} ${source})
    set_target_properties(${name} PROPERTIES
        LINKER_LANGUAGE CXX
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
    target_link_libraries(${name} PRIVATE kinformer_bench)
endforeach()
