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
