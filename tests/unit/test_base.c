/* labels: isa */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/proc.h"
#include "base/str.h"
#include "base/table.h"
#include "lockstep.h"

static void version_is_the_projects(void **state)
{
	(void)state;
	assert_string_equal(ls_version(), LS_VERSION);
}

static void sha256_of_abc(void **state)
{
	(void)state;
	char hex[LS_SHA256_HEX];
	ls_sha256("abc", 3, hex);
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void nearest_word(void **state)
{
	(void)state;
	const char *const names[] = {"torch", "torchvision", "python", NULL};
	assert_string_equal(ls_str_nearest("pyhton", names), "python");
	assert_string_equal(ls_str_nearest("torch", names), "torch");
	assert_null(ls_str_nearest("entirely-else", names));
}

static void numbers_are_whole_strings(void **state)
{
	(void)state;
	uint64_t u = 7;
	double d = 7;
	struct ls_err err;
	assert_int_equal(ls_str_to_u64("12", 0, 100, "n", &u, &err), 0);
	assert_int_equal(u, 12);
	const char *const bad[] = {"", "-1", "12x", " 1", "101", "99999999999999999999999", "+1"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(ls_str_to_u64(bad[i], 0, 100, "n", &u, &err), LS_EINPUT);
	assert_int_equal(u, 12);
	assert_int_equal(ls_str_to_double("nan", 0, 1, "x", &d, &err), LS_EINPUT);
	assert_int_equal(ls_str_to_double("0.5", 0, 1, "x", &d, &err), 0);
	assert_true(d == 0.5);
}

static void sizes_are_powers_of_1024(void **state)
{
	(void)state;
	const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"1", 1},
		    {"512K", 512 << 10},
		    {"40g", (uint64_t)40 << 30},
		    {"3MiB", 3 << 20},
		    {"16383T", (uint64_t)16383 << 40}};
	const char *const bad[] = {"",    "0",    "K",  "1.5G",      "-1", "12x",
				   "1KB", "1Kib", " 1", "16777216T", "1 G"};
	struct ls_err err;
	uint64_t u = 7;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_int_equal(ls_str_to_size(good[i].text, "n", &u, &err), 0);
		assert_true(u == good[i].bytes);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(ls_str_to_size(bad[i], "n", &u, &err), LS_EINPUT);
	char text[LS_SIZE_TEXT];
	ls_str_of_size(1023, text);
	assert_string_equal(text, "1023 bytes");
	ls_str_of_size(1536, text);
	assert_string_equal(text, "1.5 KiB");
}

static void atomic_write_replaces_or_leaves(void **state)
{
	(void)state;
	char dir[] = "/tmp/ls-base-XXXXXX", path[64];
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/f", dir);
	struct ls_err err;
	assert_int_equal(ls_file_write_atomic(path, "one", 3, &err), 0);
	struct ls_writer *w;
	assert_int_equal(ls_writer_open(path, &w, &err), 0);
	assert_int_equal(ls_writer_write(w, "two", 3, &err), 0);
	ls_writer_abort(w);
	char *text;
	size_t len;
	assert_int_equal(ls_file_read(path, 100, &text, &len, &err), 0);
	assert_string_equal(text, "one");
	free(text);
	assert_int_equal(ls_file_read(path, 2, &text, &len, &err), LS_EINPUT);
	unlink(path);
	assert_int_equal(rmdir(dir), 0); /* nothing else was left in it */
}

