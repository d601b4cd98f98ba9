/* Which step of a checklist (data/advice.json) fits what is measured. Texts are of the
 * table in the history, and NULL where it has none. Any thread. */
#ifndef LS_WATCH_CHECKLIST_H
#define LS_WATCH_CHECKLIST_H

#include "watch/signal_look.h"

/* Why a GPU idles while a program uses it: heat, data loading, disk or small batches. */
const char *ls_checklist_slow(const struct ls_look *l);
/* What to do before memory is full. full_in: seconds until then, if it goes on growing. */
const char *ls_checklist_memory(const struct ls_look *l, double full_in);
/* Why no GPU can be watched. */
const char *ls_checklist_no_gpu(const struct ls_look *l);
const char *ls_checklist_step(const struct ls_look *l, const char *symptom, const char *step);

/* Tasks wait for a disk in a good part of the time. */
bool ls_checklist_disk(const struct ls_look *l);
/* One processor is full while most of the machine idles. */
bool ls_checklist_processor(const struct ls_look *l);

#endif
