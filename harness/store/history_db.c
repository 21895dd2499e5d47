/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/history_db.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/asset.h"
#include "base/grow.h"
#include "base/io.h"
#include "store/store.h"

#define FILE_MAX_BYTES (256 << 20)
#define PAGE_BYTES 4096 /* SQLite's default */

BB_ASSET(schema_sql, "harness/store/history.sql");

/* --- the header of the file: https://www.sqlite.org/fileformat.html#the_database_header --- */

enum { HEADER_BYTES = 100, AT_USER_VERSION = 60, AT_APPLICATION_ID = 68 };

static uint32_t get_be32(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put_be32(unsigned char *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(value >> (24 - 8 * i));
}

static uint32_t check_sum(const unsigned char *data, size_t len)
{
	static const unsigned char zeros[4];
	size_t behind = AT_APPLICATION_ID + sizeof(zeros);
	uLong crc = crc32_z(0, data, AT_APPLICATION_ID);

	crc = crc32_z(crc, zeros, sizeof(zeros));
	return (uint32_t)crc32_z(crc, data + behind, len - behind);
}

void bb_history_db__seal(void *data, size_t len)
{
	unsigned char *header = data;

	put_be32(header + AT_USER_VERSION, BB_HISTORY_DB_VERSION);
	put_be32(header + AT_APPLICATION_ID, check_sum(data, len));
}

static bool is_sealed(const unsigned char *data, size_t len)
{
	return len >= HEADER_BYTES && get_be32(data + AT_USER_VERSION) == BB_HISTORY_DB_VERSION &&
	       get_be32(data + AT_APPLICATION_ID) == check_sum(data, len);
}

/* --- a database in memory --- */

/* What SQLite does for a database of ours, and no more. */
static const struct {
	int option, value;
} configs[] = {
	{SQLITE_DBCONFIG_DEFENSIVE, 1},
	{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
	{SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
	{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
	{SQLITE_DBCONFIG_ENABLE_VIEW, 0},
};

static const struct {
	int limit, value;
} limits[] = {
	{SQLITE_LIMIT_LENGTH, 1 << 20}, {SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
	{SQLITE_LIMIT_COLUMN, 64},      {SQLITE_LIMIT_EXPR_DEPTH, 20},
	{SQLITE_LIMIT_ATTACHED, 0},     {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
	{SQLITE_LIMIT_VDBE_OP, 10000},  {SQLITE_LIMIT_WORKER_THREADS, 0},
};

/* 0 or -errno. */
static int errno_of(int sqlite_code)
{
	switch (sqlite_code) {
	case SQLITE_OK:
	case SQLITE_DONE: return 0;
	case SQLITE_NOMEM: return -ENOMEM;
	case SQLITE_FULL: return -EFBIG;
	default: return -EINVAL;
	}
}

/* An empty one; close it whatever it says. */
static int open_db(sqlite3 **ret_db)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
	int rc = sqlite3_open_v2(":memory:", ret_db, flags, NULL);

	for (size_t i = 0; !rc && i < sizeof(configs) / sizeof(configs[0]); i++)
		rc = sqlite3_db_config(*ret_db, configs[i].option, configs[i].value, NULL);
	for (size_t i = 0; !rc && i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(*ret_db, limits[i].limit, limits[i].value);
	return errno_of(rc);
}

static int execute(sqlite3 *db, const char *sql)
{
	return errno_of(sqlite3_exec(db, sql, NULL, NULL, NULL));
}

/* --- reading --- */

/* A row, column by column. */
struct row {
	sqlite3_stmt *query;
	int column;
	bool ok; /* all columns were such as we write */
};

static const char *get_text(struct row *r, bool may_lack)
{
	const char *text = (const char *)sqlite3_column_text(r->query, r->column++);

	r->ok &= text || may_lack;
	return text;
}

/* from 0 to `max` */
static int64_t get_integer(struct row *r, int64_t max)
{
	int64_t value = sqlite3_column_int64(r->query, r->column++);

	r->ok &= value >= 0 && value <= max;
	return value;
}

static uint32_t get_u32(struct row *r)
{
	return (uint32_t)get_integer(r, UINT32_MAX);
}

/* The number of one of n rows, from 1 on, as an index. */
static uint32_t get_index(struct row *r, size_t n)
{
	int64_t number = get_integer(r, (int64_t)n);

	r->ok &= number > 0;
	return (uint32_t)(number - 1);
}

/* NAN for NULL. */
static double get_real(struct row *r)
{
	bool is_null = sqlite3_column_type(r->query, r->column) == SQLITE_NULL;
	double value = sqlite3_column_double(r->query, r->column++);

	return is_null ? (double)NAN : value;
}

static struct bb_estimate get_estimate(struct row *r)
{
	struct bb_estimate e = {.value = get_real(r)};

	e.lo = get_real(r);
	e.hi = get_real(r);
	return e;
}

static int take_machine(struct row *r, struct bb_run_index *x)
{
	size_t n = x->n_machines;
	struct bb_fingerprint *fp = bb_append(&x->machines, &x->n_machines, sizeof(*fp));

	if (!fp)
		return -ENOMEM;
	r->ok &= get_index(r, n + 1) == n;
	bb_fingerprint_init(fp);
	while (r->ok && r->column < sqlite3_column_count(r->query)) {
		const char *key = sqlite3_column_name(r->query, r->column);
		const char *value = get_text(r, false);

		if (value)
			bb_fingerprint_set(fp, key, value);
	}
	return 0;
}

static int take_case(struct row *r, struct bb_run_index *x)
{
	size_t n = x->n_cases;
	struct bb_index_case *c = bb_append(&x->cases, &x->n_cases, sizeof(*c));

	if (!c)
		return -ENOMEM;
	r->ok &= get_index(r, n + 1) == n;
	if (bb_run_index__add_text(x, get_text(r, false), &c->name) ||
	    bb_run_index__add_text(x, get_text(r, false), &c->scenario) ||
	    bb_run_index__add_text(x, get_text(r, false), &c->variant) ||
	    bb_run_index__add_text(x, get_text(r, false), &c->drive) ||
	    bb_run_index__add_text(x, get_text(r, true), &c->param))
		return -ENOMEM;
	c->param_value = get_u32(r);
	return 0;
}

static int take_run(struct row *r, struct bb_run_index *x)
{
	size_t n = x->n_runs;
	struct bb_index_run *run = bb_append(&x->runs, &x->n_runs, sizeof(*run));

	if (!run)
		return -ENOMEM;
	r->ok &= get_index(r, n + 1) == n;
	if (bb_run_index__add_text(x, get_text(r, false), &run->name) ||
	    bb_run_index__add_text(x, get_text(r, false), &run->id) ||
	    bb_run_index__add_text(x, get_text(r, true), &run->started) ||
	    bb_run_index__add_text(x, get_text(r, true), &run->incomplete) ||
	    bb_run_index__add_text(x, get_text(r, false), &run->commit))
		return -ENOMEM;
	run->machine = get_index(r, x->n_machines);
	run->is_comparison = (uint32_t)get_integer(r, 1);
	run->size_bytes = (uint64_t)get_integer(r, INT64_MAX);
	run->changed_ns = sqlite3_column_type(r->query, r->column) == SQLITE_NULL
				  ? BB_INDEX_READ_ANEW
				  : sqlite3_column_int64(r->query, r->column);
	return 0;
}

static int take_point(struct row *r, struct bb_run_index *x)
{
	uint32_t of_run = get_index(r, x->n_runs), what = get_index(r, x->n_cases);
	struct bb_index_run *run;
	struct bb_run_point *p;

	if (!r->ok)
		return 0;
	run = &x->runs[of_run];
	if (!run->n_points++)
		run->first_point = x->n_points;
	/* runs have theirs side by side */
	r->ok = run->first_point + run->n_points == x->n_points + 1 && !run->is_comparison;
	p = bb_append(&x->points, &x->n_points, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->what = what;
	for (int by = 0; by < BB_N_PREDICTORS; by++) {
		p->figure[by] = get_estimate(r);
		p->se[by] = get_real(r);
		/* as bb_history_judge() takes them */
		r->ok &= !isinf(p->figure[by].value) && !isinf(p->se[by]) && !(p->se[by] < 0);
	}
	p->loads = get_u32(r);
	p->voids = get_u32(r);
	p->is_anchor = (uint32_t)get_integer(r, 1);
	return 0;
}

/* The tables in the order in which they refer to each other. */
static const struct {
	const char *select;
	int (*take)(struct row *r, struct bb_run_index *x);
} readers[] = {
	{"SELECT * FROM machines ORDER BY rowid", take_machine},
	{"SELECT * FROM cases ORDER BY rowid", take_case},
	{"SELECT * FROM runs ORDER BY rowid", take_run},
	{"SELECT * FROM points ORDER BY rowid", take_point},
};

/* `max_text_bytes`: there are no more in the file. */
static int read_rows(sqlite3 *db, size_t i, size_t max_text_bytes, struct bb_run_index *x)
{
	struct row r = {.ok = true};
	int rc = errno_of(sqlite3_prepare_v2(db, readers[i].select, -1, &r.query, NULL)), step = 0;

	while (!rc && (step = sqlite3_step(r.query)) == SQLITE_ROW) {
		r.column = 0;
		rc = readers[i].take(&r, x);
		if (!rc && (!r.ok || x->n_texts > max_text_bytes))
			rc = -EINVAL;
	}
	if (!rc)
		rc = errno_of(step);
	sqlite3_finalize(r.query);
	return rc;
}

/* The statements that made its tables are ours, and no others: SQLite keeps them word by word. */
static int check_schema(sqlite3 *db)
{
	static const char sql[] = "SELECT sql FROM sqlite_schema ORDER BY rowid", end[] = ";\n";
	const char *ours = schema_sql;
	sqlite3_stmt *query = NULL;
	int rc = errno_of(sqlite3_prepare_v2(db, sql, -1, &query, NULL)), step = 0;

	while (!rc && (step = sqlite3_step(query)) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(query, 0);
		size_t n = text ? strlen(text) : 0;

		if (!n || strncmp(ours, text, n) || strncmp(ours + n, end, strlen(end)))
			rc = -EINVAL;
		else
			ours += n + strlen(end);
	}
	if (!rc)
		rc = errno_of(step);
	sqlite3_finalize(query);
	return rc ? rc : *ours ? -EINVAL : 0;
}

/* Pages that refer to each other in circles are never read to their end. */
#define PROGRESS_OPS 1000

static int is_too_much(void *arg)
{
	size_t *turns_left = arg;

	return !*turns_left || !--*turns_left;
}

int bb_history_db__parse(void *data, size_t len, struct bb_run_index *ret_index)
{
	/* A row takes less than an operation a byte. */
	size_t turns_left = 100 + len / PROGRESS_OPS;
	struct bb_run_index x = {0};
	sqlite3 *db;
	int rc;

	*ret_index = x;
	if (!is_sealed(data, len))
		return -EINVAL;
	rc = open_db(&db);
	if (!rc)
		rc = errno_of(sqlite3_deserialize(db, "main", data, (sqlite3_int64)len,
						  (sqlite3_int64)len, SQLITE_DESERIALIZE_READONLY));
	if (!rc) {
		sqlite3_progress_handler(db, PROGRESS_OPS, is_too_much, &turns_left);
		rc = execute(db, "PRAGMA cell_size_check = ON");
	}
	if (!rc)
		rc = check_schema(db);
	for (size_t i = 0; !rc && i < sizeof(readers) / sizeof(readers[0]); i++)
		rc = read_rows(db, i, len, &x);
	sqlite3_close(db);
	if (rc)
		bb_run_index__done(&x);
	*ret_index = x;
	return rc;
}

void bb_history_db__load(const char *dir, struct bb_run_index *ret_index)
{
	char *path, *data;
	size_t len;

	*ret_index = (struct bb_run_index){0};
	if (asprintf(&path, "%s/" BB_HISTORY_DB, dir) < 0)
		return;
	if (!bb_read_own_file(path, FILE_MAX_BYTES, &data, &len, NULL)) {
		bb_history_db__parse(data, len, ret_index);
		free(data);
	}
	free(path);
}

/* --- writing --- */

/* A row that is being inserted. */
struct new_row {
	sqlite3_stmt *insert;
	int column, rc; /* of the first failure */
};

static void keep(struct new_row *r, int rc)
{
	if (!r->rc)
		r->rc = rc;
}

static void put_text(struct new_row *r, const char *text)
{
	keep(r, sqlite3_bind_text(r->insert, ++r->column, text, -1, SQLITE_STATIC));
}

static void put_integer(struct new_row *r, int64_t value)
{
	keep(r, sqlite3_bind_int64(r->insert, ++r->column, value));
}

/* NAN becomes NULL. */
static void put_real(struct new_row *r, double value)
{
	keep(r, sqlite3_bind_double(r->insert, ++r->column, value));
}

static void put_estimate(struct new_row *r, const struct bb_estimate *e)
{
	put_real(r, e->value);
	put_real(r, e->lo);
	put_real(r, e->hi);
}

static void end_row(struct new_row *r)
{
	int rc = sqlite3_step(r->insert);

	keep(r, rc == SQLITE_DONE ? SQLITE_OK : rc);
	sqlite3_reset(r->insert);
	r->column = 0;
}

static void put_machines(struct new_row *r, const struct bb_run_index *x)
{
	for (size_t i = 0; !r->rc && i < x->n_machines; i++) {
		put_integer(r, (int64_t)i + 1);
		for (size_t k = 0; k < bb_n_fingerprint_fields; k++)
			if (bb_fingerprint_fields[k].identity)
				put_text(r, bb_fingerprint_get(&x->machines[i], k));
		end_row(r);
	}
}

static void put_cases(struct new_row *r, const struct bb_run_index *x)
{
	for (size_t i = 0; !r->rc && i < x->n_cases; i++) {
		const struct bb_index_case *c = &x->cases[i];

		put_integer(r, (int64_t)i + 1);
		put_text(r, bb_index_text(x, c->name));
		put_text(r, bb_index_text(x, c->scenario));
		put_text(r, bb_index_text(x, c->variant));
		put_text(r, bb_index_text(x, c->drive));
		put_text(r, bb_index_text(x, c->param));
		put_integer(r, c->param_value);
		end_row(r);
	}
}

static void put_runs(struct new_row *r, const struct bb_run_index *x)
{
	for (size_t i = 0; !r->rc && i < x->n_runs; i++) {
		const struct bb_index_run *run = &x->runs[i];

		put_integer(r, (int64_t)i + 1);
		put_text(r, bb_index_text(x, run->name));
		put_text(r, bb_index_text(x, run->id));
		put_text(r, bb_index_text(x, run->started));
		put_text(r, bb_index_text(x, run->incomplete));
		put_text(r, bb_index_text(x, run->commit));
		put_integer(r, (int64_t)run->machine + 1);
		put_integer(r, run->is_comparison);
		put_integer(r, (int64_t)run->size_bytes);
		if (run->changed_ns == BB_INDEX_READ_ANEW)
			put_text(r, NULL);
		else
			put_integer(r, run->changed_ns);
		end_row(r);
	}
}

static void put_points_of(struct new_row *r, const struct bb_run_index *x, size_t run)
{
	for (size_t i = 0; !r->rc && i < x->runs[run].n_points; i++) {
		const struct bb_run_point *p = &x->points[x->runs[run].first_point + i];

		put_integer(r, (int64_t)run + 1);
		put_integer(r, (int64_t)p->what + 1);
		for (int by = 0; by < BB_N_PREDICTORS; by++) {
			put_estimate(r, &p->figure[by]);
			put_real(r, p->se[by]);
		}
		put_integer(r, p->loads);
		put_integer(r, p->voids);
		put_integer(r, p->is_anchor);
		end_row(r);
	}
}

static void put_points(struct new_row *r, const struct bb_run_index *x)
{
	for (size_t i = 0; i < x->n_runs; i++)
		put_points_of(r, x, i);
}

static const struct {
	const char *insert;
	void (*put)(struct new_row *r, const struct bb_run_index *x);
} writers[] = {
	{"INSERT INTO machines VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)", put_machines},
	{"INSERT INTO cases VALUES (?,?,?,?,?,?,?)", put_cases},
	{"INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?)", put_runs},
	{"INSERT INTO points VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", put_points},
};

static int write_rows(sqlite3 *db, size_t i, const struct bb_run_index *x)
{
	struct new_row r = {0};

	r.rc = sqlite3_prepare_v2(db, writers[i].insert, -1, &r.insert, NULL);
	if (!r.rc)
		writers[i].put(&r, x);
	sqlite3_finalize(r.insert);
	return errno_of(r.rc);
}

/* All tables, in one transaction. */
static int fill(sqlite3 *db, const struct bb_run_index *x)
{
	char bounded[64];
	int rc;

	snprintf(bounded, sizeof(bounded), "PRAGMA max_page_count = %d",
		 FILE_MAX_BYTES / PAGE_BYTES);
	rc = execute(db, bounded);
	if (!rc)
		rc = execute(db, "PRAGMA journal_mode = OFF");
	if (!rc)
		rc = execute(db, "BEGIN");
	if (!rc)
		rc = execute(db, schema_sql);
	for (size_t i = 0; !rc && i < sizeof(writers) / sizeof(writers[0]); i++)
		rc = write_rows(db, i, x);
	return rc ? rc : execute(db, "COMMIT");
}

int bb_history_db__save(const char *dir, const struct bb_run_index *x)
{
	unsigned char *data = NULL;
	sqlite3_int64 len = 0;
	sqlite3 *db;
	int rc = open_db(&db);

	if (!rc)
		rc = fill(db, x);
	if (!rc) {
		data = sqlite3_serialize(db, "main", &len, 0);
		rc = data ? 0 : -ENOMEM;
	}
	sqlite3_close(db);
	if (!rc) {
		bb_history_db__seal(data, (size_t)len);
		rc = bb_store__replace(dir, BB_HISTORY_DB, data, (size_t)len);
	}
	sqlite3_free(data);
	return rc;
}
