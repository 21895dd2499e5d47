/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of stored runs: the history is the same with and without it, whatever has happened to
 * the runs, the index or the disk.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/deadline.h"
#include "export/documents.h"
#include "judge/timeline.h"
#include "store/store.h"
#include "unit/folder_testing.h"
#include "unit/report_testing.h"

#define NOBODY 65534
#define N_RUNS 5

/* Sets a file's time of change to long ago. A file that has just changed is never taken from an
 * index. */
static void change_at(const char *name, time_t at_s)
{
	const struct timespec times[] = {{at_s, 0}, {at_s, 0}};

	assert_int_equal(utimensat(AT_FDCWD, in_folder(name), times, 0), 0);
}

/* Stores a run with an anchor and two cases. The second case costs `ns`. */
static void store(const char *id, uint64_t ns)
{
	struct bb_report *r = make_report(id);
	size_t empty = make_case(r, "empty", "step", "stack_depth", 8), other;
	char name[NAME_MAX];

	make_loads(r, empty, 6, 30, 60);
	other = make_case(r, "ringbuf", "step", "stack_depth", 8);
	make_loads(r, other, 6, 30, ns);
	make_loads(r, make_case(r, "alone", "in-situ", NULL, 0), 1, 30, ns);
	r->cases[empty].is_anchor = true;
	set_text(&r->cases[other].series[2].void_why, "misses");
	bb_report__summarise(r);
	assert_int_equal(bb_store__write(folder, r, NULL, NULL), 0);
	bb_report__free(r);
	snprintf(name, sizeof(name), "%s.json", id);
	change_at(name, 1700000000);
}

static void store_runs(void)
{
	char id[32];

	for (unsigned int i = 0; i < N_RUNS; i++) {
		snprintf(id, sizeof(id), "2026010%uT000000Z-x", i);
		store(id, 700 + 100 * i);
	}
}

static void count(void *arg, const char *why)
{
	(void)why;
	++*(int *)arg;
}

/* Returns the whole history as text; the caller frees it. *ret_passed_over is the number of files
 * that were not read. */
static char *history(int *ret_passed_over)
{
	struct bb_timeline_opts opts = {.rule = bb_history_default_rule,
					.passed_over = count,
					.arg = ret_passed_over};
	struct bb_timeline t;
	struct bb_err err;
	char *text = NULL;
	size_t len;
	FILE *out;

	*ret_passed_over = 0;
	if (bb_timeline__read(folder, &opts, &t, &err))
		fail_msg("%s", err.msg);
	out = open_memstream(&text, &len);
	assert_non_null(out);
	bb_history_print_tsv(&t, NULL, out);
	fclose(out);
	bb_timeline__done(&t);
	return text;
}

static char *history_without_index(void)
{
	int passed_over;

	unlink(in_folder(BB_HISTORY_DB));
	return history(&passed_over);
}

static void expect_history(const char *want)
{
	int passed_over;
	char *text = history(&passed_over);

	assert_string_equal(text, want);
	assert_int_equal(passed_over, 0);
	free(text);
}

static size_t runs_in_index(void)
{
	struct bb_run_index x;
	size_t n;

	bb_history_db__load(folder, &x);
	n = x.n_runs;
	bb_run_index__done(&x);
	return n;
}

/* --- when the index is used --- */

static void test_is_used(void **state)
{
	char *before, *run;

	(void)state;
	store_runs();
	before = history_without_index();
	assert_int_equal(runs_in_index(), N_RUNS);
	expect_history(before);
	/* A damaged file that looks unchanged is not even opened. */
	run = slurp(in_folder("20260102T000000Z-x.json"));
	assert_non_null(run);
	spill(in_folder("20260102T000000Z-x.json"), run + 1, strlen(run) - 1);
	assert_int_equal(truncate(in_folder("20260102T000000Z-x.json"), (off_t)strlen(run)), 0);
	change_at("20260102T000000Z-x.json", 1700000000);
	expect_history(before);
	free(run);
	free(before);
}

