# Every test_*.c below tests/unit, and in tests/headers, tests/race and tests/flow, is a program and a ctest of the same name.
# Those of tests/race and tests/flow have the label race or flow.

find_package(PkgConfig REQUIRED)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)

file(GLOB_RECURSE unit_sources CONFIGURE_DEPENDS tests/unit/test_*.c)
file(GLOB test_sources CONFIGURE_DEPENDS tests/headers/test_*.c tests/race/test_*.c tests/flow/*/test_*.c)
list(PREPEND test_sources ${unit_sources})
if(NOT test_sources)
    message(FATAL_ERROR "no tests found in tests/unit and tests/headers")
endif()

# Hundreds of programs contain the same library. gold, if installed, links them in a third of the time.
include(CheckLinkerFlag)
check_linker_flag(C -fuse-ld=gold KI_HAS_GOLD)

# Shared by all tests: the code in tests/support, and the libraries that they may use.
file(GLOB_RECURSE support_sources CONFIGURE_DEPENDS tests/support/*.c)
add_library(kinformer_test_base INTERFACE)
target_include_directories(kinformer_test_base INTERFACE
    ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(kinformer_test_base INTERFACE
    kinformer_static kinformer_apiserver_static kinformer_flags PkgConfig::CMOCKA PkgConfig::JANSSON PkgConfig::ZLIB PkgConfig::OPENSSL m)
if(KI_HAS_GOLD)
    target_link_options(kinformer_test_base INTERFACE -fuse-ld=gold)
endif()
if(support_sources)
    add_library(kinformer_test_support STATIC ${support_sources})
    target_link_libraries(kinformer_test_support PUBLIC kinformer_test_base)
else()
    add_library(kinformer_test_support INTERFACE)
    target_link_libraries(kinformer_test_support INTERFACE kinformer_test_base)
endif()

# Shared by the flow tests.
file(GLOB flow_sources CONFIGURE_DEPENDS tests/flow/support/*.c)
add_library(kinformer_flow_support STATIC ${flow_sources})
target_link_libraries(kinformer_flow_support PUBLIC kinformer_test_support)

set(KI_TEST_ENVIRONMENT
    "KI_PROGRAM=$<TARGET_FILE:kinformer_program>"
    "KI_LIBRARY=$<TARGET_FILE:kinformer>"
    "KI_EXAMPLES=${PROJECT_BINARY_DIR}/examples"
    "KI_EXAMPLE_SOURCES=${PROJECT_SOURCE_DIR}/examples"
    "KI_FIXTURES=${PROJECT_SOURCE_DIR}/tests/fixtures"
    "ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp")

# Far longer than any test takes; an emulator is slow.
set(KI_TEST_SECONDS 900)
if(CMAKE_CROSSCOMPILING)
    set(KI_TEST_SECONDS 1800)
endif()

# ctest runs with three slots per processor. A test that computes takes two slots; one that mostly waits takes one. The longest
# start first.
set(KI_COMPUTING_FLOW_TESTS test_apiserver_malformed)
set(KI_LONG_TESTS
    test_apiserver_informer test_apiserver_malformed test_apiserver_watch test_blackbox_streams test_blackbox_watches test_cli_demo
    test_rest_ends test_transfer_tls
    test_apply_model test_apply_memory test_backlog_model test_delta_fifo_model test_feed_memory
    test_json_equal test_json_mutants test_json_splits test_list_decoder_recorded test_store_race)

# In these, threads are delayed at random: see tests/support/delays.c. The linker replaces the functions (--wrap), so that
# the library has no trace of it: a hook there would cost every lock of every program.
set(KI_DELAYED_TESTS test_controller_race test_frees_race test_leader_race test_life_race test_monkey_race test_reentrancy_race)

function(ki_schedule_test name is_waiting)
    if(is_waiting)
        set(processors 1)
        set(cost 10)
    else()
        set(processors 2)
        set(cost 0)
    endif()
    if(name IN_LIST KI_LONG_TESTS)
        math(EXPR cost "${cost} + 20")
    endif()
    set_tests_properties(${name} PROPERTIES PROCESSORS ${processors} COST ${cost})
endfunction()

foreach(source IN LISTS test_sources)
    # The thread sanitizer is slow, and only useful for tests that start threads.
    if(KI_SANITIZE STREQUAL "thread")
        file(STRINGS ${source} starts_threads REGEX "ki_thread_start|pthread_create|sleeper_begin|scripted_http|ki_apiserver_start|api_rig")
        if(NOT starts_threads)
            continue()
        endif()
    endif()
    cmake_path(GET source STEM name)
    # The thread sanitizer does not support threads in a forked child of a multi-threaded process.
    if(name MATCHES "^test_fork_" AND KI_SANITIZE STREQUAL "thread")
        continue()
    endif()
    # The test itself starts no threads. It runs the program, which an emulator would not do.
    if(name MATCHES "^test_cli_(watch|cluster|discovery|demo)$" AND (KI_SANITIZE STREQUAL "thread" OR CMAKE_CROSSCOMPILING))
        continue()
    endif()
    # The same for the programs in examples/.
    if(name MATCHES "^test_example_" AND (NOT KI_EXAMPLES OR KI_SANITIZE STREQUAL "thread" OR CMAKE_CROSSCOMPILING))
        continue()
    endif()
    # These wait for a program in real time, so one build is enough.
    if(name MATCHES "^test_blackbox_" AND (KI_SANITIZE OR KI_COVERAGE OR CMAKE_CROSSCOMPILING))
        continue()
    endif()
    add_executable(${name} ${source})
    if(source MATCHES "/tests/flow/")
        target_link_libraries(${name} PRIVATE kinformer_flow_support)
    endif()
    if(name MATCHES "^test_cli_")
        target_link_libraries(${name} PRIVATE kinformer_cli)
    endif()
    if(name MATCHES "^test_(cli|blackbox)_")
        add_dependencies(${name} kinformer_program)
    endif()
    if(name MATCHES "^test_example_")
        add_dependencies(${name} kinformer_examples)
    endif()
    if(name IN_LIST KI_DELAYED_TESTS)
        target_link_options(${name} PRIVATE
            -Wl,--wrap=ki_mutex_lock -Wl,--wrap=ki_mutex_unlock -Wl,--wrap=ki_job_wake)
    endif()
    if(name STREQUAL "test_controller_busy") # here, a signal wakes the thread that fell asleep last
        target_link_options(${name} PRIVATE -Wl,--wrap=ki_cond_wait -Wl,--wrap=ki_cond_wait_ms
            -Wl,--wrap=ki_cond_signal -Wl,--wrap=ki_cond_broadcast)
    endif()
    if(name STREQUAL "test_leader_time") # here, the lock moves the clock
        target_link_options(${name} PRIVATE -Wl,--wrap=ki_mutex_lock)
    endif()
    if(name STREQUAL "test_unload")
        add_dependencies(${name} kinformer)
    endif()
    target_link_libraries(${name} PRIVATE kinformer_test_support)
    target_compile_definitions(${name} PRIVATE KI_PROJECT_VERSION="${PROJECT_VERSION}")
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${KI_TEST_SECONDS} ENVIRONMENT "${KI_TEST_ENVIRONMENT}")
    # Lazy binding would save the registers, which may hold a secret, on the stack.
    if(name STREQUAL "test_secret_memory")
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT LD_BIND_NOW=1)
    endif()
    set(is_waiting OFF)
    if(source MATCHES "/tests/race/")
        set_tests_properties(${name} PROPERTIES LABELS race)
    elseif(source MATCHES "/tests/flow/")
        set_tests_properties(${name} PROPERTIES LABELS flow)
        if(NOT name IN_LIST KI_COMPUTING_FLOW_TESTS)
            set(is_waiting ON)
        endif()
    endif()
    ki_schedule_test(${name} ${is_waiting})
endforeach()

# The program without a server. The tests that use KI_PROGRAM run it against one.
if(NOT KI_SANITIZE STREQUAL "thread" AND NOT CMAKE_CROSSCOMPILING)
    add_test(NAME test_cli_usage COMMAND ${PROJECT_SOURCE_DIR}/tests/flow/cli/test_cli_usage.sh
        $<TARGET_FILE:kinformer_program> ${PROJECT_VERSION})
    set_tests_properties(test_cli_usage PROPERTIES TIMEOUT ${KI_TEST_SECONDS} LABELS flow
        ENVIRONMENT "${KI_TEST_ENVIRONMENT}")
endif()

# Other event loops: each tests/loops/test_on_*.c. If the library of a loop is not installed, ctest lists its test as not run.
if(NOT KI_SANITIZE STREQUAL "thread" AND NOT CMAKE_CROSSCOMPILING)
    add_library(kinformer_loop_work STATIC tests/loops/loop_work.c)
    target_link_libraries(kinformer_loop_work PUBLIC kinformer_test_base)
    pkg_check_modules(LOOP_libuv IMPORTED_TARGET libuv)
    pkg_check_modules(LOOP_libevent IMPORTED_TARGET libevent)
    pkg_check_modules(LOOP_glib IMPORTED_TARGET glib-2.0)
    foreach(loop IN ITEMS epoll workers libuv libevent glib)
        set(name test_on_${loop})
        if(loop MATCHES "^(epoll|workers)$" OR LOOP_${loop}_FOUND)
            add_executable(${name} tests/loops/${name}.c)
            target_link_libraries(${name} PRIVATE kinformer_loop_work)
            add_test(NAME ${name} COMMAND ${name})
        else()
            message(STATUS "${name} is not built: there is no development package of ${loop}")
            add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E false)
            set_tests_properties(${name} PROPERTIES DISABLED ON)
        endif()
        if(LOOP_${loop}_FOUND)
            target_link_libraries(${name} PRIVATE PkgConfig::LOOP_${loop})
        endif()
        set_tests_properties(${name} PROPERTIES TIMEOUT ${KI_TEST_SECONDS} LABELS flow
            ENVIRONMENT "${KI_TEST_ENVIRONMENT}" PROCESSORS 1)
    endforeach()
endif()

# Simulations: each tests/sim/sim_*.c is a program and a ctest. The other files of the folder are shared.
file(GLOB sim_programs CONFIGURE_DEPENDS tests/sim/sim_*.c)
file(GLOB sim_sources CONFIGURE_DEPENDS tests/sim/*.c)
list(REMOVE_ITEM sim_sources ${sim_programs})
set(KI_SIM_SEEDS 15000)
if(KI_SANITIZE OR KI_COVERAGE OR CMAKE_CROSSCOMPILING)
    set(KI_SIM_SEEDS 1500)
endif()
if(NOT KI_SANITIZE STREQUAL "thread")
    add_library(kinformer_sim STATIC ${sim_sources})
    target_link_libraries(kinformer_sim PUBLIC kinformer_test_support)
    foreach(source IN LISTS sim_programs)
        cmake_path(GET source STEM name)
        add_executable(${name} ${source})
        target_link_libraries(${name} PRIVATE kinformer_sim)
        add_test(NAME ${name} COMMAND ${name})
        set_tests_properties(${name} PROPERTIES TIMEOUT ${KI_TEST_SECONDS}
            ENVIRONMENT "${KI_TEST_ENVIRONMENT};KI_SIM_SEEDS=${KI_SIM_SEEDS}" PROCESSORS 2 COST 20)
    endforeach()
endif()

# Tests against a real control plane, which scripts/test_cluster.sh builds, starts and stops. So they are not registered with
# ctest, and are built only on request.
file(GLOB cluster_programs CONFIGURE_DEPENDS tests/cluster/test_*.c)
file(GLOB cluster_sources CONFIGURE_DEPENDS tests/cluster/*.c)
list(REMOVE_ITEM cluster_sources ${cluster_programs})
add_library(kinformer_cluster STATIC EXCLUDE_FROM_ALL ${cluster_sources})
target_link_libraries(kinformer_cluster PUBLIC kinformer_flow_support)
add_custom_target(kinformer_cluster_tests)
if(KI_EXAMPLES)
    add_dependencies(kinformer_cluster_tests sample_controller)
else()
    list(FILTER cluster_programs EXCLUDE REGEX test_cluster_sample)
endif()
foreach(source IN LISTS cluster_programs)
    cmake_path(GET source STEM name)
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/cluster)
    target_link_libraries(${name} PRIVATE kinformer_cluster)
    add_dependencies(kinformer_cluster_tests ${name})
endforeach()

# Installs into a temporary folder, builds a program against it with pkg-config and with find_package, and runs the program. Not
# for cross builds or instrumented ones.
if(NOT KI_SANITIZE AND NOT KI_COVERAGE AND NOT CMAKE_CROSSCOMPILING)
    add_test(NAME install COMMAND ${PROJECT_SOURCE_DIR}/scripts/check_install.sh
        ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER} ${PROJECT_VERSION})
    set_tests_properties(install PROPERTIES TIMEOUT 300)
    # C++ is not enabled in this project, so the script calls the compilers itself.
    add_test(NAME cxx COMMAND ${PROJECT_SOURCE_DIR}/scripts/check_cxx.sh ${PROJECT_BINARY_DIR})
    set_tests_properties(cxx PROPERTIES TIMEOUT 300)
    find_program(KI_CXX NAMES g++ clang++)
    if(NOT KI_CXX)
        set_tests_properties(cxx PROPERTIES DISABLED ON)
    endif()
endif()
