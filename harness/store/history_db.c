/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/run_index.h"

#include <sqlite3.h>

#include "base/io.h"
#include "store/store.h"

#define FILE_MAX_BYTES (256 << 20)
#define PAGE_BYTES 4096 /* SQLite's default size of a database page */
#define MOST_COLUMNS 20

enum { MACHINES, CASES, RUNS, POINTS, N_TABLES };

struct column {
	const char *name;
	enum {
		/* row number, from 1 on, which the C struct lacks */
		NUMBER,
		TEXT,
		TEXT_OR_NULL,
		CHARS, /* member of type char[size] */
		/* uint32_t, an index in the table `of`; a row number in the database */
		ROW_OF,
		U32,
		FLAG, /* uint32_t, 0 or 1 */
		U64,
		CHANGED, /* int64_t; NULL in the database means BB_INDEX_READ_ANEW */
		REAL,    /* double; NULL in the database means NAN */
		FINITE,  /* finite double; NULL in the database means NAN */
		ERROR,   /* finite double >= 0; NULL in the database means NAN */
	} type;
	size_t offset, size;
	int of; /* the table that a column of type ROW_OF refers to */
	const char *doc;
};

struct table {
	const char *name, *doc;
	size_t items_at, n_at; /* offsets in struct bb_run_index of the items and of their number */
	size_t size;
	struct column columns[MOST_COLUMNS]; /* end in one without a name */
};

#define TABLE(name_, doc_, items_, type_)                                                          \
	.name = (name_), .doc = (doc_), .items_at = offsetof(struct bb_run_index, items_),         \
	.n_at = offsetof(struct bb_run_index, n_##items_), .size = sizeof(struct type_)
#define OF(type_, m_) .offset = offsetof(struct type_, m_)
#define FIGURE(name_, unit_, by_, doc_)                                                            \
	{name_ unit_, FINITE, OF(bb_run_point, figure[by_].value), .doc = (doc_)},                 \
		{name_ "_lo" unit_, REAL, OF(bb_run_point, figure[by_].lo)},                       \
		{name_ "_hi" unit_, REAL, OF(bb_run_point, figure[by_].hi)},                       \
	{                                                                                          \
		name_ "_ln_se", ERROR, OF(bb_run_point, se[by_]),                                  \
			.doc = "standard error of its ln"                                          \
	}

/* Tables are read in this order, so a table stands before the tables that refer to it. */
static const struct table plain_tables[N_TABLES] = {
	[MACHINES] = {TABLE("machines",
			    "the properties by which runs are comparable; see `bpfbench check`",
			    machines, bb_fingerprint),
		      .columns = {{"machine_no", NUMBER}}},
	[CASES] = {TABLE("cases", "a variant under a drive, with the value of its parameter", cases,
			 bb_index_case),
		   .columns =
			   {
				   {"case_no", NUMBER},
				   {"name", TEXT, OF(bb_index_case, name),
				    .doc = "no two are equal"},
				   {"scenario", TEXT, OF(bb_index_case, scenario)},
				   {"variant", TEXT, OF(bb_index_case, variant)},
				   {"drive", TEXT, OF(bb_index_case, drive)},
				   {"param", TEXT_OR_NULL, OF(bb_index_case, param),
				    .doc = "NULL: the drive has none"},
				   {"param_value", U32, OF(bb_index_case, param_value)},
			   }},
	[RUNS] = {TABLE("runs", "a stored run", runs, bb_index_run),
		  .columns =
			  {
				  {"run_no", NUMBER},
				  {"file", TEXT, OF(bb_index_run, name),
				   .doc = "its name, without .json"},
				  {"id", TEXT, OF(bb_index_run, id),
				   .doc = "the same, but for a copy"},
				  {"started", TEXT_OR_NULL, OF(bb_index_run, started),
				   .doc = "UTC, 2026-11-21T13:17:00Z; NULL: unknown"},
				  {"incomplete", TEXT_OR_NULL, OF(bb_index_run, incomplete),
				   .doc = "why the run ended early; NULL: it is whole"},
				  {"git_commit", TEXT, OF(bb_index_run, commit)},
				  {"machine_no", ROW_OF, OF(bb_index_run, machine), .of = MACHINES},
				  {"is_comparison", FLAG, OF(bb_index_run, is_comparison),
				   .doc = "1: of two builds, and without points"},
				  {"size_bytes", U64, OF(bb_index_run, size_bytes),
				   .doc = "of the file"},
				  {"changed_ns", CHANGED, OF(bb_index_run, changed_ns),
				   .doc = "mtime of the file since 1970; NULL: it is read again "
					  "next time"},
			  }},
	[POINTS] =
		{TABLE("points", "a case of a run", points, bb_run_point),
		 .columns =
			 {
				 {"run_no", ROW_OF, OF(bb_run_point, run), .of = RUNS},
				 {"case_no", ROW_OF, OF(bb_run_point, what), .of = CASES},
				 FIGURE("latency", "_ns", BB_BY_LATENCY,
					"over loads, with its 95 % interval"),
				 FIGURE("ratio", "", BB_BY_RATIO,
					"to the anchor of the same run; NULL: there is none, or "
					"this is it"),
				 FIGURE("relative", "", BB_BY_RELATIVE,
					"in pieces of the reference; NULL: it was not measured"),
				 {"loads", U32, OF(bb_run_point, loads), .doc = "that count"},
				 {"voids", U32, OF(bb_run_point, voids),
				  .doc = "loads that do not count"},
				 {"is_anchor", FLAG, OF(bb_run_point, is_anchor)},
			 }},
};

/* Adds to MACHINES a column for each identity field of a fingerprint (env/fingerprint.c). */
static void make_tables(struct table *ret_tables)
{
	struct column *next = &ret_tables[MACHINES].columns[1];

	memcpy(ret_tables, plain_tables, sizeof(plain_tables));
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++) {
		const struct bb_fingerprint_field *f = &bb_fingerprint_fields[i];

		if (f->identity)
			*next++ = (struct column){f->key, CHARS, .offset = f->offset,
						  .size = f->size};
	}
}

