# Every fuzz/fuzz_*.c defines LLVMFuzzerTestOneInput. With KI_FUZZ it becomes a libFuzzer program; otherwise it
# is linked with fuzz/replay.c, and the test replay_<name> runs it over what fuzz/corpus/<name> holds.

file(GLOB fuzz_sources CONFIGURE_DEPENDS fuzz/fuzz_*.c)

foreach(source IN LISTS fuzz_sources)
    cmake_path(GET source STEM target)
    string(REGEX REPLACE "^fuzz_" "" name ${target})
    if(KI_FUZZ)
        add_executable(${target} ${source})
        target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    elseif(KI_TESTS)
        add_executable(${target} ${source} fuzz/replay.c)
        add_test(NAME replay_${name} COMMAND ${target} ${PROJECT_SOURCE_DIR}/fuzz/corpus/${name})
        set_tests_properties(replay_${name} PROPERTIES TIMEOUT 300 ENVIRONMENT "${KI_TEST_ENVIRONMENT}")
    else()
        continue()
    endif()
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE kinformer_static kinformer_flags m)
endforeach()
