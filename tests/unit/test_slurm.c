/* What is read from Slurm's programs, and what follows from it. A real Slurm is in
 * tests/slurm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "job/row.h"
#include "job/slurm_judge.h"
#include "job/slurm_partitions.h"
#include "job/slurm_words.h"

/* --- partitions --- */

static void add_line(struct ls_str *out, const char *const f[9])
{
	static const int widths[] = {128, 16, 32, 256, 32, 64, 32, 1024, 1024};
	for (int i = 0; i < 9; i++)
		ls_str_addf(out, "%-*s", widths[i], f[i]);
	ls_str_add(out, "\n");
}

static json_t *gpus_at(const json_t *partition, size_t i)
{
	return json_array_get(json_object_get(partition, "gpus"), i);
}

static void partitions_add_up(void **state)
{
	(void)state;
	static const char *const nodes[][9] = {
		{"h200*", "up", "2-00:00:00", "n1", "mix", "4/12/0/16", "64000",
		 "gpu:h200:4(S:0-1),gpu:a100:2,shard:8",
		 "gpu:h200:3(IDX:0,2-3),gpu:a100:0(IDX:N/A)"},
		{"h200*", "up", "2-00:00:00", "n2", "idle~", "0/8/0/8", "32000", "gpu:h200:2",
		 "gpu:h200:0(IDX:N/A)"},
		{"h200*", "up", "2-00:00:00", "n3", "down*", "0/0/32/32", "96000", "gpu:h200:8",
		 "gpu:h200:0"},
		{"plain", "inact", "infinite", "n4", "drain", "0/0/4/4", "1000", "(null)", ""},
		{"short", "up", "30:00", "n1", "idle", "0/4/0/4", "1000", "gpu:2", "gpu:1(IDX:0)"}};
	struct ls_str text = {0};
	ls_str_add(&text, "sinfo: something else\n\n");
	for (size_t i = 0; i < 5; i++)
		add_line(&text, nodes[i]);
	json_t *list = ls_slurm_partitions_parse(text.s), *p = json_array_get(list, 0);
	assert_int_equal(json_array_size(list), 3);
	assert_string_equal(ls_col_text(p, "partition"), "h200");
	assert_true(json_is_true(json_object_get(p, "default")));
	assert_int_equal(ls_col_int(p, "time_limit_s", 0), 2 * 86400);
	assert_int_equal(ls_col_int(p, "nodes", 0), 3);
	assert_int_equal(ls_col_int(p, "usable_nodes", 0), 2);
	assert_int_equal(ls_col_int(p, "idle_nodes", 0), 1);
	assert_int_equal(ls_col_int(p, "cpus_per_node", 0), 32);
	assert_int_equal(json_array_size(json_object_get(p, "gpus")), 2);
	assert_string_equal(ls_col_text(gpus_at(p, 0), "type"), "h200");
	assert_int_equal(ls_col_int(gpus_at(p, 0), "total", 0), 14);
	assert_int_equal(ls_col_int(gpus_at(p, 0), "per_node", 0), 8);
	assert_int_equal(ls_col_int(gpus_at(p, 0), "free", 0), 3);
	assert_int_equal(ls_col_int(gpus_at(p, 0), "free_on_one_node", 0), 2);
	assert_int_equal(ls_col_int(gpus_at(p, 1), "free", 0), 2);
	p = json_array_get(list, 1);
	assert_true(json_is_null(json_object_get(p, "time_limit_s")));
	assert_false(json_is_true(json_object_get(p, "up")));
	assert_int_equal(ls_col_int(p, "usable_nodes", 7), 0);
	p = json_array_get(list, 2);
	assert_int_equal(ls_col_int(p, "time_limit_s", 0), 1800);
	assert_null(ls_col_text(gpus_at(p, 0), "type"));
	assert_int_equal(ls_col_int(gpus_at(p, 0), "free", 0), 1);
	json_decref(list);
	ls_str_done(&text);
}

/* --- squeue --- */

#define UUID  "12345678-1234-1234-1234-123456789abc"
#define OTHER "12345678-1234-1234-1234-123456789abd"
#define OURS  "lockstep:" UUID

