#include "fm/data/arrays.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fm/data/csr.h"

static const char *const part_name[LS_PARTS] = {"indptr", "indices", "values",
						"fields", "labels",  "weights"};

enum { MAX_FIELD = 65535 };

/* What is being made. */
struct making {
	const struct ls_arrays *a;
	struct ls_rows rows;
	void *blocks[LS_PARTS];
	size_t n_blocks;
};

static const struct ls_tensor *part(const struct making *m, enum ls_array_part p)
{
	const struct ls_tensor *t = &m->a->part[p];
	return t->dtype == LS_DT_NONE ? NULL : t;
}

static uint64_t length(const struct making *m, enum ls_array_part p)
{
	const struct ls_tensor *t = part(m, p);
	return t ? t->shape[0] : 0;
}

/* --- types and lengths --- */

static int check_type(const struct making *m, enum ls_array_part p, struct ls_err *err)
{
	const struct ls_tensor *t = part(m, p);
	bool integers = p == LS_PART_INDPTR || p == LS_PART_INDICES || p == LS_PART_FIELDS;
	if (!t && (p == LS_PART_INDPTR || p == LS_PART_INDICES))
		return ls_err_set(err, LS_EINPUT, "%s: array \"%s\" is missing", m->a->name,
				  part_name[p]);
	if (!t || (integers ? ls_csr_is_integer(t->dtype) : ls_csr_is_number(t->dtype)))
		return 0;
	return ls_err_set(err, LS_EINPUT, "%s: array \"%s\" holds %s; it should hold %s",
			  m->a->name, part_name[p], ls_dtype_name(t->dtype),
			  integers ? "integers" : "bool, integers, float32 or float64");
}

static int check_length(const struct making *m, enum ls_array_part p, uint64_t want,
			struct ls_err *err)
{
	if (!part(m, p) || length(m, p) == want)
		return 0;
	return ls_err_set(err, LS_EINPUT, "%s: array \"%s\" has %llu elements, not %llu",
			  m->a->name, part_name[p], (unsigned long long)length(m, p),
			  (unsigned long long)want);
}

static int check_forms(const struct making *m, struct ls_err *err)
{
	int rc = 0;
	for (int p = 0; p < LS_PARTS && rc == 0; p++)
		rc = check_type(m, (enum ls_array_part)p, err);
	if (rc)
		return rc;
	if (length(m, LS_PART_INDPTR) < 2)
		return ls_err_set(err, LS_EINPUT, "%s: no rows", m->a->name);
	uint64_t rows = length(m, LS_PART_INDPTR) - 1, entries = length(m, LS_PART_INDICES);
	rc = check_length(m, LS_PART_VALUES, entries, err);
	if (rc == 0)
		rc = check_length(m, LS_PART_FIELDS, entries, err);
	if (rc == 0)
		rc = check_length(m, LS_PART_LABELS, rows, err);
	return rc ? rc : check_length(m, LS_PART_WEIGHTS, rows, err);
}

/* --- the arrays, one after the other --- */

static bool is_aligned(const struct ls_tensor *t)
{
	return (uintptr_t)t->data % t->elem_size == 0;
}

/* 64-bit offsets that ascend from 0 to the number of entries are used where they lie. */
static bool can_borrow_start(const struct ls_tensor *t, uint64_t entries)
{
	const uint64_t *v = (const void *)t->data;
	uint64_t n = t->shape[0];
	bool good = (t->dtype == LS_DT_I64 || t->dtype == LS_DT_U64) && is_aligned(t) && v[0] == 0;
	for (uint64_t i = 1; i < n && good; i++)
		good = v[i] >= v[i - 1];
	return good && v[n - 1] == entries;
}

static void keep(struct making *m, void *block)
{
	m->blocks[m->n_blocks++] = block;
}

static int take_start(struct making *m, struct ls_err *err)
{
	const struct ls_tensor *t = part(m, LS_PART_INDPTR);
	struct ls_csr c = {.n_entries = length(m, LS_PART_INDICES)};
	m->rows.n_rows = t->shape[0] - 1;
	m->rows.n_entries = c.n_entries;
	m->rows.start = (const void *)t->data;
	if (can_borrow_start(t, c.n_entries))
		return 0;
	int rc = ls_csr_fill_start(t, m->a->name, &c, err);
	keep(m, c.start);
	m->rows.start = c.start;
	return rc;
}

