# liblockstep.so.0, from the objects of the archive: it is one link. Its symbols are those
# of lockstep.map, and it holds what they need. Builds under a sanitizer have none: who
# loads it would have to have the sanitizer, too.
file(GLOB api_sources CONFIGURE_DEPENDS src/api/*.c)
add_library(ls_api OBJECT ${api_sources})
target_compile_options(ls_api PRIVATE ${banned} -DLS_LIBRARY -fvisibility=hidden)
target_link_libraries(ls_api PRIVATE ls_flags PkgConfig::jansson)
target_sources(ls_core PRIVATE $<TARGET_OBJECTS:ls_api>)
if(NOT LS_SANITIZE)
  set(map ${CMAKE_SOURCE_DIR}/cmake/lockstep.map)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${map})
  file(READ ${map} symbols)
  string(REGEX MATCHALL "\tls_[a-z0-9_]+" symbols "${symbols}")
  list(TRANSFORM symbols REPLACE "\t(.*)" "LINKER:-u,\\1") # also those that are not in src/api
  add_library(ls_shared SHARED $<TARGET_OBJECTS:ls_api>)
  if(LS_STATIC_DEPS)
    # The archives of a distribution are for executables, which a shared library can hold
    # but for references to the C library's data. jansson has one, to stdin, for a function
    # that nobody here calls.
    list(GET jansson_LINK_LIBRARIES 0 jansson_archive)
    set(jansson_shared ${CMAKE_BINARY_DIR}/libjansson_shared.a)
    add_custom_command(OUTPUT ${jansson_shared}
      COMMAND ${CMAKE_OBJCOPY} --redefine-sym stdin=ls_jansson_stdin ${jansson_archive} ${jansson_shared}
      DEPENDS ${jansson_archive} VERBATIM)
    add_custom_target(jansson_shared DEPENDS ${jansson_shared})
    add_dependencies(ls_shared jansson_shared)
    target_sources(ls_shared PRIVATE ${CMAKE_SOURCE_DIR}/cmake/jansson_stdin.c)
    target_compile_options(ls_shared PRIVATE -fvisibility=hidden)
    # whole, so that nothing is left for the archive itself to fill
    target_link_libraries(ls_shared PRIVATE -Wl,--whole-archive ${jansson_shared} -Wl,--no-whole-archive)
    target_link_options(ls_shared PRIVATE LINKER:-Bsymbolic)
  endif()
  target_link_libraries(ls_shared PRIVATE ls_core)
  target_link_options(ls_shared PRIVATE ${symbols} LINKER:--version-script=${map} LINKER:-z,defs
    LINKER:-z,relro LINKER:-z,now
    LINKER:-z,nodelete) # jansson may call into it (ls_json_guard)
  set_target_properties(ls_shared PROPERTIES OUTPUT_NAME lockstep SOVERSION 0 VERSION ${PROJECT_VERSION}
    LINKER_LANGUAGE C LINK_DEPENDS ${map})
  install(TARGETS ls_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
