#include "fm/export/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/proc.h"
#include "fm/export/exact.h"
#include "num/num.h"
#include "num/philox.h"

enum { ROWS = 64, LONGEST = 24, SEED = 38, PATIENCE = 600 };

/* --- the sample --- */

static void fill_entry(struct ls_sample *s, const struct ls_fm_model *m, uint64_t row, uint64_t i)
{
	struct ls_u32x4 r = ls_philox(SEED, row, i);
	uint64_t known = m->n_features ? r.v[0] % m->n_features : 0;
	bool unknown = r.v[1] % 11 == 0 || m->n_features == 0;
	s->feature[i] =
		unknown && m->n_features < UINT32_MAX ? (uint32_t)m->n_features : (uint32_t)known;
	if (s->field)
		s->field[i] = (uint16_t)(row % 2 ? r.v[2] % m->n_fields
						 : (i - s->start[row]) % m->n_fields);
	s->value[i] = row % 3 == 0 ? 1.0f : ls_symf(r.v[3]) * 2.0f;
}

static void fill(struct ls_sample *s, const struct ls_fm_model *m)
{
	for (uint64_t row = 0; row < ROWS; row++) {
		s->start[row + 1] = s->start[row] + row % (LONGEST + 1);
		for (uint64_t i = s->start[row]; i < s->start[row + 1]; i++)
			fill_entry(s, m, row, i);
	}
	s->rows = (struct ls_rows){.n_rows = ROWS,
				   .n_entries = s->start[ROWS],
				   .n_features = m->n_features + 1,
				   .n_fields = m->n_fields,
				   .start = s->start,
				   .feature = s->feature,
				   .field = s->field,
				   .value = s->value};
}

struct ls_sample *ls_sample_new(const struct ls_fm_model *m)
{
	struct ls_sample *s = ls_xalloc(sizeof *s);
	s->start = ls_xalloc(sizeof *s->start * (ROWS + 1));
	s->feature = ls_xalloc(sizeof *s->feature * ROWS * LONGEST);
	s->field = m->n_fields ? ls_xalloc(sizeof *s->field * ROWS * LONGEST) : NULL;
	s->value = ls_xalloc(sizeof *s->value * ROWS * LONGEST);
	s->score = ls_xalloc(sizeof *s->score * ROWS * m->outputs);
	fill(s, m);
	return s;
}

void ls_sample_free(struct ls_sample *s)
{
	if (!s)
		return;
	free(s->start);
	free(s->feature);
	free(s->field);
	free(s->value);
	free(s->score);
	free(s);
}

void ls_sample_score_exact(struct ls_sample *s, const struct ls_params *p)
{
	uint64_t saved = ls_fp_enter();
	for (uint64_t row = 0; row < s->rows.n_rows; row++)
		ls_exact_score(p, &s->rows, row, s->score + row * p->m->outputs);
	ls_fp_leave(saved);
}

/* --- the runtime --- */

/* Padded: index and field (int64), value and score (float32), one array after another. */
static char *sample_bytes(const struct ls_sample *s, uint32_t outputs, size_t *ret_len)
{
	const size_t cells = ROWS * LONGEST;
	struct ls_str all = {0};
	int64_t *index = ls_xalloc(sizeof *index * cells),
		*field = ls_xalloc(sizeof *field * cells);
	float *value = ls_xalloc(sizeof *value * cells);
	for (size_t row = 0; row < ROWS; row++)
		for (size_t c = 0; c < LONGEST; c++) {
			uint64_t i = s->start[row] + c;
			bool there = i < s->start[row + 1];
			index[row * LONGEST + c] = there ? (int64_t)s->feature[i] : -1;
			field[row * LONGEST + c] = there && s->field ? s->field[i] : -1;
			value[row * LONGEST + c] = there ? s->value[i] : 0.0f;
		}
	ls_str_add_bytes(&all, index, sizeof *index * cells);
	ls_str_add_bytes(&all, field, sizeof *field * cells);
	ls_str_add_bytes(&all, value, sizeof *value * cells);
	ls_str_add_bytes(&all, s->score, sizeof *s->score * ROWS * outputs);
	free(index);
	free(field);
	free(value);
	*ret_len = all.len;
	return ls_str_take(&all);
}