static size_t count(const struct table *t, const struct bb_run_index *x)
{
	return *(const size_t *)((const char *)x + t->n_at);
}

/* Returns the SQL statements that create the tables, joined by ';'. Free the text. */
static char *schema_of(const struct table *tables)
{
	static const char *const types[] = {
		[NUMBER] = "INTEGER PRIMARY KEY",
		[TEXT] = "TEXT NOT NULL",
		[TEXT_OR_NULL] = "TEXT",
		[CHARS] = "TEXT NOT NULL",
		[ROW_OF] = "INTEGER NOT NULL",
		[U32] = "INTEGER NOT NULL",
		[FLAG] = "INTEGER NOT NULL",
		[U64] = "INTEGER NOT NULL",
		[CHANGED] = "INTEGER",
		[REAL] = "REAL",
		[FINITE] = "REAL",
		[ERROR] = "REAL",
	};
	char *text = NULL;
	size_t len;
	FILE *out = bb_open_memstream(&text, &len);

	for (const struct table *t = tables; t < tables + N_TABLES; t++) {
		fprintf(out, "%sCREATE TABLE %s ( -- %s\n", t > tables ? ";" : "", t->name, t->doc);
		for (const struct column *c = t->columns; c->name; c++)
			fprintf(out, "  %s %s%s%s%s\n", c->name, types[c->type],
				c[1].name ? "," : "", c->doc ? " -- " : "", c->doc ? c->doc : "");
		fputs(")", out);
	}
	bb_close_memstream(out);
	return text;
}

/* A file may be forged (store/run_index.h), so features that our databases do not need are off. */
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

static int errno_of(int sqlite_code)
{
	switch (sqlite_code) {
	case SQLITE_OK:
	case SQLITE_DONE: return 0;
	case SQLITE_NOMEM: bb_out_of_memory();
	case SQLITE_FULL: return -EFBIG;
	default: return -EINVAL;
	}
}

/* The caller closes `*ret_db` even after an error. */
static int open_db(sqlite3 **ret_db)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
	int rc = sqlite3_open_v2(":memory:", ret_db, flags, NULL);

	for (size_t i = 0; !rc && i < BB_LEN(configs); i++)
		rc = sqlite3_db_config(*ret_db, configs[i].option, configs[i].value, NULL);
	for (size_t i = 0; !rc && i < BB_LEN(limits); i++)
		sqlite3_limit(*ret_db, limits[i].limit, limits[i].value);
	return errno_of(rc);
}

static int execute(sqlite3 *db, const char *sql)
{
	return errno_of(sqlite3_exec(db, sql, NULL, NULL, NULL));
}

struct reading {
	sqlite3 *db;
	struct table tables[N_TABLES];
	struct bb_run_index x;
	/* number of bytes that the texts still to be read may have, at first the size of the
	 * file */
	size_t text_bytes_left;
	/* calls of is_too_much() until reading fails */
	size_t turns_left;
};