static void test_follows_the_runs(void **state)
{
	char *first, *second, *third, *fourth;
	int passed_over;

	(void)state;
	store_runs();
	first = history_without_index();
	assert_int_equal(unlink(in_folder("20260103T000000Z-x.json")), 0); /* one run less */
	second = history(&passed_over);
	assert_string_not_equal(first, second);
	assert_int_equal(runs_in_index(), N_RUNS - 1);
	store("20260103T000000Z-x", 5000); /* another run in its place, with the same time */
	third = history(&passed_over);
	assert_string_not_equal(second, third);
	assert_string_not_equal(first, third);
	store("20260201T000000Z-y", 800); /* one run more */
	fourth = history(&passed_over);
	assert_int_equal(runs_in_index(), N_RUNS + 1);
	free(first);
	first = history_without_index();
	assert_string_equal(fourth, first);
	free(first);
	free(second);
	free(third);
	free(fourth);
}

/* Renames a case in a stored run. The size of the file stays the same. */
static void rename_case(const char *name, const char *from, const char *to)
{
	char *run = slurp(in_folder(name)), *at = strstr(run, from);

	assert_non_null(at);
	memcpy(at, to, strlen(to));
	spill(in_folder(name), run, strlen(run));
	free(run);
}

static void expect_case(const char *name)
{
	int passed_over;
	char *text = history(&passed_over);

	assert_non_null(strstr(text, name));
	free(text);
}

/* A file of the same size that was changed at another time is read anew. If that was so lately that
 * a further change may go unnoticed, it is read each time. */
static void test_changed_in_place(void **state)
{
	struct bb_run_index x;

	(void)state;
	store_runs();
	free(history_without_index());
	rename_case("20260102T000000Z-x.json", "perf_profiler/ringbuf/", "perf_profiler/RINGBUF/");
	expect_case("perf_profiler/RINGBUF/");
	bb_history_db__load(folder, &x);
	assert_true(bb_run_index__find(&x, "20260102T000000Z-x")->changed_ns == BB_INDEX_READ_ANEW);
	assert_true(bb_run_index__find(&x, "20260101T000000Z-x")->changed_ns ==
		    1700000000LL * 1000000000);
	bb_run_index__done(&x);
	rename_case("20260102T000000Z-x.json", "perf_profiler/RINGBUF/", "perf_profiler/Ringbuf/");
	expect_case("perf_profiler/Ringbuf/");
}

/* A run whose file is as old as the epoch, or older, is read each time, as it may have changed. */
static void test_very_old_files(void **state)
{
	struct bb_run_index x;
	char *before;

	(void)state;
	store_runs();
	before = history_without_index();
	change_at("20260101T000000Z-x.json", 0);
	change_at("20260102T000000Z-x.json", -86400);
	for (int i = 0; i < 2; i++) {
		expect_history(before);
		bb_history_db__load(folder, &x);
		assert_int_equal(x.n_runs, N_RUNS);
		assert_true(x.runs[0].changed_ns != BB_INDEX_READ_ANEW);
		assert_true(x.runs[1].changed_ns == BB_INDEX_READ_ANEW);
		assert_true(x.runs[2].changed_ns == BB_INDEX_READ_ANEW);
		bb_run_index__done(&x);
	}
	rename_case("20260101T000000Z-x.json", "perf_profiler/ringbuf/", "perf_profiler/RINGBUF/");
	rename_case("20260102T000000Z-x.json", "perf_profiler/ringbuf/", "perf_profiler/Ringbuf/");
	change_at("20260101T000000Z-x.json", 0);
	change_at("20260102T000000Z-x.json", -86400);
	expect_case("perf_profiler/RINGBUF/");
	expect_case("perf_profiler/Ringbuf/");
	free(before);
}

/* A corrupt run is named each time, and the others are in the history. Once the file is repaired,
 * so is the history. */