static void copy_text(const json_t *answer, const char *key, char *ret, size_t size)
{
	struct ls_str clean = {0};
	const char *text = json_string_value(json_object_get(answer, key));
	ls_str_add_printable(&clean, text ? text : "");
	snprintf(ret, size, "%s", clean.s ? clean.s : "");
	ls_str_done(&clean);
}

/* The object is the last line that Python printed. */
static json_t *last_line(char *out)
{
	json_t *doc = NULL;
	char *text = out ? ls_str_trim(out) : NULL, *line = text ? strrchr(text, '\n') : NULL;
	line = line ? line + 1 : text;
	if (!line || ls_json_parse(line, strlen(line), "ONNX Runtime", &doc, NULL) ||
	    !json_is_object(doc)) {
		json_decref(doc);
		return NULL;
	}
	return doc;
}

static int judge(const struct ls_params *p, const json_t *answer, struct ls_verdict *v,
		 struct ls_err *err)
{
	char fault[256];
	const json_t *largest = json_object_get(answer, "largest");
	copy_text(answer, "runtime", v->runtime, sizeof v->runtime);
	copy_text(answer, "missing", v->why, sizeof v->why);
	copy_text(answer, "fault", fault, sizeof fault);
	v->ran = !*v->why;
	v->largest = json_number_value(largest);
	if (!v->ran)
		return 0;
	if (!*fault && !json_is_number(largest))
		snprintf(fault, sizeof fault, "it gave no scores");
	if (*fault)
		return ls_err_set(err, LS_EDIFFER, "ONNX Runtime %s: %s", v->runtime, fault);
	double most = p->form == LS_EXPORT_EXACT ? 0 : LS_EXPORT_TOLERANCE;
	if (!(v->largest <= most))
		return ls_err_set(
			err, LS_EDIFFER,
			"ONNX Runtime %s gives other scores: the largest difference is %.3g",
			v->runtime, v->largest);
	return 0;
}

static int ask(const struct ls_params *p, const char *file, const char *python, const char *scratch,
	       struct ls_verdict *v, struct ls_err *err)
{
	const struct ls_blob *script = ls_embed_find("python/probe/onnx_verify.py");
	char outputs[24], rows[24], entries[24];
	struct ls_proc_result r = {0};
	snprintf(outputs, sizeof outputs, "%" PRIu32, p->m->outputs);
	snprintf(rows, sizeof rows, "%d", ROWS);
	snprintf(entries, sizeof entries, "%d", LONGEST);
	if (!script)
		return ls_err_set(err, LS_EINTERNAL, "the script is not in this program");
	const char *const argv[] = {
		python,  "-c",    (const char *)script->data,   file, scratch, rows,
		entries, outputs, ls_export_form_name(p->form), NULL};
	int rc = ls_proc_run(argv, PATIENCE, &r, err);
	json_t *answer = rc == 0 ? last_line(r.out.s) : NULL;
	if (rc == 0 && !answer)
		rc = ls_err_set(err, LS_EDIFFER,
				"%s could not run it%s: it ended with status %d%s%.300s", python,
				r.timed_out ? " in time" : "", r.status, r.err.len ? ": " : "",
				r.err.s ? ls_str_trim(r.err.s) : "");
	if (rc == 0)
		rc = judge(p, answer, v, err);
	json_decref(answer);
	ls_proc_result_done(&r);
	return rc;
}

int ls_export_verify(const struct ls_params *p, const char *file, const char *python,
		     const struct ls_sample *s, const char *scratch, struct ls_verdict *ret,
		     struct ls_err *err)
{
	size_t len;
	char *bytes = sample_bytes(s, p->m->outputs, &len);
	*ret = (struct ls_verdict){.rows = ROWS};
	int rc = ls_file_write_atomic(scratch, bytes, len, err);
	free(bytes);
	return rc ? rc : ask(p, file, python, scratch, ret, err);
}
