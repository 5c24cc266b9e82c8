# Every examples/*.c is a program as a user would write it: it uses only the public headers and the shared libraries.

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

# A complete controller, as it would be deployed.
file(GLOB sample_sources CONFIGURE_DEPENDS examples/sample-controller/*.c)
add_executable(sample_controller ${sample_sources})
set_target_properties(sample_controller PROPERTIES
    OUTPUT_NAME sample-controller
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
target_link_libraries(sample_controller PRIVATE kinformer kinformer_flags)
add_dependencies(kinformer_examples sample_controller)

# These programs contain the API server.
foreach(name IN ITEMS by_hand without_cluster write)
    if(TARGET example_${name})
        target_link_libraries(example_${name} PRIVATE kinformer_apiserver)
    endif()
endforeach()

if(KI_TESTS AND TARGET example_decode)
    set(fixtures ${PROJECT_SOURCE_DIR}/tests/fixtures)
    add_test(NAME example_decode COMMAND example_decode ${fixtures}/pods-list.http)
    add_test(NAME example_decode_nodes COMMAND example_decode ${fixtures}/nodes-list.http nodes)
    set_tests_properties(example_decode_nodes PROPERTIES PASS_REGULAR_EXPRESSION "\nnode-1 .*zone=z1\nnode-2 ")
    add_test(NAME example_decode_error COMMAND example_decode ${fixtures}/error-410-continue.http)
    set_tests_properties(example_decode_error PROPERTIES WILL_FAIL ON)
    add_test(NAME example_replay COMMAND example_replay ${fixtures}/pods-list.http ${fixtures}/pods-watch.http)
    set_tests_properties(example_replay PROPERTIES PASS_REGULAR_EXPRESSION
        "\\+ default/web-7c8469b468-456mr\n.*\\(new\\)\n.*= 5 pods at version 374\n  5 of web-7c8469b468\n")
    add_test(NAME example_replay_error COMMAND example_replay
        ${fixtures}/error-410-continue.http ${fixtures}/pods-watch.http)
    set_tests_properties(example_replay_error PROPERTIES PASS_REGULAR_EXPRESSION
        "replay: 1 not ready: pods: BACKING_OFF")
    set_tests_properties(example_decode example_decode_nodes example_decode_error example_replay
        example_replay_error PROPERTIES TIMEOUT ${KI_TEST_SECONDS} ENVIRONMENT "${KI_TEST_ENVIRONMENT}")
endif()

if(KI_TESTS AND TARGET example_low_level)
    add_test(NAME example_low_level COMMAND example_low_level)
    set_tests_properties(example_low_level PROPERTIES
        PASS_REGULAR_EXPRESSION "listed +web\nupdated +web\nlisted +db\ndeleted +db\nadded +cache\n2 pods at version 10\n"
        TIMEOUT ${KI_TEST_SECONDS} ENVIRONMENT "${KI_TEST_ENVIRONMENT}")
endif()

# Without a cluster, it reports that; tests/cluster runs it with one.
if(KI_TESTS AND TARGET example_hello)
    add_test(NAME example_hello COMMAND example_hello)
    set_tests_properties(example_hello PROPERTIES TIMEOUT ${KI_TEST_SECONDS}
        ENVIRONMENT "${KI_TEST_ENVIRONMENT};KUBECONFIG=/nowhere;HOME=/nowhere;KUBERNETES_SERVICE_HOST="
        PASS_REGULAR_EXPRESSION "^hello: no cluster is configured")
endif()
if(KI_TESTS AND TARGET example_label)
    add_test(NAME example_label COMMAND example_label default web color red)
    set_tests_properties(example_label PROPERTIES TIMEOUT ${KI_TEST_SECONDS}
        ENVIRONMENT "${KI_TEST_ENVIRONMENT};KUBECONFIG=/nowhere;HOME=/nowhere;KUBERNETES_SERVICE_HOST="
        PASS_REGULAR_EXPRESSION "^label: no cluster is configured")
endif()
if(KI_TESTS AND TARGET example_event_loop AND NOT KI_SANITIZE STREQUAL "thread" AND NOT CMAKE_CROSSCOMPILING)
    add_test(NAME example_event_loop COMMAND ${PROJECT_SOURCE_DIR}/tests/flow/example/test_example_event_loop.sh
        $<TARGET_FILE:example_event_loop> $<TARGET_FILE:kinformer_program>)
    set_tests_properties(example_event_loop PROPERTIES TIMEOUT ${KI_TEST_SECONDS} ENVIRONMENT "${KI_TEST_ENVIRONMENT}")
    add_test(NAME example_pod_by_ip COMMAND ${PROJECT_SOURCE_DIR}/tests/flow/example/test_example_pod_by_ip.sh
        $<TARGET_FILE:example_pod_by_ip> $<TARGET_FILE:kinformer_program> ${PROJECT_SOURCE_DIR})
    set_tests_properties(example_pod_by_ip PROPERTIES TIMEOUT ${KI_TEST_SECONDS} ENVIRONMENT "${KI_TEST_ENVIRONMENT}")
endif()
if(KI_TESTS)
    add_test(NAME example_sample_flags COMMAND sample_controller --leader-elect=true --leader-elect-lease-duration=1m30s
        --workers nine)
    set_tests_properties(example_sample_flags PROPERTIES TIMEOUT ${KI_TEST_SECONDS} ENVIRONMENT "${KI_TEST_ENVIRONMENT}"
        PASS_REGULAR_EXPRESSION "^sample-controller: --workers: invalid value \"nine\": expected a number from 1 to 1000\n$")
endif()
if(KI_TESTS AND TARGET example_small_controller AND NOT KI_SANITIZE STREQUAL "thread" AND NOT CMAKE_CROSSCOMPILING)
    add_test(NAME example_controllers_log COMMAND ${PROJECT_SOURCE_DIR}/tests/flow/example/test_example_controllers_log.sh
        ${PROJECT_BINARY_DIR}/examples $<TARGET_FILE:kinformer_program> ${PROJECT_SOURCE_DIR})
    set_tests_properties(example_controllers_log PROPERTIES TIMEOUT ${KI_TEST_SECONDS} ENVIRONMENT "${KI_TEST_ENVIRONMENT}")
endif()
if(KI_TESTS AND TARGET example_small_controller)
    add_test(NAME example_docs COMMAND ${PROJECT_SOURCE_DIR}/tests/flow/example/test_example_docs.sh ${PROJECT_SOURCE_DIR})
    set_tests_properties(example_docs PROPERTIES TIMEOUT ${KI_TEST_SECONDS})
endif()
if(KI_TESTS AND TARGET example_without_cluster)
    add_test(NAME example_without_cluster COMMAND example_without_cluster)
    set_tests_properties(example_without_cluster PROPERTIES TIMEOUT ${KI_TEST_SECONDS} ENVIRONMENT "${KI_TEST_ENVIRONMENT}"
        PASS_REGULAR_EXPRESSION
        "2 pods on n1\n1 pod on n1\nheard:\n\\+ default/a Pending\n~ default/a Running\n\\+ default/b Pending\n- default/b Pending\n$")
endif()
if(KI_TESTS AND TARGET example_by_hand)
    add_test(NAME example_by_hand COMMAND example_by_hand)
    set_tests_properties(example_by_hand PROPERTIES TIMEOUT ${KI_TEST_SECONDS} ENVIRONMENT "${KI_TEST_ENVIRONMENT}"
        PASS_REGULAR_EXPRESSION "default/c cannot be copied: metadata.name\n(.*\n)?default/a is copied to default/b\n$;default/a is copied to default/b\ndefault/c cannot be copied: metadata.name\n$")
endif()
if(KI_TESTS AND TARGET example_capacity AND NOT KI_SANITIZE STREQUAL "thread" AND NOT CMAKE_CROSSCOMPILING)
    add_test(NAME example_capacity COMMAND ${PROJECT_SOURCE_DIR}/tests/flow/example/test_example_capacity.sh
        $<TARGET_FILE:example_capacity> $<TARGET_FILE:kinformer_program>)
    set_tests_properties(example_capacity PROPERTIES TIMEOUT ${KI_TEST_SECONDS} ENVIRONMENT "${KI_TEST_ENVIRONMENT}")
endif()
if(KI_TESTS AND TARGET example_write)
    add_test(NAME example_write COMMAND example_write)
    set_tests_properties(example_write PROPERTIES TIMEOUT ${KI_TEST_SECONDS} ENVIRONMENT "${KI_TEST_ENVIRONMENT}"
        PASS_REGULAR_EXPRESSION
        "^default/web-settings is controlled by web: 1\n2 replicas\n{\"metadata\":{\"finalizers\":\\[\"example.com/guard\"\\]}}\nguarded: 1\navailable: 1\nKI_ERR_REFUSED: DELETE refused: not the leader\n$")
endif()