static void test_corrupt_run(void **state)
{
	char *run, *before, *text;
	int passed_over;

	(void)state;
	store_runs();
	before = history_without_index();
	run = slurp(in_folder("20260102T000000Z-x.json"));
	spill(in_folder("20260102T000000Z-x.json"), run, strlen(run) / 2);
	for (int i = 0; i < 3; i++) {
		text = history(&passed_over);
		assert_int_equal(passed_over, 1);
		assert_string_not_equal(text, before);
		assert_int_equal(runs_in_index(), N_RUNS - 1);
		free(text);
	}
	spill(in_folder("20260102T000000Z-x.json"), run, strlen(run));
	expect_history(before);
	free(run);
	free(before);
}

/* The figures of a run in the index of BB_HISTORY_DB_VERSION. If they change, raise the version;
 * otherwise old indexes are used. */
static void test_points_of_this_version(void **state)
{
	static const double want[][3] = {
		{118.6206896552, NAN, 0.05880448426175},
		{753.7931034483, 6.61377245509, 0.04419905563552},
		{744.8275862069, NAN, NAN},
	};
	struct bb_run_index x;

	(void)state;
	assert_int_equal(BB_HISTORY_DB_VERSION, 5);
	store("20260101T000000Z-x", 700);
	assert_int_equal(bb_run_index__read(folder, NULL, NULL, &x, NULL), 0);
	assert_int_equal(x.n_points, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct bb_run_point *p = &x.points[i];
		const double got[] = {p->figure[BB_BY_LATENCY].value, p->figure[BB_BY_RATIO].value,
				      p->se[p->is_anchor ? BB_BY_LATENCY : BB_BY_RATIO]};

		for (size_t k = 0; k < 3; k++)
			if (isnan(want[i][k]))
				assert_nan(got[k]);
			else
				assert_near_by(got[k], want[i][k], 1e-9);
	}
	assert_int_equal(x.points[1].loads, 5);
	assert_int_equal(x.points[1].voids, 1);
	bb_run_index__done(&x);
}

