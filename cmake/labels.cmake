# Labels say what a test is and where ./check runs it; docs/CONTRIBUTING.md, "Which label
# a test gets", is the guide. Every test runs in the release build. A label adds a place,
# or takes one away:
#   quick    ./check quick, the debug build
#   golden   compiled by clang, and by gcc without optimisation
#   memory   the address sanitizer
#   threads  the thread sanitizer
#   isa      the other instruction set, emulated
#   once     release alone; unit tests lose quick and memory, cli and fuzz lose memory
#   slow     only ./check --full
#   long     begins before others, so that it is not left alone on one core at the end
set(ls_kinds unit cli bitwise fuzz lint gpu-build torch render python)
set(ls_places quick golden memory threads isa slow once long)

# Programs that the tests with a label need; `cmake --build … --target tests-golden` makes
# no others.
foreach(place golden threads isa)
  add_custom_target(tests-${place})
  add_dependencies(tests-${place} lockstep)
endforeach()

function(ls_label test kind) # ls_label(TEST KIND [LABEL…]): sets the labels of a test
  set(labels ${ARGN})
  foreach(label ${kind} ${labels})
    if(NOT label IN_LIST ls_kinds AND NOT label IN_LIST ls_places)
      message(FATAL_ERROR "${test}: there is no label ${label}; there are ${ls_kinds} and ${ls_places}")
    endif()
  endforeach()
  if(NOT once IN_LIST labels AND NOT slow IN_LIST labels)
    if(kind STREQUAL unit)
      list(APPEND labels quick memory)
    elseif(kind STREQUAL cli OR kind STREQUAL fuzz)
      list(APPEND labels memory)
    endif()
  endif()
  if(long IN_LIST labels)
    set_tests_properties(${test} PROPERTIES COST 10)
  endif()
  list(REMOVE_DUPLICATES labels)
  set_tests_properties(${test} PROPERTIES LABELS "${kind};${labels}")
endfunction()

# the same, by a line `labels: LABEL…` of the comment at the head of a test's file
function(ls_label_from file test kind)
  file(STRINGS ${file} line REGEX "^(#| \\*|/\\*) labels: [a-z ]+" LIMIT_COUNT 1)
  string(REGEX REPLACE "^.*labels: ([a-z ]*).*$" "\\1" words "${line}")
  string(STRIP "${words}" words)
  separate_arguments(words)
  ls_label(${test} ${kind} ${words})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  # What uses Python packages begins last: they are still being fetched while the others
  # run.
  file(STRINGS ${file} uses_venv REGEX "tools/venv" LIMIT_COUNT 1)
  if(uses_venv)
    set_tests_properties(${test} PROPERTIES COST -1)
  endif()
endfunction()
