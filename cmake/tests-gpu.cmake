# The GPU without a GPU: a stand-in libcuda.so.1 for every error path, and NVIDIA's
# compilers over every kernel.
add_library(fake_cuda SHARED tests/fake/fake_cuda.c tests/fake/fake_state.c tests/fake/fake_stream.c
  tests/fake/fake_code.c tests/fake/fake_image.c)
target_link_libraries(fake_cuda PRIVATE ls_flags ${CMAKE_DL_LIBS})
set_target_properties(fake_cuda PROPERTIES PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1 C_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake)
# A GPU whose exact products are wrong, for `monitor probe`.
add_library(fake_idle SHARED tests/fake/fake_idle.c)
target_link_libraries(fake_idle PRIVATE ls_flags)
set_target_properties(fake_idle PROPERTIES C_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake)
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

# Every kernel file through NVIDIA's compilers: PTX read by tools/check-ptx, machine code
# by ptxas. 77: no compiler here, which ./check names, and in CI counts as a failure.
foreach(cu ${kernels})
  get_filename_component(name ${cu} NAME_WE)
  if(NOT LS_USERS_BUILD) # NVIDIA's compilers see the same sources from every build
    break()
  endif()
  add_test(NAME gpu-build.${name}.nvcc COMMAND ${CMAKE_SOURCE_DIR}/tests/gpu/build "${LS_NVCC}" ${CMAKE_SOURCE_DIR}/src/${cu}
    ${LS_GPU_OPTIONS})
  ls_label(gpu-build.${name}.nvcc gpu-build long)
  set_tests_properties(gpu-build.${name}.nvcc PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
  if(TARGET ls_ptx AND NOT name MATCHES "_90a$") # NVRTC makes PTX for its oldest architecture
    set_target_properties(ls_ptx PROPERTIES EXCLUDE_FROM_ALL OFF)
    add_test(NAME gpu-build.${name}.nvrtc COMMAND ${CMAKE_SOURCE_DIR}/tests/gpu/build-nvrtc $<TARGET_FILE:ls_ptx>
      ${LS_NVRTC} "${LS_NVCC}" ${CMAKE_SOURCE_DIR}/src ${cu} ${kernel_includes})
    # one of each room in the gate; the others cost much and show the same
    if(name MATCHES "^(cuda_sort|exact_gemm)$")
      ls_label(gpu-build.${name}.nvrtc gpu-build long)
    else()
      ls_label(gpu-build.${name}.nvrtc gpu-build long slow)
    endif()
    set_tests_properties(gpu-build.${name}.nvrtc PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
  endif()
endforeach()
# The embedded PTX cut down to the kernels of some models
# (src/fm/cuda/host/cuda_kernels.c).
add_executable(ptx_cut tests/gpu/ptx_cut.c)
target_link_libraries(ptx_cut PRIVATE ls_core)
set(cut_fm "fm_rows_4 fm_one_columns_4 fm_predict_4" "fm_few_rows_1 fm_columns_1 fm_predict_1" "fm_predict_32")
set(cut_ffm "ffm_rows ffm_one_columns ffm_predict" "ffm_predict")
set(cut_fwfm "fwfm_rows_8 fwfm_one_columns_2 fwfm_pairs_8 fwfm_predict" "fwfm_predict")
foreach(kind fm ffm fwfm)
  if(LS_USERS_BUILD)
    add_test(NAME gpu-build.cuda_${kind}.cut COMMAND ${CMAKE_SOURCE_DIR}/tests/gpu/cut $<TARGET_FILE:ptx_cut> "${LS_NVCC}"
      ${ptx_dir}/cuda_${kind} ${cut_${kind}})
    ls_label(gpu-build.cuda_${kind}.cut gpu-build)
    set_tests_properties(gpu-build.cuda_${kind}.cut PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
  endif()
endforeach()
set_tests_properties(unit.test_gpu_kernels PROPERTIES SKIP_RETURN_CODE 77)

if(NOT LS_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  set_target_properties(gpu_selftest exact_gpu ops_gpu sums_gpu bench_gpu bench_gpu_stream PROPERTIES
    EXCLUDE_FROM_ALL OFF)
endif()
# The kernels themselves on the host, thread by thread (tests/fake/simt.h). They are found
# by name in the .cu files; the stand-in driver loads the library and calls them.
# Sanitizers do not understand its switching of stacks.
if(LS_USERS_BUILD OR (LS_FULL AND NOT LS_SANITIZE AND NOT CMAKE_CROSSCOMPILING))
  enable_language(CXX)
  set(simt_sources)
  foreach(cu ${kernels})
    get_filename_component(name ${cu} NAME_WE)
    if(name MATCHES "_80$") # the same kernels for another GPU
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${cu})
    file(READ src/${cu} text)
    string(REGEX REPLACE "__launch_bounds__\\([^)]*\\)" "" text "${text}")
    string(REGEX MATCHALL "__global__[ \t\n]+void[ \t\n]+[A-Za-z0-9_]+[ \t\n]*\\(" found "${text}")
    set(wrapper "#include \"simt.h\"\n#include \"${cu}\"\n")
    foreach(f ${found})
      string(REGEX REPLACE ".*void[ \t\n]+([A-Za-z0-9_]+).*" "SIMT_EXPORT(\\1)\n" f "${f}")
      string(APPEND wrapper "${f}")
    endforeach()
    file(CONFIGURE OUTPUT simt/${name}.cpp CONTENT "${wrapper}" @ONLY)
    set_source_files_properties(${CMAKE_BINARY_DIR}/simt/${name}.cpp PROPERTIES OBJECT_DEPENDS
      "${CMAKE_SOURCE_DIR}/src/${cu};${kernel_headers_abs}")
    list(APPEND simt_sources ${CMAKE_BINARY_DIR}/simt/${name}.cpp)
  endforeach()
  add_library(simt OBJECT tests/fake/simt.cpp)
  add_library(fake_kernels SHARED ${simt_sources} $<TARGET_OBJECTS:simt>)
  add_executable(simt_test tests/fake/simt_test.cpp $<TARGET_OBJECTS:simt>)
  add_test(NAME unit.simt COMMAND simt_test)
  ls_label(unit.simt unit)
  set_tests_properties(unit.simt PROPERTIES TIMEOUT 300)
  foreach(t simt fake_kernels simt_test)
    target_include_directories(${t} PRIVATE src tests/fake)
    target_compile_features(${t} PRIVATE cxx_std_17)
    target_compile_options(${t} PRIVATE -U_FORTIFY_SOURCE -ffp-contract=off -fno-strict-aliasing -Wall -Wextra
      # switching stacks is what takes long
      -Wno-unknown-pragmas -Wno-unused-function $<$<BOOL:${LS_WERROR}>:-Werror> $<$<CONFIG:Release>:-O1>)
    target_link_libraries(${t} PRIVATE Threads::Threads)
  endforeach()
  set_target_properties(simt fake_kernels PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake CXX_VISIBILITY_PRESET hidden)

  # Exact products by the GPU's kernels, against the CPU.
  add_test(NAME gpu-build.exact COMMAND exact_gpu --trials 8 --most 16)
  ls_label(gpu-build.exact gpu-build long)
  set_tests_properties(gpu-build.exact PROPERTIES TIMEOUT 600 ENVIRONMENT
    "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/fake;LS_FAKE_CUDA_KERNELS=${CMAKE_BINARY_DIR}/fake/libfake_kernels.so;LS_FAKE_CUDA_CONFIG=order=shuffle")

  # And by those of GPUs of compute capability 8.0, which have other products.
  add_test(NAME gpu-build.exact_80 COMMAND exact_gpu --trials 8 --most 16)
  ls_label(gpu-build.exact_80 gpu-build long)
  set_tests_properties(gpu-build.exact_80 PROPERTIES TIMEOUT 600 ENVIRONMENT
    "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/fake;LS_FAKE_CUDA_KERNELS=${CMAKE_BINARY_DIR}/fake/libfake_kernels.so;LS_FAKE_CUDA_CONFIG=order=shuffle cc=80")

  # Every exact operation likewise.
  add_test(NAME gpu-build.ops COMMAND ops_gpu --trials 6)
  ls_label(gpu-build.ops gpu-build long)
  set_tests_properties(gpu-build.ops PROPERTIES TIMEOUT 600 ENVIRONMENT
    "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/fake;LS_FAKE_CUDA_KERNELS=${CMAKE_BINARY_DIR}/fake/libfake_kernels.so;LS_FAKE_CUDA_CONFIG=order=shuffle sm=2 blocks=2")
  # Sums, statistics and operations on rows likewise.
  add_test(NAME gpu-build.sums COMMAND sums_gpu --trials 80 --most 24)
  ls_label(gpu-build.sums gpu-build long)
  set_tests_properties(gpu-build.sums PROPERTIES TIMEOUT 600 ENVIRONMENT
    "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/fake;LS_FAKE_CUDA_KERNELS=${CMAKE_BINARY_DIR}/fake/libfake_kernels.so;LS_FAKE_CUDA_CONFIG=order=shuffle")

  # Training on the GPU's kernels: small data of every kind, with grids of many blocks, of
  # one and of seven, and rows of the golden table. What streams takes long: with the
  # other two grids only under ./check --full.
  set(shape_forward "")
  set(shape_reverse " sm=1 blocks=1")
  set(shape_shuffle " sm=7 blocks=1")
  foreach(order forward reverse shuffle)
    set(stand_in "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/fake;LS_FAKE_CUDA_KERNELS=${CMAKE_BINARY_DIR}/fake/libfake_kernels.so;LS_FAKE_CUDA_CONFIG=order=${order}${shape_${order}}")
    if(by STREQUAL off) # the stand-in learns the kernels' parameters from their PTX
      set(none sh -c "echo 'no nvcc and no NVRTC: no PTX to run' && exit 77")
    endif()
    add_test(NAME bitwise.gpu_selftest.${order} COMMAND ${none} $<TARGET_FILE:gpu_selftest>)
    foreach(part bytes streams)
      add_test(NAME bitwise.cuda.${part}.${order} COMMAND ${none} ${CMAKE_SOURCE_DIR}/tests/bitwise/cuda $<TARGET_FILE:lockstep> ${part})
    endforeach()
    set(only_full slow)
    if(order STREQUAL shuffle)
      set(only_full long)
    endif()
    ls_label(bitwise.gpu_selftest.${order} bitwise)
    ls_label(bitwise.cuda.bytes.${order} bitwise)
    ls_label(bitwise.cuda.streams.${order} bitwise ${only_full})
    set_tests_properties(bitwise.gpu_selftest.${order} bitwise.cuda.bytes.${order} bitwise.cuda.streams.${order} PROPERTIES
      TIMEOUT 900 SKIP_RETURN_CODE 77 ENVIRONMENT "${stand_in}")
  endforeach()
  add_test(NAME bitwise.cuda.faults COMMAND ${none} ${CMAKE_SOURCE_DIR}/tests/bitwise/cuda $<TARGET_FILE:lockstep> faults)
  ls_label(bitwise.cuda.faults bitwise)
  set_tests_properties(bitwise.cuda.faults PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77 ENVIRONMENT "${stand_in}")
  add_test(NAME bitwise.cuda.golden COMMAND ${none} ${CMAKE_SOURCE_DIR}/tests/bitwise/check $<TARGET_FILE:lockstep> --device cuda)
  ls_label(bitwise.cuda.golden bitwise long)
  set_tests_properties(bitwise.cuda.golden PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77
    ENVIRONMENT "${stand_in};LS_TABLE_ONLY=fwfm-multiclass-(adam|sgd)|factors-(16|33)|fm-blocks|ffm-values|units|linear-binary|penalties")
endif()
