/* Designs: what `exp new` puts together for ls_experiment_new. Templates, batches,
 * schedules and seeds. A design is a JSON object of the caller's. Any thread. */
#ifndef LS_JOB_DESIGN_H
#define LS_JOB_DESIGN_H

#include "job/store.h"

/* A template is PROJECT/.lockstep/templates/NAME.json: an object with command and any of
 * the members of a design that are not of one experiment alone. */
int ls_template_load(struct ls_store *s, const char *name, json_t **ret, struct ls_err *err);
/* Whether an object can be a template; path begins the message. */
int ls_template_check(const json_t *t, const char *path, struct ls_err *err);
/* Refuses a name that is taken unless replace. */
int ls_template_save(struct ls_store *s, const char *name, const json_t *design, bool replace,
		     struct ls_err *err);

/* A design with what another experiment's row has in common with its likes: command,
 * settings, batch, schedule, but not its seed, code or history. */
json_t *ls_design_like(const json_t *row);

/* Makes global_batch = batch_size * max(num_gpus, 1) * accumulation hold. What is missing
 * is computed; what contradicts, or does not divide exactly, is refused. */
int ls_design_batch(json_t *design, struct ls_err *err);
/* total_steps and warmup_steps from epochs, samples and global_batch. Negative: not
 * given. */
int ls_design_steps(json_t *design, double epochs, double warmup_epochs, struct ls_err *err);

/* seeds is "42,123,456": one design a seed, named NAME_seed42 …, in the group NAME. */
int ls_design_seeds(const json_t *design, const char *seeds, json_t **ret, struct ls_err *err);

#endif
