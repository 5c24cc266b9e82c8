# libkinformer: every source is compiled once, and linked both as an archive and as a shared library.

file(GLOB_RECURSE util_sources CONFIGURE_DEPENDS src/util/*.c)
file(GLOB_RECURSE library_sources CONFIGURE_DEPENDS
     src/json/*.c
     src/metrics/*.c
     src/api/*.c
     src/proto/*.c
     src/config/*.c
     src/credentials/*.c
     src/http/*.c
     src/client/*.c
     src/rest/*.c
     src/reflector/*.c
     src/store/*.c
     src/queue/*.c
     src/handler/*.c
     src/informer/*.c
     src/feed/*.c
     src/controller/*.c
     src/workqueue/*.c)

find_package(PkgConfig REQUIRED)
# For requests. Since 7.87, libcurl need not wait for a name lookup when a request is cancelled (CURLOPT_QUICK_EXIT).
pkg_check_modules(LIBCURL REQUIRED IMPORTED_TARGET libcurl>=7.87)
# The TLS library of libcurl whose verification callback is used. If libcurl uses another one, or another version of this one,
# libcurl alone verifies.
pkg_check_modules(OPENSSL REQUIRED IMPORTED_TARGET openssl>=3.0)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
# For kubeconfigs.
pkg_check_modules(LIBYAML REQUIRED IMPORTED_TARGET yaml-0.1)

# Each JSON kernel is compiled for the instruction set it uses, and one is chosen at run time. All other code is compiled for the
# baseline.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
    list(FILTER library_sources EXCLUDE REGEX "/src/json/kernel/kernel_neon\\.c$")
    set_source_files_properties(src/json/kernel/kernel_avx2.c PROPERTIES
        COMPILE_OPTIONS "-O3;-mavx2;-mbmi;-mbmi2;-mpclmul;-mpopcnt")
    set_source_files_properties(src/json/kernel/kernel_sse42.c PROPERTIES
        COMPILE_OPTIONS "-O3;-msse4.2;-mpclmul;-mpopcnt")
else()
    list(FILTER library_sources EXCLUDE REGEX "/src/json/kernel/kernel_(avx2|sse42)\\.c$")
    if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
        list(FILTER library_sources EXCLUDE REGEX "/src/json/kernel/kernel_neon\\.c$")
    endif()
endif()

# The innermost loops of the protobuf decoder.
set_source_files_properties(src/proto/message.c src/proto/out.c src/proto/map.c PROPERTIES COMPILE_OPTIONS "-O3")

# Also part of the embedded API server.
add_library(kinformer_util_objects OBJECT ${util_sources})
target_include_directories(kinformer_util_objects PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(kinformer_util_objects PRIVATE kinformer_flags PkgConfig::LIBYAML)
target_compile_options(kinformer_util_objects PRIVATE -fno-semantic-interposition)

add_library(kinformer_objects OBJECT ${library_sources})
target_include_directories(kinformer_objects
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(kinformer_objects PRIVATE kinformer_flags
    PkgConfig::LIBCURL PkgConfig::OPENSSL PkgConfig::ZLIB PkgConfig::LIBYAML)
# A program that defines a function with the same name does not replace ours, so the compiler may inline it.
target_compile_options(kinformer_objects PRIVATE -fno-semantic-interposition)

add_library(kinformer_static STATIC
    $<TARGET_OBJECTS:kinformer_objects> $<TARGET_OBJECTS:kinformer_util_objects>)
set_target_properties(kinformer_static PROPERTIES OUTPUT_NAME kinformer)

# Before 1.0 a minor release may change the interface, so it is part of the soname; symbols carry the same version.
set(KI_SOVERSION ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(KI_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
configure_file(cmake/kinformer.map.in ${PROJECT_BINARY_DIR}/kinformer.map @ONLY)
configure_file(cmake/apiserver.map.in ${PROJECT_BINARY_DIR}/apiserver.map @ONLY)

add_library(kinformer SHARED
    $<TARGET_OBJECTS:kinformer_objects> $<TARGET_OBJECTS:kinformer_util_objects>)
set_target_properties(kinformer PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${KI_SOVERSION}
    LINK_DEPENDS ${PROJECT_BINARY_DIR}/kinformer.map)
# Never unloaded: its threads, and those of libcurl, would run code that is no longer mapped.
target_link_options(kinformer PRIVATE
    -Wl,-Bsymbolic-functions -Wl,-z,nodelete -Wl,--version-script=${PROJECT_BINARY_DIR}/kinformer.map)
if(KI_WERROR AND NOT KI_SANITIZE AND NOT KI_FUZZ)
    target_link_options(kinformer PRIVATE -Wl,--no-undefined)
endif()

foreach(library kinformer_static kinformer)
    target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
    target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:kinformer_flags>
        PkgConfig::LIBCURL PkgConfig::OPENSSL PkgConfig::ZLIB PkgConfig::LIBYAML Threads::Threads)
    add_library(kinformer::${library} ALIAS ${library})
endforeach()
