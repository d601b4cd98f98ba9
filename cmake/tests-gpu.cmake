# The GPU without a GPU: a stand-in libcuda.so.1 for every error path, and NVIDIA's compilers over every kernel.
add_library(fake_cuda SHARED tests/fake/fake_cuda.c tests/fake/fake_state.c tests/fake/fake_stream.c
  tests/fake/fake_code.c tests/fake/fake_image.c)
target_link_libraries(fake_cuda PRIVATE ls_flags ${CMAKE_DL_LIBS})
set_target_properties(fake_cuda PROPERTIES PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1 C_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake)
# the stand-in finds host kernels in the test program by name
foreach(t test_gpu_driver)
  add_dependencies(${t} fake_cuda)
  set_target_properties(${t} PROPERTIES ENABLE_EXPORTS ON)
endforeach()

# Our declarations of the driver API against NVIDIA's header, where it is.
find_path(LS_CUDA_INCLUDE cuda.h HINTS /usr/local/cuda/include $ENV{CUDA_HOME}/include)
if(LS_CUDA_INCLUDE)
  add_library(cuda_api_check OBJECT tests/gpu/cuda_api_check.c)
  target_link_libraries(cuda_api_check PRIVATE ls_flags)
  target_include_directories(cuda_api_check SYSTEM PRIVATE ${LS_CUDA_INCLUDE})
endif()
