/* What the server answers with: made once a sample by the sampling thread, read by the
 * server's. The pages own what was published; ls_pages_free accepts NULL. Publishing and
 * answering may be in different threads. */
#ifndef LS_WATCH_PAGES_H
#define LS_WATCH_PAGES_H

#include "watch/archive.h"
#include "watch/events.h"
#include "watch/judge.h"
#include "watch/peers.h"
#include "watch/project.h"
#include "watch/sample.h"
#include "watch/server.h"

struct ls_pages;

struct ls_pages *ls_pages_new(void);
void ls_pages_free(struct ls_pages *p);
/* Before there is a second thread. All are borrowed until the end. */
void ls_pages_history(struct ls_pages *p, struct ls_archive *archive, struct ls_events *events);
void ls_pages_project(struct ls_pages *p, struct ls_project *project);
void ls_pages_peers(struct ls_pages *p, struct ls_peers *peers);
/* From how many seconds after the last sample on /health says that samples are missing, as
 * they are when a driver hangs. Without it they never are. */
void ls_pages_late_after(struct ls_pages *p, double seconds);
/* Both are borrowed during the call. */
void ls_pages_publish(struct ls_pages *p, const struct ls_sample *s, const struct ls_judge *j);
/* A ls_server_fn; pages is a struct ls_pages. */
void ls_pages_answer(void *pages, const struct ls_request *r, struct ls_reply *ret);

#endif
