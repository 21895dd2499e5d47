/* SPDX-License-Identifier: GPL-2.0-or-later */
/* turn: it has bpf_stats on, for moments */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "env/checks.h"
#include "env/fingerprint.h"
#include "env/sysfile.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define SHA_A "0123456789abcdef0123456789abcdef01234567"
#define SHA_B "fedcba9876543210fedcba9876543210fedcba98"

/* Makes a fake root directory before every test. */
static int make_root(void **state)
{
	char *root = strdup("/tmp/bb_test_env.XXXXXX");

	if (!root || !mkdtemp(root))
		return -1;
	unsetenv("GITHUB_SHA");
	unsetenv("CI_COMMIT_SHA");
	*state = root;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int remove_root(void **state)
{
	int ret = nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);

	free(*state);
	return ret;
}

/* Writes root/path, and makes the directories above it. */
static void put_file(const char *root, const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *f;

	assert_true(snprintf(full, sizeof(full), "%s%s", root, path) < PATH_MAX);
	for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(!mkdir(full, 0700) || errno == EEXIST);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void read_fp(const char *root, struct bb_fingerprint *fp)
{
	struct bb_err err;

	assert_int_equal(bb_fingerprint__read(root, root, fp, &err), 0);
}

/* --- fingerprint --- */

static void put_full_machine(const char *root)
{
	put_file(root, "/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
	put_file(root, "/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1\n");
	put_file(root, "/proc/sys/kernel/hostname", "bench\n");
	put_file(root, "/proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
	put_file(root, "/proc/sys/net/core/bpf_jit_enable", "1\n");
	put_file(root, "/proc/sys/net/core/bpf_jit_harden", "0\n");
	put_file(root, "/proc/cpuinfo",
		 "processor\t: 0\nmodel name\t: First CPU @ 2.60GHz  \nmicrocode\t: 0x2b\n"
		 "flags\t\t: fpu vme hypervisor lahf_lm\n\n"
		 "processor\t: 1\nmodel name\t: Second CPU\nmicrocode\t: 0x2c\nflags\t\t: fpu\n");
	put_file(root, CPU_DIR "/online", "0-2,5\n");
	put_file(root, CPU_DIR "/smt/active", "1\n");
	put_file(root, CPU_DIR "/cpu0/cpufreq/scaling_governor", "powersave\n");
	put_file(root, CPU_DIR "/cpu1/cpufreq/scaling_governor", "performance\n");
	put_file(root, CPU_DIR "/cpu2/cpufreq/scaling_governor", "powersave\n");
	put_file(root, CPU_DIR "/vulnerabilities/spectre_v2",
		 "Mitigation: Retpolines; STIBP: disabled\n");
	put_file(root, CPU_DIR "/vulnerabilities/mds", "Not affected\n");
	put_file(root, CPU_DIR "/vulnerabilities/retbleed", "Vulnerable\n");
	put_file(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	put_file(root, "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	put_file(root, "/sys/class/dmi/id/sys_vendor", "QEMU\n");
	put_file(root, "/sys/class/dmi/id/product_name", "Standard PC\n");
	put_file(root, "/run/systemd/container", "lxc\n");
	put_file(root, "/.git/HEAD", SHA_A "\n");
}

static void test_full_machine(void **state)
{
	struct bb_fingerprint fp;
	struct utsname u;

	put_full_machine(*state);
	read_fp(*state, &fp);
	assert_string_equal(fp.kernel_release, "6.1.0-18-amd64");
	assert_string_equal(fp.kernel_version, "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1");
	assert_int_equal(uname(&u), 0);
	assert_string_equal(fp.arch, u.machine);
	assert_string_equal(fp.hostname, "bench");
	assert_string_equal(fp.machine, "QEMU Standard PC");
	assert_string_equal(fp.cpu_model, "First CPU @ 2.60GHz");
	assert_string_equal(fp.microcode, "0x2b");
	assert_string_equal(fp.cpus_online, "4");
	assert_string_equal(fp.smt, "active");
	assert_string_equal(fp.governor, "powersave,performance");
	assert_string_equal(fp.hypervisor, "yes");
	assert_string_equal(fp.container, "lxc");
	assert_string_equal(fp.clocksource, "tsc");
	assert_string_equal(fp.mitigations, "retbleed=Vulnerable; spectre_v2=Mitigation: "
					    "Retpolines; STIBP: disabled");
	assert_string_equal(fp.jit_enable, "1");
	assert_string_equal(fp.jit_harden, "0");
	assert_string_equal(fp.unprivileged_bpf_disabled, "2");
	assert_string_equal(fp.lockdown, "integrity");
	assert_string_equal(fp.git_commit, SHA_A);
	assert_string_not_equal(fp.harness_compiler, BB_FINGERPRINT_UNKNOWN);
	assert_int_equal(fp.libbpf[0], 'v');
}

static void test_bare_machine(void **state)
{
	struct bb_fingerprint fp;

	put_file(*state, "/proc/empty", "");
	read_fp(*state, &fp);
	assert_string_equal(fp.kernel_release, BB_FINGERPRINT_UNKNOWN);
	assert_string_equal(fp.cpu_model, BB_FINGERPRINT_UNKNOWN);
	assert_string_equal(fp.hypervisor, BB_FINGERPRINT_UNKNOWN);
	assert_string_equal(fp.cpus_online, BB_FINGERPRINT_UNKNOWN);
	assert_string_equal(fp.mitigations, BB_FINGERPRINT_UNKNOWN);
	assert_string_equal(fp.lockdown, BB_FINGERPRINT_UNKNOWN);
	assert_string_equal(fp.jit_harden, BB_FINGERPRINT_UNKNOWN);
	assert_string_equal(fp.governor, "none");
	assert_string_equal(fp.container, "none");
	assert_string_equal(fp.git_commit, "none");
}

static void test_no_proc(void **state)
{
	struct bb_fingerprint fp;
	struct bb_err err;

	assert_int_equal(bb_fingerprint__read(*state, *state, &fp, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "/proc/"));
	assert_non_null(strstr(err.msg, "mount"));
}

static void test_real_machine(void **state)
{
	struct bb_fingerprint fp;
	struct bb_err err;
	struct utsname u;

	(void)state;
	assert_int_equal(bb_fingerprint__read("", ".", &fp, &err), 0);
	assert_int_equal(uname(&u), 0);
	assert_string_equal(fp.kernel_release, u.release);
	assert_string_equal(fp.kernel_version, u.version);
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++)
		assert_true(bb_fingerprint_get(&fp, i)[0]);
}

static void test_arm_cpuinfo(void **state)
{
	struct bb_fingerprint fp;

	put_file(*state, "/proc/cpuinfo",
		 "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU implementer\t: "
		 "0x41\n"
		 "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: "
		 "1\n\nprocessor\t: 1\n");
	read_fp(*state, &fp);
	assert_string_equal(fp.cpu_model, "implementer 0x41 variant 0x3 part 0xd0c revision 1");
	assert_string_equal(fp.hypervisor, BB_FINGERPRINT_UNKNOWN);
}

static void test_hypervisor_is_a_word(void **state)
{
	struct bb_fingerprint fp;

	put_file(*state, "/proc/cpuinfo", "flags\t\t: fpu hypervisor_x nohypervisor lm\n");
	read_fp(*state, &fp);
	assert_string_equal(fp.hypervisor, "no");
	put_file(*state, "/proc/cpuinfo", "flags\t\t: fpu nohypervisor hypervisor\n");
	read_fp(*state, &fp);
	assert_string_equal(fp.hypervisor, "yes");
}

static void test_lockdown_elsewhere(void **state)
{
	struct bb_fingerprint fp;

	put_file(*state, "/proc/cmdline", "quiet nolockdown=x lockdown=confidentiality ro\n");
	read_fp(*state, &fp);
	assert_string_equal(fp.lockdown, "confidentiality");
	put_file(*state, "/sys/kernel/security/lsm", "capability,yama");
	read_fp(*state, &fp);
	assert_string_equal(fp.lockdown, "none");
	put_file(*state, "/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
	read_fp(*state, &fp);
	assert_string_equal(fp.lockdown, "none");
}

static void test_mitigations_none(void **state)
{
	struct bb_fingerprint fp;

	put_file(*state, "/proc/empty", "");
	put_file(*state, CPU_DIR "/vulnerabilities/mds", "Not affected\n");
	read_fp(*state, &fp);
	assert_string_equal(fp.mitigations, "none");
}

/* Files longer than any buffer are cut off, and other fields stay intact. */
static void test_overlong_files(void **state)
{
	struct bb_fingerprint fp;
	char *text = malloc(10001);

	assert_non_null(text);
	memset(text, 'x', 10000);
	text[10000] = '\0';
	put_file(*state, "/proc/sys/kernel/osrelease", text);
	put_file(*state, CPU_DIR "/online", text);
	put_file(*state, CPU_DIR "/smt/active", text);
	put_file(*state, CPU_DIR "/cpu0/cpufreq/scaling_governor", text);
	put_file(*state, "/sys/class/dmi/id/sys_vendor", text);
	put_file(*state, "/sys/class/dmi/id/product_name", text);
	put_file(*state, "/sys/kernel/security/lockdown", text);
	put_file(*state, "/.git/HEAD", text);
	for (int i = 0; i < 10; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), CPU_DIR "/vulnerabilities/v%d", i);
		put_file(*state, path, text);
	}
	memcpy(text, "model name : ", 13);
	put_file(*state, "/proc/cpuinfo", text);
	read_fp(*state, &fp);
	assert_int_equal(strlen(fp.kernel_release), BB_FINGERPRINT_TEXT - 1);
	assert_int_equal(strlen(fp.cpu_model), BB_FINGERPRINT_TEXT - 1);
	assert_int_equal(strlen(fp.machine), BB_FINGERPRINT_TEXT - 1);
	assert_int_equal(strlen(fp.mitigations), BB_FINGERPRINT_LONG_TEXT - 1);
	assert_string_equal(fp.cpus_online, BB_FINGERPRINT_UNKNOWN);
	assert_string_equal(fp.smt, BB_FINGERPRINT_UNKNOWN);
	assert_string_equal(fp.lockdown, BB_FINGERPRINT_UNKNOWN);
	assert_string_equal(fp.git_commit, BB_FINGERPRINT_UNKNOWN);
	assert_int_equal(fp.governor[0], 'x');
	free(text);
}

static void test_table_round_trip(void **state)
{
	struct bb_fingerprint fp;

	(void)state;
	bb_fingerprint_init(&fp);
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++) {
		assert_string_equal(bb_fingerprint_get(&fp, i), BB_FINGERPRINT_UNKNOWN);
		assert_true(bb_fingerprint_fields[i].doc[0]);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(bb_fingerprint_fields[i].key,
						bb_fingerprint_fields[j].key);
		assert_int_equal(bb_fingerprint_set(&fp, bb_fingerprint_fields[i].key,
						    bb_fingerprint_fields[i].key),
				 0);
	}
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++)
		assert_string_equal(bb_fingerprint_get(&fp, i), bb_fingerprint_fields[i].key);
	assert_string_equal(fp.clang, "clang");
	assert_int_equal(bb_fingerprint_set(&fp, "no_such_key", "1"), -ENOENT);
}

static void test_set_cleans(void **state)
{
	struct bb_fingerprint fp;
	char text[2 * BB_FINGERPRINT_TEXT];

	(void)state;
	bb_fingerprint_init(&fp);
	assert_int_equal(bb_fingerprint_set(&fp, "hostname", "a\tb\x01\xc3\xa9z"), 0);
	assert_string_equal(fp.hostname, "a b???z");
	assert_int_equal(bb_fingerprint_set(&fp, "hostname", ""), 0);
	assert_string_equal(fp.hostname, BB_FINGERPRINT_UNKNOWN);
	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(bb_fingerprint_set(&fp, "hostname", text), 0);
	assert_int_equal(strlen(fp.hostname), BB_FINGERPRINT_TEXT - 1);
	assert_string_equal(fp.machine, BB_FINGERPRINT_UNKNOWN); /* the next field is unchanged */
}

static void test_differences(void **state)
{
	struct bb_fingerprint a, b;
	const char *keys[2];

	put_full_machine(*state);
	read_fp(*state, &a);
	b = a;
	assert_int_equal(bb_fingerprint_differences(&a, &b, keys, 2), 0);
	bb_fingerprint_set(&b, "hostname", "other");
	bb_fingerprint_set(&b, "git_commit", SHA_B);
	assert_int_equal(bb_fingerprint_differences(&a, &b, keys, 2), 0);
	bb_fingerprint_set(&b, "kernel_release", "6.12.0");
	assert_int_equal(bb_fingerprint_differences(&a, &b, keys, 2), 1);
	assert_string_equal(keys[0], "kernel_release");
	bb_fingerprint_set(&b, "jit_harden", "");
	/* unknown values do not count */
	assert_int_equal(bb_fingerprint_differences(&a, &b, keys, 2), 1);
	bb_fingerprint_set(&b, "mitigations", "none");
	bb_fingerprint_set(&b, "cpu_model", "Another CPU");
	/* differences beyond max are counted, too */
	assert_int_equal(bb_fingerprint_differences(&a, &b, keys, 2), 3);
	assert_string_equal(keys[0], "kernel_release");
	assert_string_equal(keys[1], "cpu_model");
	assert_int_equal(bb_fingerprint_differences(&a, &b, NULL, 0), 3);
}

/* --- small files --- */

static void test_cpulist(void **state)
{
	static const struct {
		const char *list;
		int err;
		uint32_t n;
	} cases[] = {
		{"", 0, 0},
		{"0", 0, 1},
		{"0-1", 0, 2},
		{"0-3,5,8-9", 0, 7},
		{"3-1", -EINVAL, 0},
		{"0,", -EINVAL, 0},
		{",0", -EINVAL, 0},
		{"0-", -EINVAL, 0},
		{"-3", -EINVAL, 0},
		{"a", -EINVAL, 0},
		{"0-1x", -EINVAL, 0},
		{"0-99999999999", -EINVAL, 0},
		{"1111111111111111111111111111111111111111", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t n = 0;

		assert_int_equal(bb_cpulist_count(cases[i].list, &n), cases[i].err);
		assert_int_equal(n, cases[i].n);
	}
}

static void test_sysfile(void **state)
{
	char text[8] = "before";
	uint64_t value = 7;

	put_file(*state, "/n", " 12 \n\n");
	assert_int_equal(bb_sysfile__read(*state, "/n", text, sizeof(text)), 0);
	assert_string_equal(text, " 12");
	assert_int_equal(bb_sysfile__read(*state, "/missing", text, sizeof(text)), -ENOENT);
	assert_string_equal(text, " 12");
	put_file(*state, "/n", "12345678901234\n");
	assert_int_equal(bb_sysfile__read(*state, "/n", text, sizeof(text)), 0);
	assert_string_equal(text, "1234567");
	put_file(*state, "/n", "42\n");
	assert_int_equal(bb_sysfile__read_u64(*state, "/n", &value), 0);
	assert_int_equal(value, 42);
	put_file(*state, "/n", "42 apples\n");
	assert_int_equal(bb_sysfile__read_u64(*state, "/n", &value), -EINVAL);
	assert_int_equal(value, 42);
}

/* --- git --- */

static void assert_commit(const char *root, const char *dir, int err, const char *commit)
{
	char path[PATH_MAX], found[BB_GIT_COMMIT_SIZE] = "";

	assert_true(snprintf(path, sizeof(path), "%s%s", root, dir) < PATH_MAX);
	assert_int_equal(bb_git_commit__read(path, found), err);
	assert_string_equal(found, commit);
}

static void test_git_refs(void **state)
{
	put_file(*state, "/a/b/file", "");
	assert_commit(*state, "/a/b", -ENOENT, "");
	put_file(*state, "/a/.git/HEAD", "ref: refs/heads/topic/x\n");
	assert_commit(*state, "/a/b", -ENOENT, ""); /* no commit yet */
	put_file(*state, "/a/.git/packed-refs",
		 "# pack-refs with: peeled fully-peeled sorted\n" SHA_A
		 " refs/heads/topic/xy\n" SHA_B " refs/heads/topic/x\n^" SHA_A "\n");
	assert_commit(*state, "/a/b", 0, SHA_B);
	/* A loose ref is newer than a packed one. */
	put_file(*state, "/a/.git/refs/heads/topic/x", SHA_A "\n");
	assert_commit(*state, "/a/b", 0, SHA_A);
	put_file(*state, "/a/.git/refs/heads/topic/x", "not a commit\n");
	assert_commit(*state, "/a/b", -EINVAL, "");
	put_file(*state, "/a/.git/HEAD", "ref: refs/../../../etc/passwd\n");
	assert_commit(*state, "/a", -EINVAL, "");
	put_file(*state, "/a/.git/HEAD", SHA_B "\n"); /* a detached HEAD */
	assert_commit(*state, "/a", 0, SHA_B);
	put_file(*state, "/a/.git/HEAD", SHA_B "0\n");
	assert_commit(*state, "/a", -EINVAL, "");
}

static void test_git_linked_work_tree(void **state)
{
	put_file(*state, "/main/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
	put_file(*state, "/main/.git/worktrees/w/commondir", "../..\n");
	put_file(*state, "/main/.git/refs/heads/w", SHA_B "\n");
	put_file(*state, "/w/.git", "gitdir: ../main/.git/worktrees/w\n");
	put_file(*state, "/w/sub/file", "");
	assert_commit(*state, "/w/sub", 0, SHA_B);
	put_file(*state, "/w/.git", "nonsense\n");
	assert_commit(*state, "/w/sub", -EINVAL, "");
}

static void test_commit_from_ci(void **state)
{
	struct bb_fingerprint fp;

	put_file(*state, "/proc/empty", "");
	put_file(*state, "/.git/HEAD", SHA_A "\n");
	setenv("CI_COMMIT_SHA", SHA_B, 1);
	read_fp(*state, &fp);
	assert_string_equal(fp.git_commit, SHA_B);
	setenv("CI_COMMIT_SHA", "$(reboot)", 1);
	read_fp(*state, &fp);
	assert_string_equal(fp.git_commit, SHA_A);
}

/* --- steal --- */

static void test_cpu_times(void **state)
{
	struct bb_cpu_times t;
	struct bb_err err;

	put_file(*state, "/proc/stat",
		 "cpu  10 20 30 40 50 60 70 80 7 8\ncpu0 1 2 3 4 5 6 7 8 1 1\ncpu11 1 1 1 1\ncpu2 "
		 "1 2\ncpu3 1 2 x 4\n"
		 "intr 1 2 3\n");
	assert_int_equal(bb_cpu_times__read(*state, -1, &t, &err), 0);
	assert_int_equal(t.total, 360); /* without the two guest columns */
	assert_int_equal(t.idle, 90);
	assert_int_equal(t.steal, 80);
	assert_int_equal(bb_cpu_times__read(*state, 0, &t, &err), 0);
	assert_int_equal(t.total, 36);
	assert_int_equal(t.steal, 8);
	/* a kernel before 2.5.41 */
	assert_int_equal(bb_cpu_times__read(*state, 11, &t, &err), 0);
	assert_int_equal(t.total, 4);
	assert_int_equal(t.steal, 0);
	/* The line of cpu11 is not that of cpu1. */
	assert_int_equal(bb_cpu_times__read(*state, 1, &t, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "cpu1"));
	assert_int_equal(bb_cpu_times__read(*state, 2, &t, &err), -EINVAL);
	assert_int_equal(bb_cpu_times__read(*state, 3, &t, &err), -EINVAL);
	assert_int_equal(t.total, 4); /* unchanged */
	assert_int_equal(bb_cpu_times__read("/nonexistent", -1, &t, &err), -ENOENT);
	assert_int_equal(bb_cpu_times__read("", -1, &t, &err), 0);
	assert_true(t.total >= t.idle && t.total > 0);
}

static void test_irq_works(void **state)
{
	uint64_t n = 0;
	struct bb_err err;

	put_file(*state, "/proc/interrupts",
		 "           CPU0       CPU3       \n"
		 "  0:         36          0   IO-APIC   2-edge      timer\n"
		 "IWI:      98744   20465759   IRQ work interrupts\n"
		 "RES:          1          2   Rescheduling interrupts\n");
	assert_int_equal(bb_irq_works__read(*state, 3, &n, &err), 0);
	assert_int_equal(n, 20465759);
	assert_int_equal(bb_irq_works__read(*state, 0, &n, &err), 0);
	assert_int_equal(n, 98744);
	assert_int_equal(bb_irq_works__read(*state, 1, &n, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "CPU 1"));
	put_file(*state, "/proc/interrupts", "CPU0 CPU1\nIWI: x\nIWI: 1 IRQ work interrupts\n");
	assert_int_equal(bb_irq_works__read(*state, 1, &n, &err), -EINVAL);
	put_file(*state, "/proc/interrupts", "");
	assert_int_equal(bb_irq_works__read(*state, 0, &n, &err), -ENOENT);
	assert_int_equal(bb_irq_works__read("/nonexistent", 0, &n, &err), -ENOENT);
	assert_int_equal(n, 98744);
}

static void test_steal_share(void **state)
{
	struct bb_cpu_times before, after;
	struct bb_err err;

	put_file(*state, "/proc/stat", "cpu  100 0 50 1000 0 0 0 10 0 0\n");
	assert_int_equal(bb_cpu_times__read(*state, -1, &before, &err), 0);
	put_file(*state, "/proc/stat", "cpu  160 0 60 1005 0 0 0 35 60 0\n");
	assert_int_equal(bb_cpu_times__read(*state, -1, &after, &err), 0);
	/* 25 of 60 + 10 + 5 + 25. */
	assert_float_equal(bb_steal_share(&before, &after), 0.25, 1e-12);
	assert_true(isnan(bb_steal_share(&after, &after)));
	assert_true(isnan(bb_steal_share(&after, &before)));
	before.steal = after.steal + 1;
	assert_true(isnan(bb_steal_share(&before, &after)));
	before.steal = after.steal;
	assert_true(bb_steal_share(&before, &after) == 0.0);
}

/* --- checks --- */

/* True if the check's name is that of a tool or of a field of the fingerprint. */
static bool goes_by_name(const struct bb_check *check)
{
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++)
		if (!strcmp(bb_fingerprint_fields[i].key, check->name))
			return true;
	return check->text;
}

static void test_checks_table(void **state)
{
	(void)state;
	assert_true(bb_n_checks > 0);
	for (size_t i = 0; i < bb_n_checks; i++) {
		assert_true(bb_checks[i].name[0]);
		assert_non_null(bb_checks[i].run);
		for (size_t j = 0; j < i; j++) {
			assert_string_not_equal(bb_checks[i].name, bb_checks[j].name);
			assert_true(bb_checks[i].run != bb_checks[j].run ||
				    bb_checks[i].kind != bb_checks[j].kind ||
				    goes_by_name(&bb_checks[i]));
		}
	}
	for (int s = 0; s < BB_CHECK_N_STATUSES; s++)
		assert_non_null(bb_check_status_name((enum bb_check_status)s));
}

static int count_open_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Runs all checks. Returns 0, or the number (from 1) of the first check that breaks a rule. */
static int run_all_checks(struct bb_check_result *ret_results)
{
	int n_fds = count_open_fds();

	for (size_t i = 0; i < bb_n_checks; i++) {
		struct bb_check_result *r = &ret_results[i];

		memset(r, 0xff, sizeof(*r));
		bb_checks[i].run(&bb_checks[i], r);
		if ((unsigned int)r->status >= BB_CHECK_N_STATUSES ||
		    !memchr(r->text, 0, sizeof(r->text)) ||
		    !memchr(r->remedy, 0, sizeof(r->remedy)))
			return (int)i + 1;
		if (!r->text[0] || strchr(r->text, '\n') || strchr(r->remedy, '\n'))
			return (int)i + 1;
		if ((r->status == BB_CHECK_WARN || r->status == BB_CHECK_FAIL) && !r->remedy[0])
			return (int)i + 1;
		if (count_open_fds() != n_fds)
			return (int)i + 1;
	}
	return 0;
}

static const struct bb_check_result *result_of(const struct bb_check_result *results,
					       const char *name)
{
	for (size_t i = 0; i < bb_n_checks; i++) {
		if (!strcmp(bb_checks[i].name, name))
			return &results[i];
	}
	fail_msg("no check %s", name);
	return NULL;
}

/* With the rights of whoever runs the tests. */
static void test_checks_run(void **state)
{
	struct bb_check_result *results = calloc(bb_n_checks, sizeof(*results));
	int bad;

	(void)state;
	assert_non_null(results);
	bad = run_all_checks(results);
	if (bad)
		fail_msg("check %s: \"%s\"", bb_checks[bad - 1].name, results[bad - 1].text);
	assert_int_equal(result_of(results, "kernel")->status, BB_CHECK_OK);
	free(results);
}

/* As nobody. A process without capabilities cannot measure, and the check must say so. */
static void test_checks_without_root(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (!pid) {
		struct bb_check_result *results = calloc(bb_n_checks, sizeof(*results));
		const struct bb_check_result *r;

		if (!results ||
		    (!geteuid() && (setgroups(0, NULL) || setgid(65534) || setuid(65534))))
			_exit(200);
		status = run_all_checks(results);
		if (status)
			_exit(status);
		r = result_of(results, "capabilities");
		if (r->status != BB_CHECK_FAIL || !strstr(r->text, "CAP_SYS_ADMIN") ||
		    !strstr(r->remedy, "sudo"))
			_exit(201);
		if (result_of(results, "bpf_stats")->status != BB_CHECK_FAIL)
			_exit(202);
		if (result_of(results, "prog_perf_event")->status != BB_CHECK_FAIL)
			_exit(203);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static struct bb_check_result run_one(const char *name)
{
	struct bb_check_result r = {0};

	for (size_t i = 0; i < bb_n_checks; i++) {
		if (!strcmp(bb_checks[i].name, name))
			bb_checks[i].run(&bb_checks[i], &r);
	}
	return r;
}

/* While this test has bpf_stats on, the check must warn. That needs the right to enable it. */
static void test_stats_held(void **state)
{
	struct bb_check_result r;
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	(void)state;
	if (fd < 0) {
		print_message("# skip: bpf_stats cannot be enabled here: %s\n", strerror(errno));
		skip();
	}
	r = run_one("bpf_stats_held");
	close(fd);
	assert_int_equal(r.status, BB_CHECK_WARN);
}

/* A testbed's name depends on the identity fields only. Bencher accepts 64 bytes. */
static void test_testbed(void **state)
{
	char a[BB_TESTBED_SIZE], b[BB_TESTBED_SIZE];
	struct bb_fingerprint fp;

	(void)state;
	bb_fingerprint_init(&fp);
	assert_int_equal(bb_fingerprint_set(&fp, "cpu_model", "AMD EPYC(TM) 7763 64-Core"), 0);
	bb_testbed_name(&fp, a);
	assert_int_equal(strlen(a), strlen("amd-epyc-tm-7763-64-core-01234567"));
	assert_memory_equal(a, "amd-epyc-tm-7763-64-core-", 25);
	assert_int_equal(bb_fingerprint_set(&fp, "git_commit",
					    "0123456789abcdef0123456789abcdef01234567"),
			 0);
	bb_testbed_name(&fp, b);
	assert_string_equal(a, b);
	assert_int_equal(bb_fingerprint_set(&fp, "kernel_release", "6.1.0-28-amd64"), 0);
	bb_testbed_name(&fp, b);
	assert_string_not_equal(a, b);
	assert_int_equal(bb_fingerprint_set(&fp, "cpu_model",
					    "Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
					    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
			 0);
	bb_testbed_name(&fp, b);
	assert_int_equal(strlen(b), BB_TESTBED_SIZE - 1);
}

int main(void)
{
#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)
	const struct CMUnitTest tests[] = {
		WITH_ROOT(test_full_machine),
		WITH_ROOT(test_bare_machine),
		WITH_ROOT(test_no_proc),
		cmocka_unit_test(test_real_machine),
		WITH_ROOT(test_arm_cpuinfo),
		WITH_ROOT(test_hypervisor_is_a_word),
		WITH_ROOT(test_lockdown_elsewhere),
		WITH_ROOT(test_mitigations_none),
		WITH_ROOT(test_overlong_files),
		cmocka_unit_test(test_table_round_trip),
		cmocka_unit_test(test_set_cleans),
		WITH_ROOT(test_differences),
		cmocka_unit_test(test_cpulist),
		WITH_ROOT(test_sysfile),
		WITH_ROOT(test_git_refs),
		WITH_ROOT(test_git_linked_work_tree),
		WITH_ROOT(test_commit_from_ci),
		WITH_ROOT(test_cpu_times),
		WITH_ROOT(test_steal_share),
		WITH_ROOT(test_irq_works),
		cmocka_unit_test(test_checks_table),
		cmocka_unit_test(test_checks_run),
		cmocka_unit_test(test_checks_without_root),
		cmocka_unit_test(test_stats_held),
		cmocka_unit_test(test_testbed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
