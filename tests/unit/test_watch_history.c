/* Rings, the archive and the log of events: what is found again after a crash at any
 * byte. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "watch/archive.h"
#include "watch/events.h"
#include "watch/ring.h"

static char folder[] = "/tmp/ls-history-XXXXXX";
static const struct ls_ring_form form = {"a b", 2, 10};

static char *in_folder(const char *name)
{
	return ls_xasprintf("%s/%s", folder, name);
}

static void add(struct ls_ring *r, int from, int to)
{
	for (int i = from; i <= to; i++) {
		struct ls_ring_point p = {.time = i, .v = {(float)i, (float)-i}};
		assert_int_equal(ls_ring_add(r, &p, NULL), 0);
	}
}

static void show(void *ctx, const struct ls_ring_point *p)
{
	ls_str_addf(ctx, "%g:%g,%g ", p->time, (double)p->v[0], (double)p->v[1]);
}

static void expect(const struct ls_ring *r, double from, const char *want)
{
	struct ls_str out = {0};
	ls_ring_each(r, from, show, &out);
	assert_string_equal(out.s ? out.s : "", want);
	ls_str_done(&out);
}

static void rings(void **state)
{
	struct ls_ring *r;
	char *path = in_folder("ring");
	(void)state;
	assert_int_equal(ls_ring_open(path, &form, &r, NULL), 0);
	expect(r, 0, "");
	add(r, 1, 3);
	expect(r, 2, "3:3,-3 2:2,-2 ");
	ls_ring_close(r); /* nothing is written at the end: it is as if the process was killed */
	assert_int_equal(ls_ring_open(path, &form, &r, NULL), 0);
	add(r, 4, 13);
	expect(r, 11, "13:13,-13 12:12,-12 11:11,-11 ");
	ls_ring_close(r);
	assert_int_equal(ls_ring_open(path, &form, &r, NULL), 0);
	expect(r, 0,
	       "13:13,-13 12:12,-12 11:11,-11 10:10,-10 9:9,-9 8:8,-8 7:7,-7 6:6,-6 5:5,-5 "
	       "4:4,-4 ");
	ls_ring_close(r);
	free(path);
}

/* A clock that was wrong for a while hides nothing that was measured before. */
static void clock_set_back(void **state)
{
	struct ls_ring *r;
	(void)state;
	assert_int_equal(ls_ring_open(NULL, &form, &r, NULL), 0);
	add(r, 100, 102);
	add(r, 1, 2);
	add(r, 103, 104);
	expect(r, 101, "104:104,-104 103:103,-103 102:102,-102 101:101,-101 ");
	ls_ring_close(r);
}

static void damage(const char *path, off_t at)
{
	unsigned char c;
	int fd = open(path, O_RDWR);
	assert_int_equal(pread(fd, &c, 1, at), 1);
	c ^= 0x40;
	assert_int_equal(pwrite(fd, &c, 1, at), 1);
	close(fd);
}

/* A damaged byte costs its record and no other one; whichever byte it is. */
static void torn(void **state)
{
	enum { RECORD = 32, HEADER = 512 };
	char *path = in_folder("torn"), *old = in_folder("torn.old");
	struct ls_ring *r;
	(void)state;
	for (int byte = 0; byte < RECORD; byte++) {
		unlink(path);
		assert_int_equal(ls_ring_open(path, &form, &r, NULL), 0);
		add(r, 1, 4);
		ls_ring_close(r);
		damage(path, HEADER + 4 * RECORD + byte);
		assert_int_equal(ls_ring_open(path, &form, &r, NULL), 0);
		expect(r, 0, "3:3,-3 2:2,-2 1:1,-1 ");
		add(r, 5, 5);
		expect(r, 0, "5:5,-5 3:3,-3 2:2,-2 1:1,-1 ");
		ls_ring_close(r);
	}
	damage(path, 9);
	assert_int_equal(ls_ring_open(path, &form, &r, NULL), 0);
	expect(r, 0, "");
	assert_true(ls_file_exists(old));
	ls_ring_close(r);
	assert_int_equal(truncate(path, HEADER + RECORD * 2), 0);
	assert_int_equal(ls_ring_open(path, &form, &r, NULL), 0);
	add(r, 1, 10);
	expect(r, 9, "10:10,-10 9:9,-9 ");
	ls_ring_close(r);
	free(path);
	free(old);
}

static struct ls_watch_gpu gpu = {.uuid = "GPU-1/../x", .pci = "0000:01:00.0"};

static struct ls_sample sample(double time, int64_t utilization)
{
	struct ls_sample s = {
		.time = time, .steady = time, .has_nvml = true, .n_gpus = 1, .gpus = &gpu};
	gpu.r.valid[LS_METER_UTILIZATION] = gpu.r.valid[LS_METER_TEMPERATURE] = true;
	gpu.r.value[LS_METER_UTILIZATION] = utilization;
	gpu.r.value[LS_METER_TEMPERATURE] = utilization / 2;
	return s;
}

