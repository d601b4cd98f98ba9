# The Python package: its layer over ctypes, the estimators, the golden table through them.
# python.checks has scikit-learn's checks for one of them; for all of them it is slow.
if(LS_USERS_BUILD)
  function(ls_python_test name) # NAME PROGRAM [ARG…]
    add_test(NAME python.${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/python/run $<TARGET_FILE:ls_shared> ${ARGN})
    ls_label(python.${name} python once)
    set_tests_properties(python.${name} PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77 COST -1)
  endfunction()
  ls_python_test(binding binding.py)
  ls_python_test(estimators estimators.py)
  ls_python_test(golden golden.py)
  ls_python_test(tools tools.py $<TARGET_FILE:lockstep>)
  ls_python_test(enforce enforce.py $<TARGET_FILE:lockstep>)
  ls_python_test(plugin plugin.py)
  ls_python_test(frameworks frameworks.py)
  ls_python_test(hasher hasher.py $<TARGET_FILE:lockstep>)
  ls_python_test(checks checks.py FMClassifier)
  ls_python_test(checks-all checks.py FMRegressor FFMClassifier FFMRegressor FwFMClassifier FwFMRegressor
    LinearExactClassifier LinearExactRegressor)
  ls_label(python.checks-all python slow)
  ls_python_test(pages pages.py ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/docs/guide-python.md
    ${CMAKE_SOURCE_DIR}/docs/guide-python-tools.md
    ${CMAKE_SOURCE_DIR}/examples/notebook/clicks.ipynb)
  add_test(NAME python.wheel COMMAND ${CMAKE_SOURCE_DIR}/tests/python/wheel)
  ls_label(python.wheel python slow)
  set_tests_properties(python.wheel PROPERTIES TIMEOUT 3600)
endif()
