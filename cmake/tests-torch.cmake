# Exact PyTorch: its adapters, what it promises, and the Trainers of two frameworks.
if(LS_USERS_BUILD)
  foreach(program adapters check trainers)
    add_test(NAME torch.exact-${program} COMMAND ${CMAKE_SOURCE_DIR}/tests/torch_exact/run
      $<TARGET_FILE:ls_shared> ${program}.py)
    ls_label(torch.exact-${program} torch once)
    set_tests_properties(torch.exact-${program} PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77 COST -1)
  endforeach()
endif()
