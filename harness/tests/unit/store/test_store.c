/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/caller.h"
#include "base/io.h"
#include "store/run_json.h"
#include "store/store.h"
#include "unit/folder_testing.h"
#include "unit/report_testing.h"

#define NOBODY 65534

static int store(const char *dir, const struct bb_report *r, struct bb_err *err)
{
	return bb_store__write(dir, r, NULL, err);
}

static void store_as(const char *id)
{
	struct bb_report *r = make_report(id);

	assert_int_equal(store(folder, r, NULL), 0);
	bb_report__free(r);
}

static void assert_says(const struct bb_err *err, const char *part)
{
	if (!strstr(err->msg, part))
		fail_msg("'%s' is not in '%s'", part, err->msg);
	if (strchr(err->msg, '\n'))
		fail_msg("more than one line: '%s'", err->msg);
}

/* --- writing and reading back --- */

static void test_round_trip(void **state)
{
	struct bb_report *r = make_sample_report(), *back;
	const struct bb_series *s;
	char *path, *before, *after;
	size_t len_before, len_after;
	struct stat st;

	(void)state;
	r->cases[1].executed_insns = 18;
	r->cases[1].n_insns = 166;
	set_text(&r->cases[1].turned_file, "fw.bpf.c");
	set_text(&r->cases[1].turned_text, "if (proto != IPPROTO_TCP)");
	r->cases[1].turned_line = 31;
	r->cases[1].turned_insns = 140;
	r->cases[4].series[0].hist.is_exact = true;
	bb_hist_add(&r->cases[4].series[0].hist, 1000001, 3);
	bb_report__summarise(r);
	set_text(&r->incomplete, "SIGINT \"now\"\n\t\\ \xc3\xa9\x01");
	assert_int_equal(bb_store__write(folder, r, &path, NULL), 0);
	assert_string_equal(path, in_folder("20261121T131700Z-perf_profiler-1a2b3c4d.json"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(count_entries(folder), 1);
	assert_int_equal(bb_store__read(r->id, folder, &back, NULL), 0);

	assert_int_equal(back->seed, 0xfedcba9876543210);
	assert_string_equal(back->incomplete, r->incomplete);
	assert_string_equal(back->command, r->command);
	assert_memory_equal(&back->fingerprint, &r->fingerprint, sizeof(r->fingerprint));
	assert_int_equal(back->n_skips, 1);
	assert_string_equal(back->skips[0].why, r->skips[0].why);
	assert_int_equal(back->n_programs, 3);
	assert_string_equal(back->programs[2].name, "perf_profiler/pid_filter");
	assert_string_equal(back->programs[2].program, "ringbuf");
	assert_string_equal(back->programs[2].type, "perf_event");
	assert_memory_equal(&back->programs[1].metrics, &r->programs[1].metrics,
			    sizeof(r->programs[1].metrics));
	assert_near(back->programs[2].metrics.xlated_bytes, 368);
	assert_nan(back->programs[2].metrics.jited_bytes);
	assert_int_equal(back->n_cases, r->n_cases);
	assert_int_equal(back->cases[1].floor, 0);
	assert_int_equal(back->cases[0].floor, BB_NO_FLOOR);
	assert_true(back->cases[0].is_anchor);
	assert_false(back->cases[1].is_anchor);
	assert_int_equal(back->cases[1].executed_insns, 18);
	assert_int_equal(back->cases[1].n_insns, 166);
	assert_string_equal(back->cases[1].turned_file, "fw.bpf.c");
	assert_string_equal(back->cases[1].turned_text, "if (proto != IPPROTO_TCP)");
	assert_int_equal(back->cases[1].turned_line, 31);
	assert_int_equal(back->cases[1].turned_insns, 140);
	assert_null(back->cases[0].turned_file);
	assert_int_equal(back->cases[0].n_insns, 0); /* not known, as in older runs */
	s = &back->cases[1].series[3];
	assert_string_equal(s->void_why, "run_cnt is 131, but 130 events were fired");
	assert_int_equal(s->hist.n, 130);
	assert_int_equal(s->hist.max_ns, 300007); /* not the middle of its bin */
	assert_near(s->hist.sum_ns, r->cases[1].series[3].hist.sum_ns);
	assert_true(isnan(s->target_cpu_s));
	assert_false(s->hist.is_exact);
	assert_true(back->cases[4].series[0].hist.is_exact);
	assert_near(back->cases[4].series[0].target_cpu_s, 0.26);
	assert_memory_equal(&back->cases[1].summary, &r->cases[1].summary,
			    sizeof(r->cases[1].summary));

	/* The rest at once: the copy is written exactly as the original was. */
	bb_run_json__compose(r, &before, &len_before);
	bb_run_json__compose(back, &after, &len_after);
	assert_int_equal(len_before, len_after);
	assert_memory_equal(before, after, len_before);
	free(before);
	free(after);
	free(path);
	bb_report__free(r);
	bb_report__free(back);
}

/* Values that some JSON readers change. */
static void test_extremes(void **state)
{
	struct bb_report *r = make_report("extremes"), *back;
	size_t i = make_case(r, "v", "step", NULL, 0);
	struct bb_series *s = make_series(r, i, UINT32_MAX);

	(void)state;
	add_samples(s, 0, 3);
	add_samples(s, 4096, 1);
	add_samples(s, 123456789012345, 1);
	add_samples(s, UINT64_MAX, 1);
	s->run_cnt = UINT64_MAX;
	s->drops = (1ULL << 53) + 1;
	s->misses = 1ULL << 53;
	s->elapsed_s = 0.1 + 0.2;
	r->seed = UINT64_MAX;
	r->steal = 1;
	assert_int_equal(store(folder, r, NULL), 0);
	assert_int_equal(bb_store__read("extremes", folder, &back, NULL), 0);
	s = &back->cases[0].series[0];
	assert_true(back->seed == UINT64_MAX);
	assert_true(s->run_cnt == UINT64_MAX);
	assert_true(s->drops == (1ULL << 53) + 1);
	assert_true(s->misses == 1ULL << 53);
	assert_true(s->hist.max_ns == UINT64_MAX);
	assert_int_equal(s->hist.min_ns, 0);
	assert_int_equal(s->hist.used, 4);
	assert_int_equal(s->load, UINT32_MAX);
	assert_memory_equal(&s->elapsed_s, &r->cases[0].series[0].elapsed_s, sizeof(double));
	bb_report__free(r);
	bb_report__free(back);
}

static void test_bytes_that_are_not_utf8(void **state)
{
	struct bb_report *r = make_report("bytes"), *back;

	(void)state;
	set_text(&r->command, "a\xff\xc3(\xe2\x82\xac\xed\xa0\x80z\xf0\x9f");
	assert_int_equal(store(folder, r, NULL), 0);
	assert_int_equal(bb_store__read("bytes", folder, &back, NULL), 0);
#define BAD "\xef\xbf\xbd"
	assert_string_equal(back->command, "a" BAD BAD "(\xe2\x82\xac" BAD BAD BAD "z" BAD BAD);
	bb_report__free(r);
	bb_report__free(back);
}

static void test_empty_report(void **state)
{
	struct bb_report *r = make_report("empty"), *back;

	(void)state;
	assert_int_equal(store(folder, r, NULL), 0);
	assert_int_equal(bb_store__read("empty", folder, &back, NULL), 0);
	assert_int_equal(back->n_cases, 0);
	assert_null(back->incomplete);
	bb_report__free(r);
	bb_report__free(back);
}

/* The file of a million samples stays small: equal values share a count, and large ones keep 12
 * bits. */
static void test_size_is_bounded(void **state)
{
	struct bb_report *r = make_report("large"), *back;
	size_t i = make_case(r, "v", "step", NULL, 0);
	struct bb_series *s = make_series(r, i, 0);
	struct bb_rng rng;
	struct stat st;

	(void)state;
	bb_rng_seed(&rng, 1);
	for (int k = 0; k < 1000000; k++)
		add_samples(s, bb_rng_below(&rng, 8000), 1);
	assert_int_equal(store(folder, r, NULL), 0);
	assert_int_equal(stat(in_folder("large.json"), &st), 0);
	assert_true(st.st_size < 100000);
	assert_int_equal(bb_store__read("large", folder, &back, NULL), 0);
	assert_int_equal(back->cases[0].summary.samples, 1000000);
	bb_report__free(r);
	bb_report__free(back);
}

/* --- failing to write --- */

static void test_never_overwrites(void **state)
{
	struct bb_report *r = make_report("twice"), *back;
	struct bb_err err;

	(void)state;
	assert_int_equal(store(folder, r, NULL), 0);
	set_text(&r->command, "another");
	assert_int_equal(store(folder, r, &err), -EEXIST);
	assert_says(&err, "/twice.json: File exists; nothing was stored");
	assert_int_equal(count_entries(folder), 1);
	assert_int_equal(bb_store__read("twice", folder, &back, NULL), 0);
	assert_string_not_equal(back->command, "another");
	bb_report__free(r);
	bb_report__free(back);
}

static void test_makes_folders(void **state)
{
	struct bb_report *r = make_report("x");
	struct stat st;

	(void)state;
	assert_int_equal(store(in_folder("a/b//c/"), r, NULL), 0);
	assert_int_equal(stat(in_folder("a/b/c/x.json"), &st), 0);
	assert_int_equal(count_entries(in_folder("a/b/c")), 1);
	bb_report__free(r);
}

static void test_below_a_file(void **state)
{
	struct bb_report *r = make_report("x");
	struct bb_err err;

	(void)state;
	spill(in_folder("file"), "", 0);
	assert_int_equal(store(in_folder("file"), r, &err), -ENOTDIR);
	assert_says(&err, "/file: Not a directory; nothing was stored");
	assert_int_equal(store(in_folder("file/below"), r, &err), -ENOTDIR);
	assert_says(&err, "--results DIR");
	assert_int_equal(store("", r, &err), -ENOENT);
	assert_int_equal(count_entries(folder), 1);
	bb_report__free(r);
}

static void test_id_too_long(void **state)
{
	char id[300];
	struct bb_report *r;

	(void)state;
	memset(id, 'x', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	r = make_report(id);
	assert_int_equal(store(folder, r, NULL), -ENAMETOOLONG);
	assert_int_equal(count_entries(folder), 0);
	bb_report__free(r);
}

/*
 * Calls bb_store__write() in a process that `spoil` prepares. Returns 0 or its error as a positive
 * number. Also: 255 if `spoil` failed, 254 if the message lacks `says`, 253 if files are left.
 */
static int store_in_child(const char *dir, int (*spoil)(const char *dir), const char *says)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct bb_report *r = make_sample_report();
		struct bb_err err = {.msg = ""};
		int rc;

		if (spoil(dir))
			_exit(255);
		rc = store(dir, r, &err);
		_exit(rc && !strstr(err.msg, says) ? 254 : count_entries(dir) ? 253 : -rc);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int become_nobody(const char *dir)
{
	if (chmod(dir, 0555))
		return -1;
	return geteuid() == 0 ? setresuid(NOBODY, NOBODY, NOBODY) : 0;
}

static void test_read_only_folder(void **state)
{
	(void)state;
	assert_int_equal(store_in_child(folder, become_nobody,
					"Permission denied; nothing was stored"),
			 EACCES);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(count_entries(folder), 0);
}

static int limit_files(const char *dir)
{
	const struct rlimit limit = {4096, 4096};

	(void)dir;
	signal(SIGXFSZ, SIG_IGN);
	return setrlimit(RLIMIT_FSIZE, &limit);
}

/* The write fails when the file reaches a limit. */
static void test_cut_short(void **state)
{
	(void)state;
	assert_int_equal(store_in_child(folder, limit_files, "File too large; nothing was stored"),
			 EFBIG);
	assert_int_equal(count_entries(folder), 0);
}

static int mount_tiny(const char *dir)
{
	return unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("tmpfs", dir, "tmpfs", 0, "size=8k");
}

static void test_full_disk(void **state)
{
	int rc;

	(void)state;
	if (geteuid()) {
		print_message("# skip: mounting a tiny tmpfs needs root\n");
		skip();
	}
	rc = store_in_child(folder, mount_tiny, "No space left on device; nothing was stored");
	if (rc == 255) {
		print_message("# skip: no tmpfs can be mounted here\n");
		skip();
	}
	assert_int_equal(rc, ENOSPC);
}

#define JOBS 4
#define EACH 20

/* Stores EACH runs of its own and one that all jobs want to store. Exits with 0, with 1 if it
 * stored that one, or with 2 on failure. */
static void run_job(int job)
{
	int won = 0;

	for (int i = 0; i < EACH; i++) {
		struct bb_report *r;
		char id[64];
		int rc;

		snprintf(id, sizeof(id), "20261121T1317%02dZ-job-%d", i, job);
		r = make_report(id);
		rc = store(folder, r, NULL);
		if (!rc && i == EACH / 2) {
			set_text(&r->id, "20261121T131700Z-of-all");
			rc = store(folder, r, NULL);
			won = !rc;
			rc = rc == -EEXIST ? 0 : rc;
		}
		bb_report__free(r);
		if (rc)
			_exit(2);
	}
	_exit(won);
}

static void test_at_once(void **state)
{
	pid_t pids[JOBS];
	int status, winners = 0;
	char **ids;
	size_t n;

	(void)state;
	for (int i = 0; i < JOBS; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i])
			run_job(i);
	}
	for (int i = 0; i < JOBS; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
		winners += WEXITSTATUS(status);
	}
	assert_int_equal(winners, 1);
	assert_int_equal(count_entries(folder), JOBS * EACH + 1);
	assert_int_equal(bb_store__list(folder, &ids, &n, NULL), 0);
	assert_int_equal(n, JOBS * EACH + 1);
	for (size_t i = 0; i < n; i++) {
		struct bb_report *r;
		struct bb_err err;

		if (bb_store__read(ids[i], folder, &r, &err))
			fail_msg("%s", err.msg);
		assert_string_equal(r->id, ids[i]);
		bb_report__free(r);
	}
	bb_names_free(ids, n);
}

/* A cache is replaced as a whole, or stays as it was. */
static void test_replace(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(bb_store__replace(folder, ".cache", "one", 3, false), 0);
	assert_int_equal(bb_store__replace(folder, ".cache", "other", 5, false), 0);
	assert_int_equal(mkdir(in_folder("taken"), 0755), 0);
	assert_int_equal(bb_store__replace(folder, "taken", "x", 1, false), -EISDIR);
	assert_int_equal(bb_store__replace(in_folder("none"), ".cache", "x", 1, false), -ENOENT);
	text = slurp(in_folder(".cache"));
	assert_string_equal(text, "other");
	assert_int_equal(count_entries(folder), 2);
	free(text);
}

/* Like `sudo bpfbench` of a user: this child then opens files as NOBODY. */
static int call_as_nobody(const char *dir)
{
	char id[16];

	snprintf(id, sizeof(id), "%d", NOBODY);
	return chmod(dir, 0777) || setenv("SUDO_UID", id, 1) || setenv("SUDO_GID", id, 1) ||
	       bb_caller__own_files(NULL);
}

static int store_below(const char *dir)
{
	struct bb_report *r = make_report("y");
	char path[PATH_MAX];
	int rc = call_as_nobody(dir);

	snprintf(path, sizeof(path), "%s/new/er", dir);
	if (!rc)
		rc = bb_store__write(path, r, NULL, NULL);
	bb_report__free(r);
	return rc;
}

static void test_owner(void **state)
{
	const char *const made[] = {"new", "new/er", "new/er/y.json"};
	struct stat st;
	int status;
	pid_t pid;

	(void)state;
	if (geteuid()) {
		print_message("# skip: storing for another user needs root\n");
		skip();
	}
	pid = fork();
	if (pid == 0)
		_exit(store_below(folder) ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		assert_int_equal(lstat(in_folder(made[i]), &st), 0);
		assert_int_equal(st.st_uid, NOBODY);
		assert_int_equal(st.st_gid, NOBODY);
	}
}

/* If another user has put a link where the runs are, nothing is stored, listed or read through
 * it. */
static void test_link_of_another(void **state)
{
	struct bb_report *r = make_report("x"), *read = NULL;
	char results[PATH_MAX], **ids;
	struct bb_err err = {0};
	size_t n;

	(void)state;
	snprintf(results, sizeof(results), "%s", in_folder("results"));
	assert_int_equal(mkdir(in_folder("victim"), 0755), 0);
	assert_int_equal(symlink("victim", results), 0);
	/* Our own link is a way to keep runs elsewhere. */
	assert_int_equal(bb_store__write(results, r, NULL, NULL), 0);
	assert_int_equal(count_entries(in_folder("victim")), 1);
	if (geteuid()) {
		print_message("# skip: links of another user need root\n");
		bb_report__free(r);
		skip();
	}
	assert_int_equal(lchown(results, NOBODY, NOBODY), 0);
	free(r->id);
	r->id = strdup("z");
	assert_int_equal(bb_store__write(results, r, NULL, &err), -ELOOP);
	assert_non_null(strstr(err.msg, "a symbolic link that is not the caller's"));
	assert_int_equal(bb_store__list(results, &ids, &n, &err), -ELOOP);
	assert_int_equal(bb_store__read("x", results, &read, &err), -ELOOP);
	assert_int_equal(bb_store__replace(results, ".cache", "x", 1, false), -ELOOP);
	assert_int_equal(count_entries(in_folder("victim")), 1);
	bb_report__free(r);
}

/* --- finding --- */

static const char *read_id(const char *which)
{
	static char id[256];
	struct bb_report *r;
	struct bb_err err;

	if (bb_store__read(which, folder, &r, &err))
		return NULL;
	snprintf(id, sizeof(id), "%s", r->id);
	bb_report__free(r);
	return id;
}

static void test_finds(void **state)
{
	static const char early[] = "20261121T131700Z-perf-1a", late[] = "20261122T080000Z-xdp-2b";
	char path[PATH_MAX];
	struct bb_report *r;
	struct bb_err err;

	(void)state;
	store_as(late);
	store_as(early);
	store_as("main"); /* a saved baseline is never "latest" */
	spill(in_folder("schema.json"), "{}", 2);
	assert_string_equal(read_id(early), early);
	assert_string_equal(read_id("20261121T131700Z-perf-1a.json"), early);
	assert_string_equal(read_id("20261121"), early);
	assert_string_equal(read_id("20261122T"), late);
	assert_string_equal(read_id("latest"), late);
	assert_string_equal(read_id("main"), "main");
	assert_string_equal(read_id("m"), "main");
	snprintf(path, sizeof(path), "%s/%s.json", folder, early);
	assert_string_equal(read_id(path), early);

	assert_int_equal(bb_store__read("2026", folder, &r, &err), -ENOTUNIQ);
	assert_says(&err, "'2026' fits 2 runs");
	assert_int_equal(bb_store__read("mian", folder, &r, &err), -ENOENT);
	assert_says(&err, "did you mean 'main'?");
	assert_int_equal(bb_store__read("", folder, &r, &err), -EINVAL);
	assert_int_equal(bb_store__read(in_folder("none.json"), folder, &r, &err), -ENOENT);
	assert_says(&err, "none.json: No such file");

	store_as("20261122T080001Z-gate-again-0000003c"); /* in the same second */
	store_as("20261122T080001Z-zoo-0000003b");
	assert_string_equal(read_id("latest"), "20261122T080001Z-gate-again-0000003c");
}

static void test_nothing_stored(void **state)
{
	struct bb_report *r;
	struct bb_err err;

	(void)state;
	assert_int_equal(bb_store__read("latest", folder, &r, &err), -ENOENT);
	assert_says(&err, "no runs are stored there yet");
	assert_int_equal(bb_store__read("latest", in_folder("none"), &r, &err), -ENOENT);
	assert_int_equal(bb_store__read("x", in_folder("none"), &r, &err), -ENOENT);
	assert_says(&err, "no run 'x'");
}

static void test_list(void **state)
{
	struct bb_err err;
	char **ids;
	size_t n;

	(void)state;
	assert_int_equal(bb_store__list(in_folder("none"), &ids, &n, NULL), 0);
	assert_int_equal(n, 0);
	bb_names_free(ids, n);
	store_as("20261122T000000Z-b");
	store_as("20261121T000000Z-c");
	store_as("20261121T000000Z-a");
	spill(in_folder("README.md"), "x", 1);
	spill(in_folder(".20261121T000000Z-d.json.1.tmp"), "x", 1);
	spill(in_folder(".json"), "x", 1);
	spill(in_folder("schema.json"), "x", 1);
	assert_int_equal(bb_store__list(folder, &ids, &n, NULL), 0);
	assert_int_equal(n, 3);
	assert_string_equal(ids[0], "20261121T000000Z-a");
	assert_string_equal(ids[1], "20261121T000000Z-c");
	assert_string_equal(ids[2], "20261122T000000Z-b");
	bb_names_free(ids, n);
	assert_int_equal(bb_store__list(in_folder("README.md"), &ids, &n, &err), -ENOTDIR);
	assert_says(&err, "Not a directory");
}

static void test_not_a_plain_file(void **state)
{
	struct bb_report *r;
	struct bb_err err;

	(void)state;
	assert_int_equal(mkfifo(in_folder("fifo.json"), 0600), 0);
	assert_int_equal(bb_store__read(in_folder("fifo.json"), folder, &r, &err), -EINVAL);
	assert_says(&err, "not a regular file");
	assert_int_equal(bb_store__read(in_folder("."), folder, &r, &err), -EISDIR);
	spill(in_folder("huge.json"), "{", 1);
	assert_int_equal(truncate(in_folder("huge.json"), 1L << 40), 0);
	assert_int_equal(bb_store__read("huge", folder, &r, &err), -EFBIG);
}

/* --- malformed files --- */

static int read_text(const char *text, size_t len, struct bb_err *err)
{
	struct bb_report *r;
	FILE *in = fmemopen((void *)(uintptr_t)text, len, "r");
	int rc;

	assert_non_null(in);
	rc = bb_run_json__read(in, "run.json", &r, err);
	if (!rc)
		bb_report__free(r);
	fclose(in);
	return rc;
}

static char *sample_text(size_t *ret_len)
{
	struct bb_report *r = make_sample_report();
	char *text;

	bb_run_json__compose(r, &text, ret_len);
	bb_report__free(r);
	return text;
}

static void test_truncated(void **state)
{
	struct bb_err err;
	size_t len;
	char *text = sample_text(&len);

	(void)state;
	assert_int_equal(read_text(text, len, &err), 0);
	for (size_t i = 1; i <= 50; i++) {
		size_t cut = i == 50 ? len - 2 : len * i / 50;

		assert_int_equal(read_text(text, cut, &err), -EINVAL);
		assert_says(&err, "run.json: not a bpfbench run: line ");
		assert_says(&err, ", column ");
	}
	free(text);
	assert_int_equal(read_text("\177ELF", 4, &err), -EINVAL);
	assert_says(&err, "run.json: not a bpfbench run but an object; measure it first");
}

static void test_foreign(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{" ", "line 1"},
		{"{}", "format: expected \"bpfbench-run\""},
		{"[]", "expected an object"},
		{"[1,2,3]", "expected an object"},
		{"null", "line 1"},
		{"hello\nworld", "line 1, column 5"},
		/* Of hyperfine. */
		{"{\"results\": [{\"command\": \"sleep\", \"mean\": 1.5}]}", "format"},
		{"{\"a/b\": {\"latency\": {\"value\": 1.0}}}", "format"}, /* BMF */
		{"{\"format\": 7}", "format"},
		{"{\"format\": \"bpfbench-run\"}", "version: expected"},
		{"{\"format\": \"bpfbench-run\", \"version\": \"1\"}", "version: expected"},
		{"{\"format\": \"bpfbench-run\", \"version\": 2}", "version: 2 is newer"},
		{"{\"format\": \"bpfbench-run\", \"version\": 0}", "version"},
		{"{\"format\": \"bpfbench-run\", \"version\": 1}", "id: is missing"},
		{"{\"format\": \"bpfbench-run\", \"format\": \"bpfbench-run\"}", "duplicate"},
		{"\xff\xfe{", "line 1"},
	};
	static char deep[100001];
	struct bb_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(read_text(cases[i].text, strlen(cases[i].text), &err), -EINVAL);
		assert_says(&err, "run.json: not a bpfbench run: ");
		assert_says(&err, cases[i].says);
	}
	memset(deep, '[', sizeof(deep) - 1);
	assert_int_equal(read_text(deep, sizeof(deep) - 1, &err), -EINVAL);
}

