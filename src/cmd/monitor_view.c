#include "cmd/monitor_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "watch/report.h"

/* Where the next line goes. */
struct pen {
	struct ls_screen *to;
	int row, rows, columns;
};

/* --- values over time --- */

static void add_point(struct ls_view_line *l, bool known, double share)
{
	l->points[l->n++ % LS_VIEW_POINTS] = known ? (float)fmin(1, fmax(0, share)) : -1;
}

void ls_view_add(struct ls_view *v, const struct ls_sample *s)
{
	add_point(&v->cpu, s->host.has_cpu, s->host.cpu);
	for (unsigned i = 0; i < s->n_gpus && i < LS_SAMPLE_GPUS; i++) {
		const struct ls_meter_reading *r = &s->gpus[i].r;
		double use = 0, used = 0, total = 0;
		bool known = ls_meter_value(r, LS_METER_UTILIZATION, &use);
		add_point(&v->use[i], known, use / 100);
		known = ls_meter_value(r, LS_METER_MEMORY_USED, &used) &&
			ls_meter_value(r, LS_METER_MEMORY_TOTAL, &total) && total > 0;
		add_point(&v->memory[i], known, known ? used / total : 0);
	}
}

/* The last `width` points, the newest on the right. */
static int put_line(struct ls_screen *to, int row, int column, int width,
		    const struct ls_view_line *l, enum ls_ink ink)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const plain[] = {"_", ".", "-", "=", "+", "*", "%", "#"};
	const char *const *levels = ls_screen_has_blocks(to) ? blocks : plain;
	unsigned long kept = l->n < LS_VIEW_POINTS ? l->n : LS_VIEW_POINTS;
	for (int i = 0; i < width; i++) {
		unsigned long back = (unsigned long)(width - i);
		float share = back > kept ? -1 : l->points[(l->n - back) % LS_VIEW_POINTS];
		int level = (int)(share * 7.999F);
		ls_screen_put(to, row, column + i, ink, share < 0 ? " " : levels[level]);
	}
	return column + width;
}

/* --- lines --- */

static bool has_room(const struct pen *p)
{
	return p->row < p->rows - 1; /* the last row is that of the keys */
}

static void put(struct pen *p, enum ls_ink ink, const char *text)
{
	if (has_room(p))
		ls_screen_put(p->to, p->row++, 0, ink, text);
}

/* Columns of a text of UTF-8; none of its characters is wide. */
static int width_of(const char *text)
{
	int n = 0;
	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

enum { INDENT = 9 }; /* of advice, and of what goes on from the row above */

/* In at most three rows, of which the first begins at `first`. */
static void put_wrapped(struct pen *p, enum ls_ink ink, int first, const char *text)
{
	enum { MOST = 3 };
	struct ls_str line = {0};
	char *copy = ls_xstrdup(text), *save = NULL;
	int column = first, rows = 1;
	ls_str_addf(&line, "%*s", first, "");
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		bool begins = column == first && rows == 1;
		if (!begins && column + 1 + width_of(word) > p->columns && rows < MOST) {
			put(p, ink, line.s);
			ls_str_done(&line);
			ls_str_addf(&line, "%*s", INDENT, "");
			column = INDENT;
			rows++;
		} else if (!begins) {
			ls_str_add(&line, " ");
			column++;
		}
		ls_str_add(&line, word);
		column += width_of(word);
	}
	put(p, ink, line.s);
	ls_str_done(&line);
	free(copy);
}

static enum ls_ink ink_of(enum ls_health h)
{
	return h == LS_HEALTH_CRITICAL  ? LS_INK_RED
	       : h == LS_HEALTH_WARN    ? LS_INK_YELLOW
	       : h == LS_HEALTH_UNKNOWN ? LS_INK_CYAN
					: LS_INK_GREEN;
}

