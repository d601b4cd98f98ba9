/* Folders that are made where they are missing. Nothing is owned. Any thread. */
#ifndef LS_BASE_FOLDER_H
#define LS_BASE_FOLDER_H

#include "base/err.h"

/* With its parents; fine when it is there. */
int ls_folder_make(const char *path, struct ls_err *err);

#endif