/* Returns the first column of the first row; the caller frees it. */
static char *ask(const char *sql)
{
	sqlite3_stmt *query;
	sqlite3 *db;
	char *text;

	assert_int_equal(sqlite3_open_v2(in_folder(BB_HISTORY_DB), &db, SQLITE_OPEN_READONLY, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	text = strdup((const char *)sqlite3_column_text(query, 0));
	assert_non_null(text);
	sqlite3_finalize(query);
	sqlite3_close(db);
	return text;
}

static void expect_answer(const char *sql, const char *want)
{
	char *text = ask(sql);

	assert_string_equal(text, want);
	free(text);
}

/* What users can query. */
static void test_can_be_queried(void **state)
{
	char *columns = NULL;
	size_t len;
	FILE *out = open_memstream(&columns, &len);

	(void)state;
	store_runs();
	free(history_without_index());
	expect_answer("PRAGMA integrity_check", "ok");
	expect_answer("SELECT count(*) FROM runs JOIN machines USING (machine_no)", "5");
	expect_answer("SELECT count(*) FROM points JOIN runs USING (run_no)"
		      " JOIN cases USING (case_no)",
		      "15");
	expect_answer("SELECT group_concat(file || ' ' || (id = file) || ' ' || is_comparison)"
		      " FROM runs WHERE run_no < 3",
		      "20260100T000000Z-x 1 0,20260101T000000Z-x 1 0");
	expect_answer("SELECT round(ratio, 3) || ' ' || loads || ' ' || voids FROM points"
		      " JOIN cases USING (case_no) WHERE run_no = 1 AND variant = 'ringbuf'",
		      "6.614 5 1");
	expect_answer("SELECT changed_ns FROM runs", "1700000000000000000");
	expect_answer("SELECT count(*) FROM points WHERE ratio IS NULL AND is_anchor", "5");
	/* Each property of the machine by which runs are compared is a column. */
	assert_non_null(out);
	fputs("machine_no", out);
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++)
		if (bb_fingerprint_fields[i].identity)
			fprintf(out, ",%s", bb_fingerprint_fields[i].key);
	fclose(out);
	expect_answer("SELECT group_concat(name) FROM pragma_table_info('machines')", columns);
	free(columns);
}

/* --- an invalid index --- */

static void test_damaged(void **state)
{
	char *before, *good;
	size_t len;

	(void)state;
	store_runs();
	before = history_without_index();
	assert_int_equal(bb_read_file(in_folder(BB_HISTORY_DB), SIZE_MAX, &good, &len, NULL), 0);
	for (size_t i = 0; i < 40; i++) { /* cut off */
		spill(in_folder(BB_HISTORY_DB), good, len * i / 40);
		assert_int_equal(runs_in_index(), 0);
		expect_history(before);
		assert_int_equal(runs_in_index(), N_RUNS); /* made anew */
	}
	free(good);
	free(before);
}

/* Numbers changed anywhere, as by an attacker: no read out of bounds (sanitizers would see it), and
 * without the file the history is right again. */
static void test_forged_bytes(void **state)
{
	struct bb_rng rng;
	char *good, *bad, *before;
	int passed_over;
	size_t len;

	(void)state;
	store_runs();
	before = history_without_index();
	assert_int_equal(bb_read_file(in_folder(BB_HISTORY_DB), SIZE_MAX, &good, &len, NULL), 0);
	bad = malloc(len);
	assert_non_null(bad);
	bb_rng_seed(&rng, 2);
	for (size_t i = 0; i < 400; i++) {
		size_t at = i < 100 ? 4 * (i / 4) : bb_rng_below(&rng, len - 4);
		uint32_t value = bb_rng_below(&rng, 2) ? UINT32_MAX
						       : (uint32_t)bb_rng_below(&rng, 300);

		memcpy(bad, good, len);
		memcpy(bad + at, &value, sizeof(value));
		spill(in_folder(BB_HISTORY_DB), bad, len);
		free(history(&passed_over));
	}
	unlink(in_folder(BB_HISTORY_DB));
	expect_history(before);
	free(bad);
	free(good);
	free(before);
}

/* Changes the database, as the owner of the folder could. */
static void forge(const char *sql)
{
	char *why = NULL;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(in_folder(BB_HISTORY_DB), &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why))
		fail_msg("%s: %s", sql, why);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* A valid database with contents that bpfbench never writes is ignored. */
static void test_forged(void **state)
{
	static const char *const forgeries[] = {
		"CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
		"CREATE VIEW v AS SELECT * FROM runs",
		"CREATE TABLE more (x)",
		"CREATE INDEX i ON points (case_no)",
		"ALTER TABLE runs ADD COLUMN more",
		"ALTER TABLE points RENAME TO others;"
		" CREATE VIEW points AS SELECT * FROM others",
		"UPDATE points SET run_no = 0 WHERE rowid = 1",
		"UPDATE points SET run_no = 6 WHERE rowid = 15",
		"UPDATE points SET run_no = 1 WHERE rowid = 15",
		"UPDATE points SET run_no = -9223372036854775807",
		"UPDATE points SET run_no = -9e999",
		"UPDATE points SET case_no = 4 WHERE rowid = 7",
		"UPDATE points SET case_no = 'x' WHERE rowid = 7",
		"UPDATE points SET latency_ns = 9e999 WHERE rowid = 7",
		"UPDATE points SET latency_ns = -1 WHERE rowid = 7",
		"UPDATE points SET ratio = -9e999 WHERE rowid = 7",
		"UPDATE points SET ratio_ln_se = -1 WHERE rowid = 7",
		"UPDATE points SET loads = 4294967296 WHERE rowid = 7",
		"UPDATE points SET is_anchor = 2 WHERE rowid = 7",
		"UPDATE runs SET run_no = 7 WHERE run_no = 5",
		"UPDATE runs SET run_no = -1 WHERE run_no = 1",
		"UPDATE runs SET machine_no = 2 WHERE run_no = 5",
		"UPDATE runs SET is_comparison = 1 WHERE run_no = 5",
		"UPDATE runs SET size_bytes = -1 WHERE run_no = 5",
		"PRAGMA writable_schema = ON;"
		" UPDATE sqlite_schema SET sql = replace(sql, 'id TEXT NOT NULL', 'id TEXT')",
		"PRAGMA journal_mode = WAL",
		"DELETE FROM machines",
		"DELETE FROM cases WHERE case_no = 1",
		"DROP TABLE points",
	};
	char *before;

	(void)state;
	store_runs();
	before = history_without_index();
	assert_int_equal(runs_in_index(), N_RUNS);
	forge("VACUUM"); /* checks forge(): this changes no contents */
	assert_int_equal(runs_in_index(), N_RUNS);
	for (size_t i = 0; i < sizeof(forgeries) / sizeof(forgeries[0]); i++) {
		forge(forgeries[i]);
		if (runs_in_index())
			fail_msg("believed: %s", forgeries[i]);
		expect_history(before);
		assert_int_equal(runs_in_index(), N_RUNS);
	}
	free(before);
}

/* Pages of the tree of `points` that each refer 600 times to the next page: 600^8 valid rows. */
static void test_endless(void **state)
{
	enum { PAGE = 4096, LEVELS = 8, FAN_OUT = 600 };
	unsigned char *data;
	char *before, *old, sql[128];
	uint32_t n_pages, root;
	size_t len;

	(void)state;
	store("20260101T000000Z-x", 700);
	before = history_without_index();
	assert_int_equal(bb_read_file(in_folder(BB_HISTORY_DB), SIZE_MAX, &old, &len, NULL), 0);
	n_pages = (uint32_t)(len / PAGE);
	root = n_pages; /* `points` is the last page, a leaf */
	free(old);
	snprintf(sql, sizeof(sql),
		 "PRAGMA writable_schema = ON;"
		 " UPDATE sqlite_schema SET rootpage = %u WHERE name = 'points'",
		 n_pages + LEVELS);
	forge(sql);
	assert_int_equal(bb_read_file(in_folder(BB_HISTORY_DB), SIZE_MAX, &old, &len, NULL), 0);
	assert_int_equal(len, PAGE * (size_t)n_pages);
	data = calloc(n_pages + LEVELS, PAGE);
	assert_non_null(data);
	memcpy(data, old, len);
	data[31] = (unsigned char)(n_pages + LEVELS); /* the size in pages */
	for (size_t i = 0; i < LEVELS; i++) {
		unsigned char *page = data + PAGE * (n_pages + i);
		unsigned char child = (unsigned char)(root + i);

		page[0] = 5; /* an inner page of a table; one cell, and FAN_OUT pointers to it */
		page[3] = FAN_OUT >> 8;
		page[4] = FAN_OUT & 0xff;
		page[5] = (PAGE - 8) >> 8;
		page[6] = (PAGE - 8) & 0xff;
		page[11] = child;
		for (size_t k = 0; k < FAN_OUT; k++)
			memcpy(page + 12 + 2 * k, page + 5, 2);
		page[PAGE - 5] = child;
		page[PAGE - 4] = 3; /* rowid */
	}
	len = PAGE * (size_t)(n_pages + LEVELS);
	spill(in_folder(BB_HISTORY_DB), (char *)data, len);
	assert_int_equal(runs_in_index(), 0);
	expect_history(before);
	free(data);
	free(old);
	free(before);
}

/* A journal beside the database that names a file. SQLite would delete that file when it opens the
 * database. */
static void test_forged_journal(void **state)
{
	static const unsigned char magic[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	const char *precious = strdup(in_folder("precious"));
	size_t n = strlen(precious), at = 512;
	unsigned char journal[1024] = {0};
	char *before, *path;
	uint32_t sum = 0;

	(void)state;
	store_runs();
	before = history_without_index();
	spill(precious, "x", 1);
	memcpy(journal, magic, sizeof(magic));
	journal[22] = 2;    /* sector size 512 */
	journal[26] = 0x10; /* page size 4096 */
	for (size_t i = 0; i < n; i++)
		sum += (unsigned char)precious[i];
	journal[at + 1] = 4; /* page 0x40001, which holds no data: a super-journal's name follows */
	journal[at + 3] = 1;
	memcpy(journal + at + 4, precious, n);
	journal[at + 4 + n + 3] = (unsigned char)n;
	for (int i = 0; i < 4; i++)
		journal[at + 4 + n + 4 + (size_t)i] = (unsigned char)(sum >> (24 - 8 * i));
	memcpy(journal + at + 4 + n + 8, magic, sizeof(magic));
	path = strdup(in_folder(BB_HISTORY_DB "-journal"));
	spill(path, (char *)journal, at + 4 + n + 8 + sizeof(magic));
	expect_history(before);
	assert_int_equal(access(precious, F_OK), 0);
	unlink(path);
	unlink(precious);
	free(path);
	free((void *)(uintptr_t)precious);
	free(before);
}

static void test_another_version(void **state)
{
	char *before, *data;
	size_t len;

	(void)state;
	store_runs();
	before = history_without_index();
	assert_int_equal(bb_read_file(in_folder(BB_HISTORY_DB), SIZE_MAX, &data, &len, NULL), 0);
	data[63] = BB_HISTORY_DB_VERSION + 1; /* PRAGMA user_version */
	spill(in_folder(BB_HISTORY_DB), data, len);
	assert_int_equal(runs_in_index(), 0);
	expect_history(before);
	free(data);
	free(before);
}

static void test_not_a_file(void **state)
{
	char *before;

	(void)state;
	store_runs();
	before = history_without_index();
	unlink(in_folder(BB_HISTORY_DB));
	assert_int_equal(mkdir(in_folder(BB_HISTORY_DB), 0755), 0);
	expect_history(before);
	assert_int_equal(rmdir(in_folder(BB_HISTORY_DB)), 0);
	assert_int_equal(mkfifo(in_folder(BB_HISTORY_DB), 0600), 0);
	expect_history(before);
	free(before);
}

/* A link of our own is followed when reading and replaced when writing. The file that it leads to
 * is not changed. */
static void test_a_link(void **state)
{
	struct stat st;
	char *before, *kept;

	(void)state;
	store_runs();
	before = history_without_index();
	unlink(in_folder(BB_HISTORY_DB));
	spill(in_folder("elsewhere"), "kept", 4);
	assert_int_equal(symlink("elsewhere", in_folder(BB_HISTORY_DB)), 0);
	expect_history(before);
	assert_int_equal(lstat(in_folder(BB_HISTORY_DB), &st), 0);
	assert_true(S_ISREG(st.st_mode));
	kept = slurp(in_folder("elsewhere"));
	assert_string_equal(kept, "kept");
	free(kept);
	free(before);
}

/* --- an index that cannot be written, and other processes --- */

/* Calls expect_history() in a process that `spoil` prepares. Returns false if that was not
 * possible. */
static bool expect_in_child(int (*spoil)(void), const char *want)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		char *text;
		int passed_over, entries;

		if (spoil())
			_exit(2);
		entries = count_entries(folder);
		text = history(&passed_over);
		_exit(strcmp(text, want) || passed_over || count_entries(folder) != entries);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_not_equal(WEXITSTATUS(status), 1);
	return !WEXITSTATUS(status);
}

static int become_nobody(void)
{
	return chmod(folder, 0555) || (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY));
}