static void draw_head(const struct ls_view *v, struct pen *p, const struct ls_sample *s,
		      const struct ls_judge *j)
{
	char clock[32] = "", text[256];
	time_t t = (time_t)s->time;
	struct tm tm;
	enum ls_health worst = ls_judge_worst(j);
	if (localtime_r(&t, &tm))
		strftime(clock, sizeof clock, "%H:%M:%S", &tm);
	if (s->has_nvml)
		snprintf(text, sizeof text, "lockstep monitor  driver %.40s  %u GPU%s  ", s->driver,
			 s->n_gpus, s->n_gpus == 1 ? "" : "s");
	else
		snprintf(text, sizeof text, "lockstep monitor  no GPU  ");
	int column = ls_screen_put(p->to, p->row, 0, LS_INK_BOLD, text);
	column = ls_screen_put(p->to, p->row, column, ink_of(worst), ls_health_name(worst));
	snprintf(text, sizeof text, "  %s every %g s%s", clock, v->interval,
		 v->paused ? "  PAUSED" : "");
	ls_screen_put(p->to, p->row++, column, LS_INK_DIM, text);
	if (!s->has_nvml) {
		snprintf(text, sizeof text, "No GPU is watched: %.200s.", s->no_nvml);
		put(p, LS_INK_CYAN, text);
	}
}

static void draw_host(const struct ls_view *v, struct pen *p, const struct ls_sample *s)
{
	enum { LEAST = 10, MOST = 60 };
	struct ls_str text = {0};
	ls_report_host(&s->host, &text);
	if (text.len && has_room(p)) {
		text.s[text.len - 1] = 0; /* without its newline */
		int column = width_of(text.s) + 2, row = p->row, width = p->columns - column;
		put_wrapped(p, LS_INK_PLAIN, 0, text.s);
		if (width >= LEAST)
			put_line(p->to, row, column, width < MOST ? width : MOST, &v->cpu,
				 LS_INK_CYAN);
	}
	ls_str_done(&text);
}

/* --- GPUs --- */

static enum ls_ink gpu_ink(const struct ls_judge *j, unsigned gpu)
{
	enum ls_ink ink = LS_INK_GREEN;
	for (size_t i = 0; i < ls_judge_count(j); i++) {
		const struct ls_verdict *v = ls_judge_verdict(j, i);
		if (v->gpu != (int)gpu || v->health == LS_HEALTH_OK ||
		    v->health == LS_HEALTH_NOT_JUDGED)
			continue;
		if (v->health == LS_HEALTH_CRITICAL)
			return LS_INK_RED;
		ink = ink_of(v->health);
	}
	return ink;
}

/* Where the columns of GPUs are. With `state` what else is known of a GPU has a row of its
 * own, otherwise temperature and power stand in the same one. */
struct columns {
	int name, line;
	bool state;
};

enum { INDEX = 4, USE = 7, MEMORY = 26, STATE = 16, LINE_LEAST = 4 };

static struct columns columns_of(const struct pen *p, bool state)
{
	struct columns c = {.name = p->columns < 100 ? 12 : 20, .state = state};
	int left = p->columns - INDEX - c.name - USE - MEMORY - (state ? 0 : STATE);
	c.line = left / 2 < LINE_LEAST ? LINE_LEAST : left / 2;
	return c;
}

static void draw_gpu_head(struct pen *p, const struct columns *c)
{
	struct ls_str text = {0};
	ls_str_addf(&text, "GPU %-*s%*s %-*s%*s %-*s", c->name, "NAME", USE - 1, "USE", c->line, "",
		    MEMORY - 1, "MEMORY     ", c->line, "");
	if (!c->state)
		ls_str_add(&text, "  TEMP   POWER");
	put(p, LS_INK_BOLD, text.s);
	ls_str_done(&text);
}

/* "NVIDIA" tells least where there is little room. */
static const char *name_of(const struct ls_watch_gpu *g, const struct columns *c)
{
	static const char maker[] = "NVIDIA ";
	bool cut = (int)strlen(g->name) > c->name && ls_str_starts(g->name, maker);
	return *g->name ? g->name + (cut ? strlen(maker) : 0) : "-";
}

