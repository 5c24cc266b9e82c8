# kinformer_flags: the compiler flags of the library, the tests, the fuzz targets, the benchmarks and the examples.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

add_library(kinformer_flags INTERFACE)
target_compile_options(kinformer_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Wvla
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
    $<$<C_COMPILER_ID:Clang>:-Wthread-safety>
    $<$<BOOL:${KI_WERROR}>:-Werror>)
target_link_libraries(kinformer_flags INTERFACE Threads::Threads)

if(KI_SANITIZE)
    set(sanitize -fsanitize=${KI_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(kinformer_flags INTERFACE ${sanitize})
    target_link_options(kinformer_flags INTERFACE ${sanitize})
endif()

if(KI_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
        message(FATAL_ERROR "KI_FUZZ needs clang (libFuzzer); use the preset `fuzz`")
    endif()
    target_compile_options(kinformer_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(KI_COVERAGE)
    target_compile_options(kinformer_flags INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(kinformer_flags INTERFACE --coverage)
endif()