static void test_read_only_folder(void **state)
{
	char *before;

	(void)state;
	store_runs();
	before = history_without_index();
	unlink(in_folder(BB_HISTORY_DB));
	assert_true(expect_in_child(become_nobody, before));
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(count_entries(folder), N_RUNS);
	free(before);
}

/* Puts the folder's runs on a disk without any more room. */
static int fill_disk(void)
{
	char command[3 * PATH_MAX];

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -1;
	snprintf(command, sizeof(command),
		 "mkdir '%s.full' && mount -t tmpfs -o size=512k none '%s.full' && "
		 "cp -p '%s'/*.json '%s.full' && mount --move '%s.full' '%s' && rmdir '%s.full' && "
		 "{ dd if=/dev/zero of='%s/filler' bs=4k 2>/dev/null; test -s '%s/filler'; }",
		 folder, folder, folder, folder, folder, folder, folder, folder, folder);
	return system(command);
}

static void test_full_disk(void **state)
{
	char *before;

	(void)state;
	if (geteuid()) {
		print_message("# skip: mounting a tiny tmpfs needs root\n");
		skip();
	}
	store_runs();
	before = history_without_index();
	unlink(in_folder(BB_HISTORY_DB));
	if (!expect_in_child(fill_disk, before)) {
		free(before);
		print_message("# skip: no tmpfs can be mounted here\n");
		skip();
	}
	free(before);
}

