#include "stats/plot.h"

#include <math.h>
#include <string.h>

/* Pixels. */
enum {
	WIDTH = 760,
	LEFT = 190,
	RIGHT = 30,
	TOP = 34,
	ROW = 76,
	FOOT = 44,
	CURVE_LEFT = 84,
	CURVE_HEIGHT = 220,
	NAME_MOST = 24,        /* characters of a name that fit on the left, or in a legend */
	TITLE_MOST = 84,       /* of a title */
	CURVE_TITLE_MOST = 34, /* of a title beside a legend of two */
	SERIES = 4,
	DASHED_MOST = 300, /* points of a curve that can be dashed */
	POINTS_MOST = 60   /* of a curve whose points are drawn one by one */
};

static const char style[] =
	"<style>svg{--fg:#1a1f24;--bg:#fff;--soft:#59636e;--grid:#d8dee4;--c0:#2f66b0;--c1:#b8560f;"
	"--c2:#1a7f37;--c3:#8250df;background:var(--bg)}"
	"@media(prefers-color-scheme:dark){svg{--fg:#e6edf3;--bg:#0d1117;--soft:#9198a1;"
	"--grid:#30363d;--c0:#79a6e8;--c1:#f0883e;--c2:#3fb950;--c3:#d2a8ff}}"
	"text{font:12px ui-monospace,monospace;fill:var(--fg)}.t{font-size:14px;font-weight:600}"
	".s{fill:var(--soft)}.g{stroke:var(--grid)}.l{fill:none;stroke-width:1.8;"
	"stroke-linecap:round;stroke-linejoin:round}</style>";

/* --- axes --- */

struct axis {
	double low, high; /* shown */
	double from, to;  /* pixels of these */
	double tick;      /* distance of two */
	int decimals;     /* of a label; below 0: as %g */
};

/* 1, 2 or 5 times a power of ten, for about six of them. */
static double round_tick(double range)
{
	double power = pow(10, floor(log10(range / 5))), n = range / 5 / power;
	return power * (n < 1.5 ? 1 : n < 3.5 ? 2 : n < 7.5 ? 5 : 10);
}

static void axis_init(struct axis *a, double low, double high, double from, double to)
{
	double range = high - low, least = 1e-9 * fmax(fabs(low), fabs(high));
	if (!(range > least)) /* all equal, or closer than can be labelled */
		range = fmax(least * 1e3, low == 0 && high == 0 ? 1 : 1e-300);
	double middle = low + (high - low) / 2, half = 0.54 * range;
	*a = (struct axis){middle - half, middle + half, from, to, round_tick(2 * half), -1};
	double digits = -floor(log10(a->tick) + 1e-9);
	if (digits < 10 && fmax(fabs(low), fabs(high)) < 1e7)
		a->decimals = digits > 0 ? (int)digits : 0;
}

static double at(const struct axis *a, double v)
{
	return a->from + (v - a->low) / (a->high - a->low) * (a->to - a->from);
}

static void label(const struct axis *a, double v, char *ret, size_t size)
{
	if (fabs(v) < a->tick / 1e6)
		v = 0;
	if (a->decimals < 0)
		snprintf(ret, size, "%.8g", v);
	else
		snprintf(ret, size, "%.*f", a->decimals, v);
}

static void ticks(const struct axis *a, bool across, double start, double end, struct ls_str *out)
{
	char text[48];
	double first = ceil(a->low / a->tick);
	for (int i = 0; i < 20; i++) {
		double v = (first + i) * a->tick, p = at(a, v);
		if (v > a->high)
			break;
		label(a, v, text, sizeof text);
		if (across)
			ls_str_addf(out,
				    "<line class=\"g\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
				    "y2=\"%.1f\"/><text class=\"s\" x=\"%.1f\" y=\"%.1f\" "
				    "text-anchor=\"middle\">%s</text>",
				    p, p, start, end, p, end + 18, text);
		else
			ls_str_addf(out,
				    "<line class=\"g\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
				    "y2=\"%.1f\"/><text class=\"s\" x=\"%.1f\" y=\"%.1f\" "
				    "text-anchor=\"end\">%s</text>",
				    start, end, p, p, start - 8, p + 4, text);
	}
}

struct range {
	double low, high;
	bool any;
};

static void widen(struct range *r, double v)
{
	if (!isfinite(v))
		return;
	r->low = r->any ? fmin(r->low, v) : v;
	r->high = r->any ? fmax(r->high, v) : v;
	r->any = true;
}

/* A name, cut at whole characters where it has more than `most`. */
static void add_name(struct ls_str *out, const char *name, size_t most)
{
	char text[512];
	size_t bytes = 0, characters = 0;
	while (name[bytes] && bytes < sizeof text - 8 &&
	       (characters < most - 1 || ((unsigned char)name[bytes] & 0xc0) == 0x80)) {
		bytes++;
		characters += ((unsigned char)name[bytes] & 0xc0) != 0x80;
	}
	snprintf(text, sizeof text, "%.*s%s", (int)bytes, name, name[bytes] ? "…" : "");
	ls_str_add_html(out, text);
}

