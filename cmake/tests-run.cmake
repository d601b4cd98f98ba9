# The kernel trace without CUDA: a stand-in libcupti and a program that launches through
# it.
add_library(fake_cupti SHARED tests/fake/fake_cupti.c)
target_link_libraries(fake_cupti PRIVATE ls_flags)
add_executable(fake_launches tests/fake/fake_launches.c)
target_link_libraries(fake_launches PRIVATE ls_flags ${CMAKE_DL_LIBS})
set_target_properties(fake_cupti fake_launches PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake)
set_target_properties(fake_cupti PROPERTIES OUTPUT_NAME libfake_cupti)

# Our declarations of CUPTI's callbacks against NVIDIA's headers, where they are.
find_path(LS_CUPTI_INCLUDE cupti_callbacks.h HINTS /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include)
if(LS_CUPTI_INCLUDE)
  add_library(cupti_check OBJECT tests/gpu/cupti_check.c)
  target_link_libraries(cupti_check PRIVATE ls_flags)
  target_include_directories(cupti_check SYSTEM PRIVATE ${LS_CUPTI_INCLUDE})
endif()

# With what users get, the native release build: real PyTorch under `run` and `verify`
# (label torch), and the kernel trace.
if(LS_USERS_BUILD)
  file(GLOB run_cases CONFIGURE_DEPENDS tests/run/*.sh)
  foreach(case ${run_cases})
    get_filename_component(name ${case} NAME_WE)
    file(STRINGS ${case} uses_torch REGEX "tools/venv")
    set(label cli)
    if(uses_torch)
      set(label torch)
    endif()
    add_test(NAME ${label}.run-${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/run --build ${CMAKE_BINARY_DIR} ${case})
    ls_label_from(${case} ${label}.run-${name} ${label})
    set_tests_properties(${label}.run-${name} PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77)
  endforeach()
endif()