/* "  2 NVIDIA H200             93 % ▁▃▇█   70.2/140.4 GiB  50 % ▄▄▄▄  61 C   513 W" */
static void draw_gpu_use(const struct ls_view *v, struct pen *p, const struct ls_watch_gpu *g,
			 unsigned i, enum ls_ink ink, const struct columns *c)
{
	char text[160], use[LS_REPORT_CELL], memory[LS_REPORT_CELL], temperature[LS_REPORT_CELL],
		power[LS_REPORT_CELL];
	snprintf(text, sizeof text, "%3u %-*.*s", i, c->name, c->name, name_of(g, c));
	int column = ls_screen_put(p->to, p->row, 0, ink, text);
	ls_report_number(g, LS_METER_UTILIZATION, 1, " %", use);
	snprintf(text, sizeof text, "%*.20s ", USE - 1, use);
	column = ls_screen_put(p->to, p->row, column, LS_INK_BOLD, text);
	column = put_line(p->to, p->row, column, c->line, &v->use[i], LS_INK_GREEN);
	ls_report_memory(g, memory);
	snprintf(text, sizeof text, "%*.40s ", MEMORY - 1, memory);
	column = ls_screen_put(p->to, p->row, column, LS_INK_BOLD, text);
	column = put_line(p->to, p->row, column, c->line, &v->memory[i], LS_INK_CYAN);
	if (!c->state) {
		ls_report_number(g, LS_METER_TEMPERATURE, 1, " C", temperature);
		ls_report_number(g, LS_METER_POWER, 1, " W", power);
		snprintf(text, sizeof text, "%6.10s %7.10s", temperature, power);
		ls_screen_put(p->to, p->row, column, LS_INK_BOLD, text);
	}
	p->row++;
}

static void draw_gpu_state(struct pen *p, const struct ls_watch_gpu *g)
{
	char text[400], temperature[LS_REPORT_CELL], power[LS_REPORT_CELL], clock[LS_REPORT_CELL],
		state[LS_NVML_TEXT];
	ls_report_number(g, LS_METER_TEMPERATURE, 1, " C", temperature);
	ls_report_pair(g, LS_METER_POWER, LS_METER_POWER_LIMIT, 1, " W", power);
	ls_report_pair(g, LS_METER_CLOCK_SM, LS_METER_CLOCK_SM_MAX, 1e-6, " MHz", clock);
	ls_report_state(g, state);
	snprintf(text, sizeof text, "    %s  %s  %s  throttle: %s", temperature, power, clock,
		 state);
	if (g->lost)
		snprintf(text, sizeof text, "    %s", state);
	put(p, g->lost ? LS_INK_RED : LS_INK_DIM, text);
}

/* Two rows a GPU where they leave half of the screen, otherwise one. */
static void draw_gpus(const struct ls_view *v, struct pen *p, const struct ls_sample *s,
		      const struct ls_judge *j)
{
	enum { HEAD = 16 }; /* rows from which on there is one for headings */
	const struct columns c = columns_of(p, 2 * (int)s->n_gpus <= p->rows / 2);
	int most = p->rows - 6;
	if (s->n_gpus && p->rows >= HEAD)
		draw_gpu_head(p, &c);
	for (unsigned i = 0; i < s->n_gpus && i < LS_SAMPLE_GPUS && has_room(p); i++) {
		if (p->row >= most && i + 1 < s->n_gpus) {
			char text[64];
			snprintf(text, sizeof text, "    … and %u GPUs more", s->n_gpus - i);
			put(p, LS_INK_DIM, text);
			return;
		}
		draw_gpu_use(v, p, &s->gpus[i], i, gpu_ink(j, i), &c);
		if (c.state || s->gpus[i].lost)
			draw_gpu_state(p, &s->gpus[i]);
	}
}

/* --- verdicts --- */

static void draw_verdict(struct pen *p, const struct ls_verdict *v)
{
	char text[700];
	snprintf(text, sizeof text, "%-8s %s: %s (%s)", ls_health_name(v->health), v->label,
		 v->rule->cause, v->evidence);
	put_wrapped(p, ink_of(v->health), 0, text);
	if (v->advice)
		put_wrapped(p, LS_INK_DIM, INDENT, v->advice);
}

/* The worst first. They leave three rows to programs. */
static void draw_verdicts(struct pen *p, const struct ls_judge *j)
{
	static const enum ls_health order[] = {LS_HEALTH_CRITICAL, LS_HEALTH_WARN,
					       LS_HEALTH_UNKNOWN};
	for (size_t o = 0; o < sizeof order / sizeof *order; o++)
		for (size_t i = 0; i < ls_judge_count(j); i++) {
			const struct ls_verdict *v = ls_judge_verdict(j, i);
			if (v->health == order[o] && p->row < p->rows - 5)
				draw_verdict(p, v);
		}
}

/* --- programs --- */

static int by_gpu(const struct ls_watch_process *a, const struct ls_watch_process *b)
{
	return a->gpu != b->gpu ? (a->gpu > b->gpu) - (a->gpu < b->gpu)
				: (a->p.pid > b->p.pid) - (a->p.pid < b->p.pid);
}

