# Toolchain: for 64-bit ARM on another machine, with Debian's cross compiler; programs run in qemu-user. Libraries for
# the target are unpacked in build-neon/root by `./dev test neon`.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)

set(root ${CMAKE_CURRENT_LIST_DIR}/../build-neon/root)
set(CMAKE_FIND_ROOT_PATH ${root} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# Libraries that ours depend on are found where they are unpacked, not in the machine's own folders.
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${root}/usr/lib/aarch64-linux-gnu)
