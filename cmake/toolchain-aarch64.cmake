# 64-bit ARM with Debian's cross compiler; programs run under qemu. scripts/arm64_sysroot.sh puts the libraries that tests need
# into build/arm64-sysroot.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

cmake_path(SET sysroot NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-sysroot)
set(CMAKE_FIND_ROOT_PATH ${sysroot} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${sysroot}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${sysroot})
# Headers that differ between machines, and libraries that libraries need.
set(CMAKE_C_STANDARD_INCLUDE_DIRECTORIES ${sysroot}/usr/include/aarch64-linux-gnu)
set(library_path ${sysroot}/usr/lib/aarch64-linux-gnu:${sysroot}/lib/aarch64-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${library_path})
set(CMAKE_SHARED_LINKER_FLAGS_INIT -Wl,-rpath-link,${library_path})

# The oldest 64-bit core, so that a test fails if it uses an instruction that not every processor has.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu cortex-a53 -L /usr/aarch64-linux-gnu
    -E LD_LIBRARY_PATH=${library_path})
