#include "watch/throughput.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "job/metric_file.h"

enum { MEDIAN_OF = 9, LEAST = 2 * MEDIAN_OF, MOST_A_LOOK = 1 << 20, HEADING = 1 << 16 };

struct ls_throughput {
	char *file;
	enum ls_metric_kind kind;
	char *heading;      /* the first line of CSV, with its newline */
	off_t at;           /* bytes read */
	struct ls_str rest; /* the begin of a line whose end is not written yet */
	char *rate;         /* the name of the rates that the program writes, or NULL */
	bool stepped;
	int64_t step;     /* the last one */
	double step_time; /* when it was seen */
	double step_gap;  /* seconds that it took, as a mean of the last ones */
	double rate_time; /* when a written rate was seen */
	double rate_gap;  /* seconds between two such moments, as a mean; 0: not known */
	double last[MEDIAN_OF];
	unsigned long n; /* rates so far */
	double best;
	bool damaged; /* the last text was no metrics */
};

int ls_throughput_new(const char *file, struct ls_throughput **ret, struct ls_err *err)
{
	enum ls_metric_kind kind = ls_metric_kind_of(file);
	if (kind != LS_METRIC_LINES && kind != LS_METRIC_CSV && kind != LS_METRIC_TSV)
		return ls_err_set(err, LS_EINPUT,
				  "%s: a file of metrics must end in .jsonl, .ndjson, .csv or .tsv",
				  file);
	*ret = ls_xalloc(sizeof **ret);
	(*ret)->file = ls_xstrdup(file);
	(*ret)->kind = kind;
	return 0;
}

static void forget(struct ls_throughput *t)
{
	free(t->rate);
	t->rate = NULL;
	t->stepped = false;
	t->step_gap = t->best = t->rate_gap = t->rate_time = 0;
	t->n = 0;
}

void ls_throughput_free(struct ls_throughput *t)
{
	if (!t)
		return;
	free(t->file);
	free(t->heading);
	free(t->rate);
	ls_str_done(&t->rest);
	free(t);
}

/* --- rates --- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(const struct ls_throughput *t)
{
	double sorted[MEDIAN_OF];
	memcpy(sorted, t->last, sizeof sorted);
	qsort(sorted, MEDIAN_OF, sizeof *sorted, by_value);
	return sorted[MEDIAN_OF / 2];
}

static void add_rate(struct ls_throughput *t, double rate)
{
	if (!isfinite(rate) || rate < 0)
		return;
	t->last[t->n++ % MEDIAN_OF] = rate;
	if (t->n >= MEDIAN_OF)
		t->best = fmax(t->best, median(t));
}

/* What programs call a rate: "samples_per_second", "train/tokens_per_sec", "rows/s". */
static bool names_rate(const char *name)
{
	static const char *const ends[] = {"per_second", "per_sec", "_per_s",    "/s",
					   "/sec",       "_sec",    "throughput"};
	if (strstr(name, "sec_per") || strstr(name, "seconds_per"))
		return false;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (ls_str_ends(name, ends[i]) && strcmp(name, "elapsed_sec") != 0)
			return true;
	return false;
}

/* A step that goes back is that of another run. */
static void add_step(struct ls_throughput *t, int64_t step, double now)
{
	if (t->stepped && step < t->step)
		forget(t);
	if (t->stepped && step > t->step && now > t->step_time) {
		double gap = now - t->step_time;
		t->step_gap = t->step_gap > 0 ? 0.8 * t->step_gap + 0.2 * gap : gap;
		add_rate(t, (double)(step - t->step) / gap);
	}
	if (!t->stepped || step > t->step) {
		t->step = step;
		t->step_time = now;
	}
	t->stepped = true;
}

/* Several rates that are read at once are one moment. */
static void note_rate(struct ls_throughput *t, double now)
{
	double gap = now - t->rate_time;
	if (gap <= 0)
		return;
	if (t->rate_time > 0)
		t->rate_gap = t->rate_gap > 0 ? 0.8 * t->rate_gap + 0.2 * gap : gap;
	t->rate_time = now;
}