static void feed(struct ls_archive *a, int from, int to)
{
	for (int i = from; i < to; i++) {
		struct ls_sample s = sample(1000020 + i, i % 60);
		assert_int_equal(
			ls_archive_add(a, &s, i % 60 ? LS_HEALTH_OK : LS_HEALTH_WARN, NULL), 0);
	}
}

static const json_t *column(const json_t *all, const char *name)
{
	const json_t *g = json_array_get(json_object_get(all, "gpus"), 0);
	return json_object_get(g ? g : all, name);
}

static void archives(void **state)
{
	struct ls_archive *a, *second;
	struct ls_err err;
	char *path = in_folder("deep/er"), *ring = in_folder("deep/er/gpu-GPU-1x.seconds.ring");
	(void)state;
	assert_int_equal(ls_archive_open(path, &a, &err), 0);
	assert_int_equal(ls_archive_open(path, &second, &err), LS_EINPUT);
	feed(a, 0, 150);
	ls_archive_close(a);
	assert_true(ls_file_exists(ring));
	assert_int_equal(ls_archive_open(path, &a, &err), 0);
	feed(a, 150, 301);
	json_t *all = ls_archive_json(a, 1000020 + 300, 60, 0);
	const json_t *u = column(all, "utilization");
	assert_int_equal(json_array_size(u), 60);
	assert_true(json_real_value(json_array_get(u, 0)) == 1);
	assert_true(json_real_value(json_array_get(u, 58)) == 59);
	assert_true(json_is_null(json_array_get(column(all, "power"), 0)));
	json_decref(all);
	all = ls_archive_json(a, 1000020 + 300, 60, 20);
	u = column(all, "utilization");
	assert_int_equal(json_array_size(u), 3);
	assert_true(json_real_value(json_array_get(u, 1)) > 9 &&
		    json_real_value(json_array_get(u, 1)) < 50);
	json_decref(all);
	/* by the minute: the last one is not over */
	all = ls_archive_json(a, 1000020 + 300, 7 * 86400, 0);
	u = column(all, "utilization");
	size_t n = json_array_size(u);
	assert_in_range(n, 250, 300);
	const json_t *t = column(all, "temperature");
	const json_t *h = json_object_get(json_object_get(all, "host"), "health");
	for (size_t i = n - 2; i < n; i++)
		if (json_is_real(json_array_get(u, i))) {
			assert_true(fabs(json_real_value(json_array_get(u, i)) - 29.5) < 0.6);
			assert_true(json_real_value(json_array_get(t, i)) == 29); /* the highest */
			assert_true(json_real_value(json_array_get(h, i)) == 2);
		}
	assert_true(json_is_real(json_array_get(u, n - 1)) ||
		    json_is_real(json_array_get(u, n - 2)));
	json_decref(all);
	ls_archive_close(a);
	assert_int_equal(ls_archive_open(NULL, &a, &err), 0);
	feed(a, 0, 3);
	all = ls_archive_json(a, 1000022, 60, 0);
	assert_true(json_real_value(json_array_get(column(all, "utilization"), 59)) == 2);
	json_decref(all);
	ls_archive_close(a);
	free(path);
	free(ring);
}

/* A GPU whose history cannot be kept takes it from no other one. */
static void one_ring_that_cannot_be(void **state)
{
	struct ls_archive *a;
	struct ls_err err = {0};
	struct ls_watch_gpu two[2] = {{.uuid = "GPU-7"}, {.uuid = "GPU-8"}};
	struct ls_sample s = {.time = 1000020, .has_nvml = true, .n_gpus = 2, .gpus = two};
	char *path = in_folder("other"), *ring = in_folder("other/gpu-GPU-7.seconds.ring");
	(void)state;
	for (int i = 0; i < 2; i++) {
		two[i].r.valid[LS_METER_UTILIZATION] = true;
		two[i].r.value[LS_METER_UTILIZATION] = 50 + i;
	}
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(mkdir(ring, 0755), 0);
	assert_int_equal(ls_archive_open(path, &a, &err), 0);
	assert_int_not_equal(ls_archive_add(a, &s, LS_HEALTH_OK, &err), 0);
	json_t *all = ls_archive_json(a, 1000020, 60, 0), *gpus = json_object_get(all, "gpus");
	assert_int_equal(json_array_size(gpus), 1);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(gpus, 0), "index")), 1);
	assert_true(json_real_value(json_array_get(column(all, "utilization"), 59)) == 51);
	json_decref(all);
	ls_archive_close(a);
	free(path);
	free(ring);
}

static size_t count(struct ls_events *e)
{
	json_t *list = ls_events_json(e, 0, 100000);
	size_t n = json_array_size(list);
	json_decref(list);
	return n;
}

static void add_event(struct ls_events *e, double time, const char *text)
{
	struct ls_event_text t = {.time = time, .kind = "job", .text = text};
	assert_int_equal(ls_events_add(e, &t, NULL), 0);
}

/* The file is cut at every byte: whole lines are there, and the next one is not lost
 * either. */
