# The other one of x86-64/aarch64, with Debian's cross compilers and qemu-user. tools/deps
# cross installs both.
if(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(arch x86_64)
else()
  set(arch aarch64)
endif()
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${arch})
set(CMAKE_C_COMPILER ${arch}-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE ${arch}-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/bin/qemu-${arch}-static)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/${arch}-linux-gnu/pkgconfig:/usr/share/pkgconfig)
