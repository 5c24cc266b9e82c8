# Every examples/*.c is a program written as a user would: public headers and the shared library only.

file(GLOB example_sources CONFIGURE_DEPENDS examples/*.c)
add_custom_target(kinformer_examples)

foreach(source IN LISTS example_sources)
    cmake_path(GET source STEM name)
    add_executable(example_${name} ${source})
    set_target_properties(example_${name} PROPERTIES
        OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
    target_link_libraries(example_${name} PRIVATE kinformer kinformer_flags)
    add_dependencies(kinformer_examples example_${name})
endforeach()

if(KI_TESTS AND TARGET example_decode)
    add_test(NAME example_decode COMMAND example_decode ${PROJECT_SOURCE_DIR}/tests/fixtures/pods-list.http)
    set_tests_properties(example_decode PROPERTIES TIMEOUT 60 ENVIRONMENT "${KI_TEST_ENVIRONMENT}")
endif()