/* The first rate of the file is the one that is followed. */
static void take(struct ls_throughput *t, const struct ls_points *p, double now)
{
	int64_t step = -1;
	for (size_t i = 0; i < p->n; i++) {
		const struct ls_point *x = &p->items[i];
		const char *name = p->names[x->name];
		if (x->step != LS_POINT_COUNTED && x->step > step)
			step = x->step;
		if (!t->rate && names_rate(name)) {
			forget(t);
			t->rate = ls_xstrdup(name);
		}
		if (t->rate && strcmp(t->rate, name) == 0) {
			add_rate(t, x->value);
			note_rate(t, now);
		}
	}
	if (!t->rate && step >= 0)
		add_step(t, step, now);
}

/* --- text --- */

static void parse(struct ls_throughput *t, const char *text, size_t len, double now)
{
	struct ls_points points = {0};
	struct ls_err err = {0};
	struct ls_str whole = {0};
	bool cut = false;
	if (t->kind != LS_METRIC_LINES && !t->heading) {
		const char *newline = memchr(text, '\n', len);
		size_t line = newline ? (size_t)(newline + 1 - text) : 0;
		if (!line || line > HEADING)
			return;
		t->heading = ls_xstrndup(text, line);
		text += line;
		len -= line;
	}
	if (t->heading)
		ls_str_add(&whole, t->heading);
	ls_str_add_bytes(&whole, text, len);
	t->damaged = len && ls_metric_text_read(t->kind, whole.s, whole.len, false, &points, &cut,
						&err) != 0;
	take(t, &points, now);
	ls_points_done(&points);
	ls_str_done(&whole);
}

void ls_throughput_feed(struct ls_throughput *t, const char *text, size_t len, double now)
{
	const char *end = len ? memrchr(text, '\n', len) : NULL;
	size_t whole = end ? (size_t)(end + 1 - text) : 0;
	ls_str_add_bytes(&t->rest, text, whole);
	if (whole && t->rest.len) {
		parse(t, t->rest.s, t->rest.len, now);
		ls_str_done(&t->rest);
	}
	if (t->rest.len + (len - whole) <= MOST_A_LOOK) /* a line has an end */
		ls_str_add_bytes(&t->rest, text + whole, len - whole);
}

/* A file that has become shorter is a new one. */
static bool is_new(struct ls_throughput *t, int fd)
{
	struct stat st;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	if (st.st_size < t->at) {
		t->at = 0;
		free(t->heading);
		t->heading = NULL;
		ls_str_done(&t->rest);
		forget(t);
	}
	return st.st_size > t->at;
}

void ls_throughput_look(struct ls_throughput *t, double now)
{
	int fd = open(t->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (is_new(t, fd)) {
		char *text = ls_xalloc(MOST_A_LOOK);
		ssize_t n = pread(fd, text, MOST_A_LOOK, t->at);
		if (n > 0) {
			t->at += n;
			ls_throughput_feed(t, text, (size_t)n, now);
		}
		free(text);
	}
	close(fd);
}

bool ls_throughput_rates(const struct ls_throughput *t, double now, double *ret_now,
			 double *ret_best, const char **ret_why)
{
	if (t->n < LEAST || t->best <= 0) {
		*ret_why = t->damaged ? "it has no metrics that can be read"
				      : "there are not enough steps or rates yet";
		return false;
	}
	double rate = median(t), waits = now - (t->rate ? t->rate_time : t->step_time),
	       gap = t->rate ? t->rate_gap : t->step_gap;
	if (gap > 0 && waits > 3 * gap)
		rate = fmin(rate, rate * gap / waits);
	*ret_now = rate;
	*ret_best = t->best;
	return true;
}

const char *ls_throughput_file(const struct ls_throughput *t)
{
	return t->file;
}