static void jobs_are_told_from_others(void **state)
{
	(void)state;
	char text[] = "7\x1f"
		      "N/A\x1fRUNNING\x1fNone\x1f"
		      "1795086070\x1fp\x1fn1\x1f" OURS "\n"
		      "8\x1f"
		      "3\x1fPENDING\x1fPriority\x1fN/A\x1fp\x1f\x1f" OURS "\n"
		      "9\x1f"
		      "N/A\x1fRUNNING\x1fNone\x1fN/A\x1fp\x1fn1\x1f" OURS " and more\n"
		      "10\x1f"
		      "N/A\x1fRUNNING\x1fNone\x1fN/A\x1fp\x1fn1\x1f(null)\n"
		      "11\x1f"
		      "N/A\x1fRUNNING\x1fNone\x1fN/A\x1fp\x1fn1\x1fx\x1f" OURS "\n"
		      "8_[4-9%2]\x1f"
		      "4-9\x1fPENDING\x1fNone\x1fN/A\x1fp\x1f\x1f" OURS "\n"
		      "8\x1f"
		      "4-9%2\x1fPENDING\x1fNone\x1fN/A\x1fp\x1f\x1f" OURS "\n" OURS "\n"
		      "-1\x1f"
		      "N/A\x1fRUNNING\x1fNone\x1fN/A\x1fp\x1fn1\x1f" OURS "\n"
		      "\x1f\x1f\x1f\x1f\x1f\x1f\x1f" OURS "\n";
	struct ls_slurm_jobs jobs = {0};
	ls_slurm_jobs_parse(text, &jobs);
	assert_int_equal(jobs.n, 2);
	const struct ls_slurm_job *one = ls_slurm_find(&jobs, UUID, -1);
	const struct ls_slurm_job *task = ls_slurm_find(&jobs, UUID, 3);
	assert_int_equal(one->job, 7);
	assert_int_equal(one->expected, 1795086070);
	assert_string_equal(one->reason, "");
	assert_string_equal(one->nodes, "n1");
	assert_int_equal(task->job, 8);
	assert_int_equal(task->expected, 0);
	assert_string_equal(task->reason, "Priority");
	assert_null(ls_slurm_find(&jobs, UUID, 4));
	assert_null(ls_slurm_find(&jobs, OTHER, -1)); /* a job id that was given twice */
	ls_slurm_jobs_done(&jobs);
}

static void accounts_fit_name_and_time(void **state)
{
	(void)state;
	char text[] = "7\x1f"
		      "1000\x1fTIMEOUT\x1fone\n"
		      "8_3\x1f"
		      "1000\x1f"
		      "CANCELLED by 1000\x1fgroup\n"
		      "9\x1f"
		      "1000\x1fTIMEOUT\x1fwrong\n"
		      "10\x1f"
		      "600\x1f"
		      "FAILED\x1fold\n"
		      "11\x1f"
		      "1000\x1fRUNNING\x1frunaway\n"
		      "12\x1f"
		      "Unknown\x1f"
		      "FAILED\x1fodd\n"
		      "13\n";
	static const char *const names[] = {"one", "group", "nine", "old", "runaway", "odd"};
	struct ls_slurm_jobs jobs = {0};
	json_t *rows = json_array();
	for (int i = 0; i < 6; i++) {
		char uuid[LS_UUID_TEXT];
		snprintf(uuid, sizeof uuid, "%036d", i);
		json_array_append_new(rows, json_pack("{s:s,s:i,s:i,s:s,s:i}", "submission", uuid,
						      "job", 7 + i, "task", i == 1 ? 3 : -1,
						      "job_name", names[i], "sent_s", 1000));
	}
	ls_slurm_accounts_parse(text, rows, &jobs);
	assert_int_equal(jobs.n, 2);
	assert_string_equal(jobs.items[0].state, "TIMEOUT");
	assert_string_equal(jobs.items[1].state, "CANCELLED");
	assert_int_equal(jobs.items[1].task, 3);
	json_decref(rows);
	ls_slurm_jobs_done(&jobs);
}

