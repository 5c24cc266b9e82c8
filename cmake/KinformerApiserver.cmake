# libkinformer-apiserver: the embedded API server. The only part of libkinformer that it uses is util/, which is compiled in and
# hidden. So each of the two works without the other.

pkg_check_modules(LIBMICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
# For certificates. libmicrohttpd uses it for TLS.
pkg_check_modules(GNUTLS REQUIRED IMPORTED_TARGET gnutls)

file(GLOB_RECURSE apiserver_sources CONFIGURE_DEPENDS src/apiserver/*.c)

add_library(kinformer_apiserver_objects OBJECT ${apiserver_sources})
target_include_directories(kinformer_apiserver_objects
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(kinformer_apiserver_objects PRIVATE kinformer_flags
    PkgConfig::LIBMICROHTTPD PkgConfig::JANSSON PkgConfig::PCRE2 PkgConfig::GNUTLS PkgConfig::ZLIB PkgConfig::LIBYAML)
target_compile_options(kinformer_apiserver_objects PRIVATE -fno-semantic-interposition)

add_library(kinformer_apiserver_static STATIC
    $<TARGET_OBJECTS:kinformer_apiserver_objects> $<TARGET_OBJECTS:kinformer_util_objects>)
add_library(kinformer_apiserver SHARED
    $<TARGET_OBJECTS:kinformer_apiserver_objects> $<TARGET_OBJECTS:kinformer_util_objects>)
set_target_properties(kinformer_apiserver PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${KI_SOVERSION}
    LINK_DEPENDS ${PROJECT_BINARY_DIR}/apiserver.map)
# The public functions of util/ are exported by libkinformer, not here.
target_link_options(kinformer_apiserver PRIVATE
    -Wl,-Bsymbolic-functions -Wl,-z,nodelete -Wl,--version-script=${PROJECT_BINARY_DIR}/apiserver.map)
if(KI_WERROR AND NOT KI_SANITIZE AND NOT KI_FUZZ)
    target_link_options(kinformer_apiserver PRIVATE -Wl,--no-undefined)
endif()

foreach(library kinformer_apiserver_static kinformer_apiserver)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME kinformer-apiserver)
    target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
    target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:kinformer_flags>
        PkgConfig::LIBMICROHTTPD PkgConfig::JANSSON PkgConfig::PCRE2 PkgConfig::GNUTLS PkgConfig::ZLIB PkgConfig::LIBYAML m
        Threads::Threads)
    add_library(kinformer::${library} ALIAS ${library})
endforeach()
