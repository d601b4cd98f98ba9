# A Python wheel (pyproject.toml): the component `wheel` has the program itself, the library
# beside the package, and what CUDA loads into a traced program.
install(TARGETS lockstep RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT wheel)
# one file, liblockstep.so.0: a wheel has no links
set_target_properties(ls_shared PROPERTIES VERSION 0)
install(TARGETS ls_shared LIBRARY DESTINATION lockstep COMPONENT wheel NAMELINK_SKIP)
install(TARGETS lockstep_inject LIBRARY DESTINATION ${SKBUILD_DATA_DIR}/lib/lockstep COMPONENT wheel)
install(FILES ${man1} DESTINATION ${SKBUILD_DATA_DIR}/share/man/man1 COMPONENT wheel)