/* Replaces the first `from` after the first `after` by `to`. The caller frees the result. */
static char *altered(const char *text, const char *after, const char *from, const char *to)
{
	const char *at = strstr(text, after);
	char *out = NULL;

	assert_non_null(at);
	at = strstr(at, from);
	assert_non_null(at);
	assert_true(asprintf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
	return out;
}

/* A live program without a name was once stored with an empty one. */
static void test_nameless(void **state)
{
	struct bb_err err = {0};
	size_t len;
	char *text = sample_text(&len);
	char *nameless = altered(text, "\"programs\"", "\"program\": \"",
				 "\"program\": \"\", \"x\": \"");

	(void)state;
	assert_int_equal(read_text(nameless, strlen(nameless), &err), 0);
	free(nameless);
	free(text);
}

static void test_wrong_values(void **state)
{
	static const struct {
		const char *after, *from, *to, *says;
	} cases[] = {
		{"", "\"id\": \"2", "\"id\": 2, \"ix\": \"", "id: expected a text"},
		{"", "\"id\": \"20261121T131700Z-perf_profiler-1a2b3c4d\"", "\"id\": \"\"",
		 "id: is empty"},
		{"", "\"seed\": \"0x", "\"seed\": \"x", "seed: expected"},
		{"", "\"seed\": \"0xfedcba9876543210\"", "\"seed\": 5", "seed: expected"},
		{"\"cases\"", "\"floor\": ", "\"executed_insns\": 5, \"insns\": 3, \"floor\": ",
		 "executed_insns: is more than insns"},
		{"\"cases\"",
		 "\"floor\": ", "\"insns\": 3, \"floor\": ", "executed_insns: is missing"},
		{"", "\"elapsed_s\": 18.25", "\"elapsed_s\": -1", "elapsed_s: -1 is negative"},
		{"", "\"elapsed_s\": 18.25", "\"elapsed_s\": \"18\"",
		 "elapsed_s: expected a number or null"},
		{"", "\"elapsed_s\": 18.25", "\"elapsed_s\": 1e999", "line 8"},
		{"", "\"steal\": 0.34", "\"steal\": 34", "steal: 34 is not in 0..1"},
		{"", "\"incomplete\": null", "\"incomplete\": false",
		 "incomplete: expected a text or null"},
		{"", "\"fingerprint\": {", "\"fingerprint\": [], \"x\": {",
		 "fingerprint: expected an object"},
		{"", "\"kernel_release\": \"", "\"kernel_release\": 6, \"x\": \"",
		 "fingerprint: kernel_release: expected"},
		{"", "\"skips\": [", "\"skip\": [", "skips: is missing"},
		{"", "\"what\": \"", "\"what\": null, \"x\": \"", "skips[0].what: expected a text"},
		{"", "\"programs\": [", "\"programs\": {}, \"x\": [", "programs: expected a list"},
		{"", "\"programs\": [", "\"programs\": [7,", "programs[0]: expected an object"},
		{"\"programs\"", "\"type\": \"perf_event\"", "\"type\": \"\"",
		 "programs[0].type: is empty"},
		{"\"programs\"", "\"tag\"", "\"tug\"", "programs[0].tag: is missing"},
		{"\"programs\"", "perf_profiler/ringbuf_nowakeup", "perf_profiler/empty",
		 "programs[1].name: 'perf_profiler/empty' is there twice"},
		{"", "\"static\": {", "\"statics\": {", "programs[0].static: is missing"},
		{"", "\"static\": {", "\"static\": 5, \"x\": {",
		 "programs[0].static: expected an object"},
		{"", "\"xlated_bytes\": 16", "\"xlated_bytes\": -16",
		 "programs[0].xlated_bytes: -16 is negative"},
		{"", "\"xlated_bytes\": 16", "\"xlated_bytes\": \"16\"",
		 "programs[0].xlated_bytes: expected a number"},
		{"", "\"cases\": [", "\"cases\": null, \"x\": [", "cases: expected a list"},
		{"", "\"cases\": [", "\"cases\": [7,", "cases[0]: expected an object"},
		{"", "\"param_value\": 8", "\"param_value\": 4294967296",
		 "cases[0].param_value: expected"},
		{"", "\"anchor\": true", "\"anchor\": 1",
		 "cases[0].anchor: expected true or false"},
		{"", "\"floor\": null", "\"flor\": null", "cases[0].floor: is missing"},
		{"", "\"floor\": null", "\"floor\": 3", "cases[0].floor: expected"},
		{"", "\"floor\": null", "\"floor\": \"nobody\"",
		 "cases[0].floor: there is no case 'nobody'"},
		{"", "ringbuf_nowakeup/step", "empty/step",
		 "cases[1].name: 'perf_profiler/empty/step/stack_depth=8' is there"},
		{"ringbuf_nowakeup/step", "\"series\": [", "\"series\": {}, \"x\": [",
		 "cases[1].series: expected a list"},
		{"ringbuf_nowakeup/step", "\"load\": 2", "\"load\": -2",
		 "cases[1].series[2].load: expected"},
		{"", "\"jit_mod64\": 0", "\"jit_mod64\": 64", "jit_mod64: expected"},
		{"", "\"void\": null", "\"void\": true", "void: expected"},
		{"", "\"run_cnt\": 130", "\"run_cnt\": 130.0", "run_cnt: expected a whole number"},
		{"", "\"run_cnt\": 130", "\"run_cnt\": -130", "run_cnt: expected a whole number"},
		{"", "\"run_cnt\": 130", "\"run_cnt\": \"130 \"",
		 "run_cnt: expected a whole number"},
		{"", "\"run_cnt\": 130", "\"run_cnt\": 99999999999999999999", "line"},
		{"", "\"run_cnt\": 130", "\"run_count\": 130", "run_cnt: is missing"},
		{"", "\"n\": 130", "\"n\": 131", "bins: hold 130 samples, but n is 131"},
		{"", "\"n\": 130", "\"n\": null", "n: expected"},
		{"", "\"sum_ns\": 3", "\"sum_ns\": 4", "sum_ns: "},
		{"", "\"sum_ns\": 3", "\"sum_ns\": null, \"x\": 3", "sum_ns: expected a number"},
		{"", "\"min_ns\": ", "\"min_ns\": 9", "min_ns, max_ns: "},
		{"", "\"max_ns\": 300007", "\"max_ns\": 300907", "min_ns, max_ns: "},
		{"", "\"bins\": \"", "\"bins\": \"x ", "bins: [0]: expected VALUE"},
		{"", "\"bins\": \"", "\"bins\": \"1.5 ", "bins: [0]: expected VALUE"},
		{"", "\"bins\": \"", "\"bins\": \"1:-1 ", "bins: [0]: expected VALUE"},
		{"", "\"bins\": \"", "\"bins\": \"1:2:3 ", "bins: [0]: expected VALUE"},
		{"", "\"bins\": \"", "\"bins\": \"1  ", "bins: [1]: expected VALUE"},
		{"", "\"bins\": \"", "\"bins\": \"99999999999999999999 ",
		 "bins: [0]: expected VALUE"},
		{"", "\"bins\": \"", "\"bins\": \"1:0 ", "bins: [0]: a count of 0"},
		{"", "\"bins\": \"", "\"bins\": \"7 0 ", "bins: [1]: the values do not ascend"},
		{"", "\"bins\": \"", "\"bins\": \"18446744073709551615 ",
		 "bins: [1]: the values do not ascend"},
		{"", "\"bins\": \"", "\"bins\": \"1 1:18446744073709551615 ",
		 "bins: [1]: a count of"},
		{"", "\"bins\": \"", "\"bins\": 5, \"was\": \"", "bins: expected a text"},
	};
	struct bb_err err;
	size_t len;
	char *text = sample_text(&len);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *bad = altered(text, cases[i].after, cases[i].from, cases[i].to);

		if (read_text(bad, strlen(bad), &err) != -EINVAL)
			fail_msg("was taken: %s", cases[i].to);
		assert_says(&err, cases[i].says);
		free(bad);
	}
	free(text);
}

