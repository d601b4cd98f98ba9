/* Rows that the public functions give to each other. Any number of threads read. */
#ifndef LS_API_DATASET_H
#define LS_API_DATASET_H

#include <pthread.h>

#include "base/opt.h"
#include "fm/data/data.h"

struct ls_dataset {
	struct ls_data *data;
	pthread_mutex_t lock; /* of ls_data_unchanged, which remembers what it saw */
};

/* Of data that a call has loaded; they belong to the result. */
struct ls_dataset *ls_dataset_of_take(struct ls_data *data);
const struct ls_rows *ls_dataset_rows(const struct ls_dataset *d);
/* Fails if somebody has written to a file in which the rows lie. */
int ls_dataset_unchanged(struct ls_dataset *d, struct ls_err *err);
/* Whether rows with or without labels and fields will do. */
int ls_dataset_check_needs(const struct ls_dataset *d, bool labels, bool fields,
			   struct ls_err *err);

#endif
