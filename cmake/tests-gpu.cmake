# The GPU without a GPU: a stand-in libcuda.so.1 for every error path, and NVIDIA's compilers over every kernel.
add_library(fake_cuda SHARED tests/fake/fake_cuda.c tests/fake/fake_state.c tests/fake/fake_stream.c
  tests/fake/fake_code.c tests/fake/fake_image.c)
target_link_libraries(fake_cuda PRIVATE ls_flags ${CMAKE_DL_LIBS})
set_target_properties(fake_cuda PROPERTIES PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1 C_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake)
add_library(fake_nvrtc SHARED tests/fake/fake_nvrtc.c)
target_link_libraries(fake_nvrtc PRIVATE ls_flags)
set_target_properties(fake_nvrtc PROPERTIES PREFIX "" OUTPUT_NAME libnvrtc SUFFIX .so.13 C_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake)
# the stand-in finds host kernels in the test program by name
foreach(t test_gpu_driver test_gpu_kernels)
  add_dependencies(${t} fake_cuda fake_nvrtc)
  set_target_properties(${t} PROPERTIES ENABLE_EXPORTS ON)
endforeach()

# Our declarations of the driver API against NVIDIA's header, where it is.
find_path(LS_CUDA_INCLUDE cuda.h HINTS /usr/local/cuda/include $ENV{CUDA_HOME}/include)
if(LS_CUDA_INCLUDE)
  add_library(cuda_api_check OBJECT tests/gpu/cuda_api_check.c)
  target_link_libraries(cuda_api_check PRIVATE ls_flags)
  target_include_directories(cuda_api_check SYSTEM PRIVATE ${LS_CUDA_INCLUDE})
endif()

# Every kernel file through NVIDIA's compilers: PTX read by tools/check-ptx, machine code by ptxas. 77: no compiler here,
# which ./check names, and in CI counts as a failure.
foreach(cu ${kernels})
  get_filename_component(name ${cu} NAME_WE)
  foreach(arch 75 80 90)
    add_test(NAME gpu-build.${name}.sm_${arch} COMMAND ${CMAKE_SOURCE_DIR}/tests/gpu/build "${LS_NVCC}"
      ${CMAKE_SOURCE_DIR}/src/${cu} ${arch} ${LS_GPU_OPTIONS})
    set_tests_properties(gpu-build.${name}.sm_${arch} PROPERTIES LABELS gpu-build TIMEOUT 600 SKIP_RETURN_CODE 77)
  endforeach()
  if(TARGET ls_ptx AND NOT LS_SANITIZE)
    set_target_properties(ls_ptx PROPERTIES EXCLUDE_FROM_ALL OFF)
    add_test(NAME gpu-build.${name}.nvrtc COMMAND ${CMAKE_SOURCE_DIR}/tests/gpu/build-nvrtc $<TARGET_FILE:ls_ptx>
      ${LS_NVRTC} "${LS_NVCC}" ${CMAKE_SOURCE_DIR}/src ${cu} ${kernel_headers})
    set_tests_properties(gpu-build.${name}.nvrtc PROPERTIES LABELS gpu-build TIMEOUT 600 SKIP_RETURN_CODE 77)
  endif()
endforeach()
set_tests_properties(unit.test_gpu_kernels PROPERTIES SKIP_RETURN_CODE 77)