static int order_memory(const void *a, const void *b)
{
	const struct ls_watch_process *x = a, *y = b;
	uint64_t m = x->p.has_memory ? x->p.memory : 0, n = y->p.has_memory ? y->p.memory : 0;
	return m != n ? (m < n) - (m > n) : by_gpu(x, y);
}

static int order_gpu(const void *a, const void *b)
{
	return by_gpu(a, b);
}

static int order_pid(const void *a, const void *b)
{
	const struct ls_watch_process *x = a, *y = b;
	return x->p.pid != y->p.pid ? (x->p.pid > y->p.pid) - (x->p.pid < y->p.pid) : by_gpu(x, y);
}

static int order_name(const void *a, const void *b)
{
	const struct ls_watch_process *x = a, *y = b;
	int c = strcmp(x->owner.name, y->owner.name);
	return c ? c : by_gpu(x, y);
}

static const struct {
	const char *name;
	int (*compare)(const void *, const void *);
} orders[LS_VIEW_ORDERS] = {[LS_VIEW_BY_MEMORY] = {"memory", order_memory},
			    [LS_VIEW_BY_GPU] = {"GPU", order_gpu},
			    [LS_VIEW_BY_PID] = {"pid", order_pid},
			    [LS_VIEW_BY_NAME] = {"program", order_name}};

/* "45 s", "12 min", "2 h 05", "3 d 4 h" */
static void age_text(double seconds, char ret[16])
{
	enum { MINUTE = 60, HOUR = 3600, DAY = 86400, LONG = 1000 * DAY };
	int t = (int)fmin(seconds, LONG);
	if (t < MINUTE)
		snprintf(ret, 16, "%d s", t);
	else if (t < HOUR)
		snprintf(ret, 16, "%d min", t / MINUTE);
	else if (t < DAY)
		snprintf(ret, 16, "%d h %02d", t / HOUR, t % HOUR / MINUTE);
	else
		snprintf(ret, 16, "%d d %d h", t / DAY, t % DAY / HOUR);
}

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

/* Containers have a column where there is room. */
static bool has_containers(const struct pen *p)
{
	return p->columns >= 110;
}

static void draw_process(struct pen *p, const struct ls_watch_process *x, double now)
{
	char text[400], memory[LS_SIZE_TEXT] = "-", age[16] = "-", container[32] = "";
	if (x->p.has_memory)
		ls_str_of_size(x->p.memory, memory);
	if (x->started > 0 && now >= x->started)
		age_text(now - x->started, age);
	if (has_containers(p))
		snprintf(container, sizeof container, "%-13.13s ", or_dash(x->owner.container));
	snprintf(text, sizeof text, "%8u %3u %10s %-9.9s %8s  %-14.14s %-9.9s %s%s", x->p.pid,
		 x->gpu, memory, or_dash(x->owner.user), age, or_dash(x->owner.name),
		 or_dash(x->owner.job), container, or_dash(x->owner.experiment));
	put(p, LS_INK_PLAIN, text);
}

static void draw_processes(struct ls_view *v, struct pen *p, const struct ls_sample *s)
{
	int n = (int)s->n_processes, room = p->rows - 2 - p->row;
	if (!n || !has_room(p))
		return;
	struct ls_watch_process *sorted = ls_xalloc(s->n_processes * sizeof *sorted);
	memcpy(sorted, s->processes, s->n_processes * sizeof *sorted);
	qsort(sorted, s->n_processes, sizeof *sorted, orders[v->order].compare);
	v->scroll = v->scroll > n - room ? n - room : v->scroll;
	v->scroll = v->scroll < 0 ? 0 : v->scroll;
	put(p, LS_INK_BOLD,
	    has_containers(p)
		    ? "     PID GPU     MEMORY USER          TIME  PROGRAM        JOB       "
		      "CONTAINER     EXPERIMENT"
		    : "     PID GPU     MEMORY USER          TIME  PROGRAM        JOB       "
		      "EXPERIMENT");
	for (int i = v->scroll; i < n && has_room(p); i++)
		draw_process(p, &sorted[i], s->time);
	free(sorted);
}

/* --- experiments --- */