static void what_a_terminal_would_obey_is_escaped(void **state)
{
	(void)state;
	const struct {
		const char *text, *printed;
	} cases[] = {
		{"", ""},
		{"a/b \u00e9\u2026\U0001f600\\", "a/b \u00e9\u2026\U0001f600\\"},
		{"\033[2J\r\n\t\177", "\\x1b[2J\\x0d\\x0a\\x09\\x7f"},
		{"\xc2\x9b"
		 "1m",
		 "\\xc2\\x9b1m"}, /* CSI in one character */
		{"\xff\xc0\x80\xe2\x82", "\\xff\\xc0\\x80\\xe2\\x82"},
		{"\xed\xa0\x80\xf4\x90\x80\x80", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80"},
		{"\u202egpj", "\\xe2\\x80\\xaegpj"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ls_str s = {0};
		ls_str_add_printable(&s, cases[i].text);
		char *got = ls_str_take(&s);
		assert_string_equal(got, cases[i].printed);
		free(got);
	}
}

static void what_markdown_would_obey_is_escaped(void **state)
{
	(void)state;
	const struct {
		const char *text, *written;
	} cases[] = {
		{"", ""},
		{"a.pt: 0/2 \u00e9", "a.pt: 0/2 \u00e9"},
		{"|x|\n# <b>", "&#124;x&#124;&#92;x0a&#35; &#60;b&#62;"},
		{"[a](b) @team *_~`&", "&#91;a&#93;(b) &#64;team &#42;&#95;&#126;&#96;&#38;"},
		{"\u202egpj", "&#92;xe2&#92;x80&#92;xaegpj"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ls_str s = {0};
		ls_str_add_markdown(&s, cases[i].text);
		char *got = ls_str_take(&s);
		assert_string_equal(got, cases[i].written);
		free(got);
	}
	struct ls_str none = {0};
	ls_str_add_markdown(&none, NULL);
	assert_null(none.s);
}

static bool links_refused; /* as some filesystems do, and a system without /proc */

/* In the place of the C library's. */
int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	if (links_refused) {
		errno = EPERM;
		return -1;
	}
	return (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

static void words_for_a_shell(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"a/b-c.ckpt", "a/b-c.ckpt"}, {"", "''"},
		{"my model", "'my model'"},   {"it's", "'it'\\''s'"},
		{"$x;`y`", "'$x;`y`'"},       {"\303\244", "'\303\244'"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *word = ls_str_shell(cases[i][0]);
		assert_string_equal(word, cases[i][1]);
		free(word);
	}
}

/* On a file without a name, on one that then gets none, and (umask 0) on one that has one
 * from the beginning. */
static void every_way_of_writing_gives_bytes_and_mode(void **state)
{
	(void)state;
	static char bytes[200000];
	const struct {
		mode_t mask;
		bool refused;
	} ways[] = {{027, false}, {027, true}, {0, false}};
	char dir[] = "/tmp/ls-base-XXXXXX", path[300];
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/%0250d", dir, 7); /* with an ending it would be no name */
	memset(bytes, 'b', sizeof bytes);
	for (size_t i = 0; i < 2 * sizeof ways / sizeof *ways;
	     i++) { /* new, and in the place of another */
		mode_t mask = ways[i / 2].mask, before = umask(mask);
		links_refused = ways[i / 2].refused;
		struct ls_err err = {0};
		assert_int_equal(ls_file_write_atomic(path, bytes, sizeof bytes - i, &err), 0);
		links_refused = false;
		umask(before);
		struct stat st;
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
		assert_int_equal(st.st_size, sizeof bytes - i);
		if (i % 2)
			unlink(path);
	}
	assert_int_equal(rmdir(dir), 0);
}

static void a_killed_writer_leaves_nothing(void **state)
{
	(void)state;
	static const char bytes[200000];
	char disk[] = "/tmp/ls-base-XXXXXX", memory[] = "/dev/shm/ls-base-XXXXXX", path[64];
	int fd = open("/tmp", O_RDWR | O_TMPFILE, 0600); /* which some filesystems do not have */
	char *dir = fd >= 0 ? disk : memory;
	close(fd);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/f", dir);
	pid_t child = fork();
	if (child == 0) {
		struct ls_writer *w;
		umask(022);
		if (ls_writer_open(path, &w, NULL) == 0 &&
		    ls_writer_write(w, bytes, sizeof bytes, NULL) == 0)
			raise(SIGKILL);
		_exit(1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(rmdir(dir), 0);
}

static void links_devices_and_folders_are_respected(void **state)
{
	(void)state;
	char dir[] = "/tmp/ls-base-XXXXXX", path[64], name[64];
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/f", dir);
	snprintf(name, sizeof name, "%s/link", dir);
	struct ls_err err = {0};
	assert_int_equal(ls_file_write_atomic(path, "one", 3, &err), 0);
	assert_int_equal(symlink("f", name), 0);
	assert_int_equal(ls_file_write_atomic(name, "two", 3, &err), 0);
	struct stat st;
	assert_int_equal(lstat(name, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	char *text;
	size_t len;
	assert_int_equal(ls_file_read(path, 100, &text, &len, &err), 0);
	assert_string_equal(text, "two");
	free(text);
	assert_int_equal(ls_file_write_atomic(dir, "x", 1, &err), LS_EINPUT);
	assert_int_equal(ls_file_read(dir, 100, &text, &len, &err), LS_EINPUT);
	unlink(name);
	assert_int_equal(mkfifo(name, 0600), 0);
	int reader = open(name, O_RDONLY | O_NONBLOCK);
	assert_int_equal(ls_file_write_atomic(name, "pipe", 4, &err), 0);
	char got[8] = {0};
	assert_int_equal(read(reader, got, sizeof got), 4);
	assert_string_equal(got, "pipe");
	close(reader);
	unlink(name);
	unlink(path);
	assert_int_equal(rmdir(dir), 0); /* nothing else was left in it */
}

static void disk_full_is_reported(void **state)
{
	(void)state;
	struct ls_err err = {0};
	assert_int_equal(ls_file_write_atomic("/dev/full", "x", 1, &err), LS_EIO);
	assert_int_equal(err.code, LS_EIO);
	assert_string_equal(err.msg, "/dev/full: cannot write: No space left on device");
	assert_int_equal(ls_file_write_atomic("/no/such/folder/f", "x", 1, &err), LS_EIO);
	assert_non_null(strstr(err.msg, "/no/such/folder/f"));
}

static void json_errors_have_a_place(void **state)
{
	(void)state;
	json_t *v;
	struct ls_err err;
	const char *text = "{\n  \"a\": 1,\n  \"a\": 2}";
	assert_int_equal(ls_json_parse(text, strlen(text), "f.json", &v, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "f.json:3:"));
	const char *const names[] = {"torch", NULL};
	assert_int_equal(ls_json_parse("{\"torhc\": 1}", 12, "f", &v, &err), 0);
	assert_int_equal(ls_json_only(v, names, "f", &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "did you mean \"torch\""));
	json_decref(v);
}

static void json_takes_any_bytes_as_text(void **state)
{
	(void)state;
	json_t *v = ls_json_lossy("plain \xc3\xa9");
	assert_string_equal(json_string_value(v), "plain \xc3\xa9");
	json_decref(v);
	v = ls_json_lossy("a\xff\xc0z");
	assert_string_equal(json_string_value(v), "a\\xff\\xc0z");
	json_decref(v);
}

static void closed_choices(void **state)
{
	(void)state;
	static const struct {
		const char *arg;
		bool closed;
	} cases[] = {{"0|1|2|3", true},   {"fp32|tf32", true},      {"NAME|FILE", false},
		     {"FILE|DIR", false}, {"auto|cuda[:N]", false}, {"FILE", false},
		     {NULL, false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(ls_opt_is_choice(&(struct ls_opt){"x", 0, cases[i].arg, ""}),
				 cases[i].closed);
}

static void options_parse(void **state)
{
	(void)state;
	const struct ls_opt opts[] = {{"out", 'o', "FILE", ""},
				      {"level", 0, "1|2", ""},
				      {"quiet", 'q', NULL, ""},
				      {"exact", 0, "[=strict|mild]", ""},
				      {0}};
	const struct ls_opt *tables[] = {opts, NULL};
	const char *const good[] = {"-qo", "x", "--level=2", "--exact", "p", "--", "-z"};
	const char *const chosen[] = {"--exact", "--exact=mild"};
	struct ls_args *a;
	struct ls_err err;
	assert_int_equal(ls_args_parse(tables, false, 7, good, &a, &err), 0);
	assert_string_equal(ls_args_get(a, "out"), "x");
	assert_string_equal(ls_args_get(a, "level"), "2");
	assert_true(ls_args_has(a, "quiet"));
	assert_string_equal(ls_args_get(a, "exact"), "");
	assert_int_equal(a->n_pos, 2);
	assert_string_equal(a->pos[1], "-z");
	ls_args_free(a);
	assert_int_equal(ls_args_parse(tables, false, 2, chosen, &a, &err), 0);
	assert_string_equal(ls_args_get(a, "exact"), "mild");
	ls_args_free(a);
	const char *const bad[][1] = {{"--level=3"}, {"--lvel=1"},  {"-x"},
				      {"--out"},     {"--quiet=1"}, {"--exact=stric"}};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(ls_args_parse(tables, false, 1, bad[i], &a, &err), LS_EINPUT);
}

static void child_output_status_and_limit(void **state)
{
	(void)state;
	struct ls_proc_result r;
	struct ls_err err;
	const char *const argv[] = {"sh", "-c", "echo out; echo err >&2; exit 3", NULL};
	assert_int_equal(ls_proc_run(argv, 30, &r, &err), 0);
	assert_int_equal(r.status, 3);
	assert_string_equal(r.out.s, "out\n");
	assert_string_equal(r.err.s, "err\n");
	ls_proc_result_done(&r);
	const char *const slow[] = {"sleep", "60", NULL};
	assert_int_equal(ls_proc_run(slow, 0.05, &r, &err), 0);
	assert_true(r.timed_out);
	ls_proc_result_done(&r);
	const char *const silent[] = {"sh", "-c", "exec >&- 2>&-; exec sleep 60", NULL};
	assert_int_equal(ls_proc_run(silent, 0.05, &r, &err), 0);
	assert_true(r.timed_out);
	ls_proc_result_done(&r);
	signal(SIGPIPE, SIG_IGN); /* as the program does; a child must not inherit it */
	const char *const pipe[] = {"sh", "-c", "kill -PIPE $$; echo ignored", NULL};
	assert_int_equal(ls_proc_run(pipe, 30, &r, &err), 0);
	assert_int_equal(r.status, 128 + SIGPIPE);
	ls_proc_result_done(&r);
	signal(SIGPIPE, SIG_DFL);
	assert_null(ls_proc_find("/tmp")); /* a folder is no program */
	const char *const none[] = {"no-such-program-here", NULL};
	assert_int_equal(ls_proc_run(none, 1, &r, &err), LS_ENOENT);
}

static void tables_line_up(void **state)
{
	(void)state;
	struct ls_table t;
	struct ls_str out = {0};
	ls_table_init(&t, 2, (const char *const[]){"what", "é"});
	ls_table_row(&t, (const char *const[]){"a|b", "2"});
	ls_table_text(&t, &out);
	assert_string_equal(out.s, "what  é\na|b   2\n");
	ls_str_done(&out);
	ls_table_markdown(&t, &out);
	assert_string_equal(out.s, "| what | é |\n|---|---|\n| a\\|b | 2 |\n");
	ls_str_done(&out);
	ls_table_done(&t);
}

/* A small thing for which there is no memory: said, and status 4, not a signal. */
static void no_memory_is_said(void **state)
{
	(void)state;
	int ends[2], status;
	char said[64] = "";
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		size_t room =
			SIZE_MAX /
			4; /* no allocator is asked: a sanitizer's would end the program itself */
		free(ls_grow(NULL, room, &room, 16));
		_exit(0);
	}
	close(ends[1]);
	size_t n = 0;
	for (ssize_t got;
	     n < sizeof said - 1 && (got = read(ends[0], said + n, sizeof said - 1 - n)) > 0;)
		n += (size_t)got;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 4);
	assert_string_equal(said, "lockstep: no memory\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_is_the_projects),
		cmocka_unit_test(words_for_a_shell),
		cmocka_unit_test(sha256_of_abc),
		cmocka_unit_test(no_memory_is_said),
		cmocka_unit_test(nearest_word),
		cmocka_unit_test(numbers_are_whole_strings),
		cmocka_unit_test(sizes_are_powers_of_1024),
		cmocka_unit_test(atomic_write_replaces_or_leaves),
		cmocka_unit_test(what_a_terminal_would_obey_is_escaped),
		cmocka_unit_test(what_markdown_would_obey_is_escaped),
		cmocka_unit_test(every_way_of_writing_gives_bytes_and_mode),
		cmocka_unit_test(a_killed_writer_leaves_nothing),
		cmocka_unit_test(links_devices_and_folders_are_respected),
		cmocka_unit_test(disk_full_is_reported),
		cmocka_unit_test(json_errors_have_a_place),
		cmocka_unit_test(json_takes_any_bytes_as_text),
		cmocka_unit_test(closed_choices),
		cmocka_unit_test(options_parse),
		cmocka_unit_test(child_output_status_and_limit),
		cmocka_unit_test(tables_line_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