static void unknown_states_are_alive(void **state)
{
	(void)state;
	static const char *const waits[] = {"PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT",
					    "RESV_DEL_HOLD"};
	static const char *const runs[] = {"RUNNING",   "CONFIGURING",   "COMPLETING",
					   "SUSPENDED", "STOPPED",       "SIGNALING",
					   "STAGE_OUT", "OF_THE_FUTURE", "?"};
	static const char *const over[] = {"COMPLETED",     "FAILED",    "CANCELLED",
					   "TIMEOUT",       "NODE_FAIL", "PREEMPTED",
					   "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"};
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
		assert_int_equal(ls_slurm_class(waits[i]), LS_SLURM_WAITS);
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
		assert_int_equal(ls_slurm_class(runs[i]), LS_SLURM_RUNS);
	for (size_t i = 0; i < sizeof over / sizeof *over; i++)
		assert_int_equal(ls_slurm_class(over[i]), LS_SLURM_OVER);
}

static void reasons_have_words(void **state)
{
	(void)state;
	assert_non_null(strstr(ls_slurm_reason("Priority"), "priority"));
	assert_non_null(
		strstr(ls_slurm_reason("ReqNodeNotAvail, UnavailableNodes:n1"), "sinfo -R"));
	assert_non_null(strstr(ls_slurm_reason("QOSMaxJobsPerUserLimit"), "you have"));
	assert_non_null(strstr(ls_slurm_reason("AssocGrpGRES"), "account"));
	assert_null(ls_slurm_reason("SomethingNew"));
}

/* --- verdicts --- */

enum record { NONE, DONE, STATUS_3, KILLED, TOLD, SOFT };

static struct ls_ending ending_of(enum record r)
{
	struct ls_ending e = {.known = r != NONE, .wall_s = 7};
	e.status = r == STATUS_3 ? 3 : 0;
	e.signal = r == KILLED ? 9 : 0;
	e.stopped = r == TOLD ? LS_STOPPED_TOLD : r == SOFT ? LS_STOPPED_SOFT : LS_STOPPED_NOT;
	return e;
}

struct judge_case {
	const char *slurm; /* its state; "": not listed, NULL: no answer */
	bool running, next, cancel;
	enum record record;
	double missing_s, lease_s;
	enum ls_slurm_what what;
	const char *state; /* of what ends; else words that are in why, or NULL */
};