/* A line for the project and one for each training, the slowest of which stands out. */
static void draw_jobs(struct pen *p, const struct ls_jobs *j)
{
	enum { SHOWN = 6 };
	const struct ls_training_rate *slowest = ls_jobs_slowest(j);
	char text[400], speed[LS_REPORT_CELL * 2];
	if (j->asked && j->counted) {
		snprintf(text, sizeof text,
			 "EXPERIMENTS  %u running, %u queued, %u of a day's %u succeeded",
			 j->running, j->queued, j->done, j->ended);
		put(p, LS_INK_BOLD, text);
	}
	for (size_t i = 0; i < j->n_rates && i < SHOWN; i++) {
		const struct ls_training_rate *r = &j->rates[i];
		ls_report_rate(r, speed);
		snprintf(text, sizeof text, "     %-40.60s %s", r->name, speed);
		put(p, r == slowest && r->rate < 0.7 * r->best ? LS_INK_YELLOW : LS_INK_PLAIN,
		    text);
	}
	if (j->n_rates > SHOWN) {
		snprintf(text, sizeof text, "     … and %zu more", j->n_rates - SHOWN);
		put(p, LS_INK_DIM, text);
	}
}

/* --- all of it --- */

static void draw_help(struct pen *p)
{
	static const char *const lines[] = {
		"Keys",
		"",
		"  q  F10  Ctrl-C     quit",
		"  h  ?  F1           this help, and back",
		"  Space              stop the picture, and go on",
		"  +  -               look less often, more often",
		"  s  F6              sort programs by memory, GPU, pid, name",
		"  v                  without verdicts, and with them",
		"  arrows  j k  PgUp PgDn  Home End    scroll programs",
		"",
		"Lines show the last minutes, the newest on the right. A GPU has the colour of its",
		"worst verdict: green, yellow for a warning, red for critical, cyan for unknown.",
	};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		put(p, i ? LS_INK_PLAIN : LS_INK_BOLD, lines[i]);
}

static void draw_keys(const struct ls_view *v, const struct pen *p)
{
	char text[200];
	snprintf(text, sizeof text,
		 "F1 Help  F6 Sort by %s  v Verdicts  Space %s  +/- Interval  "
		 "F10 Quit",
		 orders[v->order].name, v->paused ? "Go on" : "Stop");
	ls_screen_put(p->to, p->rows - 1, 0, LS_INK_BAR, text);
}

void ls_view_draw(struct ls_view *v, struct ls_screen *to, const struct ls_sample *s,
		  const struct ls_judge *j)
{
	struct pen p = {.to = to};
	ls_screen_size(to, &p.rows, &p.columns);
	ls_screen_clear(to);
	if (v->help) {
		draw_help(&p);
	} else {
		draw_head(v, &p, s, j);
		draw_host(v, &p, s);
		p.row++;
		draw_gpus(v, &p, s, j);
		p.row += s->n_gpus > 0;
		if (!v->no_verdicts)
			draw_verdicts(&p, j);
		draw_jobs(&p, &s->jobs);
		draw_processes(v, &p, s);
	}
	draw_keys(v, &p);
	ls_screen_show(to);
}

static void change_interval(struct ls_view *v, double factor)
{
	v->interval = fmin(60, fmax(0.1, v->interval * factor));
}

void ls_view_key(struct ls_view *v, int key)
{
	enum { PAGE = 10, FAR = 1 << 20 };
	switch (key) {
	case 'q':
	case 'Q':
	case LS_KEY_F + 10:
		v->ended = true;
		break;
	case 'h':
	case '?':
	case LS_KEY_F + 1:
		v->help = !v->help;
		break;
	case LS_KEY_ESCAPE:
		v->help = false;
		break;
	case ' ':
		v->paused = !v->paused;
		break;
	case '+':
		change_interval(v, 2);
		break;
	case '-':
		change_interval(v, 0.5);
		break;
	case 's':
	case LS_KEY_F + 6:
		v->order = (v->order + 1) % LS_VIEW_ORDERS;
		break;
	case 'v':
		v->no_verdicts = !v->no_verdicts;
		break;
	case 'j':
	case LS_KEY_DOWN:
		v->scroll++;
		break;
	case 'k':
	case LS_KEY_UP:
		v->scroll--;
		break;
	case LS_KEY_PAGE_DOWN:
		v->scroll += PAGE;
		break;
	case LS_KEY_PAGE_UP:
		v->scroll -= PAGE;
		break;
	case LS_KEY_HOME:
		v->scroll = 0;
		break;
	case LS_KEY_END:
		v->scroll = FAR;
		break;
	default:
		break;
	}
}