static void events(void **state)
{
	struct ls_events *e;
	char *path = in_folder("events"), *text;
	size_t len;
	(void)state;
	assert_int_equal(ls_events_open(folder, &e, NULL), 0);
	add_event(e, 1, "one");
	add_event(e, 2, "two \x1b\xff");
	ls_events_close(e);
	assert_int_equal(ls_file_read(path, 4096, &text, &len, NULL), 0);
	size_t first = (size_t)(strchr(text, '\n') - text) + 1;
	for (size_t cut = 0; cut <= len; cut++) {
		assert_int_equal(ls_file_write_atomic(path, text, cut, NULL), 0);
		assert_int_equal(ls_events_open(folder, &e, NULL), 0);
		assert_int_equal(count(e), (cut >= first) + (cut == len));
		add_event(e, 3, "three");
		ls_events_close(e);
		assert_int_equal(ls_events_open(folder, &e, NULL), 0);
		assert_int_equal(count(e), (cut >= first) + (cut == len) + 1);
		ls_events_close(e);
	}
	text[20] ^= 1; /* a damaged line is passed over */
	assert_int_equal(ls_file_write_atomic(path, text, len, NULL), 0);
	assert_int_equal(ls_events_open(folder, &e, NULL), 0);
	assert_int_equal(count(e), 1);
	ls_events_close(e);
	free(text);
	free(path);
}

static off_t size_of(const char *name)
{
	struct stat st;
	char *path = in_folder(name);
	int rc = stat(path, &st);
	free(path);
	return rc ? -1 : st.st_size;
}

/* A disk that is full takes a part of a line; what is written later is whole again. */
static void disk_full(void **state)
{
	struct ls_events *e;
	struct ls_err err = {0};
	struct rlimit all, few;
	char *path = in_folder("events"), *old = in_folder("events.old");
	struct ls_event_text t = {.time = 3, .kind = "job", .text = "lost"};
	(void)state;
	unlink(path);
	unlink(old);
	assert_int_equal(ls_events_open(folder, &e, NULL), 0);
	add_event(e, 1, "one");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
	few = (struct rlimit){(rlim_t)size_of("events") + 10, all.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	int rc = ls_events_add(e, &t, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	assert_int_equal(rc, LS_EIO);
	assert_int_equal(count(e), 2); /* the page still shows it */
	add_event(e, 4, "later");
	ls_events_close(e);
	assert_int_equal(ls_events_open(folder, &e, NULL), 0);
	assert_int_equal(count(e), 2); /* the first one and the last one */
	ls_events_close(e);
	free(path);
	free(old);
}

static void cap(void **state)
{
	static char line[512], big[(4 << 20) - 4096];
	struct ls_events *e;
	char *path = in_folder("events");
	(void)state;
	memset(line, 'x', 300);
	memset(big, '\n', sizeof big);
	assert_int_equal(ls_file_write_atomic(path, big, sizeof big, NULL), 0);
	assert_int_equal(ls_events_open(folder, &e, NULL), 0);
	for (int i = 0; i < 30; i++)
		add_event(e, i, line);
	assert_int_equal(count(e), 30);
	ls_events_close(e);
	assert_in_range(size_of("events"), 1, 30 * 400);
	assert_in_range(size_of("events.old"), sizeof big, 4 << 20);
	free(path);
}

/* After a new start the kernel's log tells of the same Xid again. */
static void xid_once(void **state)
{
	struct ls_events *e;
	struct ls_rules *rules;
	struct ls_xid_table *xids;
	struct ls_err err;
	struct ls_judge_options o = {.expected = -1};
	char *path = in_folder("events"), *old = in_folder("events.old");
	(void)state;
	unlink(path);
	unlink(old);
	assert_int_equal(ls_rules_load(&rules, &err), 0);
	assert_int_equal(ls_xid_table_load(&xids, &err), 0);
	for (int start = 0; start < 3; start++) {
		struct ls_judge *j = ls_judge_new(rules, xids, &o);
		struct ls_watch_xid two[2] = {{0, "0000:01:00", 31, 900},
					      {0, "0000:01:00", 31, 901}};
		struct ls_sample s = sample(1000 + start, 1);
		s.xids = two;
		s.n_xids = 2;
		assert_int_equal(ls_events_open(folder, &e, NULL), 0);
		ls_judge_feed(j, &s);
		assert_int_equal(ls_events_look(e, &s, j, NULL), 0);
		ls_judge_free(j);
		json_t *list = ls_events_json(e, 0, 1000), *v;
		size_t i, n = 0;
		json_array_foreach(list, i, v) n +=
			strcmp(json_string_value(json_object_get(v, "kind")), "xid") == 0;
		assert_int_equal(n, 1);
		json_decref(list);
		ls_events_close(e);
	}
	ls_rules_free(rules);
	ls_xid_table_free(xids);
	free(path);
	free(old);
}

static int begin(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	char command[256];
	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings),
		cmocka_unit_test(clock_set_back),
		cmocka_unit_test(torn),
		cmocka_unit_test(archives),
		cmocka_unit_test(one_ring_that_cannot_be),
		cmocka_unit_test(events),
		cmocka_unit_test(cap),
		cmocka_unit_test(disk_full),
		cmocka_unit_test(xid_once),
	};
	return cmocka_run_group_tests_name("watch_history", tests, begin, end);
}