/* Returns 0, or -EINVAL for a value that bpfbench never writes. */
static int read_column(struct reading *rd, sqlite3_stmt *query, int i, const struct column *c,
		       size_t row, char *item)
{
	static const int64_t most[] = {[FLAG] = 1, [U32] = UINT32_MAX, [U64] = INT64_MAX};
	bool is_null = sqlite3_column_type(query, i) == SQLITE_NULL;
	int64_t number = sqlite3_column_int64(query, i);
	double real = is_null ? (double)NAN : sqlite3_column_double(query, i);
	void *at = item + c->offset;
	const char *text;
	size_t len;

	switch (c->type) {
	case NUMBER: return number == (int64_t)row + 1 ? 0 : -EINVAL;
	case TEXT:
	case TEXT_OR_NULL:
	case CHARS:
		text = (const char *)sqlite3_column_text(query, i);
		len = text ? strlen(text) : 0;
		if ((!text && c->type != TEXT_OR_NULL) || len > rd->text_bytes_left)
			return -EINVAL;
		rd->text_bytes_left -= len;
		if (c->type == CHARS) {
			snprintf(at, c->size, "%s", text);
		} else {
			*(const char **)at = text;
			bb_run_index__own_text(&rd->x, at);
		}
		return 0;
	case ROW_OF:
		*(uint32_t *)at = (uint32_t)(number - 1);
		return number > 0 && number <= (int64_t)count(&rd->tables[c->of], &rd->x) ? 0
											  : -EINVAL;
	case U32:
	case FLAG: *(uint32_t *)at = (uint32_t)number; break;
	case U64: *(uint64_t *)at = (uint64_t)number; break;
	case CHANGED: *(int64_t *)at = is_null ? BB_INDEX_READ_ANEW : number; return 0;
	case REAL:
	case FINITE:
	/* infinite values and negative errors fail here, because bb_history_judge() refuses them */
	case ERROR:
		*(double *)at = real;
		return c->type != REAL && (isinf(real) || (c->type == ERROR && real < 0)) ? -EINVAL
											  : 0;
	}
	return number >= 0 && number <= most[c->type] ? 0 : -EINVAL;
}

static int read_table(struct reading *rd, int of)
{
	const struct table *t = &rd->tables[of];
	char *items = (char *)&rd->x + t->items_at, sql[64];
	size_t *n = (size_t *)(void *)((char *)&rd->x + t->n_at);
	sqlite3_stmt *query = NULL;
	int rc, step = 0;

	snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY rowid", t->name);
	rc = errno_of(sqlite3_prepare_v2(rd->db, sql, -1, &query, NULL));
	while (!rc && (step = sqlite3_step(query)) == SQLITE_ROW) {
		size_t row = *n;
		void *item = bb_append(items, n, t->size);

		if (of == MACHINES)
			bb_fingerprint_init(item);
		for (int i = 0; !rc && t->columns[i].name; i++)
			rc = read_column(rd, query, i, &t->columns[i], row, item);
	}
	sqlite3_finalize(query);
	return rc ? rc : errno_of(step);
}

/* Callback of sqlite3_exec(), which fails if the result is not 0. */
static int is_other(void *wanted, int, char **values, char **)
{
	return !values[0] || strcmp(values[0], wanted) != 0;
}

/* SQLite calls is_too_much() once per this number of operations. It stops reading, because pages of
 * a damaged file may refer to each other in circles. */
#define PROGRESS_OPS 1000

static int is_too_much(void *turns_left)
{
	return !*(size_t *)turns_left || !--*(size_t *)turns_left;
}

int bb_history_db__parse(void *data, size_t len, struct bb_run_index *ret_index)
{
	/* A valid file never reaches these limits, because SQLite reads a row with fewer operations
	 * than the row has bytes. */
	struct reading rd = {.text_bytes_left = len, .turns_left = 100 + len / PROGRESS_OPS};
	char version[16], *schema;
	int rc = open_db(&rd.db);

	make_tables(rd.tables);
	schema = schema_of(rd.tables);
	snprintf(version, sizeof(version), "%u", BB_HISTORY_DB_VERSION);
	if (!rc)
		rc = errno_of(sqlite3_deserialize(rd.db, "main", data, (sqlite3_int64)len,
						  (sqlite3_int64)len, SQLITE_DESERIALIZE_READONLY));
	if (!rc) {
		sqlite3_progress_handler(rd.db, PROGRESS_OPS, is_too_much, &rd.turns_left);
		rc = execute(rd.db, "PRAGMA cell_size_check = ON");
	}
	if (!rc)
		rc = errno_of(sqlite3_exec(rd.db, "PRAGMA user_version", is_other, version, NULL));
	/* The file of a database contains the statements that created its tables. */
	if (!rc)
		rc = errno_of(sqlite3_exec(rd.db,
					   "SELECT group_concat(ifnull(sql, ''), ';')"
					   " FROM sqlite_schema",
					   is_other, schema, NULL));
	free(schema);
	for (int i = 0; !rc && i < N_TABLES; i++)
		rc = read_table(&rd, i);
	/* The points of a run must be adjacent. A comparison must have no points. */
	for (size_t i = 0; !rc && i < rd.x.n_points; i++) {
		struct bb_index_run *run = &rd.x.runs[rd.x.points[i].run];

		if (!run->n_points++)
			run->first_point = i;
		if (run->first_point + run->n_points != i + 1 || run->is_comparison)
			rc = -EINVAL;
	}
	sqlite3_close(rd.db);
	if (rc)
		bb_run_index__done(&rd.x);
	*ret_index = rd.x;
	return rc;
}

