/* The dashboard's files, which travel inside the program. Any thread. */
#ifndef LS_WATCH_WEB_H
#define LS_WATCH_WEB_H

#include "watch/server.h"

/* False: there is no such file. */
bool ls_web_answer(const char *path, struct ls_reply *ret);

#endif