/* Several histories while runs come and go: none fails, and at the end there is an index and no
 * temporary file. */
static void test_at_once(void **state)
{
	pid_t pids[4];
	char *text, *again;
	int passed_over, status;

	(void)state;
	store_runs();
	for (size_t i = 0; i < 4; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		for (int k = 0; !pids[i] && k < 40; k++) {
			if (k % 4 == (int)i)
				unlink(in_folder(BB_HISTORY_DB));
			free(history(&passed_over));
		}
		if (!pids[i])
			_exit(0);
	}
	for (unsigned int i = 0; i < 20; i++) {
		char id[32];

		snprintf(id, sizeof(id), "202602%02uT000000Z-x", i + 1);
		store(id, 800);
	}
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	text = history(&passed_over);
	assert_int_equal(runs_in_index(), N_RUNS + 20);
	assert_int_equal(count_entries(folder), N_RUNS + 20 + 1);
	again = history_without_index();
	assert_string_equal(text, again);
	free(text);
	free(again);
}

/* A signal ends the reading of runs, and no partial index is stored. */
static void test_stopped(void **state)
{
	struct bb_run_index x;
	struct bb_err err;

	(void)state;
	store_runs();
	bb_stop_signal = SIGINT;
	assert_int_equal(bb_run_index__read(folder, NULL, NULL, &x, &err), -EINTR);
	bb_stop_signal = 0;
	assert_string_equal(err.msg, "stopped by signal 2 (Interrupt)");
	assert_int_equal(access(in_folder(BB_HISTORY_DB), F_OK), -1);
	assert_int_equal(bb_run_index__read(folder, NULL, NULL, &x, &err), 0);
	assert_int_equal(x.n_runs, N_RUNS);
	bb_run_index__done(&x);
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_a_folder(test_is_used),          in_a_folder(test_follows_the_runs),
		in_a_folder(test_changed_in_place), in_a_folder(test_very_old_files),
		in_a_folder(test_corrupt_run),      in_a_folder(test_points_of_this_version),
		in_a_folder(test_can_be_queried),   in_a_folder(test_damaged),
		in_a_folder(test_forged_bytes),     in_a_folder(test_forged),
		in_a_folder(test_endless),          in_a_folder(test_forged_journal),
		in_a_folder(test_another_version),  in_a_folder(test_not_a_file),
		in_a_folder(test_a_link),           in_a_folder(test_read_only_folder),
		in_a_folder(test_full_disk),        in_a_folder(test_at_once),
		in_a_folder(test_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
