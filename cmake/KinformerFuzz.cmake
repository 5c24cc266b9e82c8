# Every fuzz/fuzz_*.c defines LLVMFuzzerTestOneInput. With KI_FUZZ it becomes a libFuzzer program; otherwise it
# is linked with fuzz/replay.c, and the test replay_<name> runs it on the files in fuzz/corpus/<name>.

file(GLOB fuzz_sources CONFIGURE_DEPENDS fuzz/fuzz_*.c)

# Some targets compare this library with jansson, with code that they share with the tests.
if(KI_FUZZ)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
    add_library(kinformer_fuzz_reference STATIC
        tests/support/json/json_reference.c tests/support/json/json_strict.c tests/support/json/scan_run.c
        tests/support/decode/decode_run.c tests/support/decode/decode_options.c tests/support/client/address_check.c)
    target_include_directories(kinformer_fuzz_reference PUBLIC
        ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(kinformer_fuzz_reference PUBLIC
        kinformer_static kinformer_apiserver_static kinformer_flags PkgConfig::JANSSON PkgConfig::LIBCURL)
elseif(KI_TESTS)
    add_library(kinformer_fuzz_reference INTERFACE)
    target_link_libraries(kinformer_fuzz_reference INTERFACE kinformer_test_support)
endif()

add_library(kinformer_fuzz_replay OBJECT EXCLUDE_FROM_ALL fuzz/replay.c)
target_link_libraries(kinformer_fuzz_replay PRIVATE kinformer_flags)

foreach(source IN LISTS fuzz_sources)
    cmake_path(GET source STEM target)
    string(REGEX REPLACE "^fuzz_" "" name ${target})
    if(KI_FUZZ)
        add_executable(${target} ${source})
        target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    elseif(KI_TESTS AND NOT KI_SANITIZE STREQUAL "thread")
        add_executable(${target} ${source} $<TARGET_OBJECTS:kinformer_fuzz_replay>)
        add_test(NAME replay_${name} COMMAND ${target} ${PROJECT_SOURCE_DIR}/fuzz/corpus/${name})
        set_tests_properties(replay_${name} PROPERTIES
            TIMEOUT ${KI_TEST_SECONDS} ENVIRONMENT "${KI_TEST_ENVIRONMENT}")
    else()
        continue()
    endif()
    target_link_libraries(${target} PRIVATE kinformer_fuzz_reference m)
endforeach()