static void begin(struct ls_str *out, int height, const char *title, size_t most, const char *kind)
{
	ls_str_addf(out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" "
		    "height=\"%d\" viewBox=\"0 0 %d %d\" aria-label=\"",
		    WIDTH, height, WIDTH, height);
	ls_str_add_html(out, title);
	ls_str_addf(out, ": %s\">%s<text class=\"t\" x=\"12\" y=\"22\">", kind, style);
	add_name(out, title, most);
	ls_str_add(out, "</text>");
}

/* --- strips --- */

static void strip_range(const struct ls_plot_group *groups, size_t n, struct range *r)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < groups[i].n; k++)
			widen(r, groups[i].values[k]);
		if (groups[i].stats->kind == LS_STATS_SPREAD) {
			widen(r, groups[i].stats->low);
			widen(r, groups[i].stats->high);
		}
	}
}

static void summary(const struct ls_plot_group *g, double y, struct ls_str *out)
{
	const struct ls_stats_group *s = g->stats;
	ls_str_addf(out, "<text class=\"s\" x=\"12\" y=\"%.1f\">", y);
	if (s->kind == LS_STATS_SPREAD)
		ls_str_addf(out, "%.5g ± %.2g (%zu)", s->mean, s->sd, s->n);
	else if (s->kind == LS_STATS_ONE || s->kind == LS_STATS_EQUAL)
		ls_str_addf(out, "%.5g (%zu), spread unknown", s->mean, s->n);
	else if (s->kind == LS_STATS_NOT_FINITE)
		ls_str_addf(out, "%zu of %zu not finite", s->n - s->n_finite, s->n);
	else
		ls_str_add(out, "no value");
	ls_str_add(out, "</text>");
}

static void interval(const struct ls_stats_group *s, const struct axis *a, double y, size_t colour,
		     struct ls_str *out)
{
	if (s->kind != LS_STATS_SPREAD)
		return;
	double l = at(a, s->low), h = at(a, s->high), m = at(a, s->mean);
	ls_str_addf(out,
		    "<g style=\"stroke:var(--c%zu)\" stroke-width=\"2\"><title>mean %.9g, 95 %% "
		    "interval %.9g to %.9g</title>"
		    "<path d=\"M%.1f %.1fH%.1fM%.1f %.1fv10M%.1f %.1fv10\"/>"
		    "<path stroke-width=\"4\" d=\"M%.1f %.1fv14\"/></g>",
		    colour % SERIES, s->mean, s->low, s->high, l, y, h, l, y - 5, h, y - 5, m,
		    y - 7);
}

static void dots(const struct ls_plot_group *g, const struct axis *a, double y, size_t colour,
		 struct ls_str *out)
{
	for (size_t k = 0; k < g->n; k++) {
		if (!isfinite(g->values[k]))
			continue;
		/* spread over five heights, so that equal values are seen beside each
		 * other */
		double cy = y + 5 * ((double)(k % 5) - 2);
		ls_str_addf(out,
			    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" style=\"fill:var(--c%zu)\" "
			    "fill-opacity=\".65\"><title>",
			    at(a, g->values[k]), cy, colour % SERIES);
		ls_str_add_html(out, g->labels ? g->labels[k] : "");
		ls_str_addf(out, " %.9g</title></circle>", g->values[k]);
	}
}

void ls_plot_strip(const struct ls_plot_group *groups, size_t n, const char *metric,
		   struct ls_str *out)
{
	struct range r = {0};
	struct axis a;
	double end = TOP + ROW * (double)n;
	strip_range(groups, n, &r);
	axis_init(&a, r.low, r.high, LEFT, WIDTH - RIGHT);
	begin(out, (int)end + FOOT, metric, TITLE_MOST, "values and 95 % intervals of the means");
	if (r.any)
		ticks(&a, true, TOP, end, out);
	for (size_t i = 0; i < n; i++) {
		double y = TOP + ROW * (double)i;
		ls_str_addf(out, "<text x=\"12\" y=\"%.1f\"><title>", y + 28);
		ls_str_add_html(out, groups[i].name);
		ls_str_add(out, "</title>");
		add_name(out, groups[i].name, NAME_MOST);
		ls_str_add(out, "</text>");
		summary(&groups[i], y + 46, out);
		dots(&groups[i], &a, y + 26, i, out);
		interval(groups[i].stats, &a, y + 56, i, out);
	}
	ls_str_add(out, "</svg>\n");
}

/* --- curves --- */

/* Every second line is dashed, so that one below it is seen where both are equal; dashes
 * of a long and noisy curve would look like gaps, so the lower one shines through it. */
static void begin_line(struct ls_str *out, size_t colour, bool is_long)
{
	ls_str_addf(out, "<path class=\"l\" style=\"stroke:var(--c%zu)%s\" d=\"", colour % SERIES,
		    colour % 2 == 0 ? ""
		    : is_long       ? ";stroke-opacity:.65"
				    : ";stroke-dasharray:4 7");
}

