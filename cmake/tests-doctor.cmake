# Machines without a GPU: stand-ins for libnvidia-ml.so.1, of a present driver and of an
# older one with fewer functions.
foreach(age new old)
  add_library(fake_nvml_${age} SHARED tests/fake/fake_nvml.c tests/fake/fake_nvml_meter.c)
  target_link_libraries(fake_nvml_${age} PRIVATE ls_flags)
  set_target_properties(fake_nvml_${age} PROPERTIES PREFIX "" OUTPUT_NAME libnvidia-ml SUFFIX .so.1
    C_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake/nvml-${age})
endforeach()
target_compile_definitions(fake_nvml_old PRIVATE FAKE_OLD)
add_dependencies(test_nvml fake_nvml_new fake_nvml_old)
add_dependencies(test_nvml_meter fake_nvml_new fake_nvml_old)
add_dependencies(test_watch_incidents fake_nvml_new)

# A day of looks takes minutes, and a sanitizer's memory is not the program's.
if(NOT LS_SANITIZE)
  add_executable(watch_day tests/watch/day.c)
  target_link_libraries(watch_day PRIVATE ls_core)
  target_compile_definitions(watch_day PRIVATE LS_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_dependencies(watch_day fake_nvml_new)
  add_test(NAME unit.watch_day COMMAND watch_day)
  ls_label(unit.watch_day unit slow)
endif()

# A real torch, where the program is what users get; importing it takes seconds and
# gigabytes elsewhere. PyPI's torch for x86-64 comes with NVIDIA's wheels; elsewhere it is
# one for the CPU.
set(doctor_tests deep-torch report-schema)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  list(APPEND doctor_tests wheels-torch)
endif()
if(LS_USERS_BUILD)
  foreach(name ${doctor_tests})
    add_test(NAME cli.doctor-${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/run --build ${CMAKE_BINARY_DIR}
      ${CMAKE_SOURCE_DIR}/tests/doctor/${name}.sh)
    ls_label_from(${CMAKE_SOURCE_DIR}/tests/doctor/${name}.sh cli.doctor-${name} cli)
    set_tests_properties(cli.doctor-${name} PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77)
  endforeach()
endif()