/* 32-bit columns, none of them negative, are used where they lie. */
static bool can_borrow_features(const struct making *m, const struct ls_tensor *t,
				uint64_t *ret_features)
{
	const uint32_t *v = (const void *)t->data;
	uint64_t limit = t->dtype == LS_DT_I32 ? INT32_MAX : UINT32_MAX;
	uint32_t most = 0;
	if ((t->dtype != LS_DT_I32 && t->dtype != LS_DT_U32) || !is_aligned(t))
		return false;
	for (uint64_t i = 0; i < t->shape[0]; i++)
		most = v[i] > most ? v[i] : most;
	if (most > limit || (t->shape[0] && most >= m->a->columns))
		return false;
	*ret_features = t->shape[0] ? (uint64_t)most + 1 : 0;
	return true;
}

static int take_features(struct making *m, struct ls_err *err)
{
	const struct ls_tensor *t = part(m, LS_PART_INDICES);
	struct ls_csr c = {.n_entries = t->shape[0]};
	m->rows.feature = (const void *)t->data;
	if (can_borrow_features(m, t, &m->rows.n_features))
		return 0;
	int rc = ls_csr_fill_features(t, m->a->name, m->a->columns, &c, err);
	keep(m, c.feature);
	m->rows.feature = c.feature;
	m->rows.n_features = c.n_features;
	return rc;
}

static int bad_field(const struct making *m, uint64_t i, int64_t v, struct ls_err *err)
{
	return ls_err_set(err, LS_EINPUT, "%s: fields[%llu] is %lld: not a field from 0 to %d",
			  m->a->name, (unsigned long long)i, (long long)v, MAX_FIELD);
}

static int take_fields(struct making *m, struct ls_err *err)
{
	const struct ls_tensor *t = part(m, LS_PART_FIELDS);
	if (!t)
		return 0;
	uint16_t *field = ls_alloc_array(t->shape[0], sizeof *field);
	if (!field)
		return ls_err_set(err, LS_ENOMEM, "%s: no memory for its rows", m->a->name);
	keep(m, field);
	for (uint64_t i = 0; i < t->shape[0]; i++) {
		int64_t v = ls_csr_integer(t, i);
		if (v < 0 || v > MAX_FIELD)
			return bad_field(m, i, v, err);
		field[i] = (uint16_t)v;
		if (v >= (int64_t)m->rows.n_fields)
			m->rows.n_fields = (uint32_t)v + 1;
	}
	m->rows.field = field;
	return 0;
}

/* Floats from least on, all finite, are used where they lie. */
static bool can_borrow_floats(const struct ls_tensor *t, float least)
{
	const float *v = (const void *)t->data;
	if (t->dtype != LS_DT_F32 || !is_aligned(t))
		return false;
	bool good = true;
	for (uint64_t i = 0; i < t->shape[0]; i++)
		good &= v[i] >= least && v[i] <= FLT_MAX;
	return good;
}

static int take_floats(struct making *m, enum ls_array_part p, float least, const float **ret,
		       struct ls_err *err)
{
	const struct ls_tensor *t = part(m, p);
	float *own = NULL;
	if (!t)
		return 0;
	*ret = (const void *)t->data;
	if (can_borrow_floats(t, least))
		return 0;
	int rc = ls_csr_floats(t, m->a->name, part_name[p], least, false, &own, err);
	keep(m, own);
	*ret = own;
	return rc;
}

/* Rows whose values are all 1 are trained on without them. */
static void drop_ones(struct ls_rows *rows)
{
	bool ones = true;
	for (uint64_t i = 0; i < rows->n_entries && rows->value && ones; i++)
		ones = rows->value[i] == 1;
	if (ones)
		rows->value = NULL;
}

int ls_data_from_arrays(const struct ls_arrays *a, int threads, struct ls_data **ret,
			struct ls_err *err)
{
	struct making m = {.a = a};
	int rc = check_forms(&m, err);
	if (rc == 0)
		rc = take_start(&m, err);
	if (rc == 0)
		rc = take_features(&m, err);
	if (rc == 0)
		rc = take_fields(&m, err);
	if (rc == 0)
		rc = take_floats(&m, LS_PART_VALUES, -FLT_MAX, &m.rows.value, err);
	if (rc == 0)
		rc = take_floats(&m, LS_PART_LABELS, -FLT_MAX, &m.rows.label, err);
	if (rc == 0)
		rc = take_floats(&m, LS_PART_WEIGHTS, 0, &m.rows.weight, err);
	if (rc == 0) {
		drop_ones(&m.rows);
		ls_data_of_rows_take(a->name, &m.rows, m.blocks, m.n_blocks, threads, ret);
	}
	for (size_t i = 0; i < m.n_blocks && rc; i++)
		free(m.blocks[i]);
	return rc;
}
