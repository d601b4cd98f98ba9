#include "api/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/options.h"
#include "base/mem.h"
#include "fm/data/arrays.h"
#include "fm/train/options.h"

struct ls_dataset *ls_dataset_of_take(struct ls_data *data)
{
	struct ls_dataset *d = ls_xalloc(sizeof *d);
	d->data = data;
	pthread_mutex_init(&d->lock, NULL);
	return d;
}

void ls_dataset_free(struct ls_dataset *d)
{
	if (!d)
		return;
	ls_data_free(d->data);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

const struct ls_rows *ls_dataset_rows(const struct ls_dataset *d)
{
	return ls_data_rows(d->data);
}

static int unchanged(void *context, struct ls_err *err)
{
	return ls_data_unchanged(((struct ls_dataset *)context)->data, err);
}

int ls_dataset_unchanged(struct ls_dataset *d, struct ls_err *err)
{
	pthread_mutex_lock(&d->lock);
	int rc = ls_mem_try(unchanged, d, err); /* which gives the lock back in any case */
	pthread_mutex_unlock(&d->lock);
	return rc;
}

int ls_dataset_check_needs(const struct ls_dataset *d, bool labels, bool fields, struct ls_err *err)
{
	const struct ls_rows *rows = ls_dataset_rows(d);
	struct ls_data_opts needs = {.need_labels = labels, .want_fields = fields};
	return ls_data_check_needs(rows->origin->name, rows->label, rows->field, &needs, err);
}

/* --- from a file --- */

/* Tables become rows as --columns says, which predict and eval have. */
static int load_with(const struct ls_options *o, const char *path, struct ls_dataset **ret,
		     struct ls_err *err)
{
	const struct ls_args *args = o->args;
	const char *file = o->command == LS_FM_TRAIN ? NULL : ls_args_get(args, "columns");
	struct ls_columns *columns = NULL;
	struct ls_data *data;
	struct ls_fm_device device;
	int rc = ls_fm_engine_options(args, NULL, &device, err);
	if (rc == 0 && file)
		rc = ls_columns_load(file, &columns, err);
	struct ls_data_opts how = {.threads = device.threads,
				   .format = ls_args_get(args, "format"),
				   .labels_path = ls_args_get(args, "labels"),
				   .weights_path = ls_args_get(args, "weights"),
				   .need_labels = o->command == LS_FM_EVAL,
				   .columns = columns};
	if (rc == 0)
		rc = ls_data_load(path, &how, &data, err);
	ls_columns_free(columns);
	if (rc == 0)
		*ret = ls_dataset_of_take(data);
	return rc;
}

static int load(const char *path, const struct ls_options *o, struct ls_dataset **ret,
		struct ls_err *err)
{
	struct ls_options *own;
	const struct ls_args *args;
	int rc = ls_options_use(o, 1u << LS_FM_TRAIN | 1u << LS_FM_PREDICT | 1u << LS_FM_EVAL, &own,
				&args, err);
	if (rc == 0)
		rc = load_with(o ? o : own, path, ret, err);
	ls_options_free(own);
	return rc;
}

int ls_dataset_load(const char *path, const struct ls_options *o, struct ls_dataset **ret,
		    struct ls_err *err)
{
	LS_CALL(err, load(path, o, ret, err));
}

/* --- from arrays --- */

static int take_array(const struct ls_array *a, const char *name, struct ls_tensor *ret,
		      struct ls_err *err)
{
	*ret = (struct ls_tensor){0};
	if (!a->data && !a->length)
		return 0;
	if (!a->data)
		return ls_err_set(err, LS_EINPUT, "array \"%s\" is NULL and has %llu elements",
				  name, (unsigned long long)a->length);
	enum ls_dtype type = a->type ? ls_dtype_of_torch(a->type) : LS_DT_NONE;
	if (type == LS_DT_NONE)
		return ls_err_set(err, LS_EINPUT,
				  "array \"%s\": there is no type \"%.40s\"; \"int64\" is one",
				  name, a->type ? a->type : "");
	ret->dtype = type;
	ret->elem_size = ls_dtype_bits(type) / 8;
	ret->data = a->data;
	return ls_tensor_set_contiguous(ret, &a->length, 1, err);
}

static int from_csr(const struct ls_csr_arrays *c, struct ls_dataset **ret, struct ls_err *err)
{
	const struct {
		const struct ls_array *array;
		const char *name;
	} parts[LS_PARTS] = {[LS_PART_INDPTR] = {&c->indptr, "indptr"},
			     [LS_PART_INDICES] = {&c->indices, "indices"},
			     [LS_PART_VALUES] = {&c->values, "values"},
			     [LS_PART_FIELDS] = {&c->fields, "fields"},
			     [LS_PART_LABELS] = {&c->labels, "labels"},
			     [LS_PART_WEIGHTS] = {&c->weights, "weights"}};
	struct ls_arrays a = {.name = c->name ? c->name : "rows", .columns = c->columns};
	struct ls_data *data;
	int rc = 0;
	for (int i = 0; i < LS_PARTS && rc == 0; i++)
		rc = take_array(parts[i].array, parts[i].name, &a.part[i], err);
	if (rc == 0)
		rc = ls_data_from_arrays(&a, 0, &data, err);
	if (rc == 0)
		*ret = ls_dataset_of_take(data);
	return rc;
}

int ls_dataset_from_csr(const struct ls_csr_arrays *a, struct ls_dataset **ret, struct ls_err *err)
{
	LS_CALL(err, from_csr(a, ret, err));
}

/* --- what they are --- */

void ls_dataset_describe(const struct ls_dataset *d, struct ls_dataset_info *ret)
{
	const struct ls_rows *rows = ls_dataset_rows(d);
	*ret = (struct ls_dataset_info){.rows = rows->n_rows,
					.entries = rows->n_entries,
					.features = rows->n_features,
					.fields = rows->n_fields,
					.has_labels = rows->label,
					.has_weights = rows->weight};
}

static int digest(const struct ls_dataset *d, char ret_hex[65])
{
	ls_data_digest(d->data, ret_hex);
	return 0;
}

int ls_dataset_digest(const struct ls_dataset *d, char ret_hex[65], struct ls_err *err)
{
	LS_CALL(err, digest(d, ret_hex));
}
