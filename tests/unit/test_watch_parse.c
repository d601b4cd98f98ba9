/* The kernel's log, control groups and counters of the host, as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "watch/host.h"
#include "watch/host_io.h"
#include "watch/kmsg.h"
#include "watch/owner.h"

static void kernel_log(void **state)
{
	(void)state;
	struct ls_kmsg_xid x = {0};
	assert_true(
		ls_kmsg_parse("4,812,5500000,-;NVRM: Xid (PCI:0000:3B:00): 79, pid='<unknown>', "
			      "name=<unknown>, GPU has fallen off the bus.",
			      &x));
	assert_string_equal(x.pci, "0000:3b:00");
	assert_true(x.xid == 79 && x.since_boot == 5.5);
	assert_true(ls_kmsg_parse("4,1,7,-;NVRM: Xid (PCI:00000000:86:00): 31, pid=7", &x));
	assert_string_equal(x.pci, "0000:86:00");
	static const char *const others[] = {
		"",
		";",
		"6,1,2,-;usb 1-1: new device",
		"NVRM: Xid (PCI:0000:3b:00): 79",
		"6;NVRM: Xid (PCI:0000:3b:00): 79",
		"6,1,2,-;NVRM: Xid (PCI:0000:3b:00)",
		"6,1,2,-;NVRM: Xid (PCI:0000:3b:00): x",
		"6,1,2,-;NVRM: Xid (PCI:0000:3b:00): 0, nothing",
		"6,1,2,-;NVRM: Xid (PCI:0000:3b:00:0000:3b:00): 79",
		"6,1,2,-;NVRM: Xid (PCI:zz): 79",
		"6,1,2,-;NVRM: Xid (PCI:0000:3b:00): 99999999999999999999",
	};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (ls_kmsg_parse(others[i], &x))
			fail_msg("\"%s\" is taken for an Xid", others[i]);
	assert_int_equal(x.xid, 31);
}

static void owners(void **state)
{
	(void)state;
	static const struct {
		const char *text, *job, *container;
	} cases[] = {
		{"0::/user.slice/user-0.slice\n", "", ""},
		{"11:memory:/slurm/uid_1000/job_4711/step_0/task_0\n", "4711", ""},
		{"0::/system.slice/slurmstepd.scope/job_12/step_batch/user/task_0\n", "12", ""},
		{"0::/system.slice/slurmstepd.scope/sEKN4VYXM0N800/step_0/user\n", "sEKN4VYXM0N800",
		 ""},
		{"0::/system.slice/slurmstepd.scope/system\n", "", ""},
		{"0::/build/job_7/agent\n", "", ""},
		{"0::/system.slice/docker-"
		 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope\n",
		 "", "0123456789ab"},
		{"1:cpu:/\n2:memory:/docker/"
		 "fedcba98765432100123456789abcdef0123456789abcdef0123456789abcdef\n",
		 "", "fedcba987654"},
		{"0::/docker/0123456789abcdef\n", "", ""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ls_process_owner o = {.name = ""};
		ls_owner_of_cgroup(cases[i].text, &o);
		assert_string_equal(o.job, cases[i].job);
		assert_string_equal(o.container, cases[i].container);
	}
}

/* What a program has in its environment may hold anything. */
static void experiments(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t len;
		const char *name;
	} cases[] = {
#define ENVIRON(text, name) {text, sizeof text - 1, name}
		ENVIRON("HOME=/\0LOCKSTEP_EXPERIMENT=runs_seed1\0A=b\0", "runs_seed1"),
		ENVIRON("LOCKSTEP_EXPERIMENT=a\033[2J\xff\"\0", "a\\x1b[2J\\xff\""),
		ENVIRON("LOCKSTEP_EXPERIMENT=", ""),
		ENVIRON("XLOCKSTEP_EXPERIMENT=a", ""),
		ENVIRON("LOCKSTEP_EXPERIMENT=cut off", "cut off"),
		ENVIRON("", ""),
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ls_process_owner o = {.name = ""};
		ls_owner_of_environ(cases[i].text, cases[i].len, &o);
		assert_string_equal(o.experiment, cases[i].name);
	}
}

static void put(const char *root, const char *name, const char *text)
{
	char path[320];
	struct ls_err err;
	snprintf(path, sizeof path, "%s/proc", root);
	mkdir(path, 0755);
	snprintf(path, sizeof path, "%s/proc/%s", root, name);
	assert_int_equal(ls_file_write_atomic(path, text, strlen(text), &err), 0);
}

static void put_process(const char *root, unsigned pid, const char *stat)
{
	char path[256];
	snprintf(path, sizeof path, "%s/proc", root);
	mkdir(path, 0755);
	snprintf(path, sizeof path, "%s/proc/%u", root, pid);
	mkdir(path, 0755);
	snprintf(path, sizeof path, "%u/stat", pid);
	put(root, path, stat);
}