static void test_newer_files(void **state)
{
	struct bb_err err;
	size_t len;
	char *text = sample_text(&len), *more;

	(void)state;
	more = altered(text, "", "\"seed\": ", "\"unheard_of\": {\"a\": [1, null]}, \"seed\": ");
	assert_int_equal(read_text(more, strlen(more), &err), 0);
	free(more);
	more = altered(text, "", "\"kernel_release\"", "\"unheard_of\": \"x\", \"kernel_release\"");
	assert_int_equal(read_text(more, strlen(more), &err), 0);
	free(more);
	/* Without this key, as if it had not been known yet. */
	more = altered(text, "", "\"jited_bytes\": 20, ", "");
	assert_int_equal(read_text(more, strlen(more), &err), 0);
	free(more);
	more = altered(text, "", "\"programs\": [", "\"unheard_of\": ["); /* an older run */
	assert_int_equal(read_text(more, strlen(more), &err), 0);
	free(more);
	free(text);
}

/* Any byte may be changed: the result is an error or a run, never a crash (sanitizers would see
 * it). */
static void test_noise(void **state)
{
	struct bb_rng rng;
	struct bb_err err;
	size_t len, taken = 0;
	char *text = sample_text(&len);

	(void)state;
	bb_rng_seed(&rng, 42);
	for (int i = 0; i < 400; i++) {
		size_t at = bb_rng_below(&rng, len);
		char was = text[at];

		text[at] = (char)bb_rng_below(&rng, 256);
		taken += !read_text(text, len, &err);
		text[at] = was;
	}
	assert_true(taken < 400);
	free(text);
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_a_folder(test_round_trip),
		in_a_folder(test_extremes),
		in_a_folder(test_bytes_that_are_not_utf8),
		in_a_folder(test_empty_report),
		in_a_folder(test_size_is_bounded),
		in_a_folder(test_never_overwrites),
		in_a_folder(test_makes_folders),
		in_a_folder(test_below_a_file),
		in_a_folder(test_id_too_long),
		in_a_folder(test_read_only_folder),
		in_a_folder(test_cut_short),
		in_a_folder(test_full_disk),
		in_a_folder(test_at_once),
		in_a_folder(test_replace),
		in_a_folder(test_owner),
		in_a_folder(test_link_of_another),
		in_a_folder(test_finds),
		in_a_folder(test_nothing_stored),
		in_a_folder(test_list),
		in_a_folder(test_not_a_plain_file),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_wrong_values),
		cmocka_unit_test(test_newer_files),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