static void verdicts(void **state)
{
	(void)state;
	static const struct judge_case cases[] = {
		/* before it runs */
		{"PENDING", 0, 0, 0, NONE, 0, 0, LS_SLURM_STAYS, "PENDING (Why)"},
		{"RESV_DEL_HOLD", 0, 0, 0, NONE, 1e9, 1e9, LS_SLURM_STAYS, "RESV_DEL_HOLD"},
		{"CONFIGURING", 0, 0, 0, NONE, 1e9, 1e9, LS_SLURM_STAYS, "CONFIGURING"},
		{"RUNNING", 0, 1, 0, NONE, 0, 0, LS_SLURM_BEGINS, NULL},
		{"CANCELLED", 0, 0, 0, NONE, 0, 0, LS_SLURM_DROPPED, "in Slurm"},
		{"CANCELLED", 0, 0, 1, NONE, 0, 0, LS_SLURM_DROPPED, "cancelled before"},
		{"CANCELLED", 0, 1, 1, NONE, 0, 0, LS_SLURM_BEGINS, NULL},
		{NULL, 0, 0, 0, NONE, 1e9, 1e9, LS_SLURM_STAYS, "unknown, asking again"},
		{NULL, 0, 1, 0, NONE, 0, 0, LS_SLURM_BEGINS, NULL},
		{"", 0, 0, 0, NONE, 59, 1e9, LS_SLURM_STAYS, "unknown, asking again"},
		{"", 0, 0, 0, NONE, 60, 1e9, LS_SLURM_DROPPED, "no longer knows"},
		{"FAILED", 0, 0, 0, NONE, 0, 0, LS_SLURM_STAYS, "unknown, asking again"},
		{"FAILED", 0, 0, 0, NONE, 60, 0, LS_SLURM_ENDED, "failed"},
		/* while it runs */
		{"RUNNING", 1, 0, 0, NONE, 0, 1e9, LS_SLURM_STAYS, "RUNNING"},
		{"SUSPENDED", 1, 0, 0, NONE, 1e9, 1e9, LS_SLURM_STAYS, "SUSPENDED"},
		{"COMPLETING", 1, 0, 0, NONE, 1e9, 1e9, LS_SLURM_STAYS, "COMPLETING"},
		{"COMPLETING", 1, 0, 0, STATUS_3, 0, 0, LS_SLURM_STAYS, "COMPLETING"},
		{"COMPLETING", 1, 0, 0, DONE, 0, 0, LS_SLURM_ENDED, "done"},
		{"OF_THE_FUTURE", 1, 0, 0, NONE, 1e9, 1e9, LS_SLURM_STAYS, "FUTURE"},
		{NULL, 1, 0, 0, NONE, 1e9, 1e9, LS_SLURM_STAYS, "unknown, asking again"},
		{NULL, 1, 0, 0, STATUS_3, 1e9, 1e9, LS_SLURM_STAYS, "unknown, asking again"},
		{NULL, 1, 0, 0, DONE, 0, 0, LS_SLURM_ENDED, "done"},
		/* again */
		{"PENDING", 1, 0, 0, NONE, 0, 0, LS_SLURM_REQUEUED, "off its node"},
		{"REQUEUE_HOLD", 1, 0, 0, NONE, 0, 0, LS_SLURM_REQUEUED, "off its node"},
		{"PENDING", 1, 0, 0, STATUS_3, 0, 0, LS_SLURM_REQUEUED, "exit status 3"},
		{"PENDING", 1, 0, 0, SOFT, 0, 0, LS_SLURM_REQUEUED, "soft time limit"},
		{"PENDING", 1, 0, 0, DONE, 0, 0, LS_SLURM_ENDED, "done"},
		{"RUNNING", 1, 1, 0, NONE, 0, 0, LS_SLURM_REQUEUED, NULL},
		{NULL, 1, 1, 0, TOLD, 0, 0, LS_SLURM_REQUEUED, NULL},
		/* the end */
		{"COMPLETED", 1, 0, 0, DONE, 0, 0, LS_SLURM_ENDED, "done"},
		{"FAILED", 1, 0, 0, STATUS_3, 0, 0, LS_SLURM_ENDED, "failed"},
		{"FAILED", 1, 0, 0, KILLED, 0, 0, LS_SLURM_ENDED, "failed"},
		{"OUT_OF_MEMORY", 1, 0, 0, KILLED, 0, 0, LS_SLURM_ENDED, "failed"},
		{"OUT_OF_MEMORY", 1, 0, 0, NONE, 0, 0, LS_SLURM_ENDED, "failed"},
		{"CANCELLED", 1, 0, 1, TOLD, 0, 0, LS_SLURM_ENDED, "cancelled"},
		{"CANCELLED", 1, 0, 0, NONE, 0, 0, LS_SLURM_ENDED, "cancelled"},
		{"TIMEOUT", 1, 0, 0, TOLD, 0, 0, LS_SLURM_ENDED, "failed"},
		{"TIMEOUT", 1, 0, 0, NONE, 0, 0, LS_SLURM_ENDED, "failed"},
		{"COMPLETED", 1, 0, 0, TOLD, 0, 0, LS_SLURM_ENDED, "failed"},
		{"PREEMPTED", 1, 0, 0, TOLD, 0, 0, LS_SLURM_ENDED, "dead"},
		{"NODE_FAIL", 1, 0, 0, NONE, 0, 0, LS_SLURM_ENDED, "dead"},
		{"FAILED", 1, 0, 0, SOFT, 0, 0, LS_SLURM_ENDED, "failed"},
		{"COMPLETED", 1, 0, 0, NONE, 59, 0, LS_SLURM_STAYS, "unknown, asking again"},
		{"COMPLETED", 1, 0, 0, NONE, 60, 0, LS_SLURM_ENDED, "failed"},
		/* no longer listed */
		{"", 1, 0, 0, DONE, 0, 0, LS_SLURM_ENDED, "done"},
		{"", 1, 0, 0, STATUS_3, 0, 0, LS_SLURM_ENDED, "failed"},
		{"", 1, 0, 1, TOLD, 0, 0, LS_SLURM_ENDED, "cancelled"},
		{"", 1, 0, 0, TOLD, 0, 0, LS_SLURM_ENDED, "dead"},
		{"", 1, 0, 0, NONE, 59, 1e9, LS_SLURM_STAYS, "unknown, asking again"},
		{"", 1, 0, 0, NONE, 1e9, 299, LS_SLURM_STAYS, "lease"},
		{"", 1, 0, 0, NONE, 60, 300, LS_SLURM_ENDED, "dead"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct judge_case *c = &cases[i];
		struct ls_slurm_job job = {.reason = "Why"};
		struct ls_slurm_verdict v;
		snprintf(job.state, sizeof job.state, "%s", c->slurm ? c->slurm : "");
		const struct ls_slurm_facts f = {.answered = c->slurm != NULL,
						 .job = c->slurm && *c->slurm ? &job : NULL,
						 .running = c->running,
						 .before = true,
						 .next = c->next,
						 .end = ending_of(c->record),
						 .cancel = c->cancel,
						 .missing_s = c->missing_s,
						 .lease_s = c->lease_s};
		ls_slurm_judge(&f, &v);
		if (v.what != c->what)
			fail_msg("case %zu (%s): %d: %s", i, job.state, (int)v.what, v.why);
		if (v.what == LS_SLURM_ENDED)
			assert_string_equal(v.state, c->state);
		else if (c->state)
			assert_non_null(strstr(v.why, c->state));
	}
}

/* Slurm was asked while the job waited; it began before its folder was looked at. */
static void an_old_answer_takes_nothing_away(void **state)
{
	(void)state;
	struct ls_slurm_job job = {.state = "PENDING"};
	struct ls_slurm_facts f = {.answered = true, .job = &job, .running = true};
	struct ls_slurm_verdict v;
	ls_slurm_judge(&f, &v);
	assert_int_equal(v.what, LS_SLURM_STAYS);
	f.end = ending_of(STATUS_3);
	ls_slurm_judge(&f, &v);
	assert_int_equal(v.what, LS_SLURM_STAYS);
	f.before = true;
	ls_slurm_judge(&f, &v);
	assert_int_equal(v.what, LS_SLURM_REQUEUED);
}

/* Whatever Slurm says or does not say: without a record, a word of its end, or a long
 * absence nothing ends. */
static void what_is_unknown_never_ends(void **state)
{
	(void)state;
	static const char *const alive[] = {"PENDING",    "CONFIGURING",   "REQUEUED", "SUSPENDED",
					    "COMPLETING", "RESV_DEL_HOLD", "RUNNING",  "NEW_WORD"};
	for (unsigned bits = 0; bits < 8; bits++)
		for (size_t i = 0; i <= 8; i++) {
			struct ls_slurm_job job = {0};
			struct ls_slurm_verdict v;
			snprintf(job.state, sizeof job.state, "%s", i < 8 ? alive[i] : "FAILED");
			const struct ls_slurm_facts f = {.answered = i < 8,
							 .job = &job,
							 .running = bits & 1,
							 .before = true,
							 .next = bits & 2,
							 .cancel = bits & 4,
							 .missing_s = 1e9,
							 .lease_s = 1e9};
			ls_slurm_judge(&f, &v);
			assert_true(v.what != LS_SLURM_ENDED && v.what != LS_SLURM_DROPPED);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(partitions_add_up),
		cmocka_unit_test(jobs_are_told_from_others),
		cmocka_unit_test(accounts_fit_name_and_time),
		cmocka_unit_test(unknown_states_are_alive),
		cmocka_unit_test(reasons_have_words),
		cmocka_unit_test(verdicts),
		cmocka_unit_test(an_old_answer_takes_nothing_away),
		cmocka_unit_test(what_is_unknown_never_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