/* A program's name cannot pretend to be the end of its name; circles end. */
static void ancestors(void **state)
{
	(void)state;
	char root[] = "/tmp/ls-parents-XXXXXX", command[64];
	assert_non_null(mkdtemp(root));
	put_process(root, 30, "30 (python3) S 20 1 1\n");
	put_process(root, 20, "20 (a) S 7 () R 10 1 1\n");
	put_process(root, 10, "10 (lockstep) S 1 1 1\n");
	put_process(root, 40, "40 (loop) S 41 1 1\n");
	put_process(root, 41, "41 (loop) S 40 1 1\n");
	put_process(root, 50, "50 nothing\n");
	assert_true(ls_owner_descends(root, 30, 30));
	assert_true(ls_owner_descends(root, 30, 10));
	assert_false(ls_owner_descends(root, 30, 7));
	assert_false(ls_owner_descends(root, 30, 0));
	assert_false(ls_owner_descends(root, 30, 1));
	assert_false(ls_owner_descends(root, 40, 10));
	assert_false(ls_owner_descends(root, 50, 10));
	assert_false(ls_owner_descends(root, 99, 10));
	snprintf(command, sizeof command, "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

/* The busy share is the one between two looks; waiting for the disk is not busy. */
static void host(void **state)
{
	(void)state;
	static struct ls_host_state s;
	struct ls_host h;
	char root[] = "/tmp/ls-host-XXXXXX", command[64];
	assert_non_null(mkdtemp(root));
	ls_host_look(root, &s, &h);
	assert_false(h.has_cpu || h.has_memory || h.has_load || h.has_disk);
	put(root, "stat",
	    "cpu  100 0 0 100 0 0 0 0 0 0\ncpu0 50 0 0 50 0 0 0 0\ncpu1 50 0 0 50 0 0 0 0\n");
	put(root, "meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable:  400 kB\n");
	put(root, "loadavg", "1.5 1 1 2/300 4711\n");
	ls_host_look(root, &s, &h);
	assert_false(h.has_cpu);
	assert_int_equal(h.cpus, 2);
	assert_true(h.has_memory && h.memory_total == 1024000 && h.memory_available == 409600);
	assert_true(h.has_load && h.load == 1.5);
	ls_host_look(root, &s, &h);
	assert_false(h.has_cpu); /* no time has passed */
	put(root, "stat",
	    "cpu  150 0 0 150 100 0 0 0\ncpu0 100 0 0 50 0 0 0 0\ncpu1 50 0 0 100 50 0 0 0\n");
	ls_host_look(root, &s, &h);
	assert_true(h.has_cpu && h.cpu == 0.25 && h.busiest == 1);
	put(root, "stat", "cpu  x\n");
	ls_host_look(root, &s, &h);
	assert_false(h.has_cpu);
	snprintf(command, sizeof command, "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

/* Parts of disks, loops and the interfaces of containers would count bytes twice. */
static void host_io(void **state)
{
	(void)state;
	static const char disks[] =
		"   7 0 loop0 9 0 9999 0 9 0 9999 0 0 0 0\n"
		" 259 0 nvme0n1 10 0 2048 5 20 0 4096 6 0 7 8\n"
		" 259 1 nvme0n1p1 10 0 2048 5 20 0 4096 6 0 7 8\n"
		"   8 0 sda 1 0 2 0 1 0 4 0 0 0 0\n   8 1 sda1 1 0 2 0 1 0 4 0 0 0 0\n"
		" 253 0 dm-0 1 0 2 0 1 0 4 0 0 0 0\n";
	static const char nets[] = "Inter-|   Receive | Transmit\n face |bytes packets|bytes\n"
				   "    lo: 900 1 0 0 0 0 0 0 900 1 0 0 0 0 0 0\n"
				   "  eth0:1000 1 0 0 0 0 0 0 2000 2 0 0 0 0 0 0\ndocker0: 5 1 0 0 "
				   "0 0 0 0 5 1 0 0 0 0 0 0\n"
				   "   ib0: 1 1 0 0 0 0 0 0 2 2 0 0 0 0 0 0\n";
	uint64_t bytes[2];
	assert_true(ls_host_io_disks(disks, bytes));
	assert_true(bytes[0] == 2050 * 512 && bytes[1] == 4100 * 512);
	assert_true(ls_host_io_nets(nets, bytes));
	assert_true(bytes[0] == 1001 && bytes[1] == 2002);
	assert_false(ls_host_io_disks("   7 0 loop0 9 0 9999 0 9 0 9999\n", bytes));
	assert_false(ls_host_io_nets("    lo: 900 1\n", bytes));
}

/* Names may hold anything but a colon; a user whom the file does not have stays a
 * number. */
static void users(void **state)
{
	(void)state;
	struct ls_process_owner o = {.name = ""};
	static const char passwd[] =
		"root:x:0:0:root:/root:/bin/sh\nanna:x:1000:100::/:/bin/sh\nx\n";
	assert_int_equal(ls_owner_of_status("Name:\ta\nUid:\t1000\t0\nVmRSS:\t  12 kB\n", &o),
			 1000);
	assert_true(o.host_memory == 12288);
	assert_int_equal(ls_owner_of_status("Name:\ta\nUid:\tx\n", &o), -1);
	ls_owner_user_of(passwd, 1000, o.user);
	assert_string_equal(o.user, "anna");
	ls_owner_user_of(passwd, 100, o.user);
	assert_string_equal(o.user, "");
	assert_true(ls_owner_begin_of(
			    "4711 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 99 20") ==
		    99);
	assert_true(ls_owner_begin_of("4711 (a) S 1") == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_log),  cmocka_unit_test(owners),
		cmocka_unit_test(experiments), cmocka_unit_test(ancestors),
		cmocka_unit_test(host),        cmocka_unit_test(host_io),
		cmocka_unit_test(users),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