void bb_history_db__load(const char *dir, struct bb_run_index *ret_index)
{
	char *path = bb_asprintf("%s/" BB_HISTORY_DB, dir), *data;
	size_t len;

	*ret_index = (struct bb_run_index){0};
	if (!bb_read_own_file(path, FILE_MAX_BYTES, &data, &len, NULL)) {
		bb_history_db__parse(data, len, ret_index);
		free(data);
	}
	free(path);
}

static int write_column(sqlite3_stmt *insert, int i, const struct column *c, size_t row,
			const char *item)
{
	const void *at = item + c->offset;

	switch (c->type) {
	case NUMBER: return sqlite3_bind_int64(insert, i, (int64_t)row + 1);
	case TEXT:
	case TEXT_OR_NULL:
		return sqlite3_bind_text(insert, i, *(const char *const *)at, -1, SQLITE_STATIC);
	case CHARS: return sqlite3_bind_text(insert, i, at, -1, SQLITE_STATIC);
	case ROW_OF: return sqlite3_bind_int64(insert, i, (int64_t) * (const uint32_t *)at + 1);
	case U32:
	case FLAG: return sqlite3_bind_int64(insert, i, *(const uint32_t *)at);
	case CHANGED:
		if (*(const int64_t *)at == BB_INDEX_READ_ANEW)
			return sqlite3_bind_null(insert, i);
		/* fall through */
	case U64: return sqlite3_bind_int64(insert, i, *(const int64_t *)at);
	case REAL:
	case FINITE:
	case ERROR:
		return sqlite3_bind_double(insert, i, *(const double *)at); /* NAN becomes NULL */
	}
	return SQLITE_MISUSE;
}

static int write_table(sqlite3 *db, const struct table *t, const struct bb_run_index *x)
{
	const char *items = *(char *const *)(const void *)((const char *)x + t->items_at);
	char sql[64 + 2 * MOST_COLUMNS];
	sqlite3_stmt *insert = NULL;
	int failed;

	snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?", t->name);
	for (size_t i = 1; t->columns[i].name; i++)
		strcat(sql, ",?");
	strcat(sql, ")");
	failed = sqlite3_prepare_v2(db, sql, -1, &insert, NULL);
	for (size_t row = 0; !failed && row < count(t, x); row++) {
		for (int i = 0; !failed && t->columns[i].name; i++)
			failed = write_column(insert, i + 1, &t->columns[i], row,
					      items + row * t->size);
		if (!failed) {
			sqlite3_step(insert);
			failed = sqlite3_reset(insert); /* an error of the step, if any */
		}
	}
	sqlite3_finalize(insert);
	return errno_of(failed);
}

int bb_history_db__save(const char *dir, const struct bb_run_index *x)
{
	struct table tables[N_TABLES];
	unsigned char *data = NULL;
	sqlite3_int64 len = 0;
	char settings[160], *schema;
	sqlite3 *db;
	int rc = open_db(&db);

	make_tables(tables);
	schema = schema_of(tables);
	snprintf(settings, sizeof(settings),
		 "PRAGMA max_page_count = %d; PRAGMA journal_mode = OFF; PRAGMA user_version = %u; "
		 "BEGIN",
		 FILE_MAX_BYTES / PAGE_BYTES, BB_HISTORY_DB_VERSION);
	if (!rc)
		rc = execute(db, settings);
	if (!rc)
		rc = execute(db, schema);
	free(schema);
	for (int i = 0; !rc && i < N_TABLES; i++)
		rc = write_table(db, &tables[i], x);
	if (!rc)
		rc = execute(db, "COMMIT");
	if (!rc && !(data = sqlite3_serialize(db, "main", &len, 0)))
		bb_out_of_memory();
	sqlite3_close(db);
	if (!rc)
		rc = bb_store__replace(dir, BB_HISTORY_DB, data, (size_t)len, false);
	sqlite3_free(data);
	return rc;
}
