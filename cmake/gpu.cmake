# Kernels (src/**/*.cu): their sources travel inside the program, for NVRTC at run time;
# so does PTX where nvcc or NVRTC is there at build time. The architecture is the oldest
# that the compiler knows: the driver compiles it for newer GPUs.
set(LS_PTX auto CACHE STRING "PTX to embed: auto (by nvcc, else by NVRTC, else none), nvcc, nvrtc, off")
find_program(LS_NVCC nvcc HINTS /usr/local/cuda/bin $ENV{CUDA_HOME}/bin)
find_library(LS_NVRTC NAMES libnvrtc.so.13 libnvrtc.so.12 HINTS /usr/local/cuda/lib64 $ENV{CUDA_HOME}/lib64
  NO_CMAKE_FIND_ROOT_PATH)
file(GLOB_RECURSE kernels CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/src src/*.cu)
file(GLOB_RECURSE kernel_headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/src src/num/*.h src/fm/*.h
  src/exact/*.h src/gpu/device.h)
# what NVRTC may include: the *_80.cu include these
set(kernel_includes ${kernel_headers} exact/cuda/device/exact_gemm.cu exact/cuda/device/exact_conv.cu)
list(TRANSFORM kernels PREPEND ${CMAKE_SOURCE_DIR}/src/ OUTPUT_VARIABLE kernels_abs)
list(TRANSFORM kernel_headers PREPEND ${CMAKE_SOURCE_DIR}/src/ OUTPUT_VARIABLE kernel_headers_abs)
# the compiler options of the numerics contract have one home, src/gpu/nvrtc.c
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/gpu/nvrtc.c)
file(READ src/gpu/nvrtc.c text)
string(REGEX MATCH "ls_gpu_options\\[\\] = {[^}]*}" text "${text}")
string(REGEX MATCHALL "--[a-z0-9=+-]+" LS_GPU_OPTIONS "${text}")
if(NOT "--fmad=false" IN_LIST LS_GPU_OPTIONS)
  message(FATAL_ERROR "cannot find ls_gpu_options in src/gpu/nvrtc.c")
endif()

function(ls_embed out table root depends) # FILE…: out.c with the files as the table
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DROOT=${root} "-DFILES=${ARGN}" -DTABLE=${table} -DOUT=${out}
      -P ${CMAKE_SOURCE_DIR}/tools/embed.cmake
    DEPENDS ${depends} ${CMAKE_SOURCE_DIR}/tools/embed.cmake VERBATIM)
  target_sources(ls_core PRIVATE ${out})
endfunction()

set(by ${LS_PTX})
if(by STREQUAL auto)
  if(LS_NVCC)
    set(by nvcc)
  elseif(LS_NVRTC AND NOT CMAKE_CROSSCOMPILING)
    set(by nvrtc)
  else()
    set(by off)
  endif()
endif()

# a small program of our own that calls NVRTC, as the product does at run time
if(LS_NVRTC AND NOT CMAKE_CROSSCOMPILING)
  file(GLOB base_sources CONFIGURE_DEPENDS src/base/*.c)
  list(FILTER base_sources EXCLUDE REGEX "/(embed|version)\\.c$")
  add_executable(ls_ptx EXCLUDE_FROM_ALL tools/ptx-nvrtc.c src/gpu/nvrtc.c ${base_sources})
  target_link_libraries(ls_ptx PRIVATE ls_flags PkgConfig::jansson PkgConfig::libxxhash PkgConfig::libcrypto
    ${CMAKE_DL_LIBS} m)
endif()

set(ptx_dir ${CMAKE_BINARY_DIR}/ptx)
file(MAKE_DIRECTORY ${ptx_dir})
set(ptx_names)
set(ptx_files)
if(by STREQUAL nvcc)
  execute_process(COMMAND ${LS_NVCC} --list-gpu-arch OUTPUT_VARIABLE archs COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${LS_NVCC} --version OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "compute_[0-9]+" ptx_arch "${archs}")
  string(REGEX REPLACE ".*, V([0-9.]+).*" "nvcc \\1" ptx_compiler "${version}")
  set(ptx_command ${CMAKE_SOURCE_DIR}/tools/ptx ${LS_NVCC} ${ptx_arch})
  set(ptx_options ${LS_GPU_OPTIONS} -I ${CMAKE_SOURCE_DIR}/src)
  if(LS_WERROR) # as tests/gpu/build, which then finds the PTX in the cache
    list(APPEND ptx_options -Werror all-warnings)
  endif()
  set(ptx_tool ${CMAKE_SOURCE_DIR}/tools/ptx)
elseif(by STREQUAL nvrtc)
  set(ptx_compiler NVRTC)
  set(ptx_command ls_ptx ${LS_NVRTC}) # its oldest architecture
  set(ptx_options ${CMAKE_SOURCE_DIR}/src ${kernel_includes})
  set(ptx_tool ls_ptx)
elseif(NOT by STREQUAL off)
  message(FATAL_ERROR "LS_PTX is ${by}; it can be auto, nvcc, nvrtc or off")
endif()
if(NOT by STREQUAL off)
  foreach(cu ${kernels})
    get_filename_component(name ${cu} NAME_WE)
    set(command ${ptx_command})
    if(name MATCHES "_80$" AND by STREQUAL nvcc) # for newer GPUs alone
      list(TRANSFORM command REPLACE "^compute_.*" compute_80)
    elseif(name MATCHES "_90a$" AND by STREQUAL nvcc) # machine code
      set(command ${CMAKE_SOURCE_DIR}/tools/cubin ${LS_NVCC} sm_90a)
    elseif(name MATCHES "_90a$")
      continue()
    endif()
    add_custom_command(OUTPUT ${ptx_dir}/${name}
      COMMAND ${command} ${CMAKE_SOURCE_DIR}/src/${cu} ${ptx_dir}/${name} ${ptx_options}
      DEPENDS ${CMAKE_SOURCE_DIR}/src/${cu} ${kernel_headers_abs} ${ptx_tool} VERBATIM)
    list(APPEND ptx_names ${name})
    list(APPEND ptx_files ${ptx_dir}/${name})
  endforeach()
  set_source_files_properties(src/gpu/kernels.c PROPERTIES COMPILE_DEFINITIONS
    "LS_PTX_COMPILER=\"${ptx_compiler}\"")
endif()
message(STATUS "GPU kernels: ${kernels}; PTX by ${by} ${ptx_arch}")

ls_embed(${CMAKE_BINARY_DIR}/gpu_sources.c ls_gpu_sources ${CMAKE_SOURCE_DIR}/src "${kernels_abs};${kernel_headers_abs}"
  ${kernels} ${kernel_headers})
ls_embed(${CMAKE_BINARY_DIR}/gpu_ptx.c ls_gpu_ptx ${ptx_dir} "${ptx_files}" ${ptx_names})

# for a machine with a GPU: kernels against the host, bit by bit (tests/gpu/selftest.sh)
add_executable(gpu_selftest EXCLUDE_FROM_ALL tests/gpu/gpu_selftest.c)
target_link_libraries(gpu_selftest PRIVATE ls_core)
# exact products there, against the CPU
add_executable(exact_gpu EXCLUDE_FROM_ALL tests/gpu/exact_gpu.c)
target_link_libraries(exact_gpu PRIVATE ls_core)
# and every exact operation
add_executable(ops_gpu EXCLUDE_FROM_ALL tests/gpu/ops_gpu.c tests/exact/op_trials.c)
target_link_libraries(ops_gpu PRIVATE ls_core)
# sums, statistics and operations on rows likewise
add_executable(sums_gpu EXCLUDE_FROM_ALL tests/gpu/sums_gpu.c tests/exact/sum_trials.c)
target_link_libraries(sums_gpu PRIVATE ls_core)
# and the figures of bench/gpu.md
add_executable(bench_gpu EXCLUDE_FROM_ALL bench/gpu.c)
target_link_libraries(bench_gpu PRIVATE ls_core)
add_executable(bench_gpu_stream EXCLUDE_FROM_ALL bench/gpu_stream.c)
target_link_libraries(bench_gpu_stream PRIVATE ls_core)