static void legend(const struct ls_plot_series *series, size_t n, struct ls_str *out)
{
	for (size_t i = 0; i < n; i++) {
		double x = WIDTH - RIGHT - 205 * (double)(n - i);
		begin_line(out, i, series[i].n > DASHED_MOST);
		ls_str_addf(out, "M%.1f 15h20\"/><text x=\"%.1f\" y=\"19\">", x, x + 28);
		add_name(out, series[i].name, NAME_MOST);
		ls_str_add(out, "</text>");
	}
}

/* The points that fall on the same half pixel: as one stroke from the least to the most,
 * so that a long curve is no longer in the file than it is wide. */
struct column {
	double x, first, low, high, last;
	bool any;
};

static void end_column(struct column *c, bool *on, struct ls_str *out)
{
	if (!c->any)
		return;
	/* a point alone is a stroke of no length, which the round ends make a dot */
	ls_str_addf(out, *on ? "L%.1f %.1f" : "M%.1f %.1fh0", c->x, c->first);
	if (c->low < c->high)
		ls_str_addf(out, "V%.1fV%.1fV%.1f", c->low, c->high, c->last);
	c->any = false;
	*on = true;
}

static bool drawn(const struct ls_plot_series *s, size_t i)
{
	return isfinite(s->y[i]) && isfinite(s->x[i]);
}

static void line(const struct ls_plot_series *s, const struct axis *x, const struct axis *y,
		 size_t colour, struct ls_str *out)
{
	struct column c = {0};
	bool on = false;
	begin_line(out, colour, s->n > DASHED_MOST);
	for (size_t i = 0; i < s->n; i++) {
		double px = round(2 * at(x, s->x[i])) / 2, py = at(y, s->y[i]);
		if (!c.any || px != c.x || !drawn(s, i))
			end_column(&c, &on, out);
		on = on && drawn(s, i);
		if (!drawn(s, i))
			continue;
		if (!c.any)
			c = (struct column){px, py, py, py, py, true};
		c.low = fmin(c.low, py);
		c.high = fmax(c.high, py);
		c.last = py;
	}
	end_column(&c, &on, out);
	ls_str_add(out, "\"/>");
}

/* Points of a short curve, each with its value when pointed at. The first series has the
 * largest, so that it is seen below the others. */
static void points(const struct ls_plot_series *s, const struct axis *x, const struct axis *y,
		   size_t colour, struct ls_str *out)
{
	for (size_t i = 0; s->n <= POINTS_MOST && i < s->n; i++)
		if (drawn(s, i))
			ls_str_addf(out,
				    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" "
				    "style=\"fill:var(--c%zu)\"><title>step %.9g: "
				    "%.9g</title></circle>",
				    at(x, s->x[i]), at(y, s->y[i]),
				    3.6 - 0.7 * (double)(colour % SERIES), colour % SERIES, s->x[i],
				    s->y[i]);
}

static void marker(const struct axis *x, double step, double end, struct ls_str *out)
{
	if (isfinite(step))
		ls_str_addf(out,
			    "<path class=\"m\" style=\"stroke:var(--soft);stroke-dasharray:2 3\" "
			    "d=\"M%.1f %dV%.1f\"><title>step %.9g</title></path>",
			    at(x, step), TOP, end, step);
}

static void curve_axes(const struct ls_plot_series *series, size_t n, double end, struct axis *x,
		       struct axis *y, struct ls_str *out)
{
	struct range rx = {0}, ry = {0};
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < series[i].n; k++) {
			widen(&rx, series[i].x[k]);
			widen(&ry, series[i].y[k]);
		}
	axis_init(x, rx.low, rx.high, CURVE_LEFT, WIDTH - RIGHT);
	if (x->tick < 1) { /* steps are whole */
		x->tick = 1;
		x->decimals = 0;
	}
	axis_init(y, ry.low, ry.high, end, TOP);
	if (rx.any && ry.any) {
		ticks(x, true, TOP, end, out);
		ticks(y, false, CURVE_LEFT, WIDTH - RIGHT, out);
	}
}

void ls_plot_curves(const struct ls_plot_series *series, size_t n, const char *metric, double mark,
		    struct ls_str *out)
{
	struct axis x, y;
	n = n > SERIES ? SERIES : n;
	double end = TOP + CURVE_HEIGHT;
	begin(out, (int)end + FOOT, metric, CURVE_TITLE_MOST, "curves over steps");
	legend(series, n, out);
	curve_axes(series, n, end, &x, &y, out);
	marker(&x, mark, end, out);
	for (size_t i = 0; i < n; i++)
		line(&series[i], &x, &y, i, out);
	for (size_t i = 0; i < n; i++)
		points(&series[i], &x, &y, i, out);
	ls_str_addf(out, "<text class=\"s\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">step</text>",
		    WIDTH - RIGHT, end + 36);
	ls_str_add(out, "</svg>\n");
}
