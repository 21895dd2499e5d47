/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/run_index.h"

#include <sqlite3.h>

#include "base/io.h"
#include "store/store.h"

#define FILE_MAX_BYTES (256 << 20)
#define PAGE_BYTES 4096 /* SQLite's default size of a database page */
#define MOST_COLUMNS 20

/* Each table is a list of structs, and each column is a member of the struct. These are the names
 * of the types of columns. A column is NULL if it is BB_IF_SET and the member has its default. A
 * BB_OTHER column is the number of the row, from 1 on, which the struct lacks. A BB_INDEX column is
 * the number of a row in another table. */
static const char *const types[] = {
	[BB_OTHER] = "INTEGER PRIMARY KEY",
	[BB_TEXT] = "TEXT",
	[BB_TEXT_OR_NULL] = "TEXT",
	[BB_CHARS] = "TEXT",
	[BB_INDEX] = "INTEGER",
	[BB_U32] = "INTEGER",
	[BB_BOOL] = "INTEGER",
	[BB_COUNT] = "INTEGER",
	[BB_REAL] = "REAL",
	[BB_POSITIVE] = "REAL",
};

static void init_machine(void *machine)
{
	bb_fingerprint_init(machine);
}

/* columns_of() adds the other columns. */
static const struct bb_member machine_columns[] = {
	{.key = "machine_no", .type = BB_OTHER, .doc = ""},
};
static BB_RECORD(bb_fingerprint, machine_columns, init_machine, NULL,
		 "the properties by which runs are comparable; see `bpfbench check`");

static const struct bb_member case_columns[] = {
	{.key = "case_no", .type = BB_OTHER, .doc = ""},
	BB_ROW(bb_index_case, "name", BB_TEXT, BB_ALWAYS, name, "no two are equal"),
	BB_ROW(bb_index_case, "scenario", BB_TEXT, BB_ALWAYS, scenario, ""),
	BB_ROW(bb_index_case, "variant", BB_TEXT, BB_ALWAYS, variant, ""),
	BB_ROW(bb_index_case, "drive", BB_TEXT, BB_ALWAYS, drive, ""),
	BB_ROW(bb_index_case, "param", BB_TEXT_OR_NULL, BB_IF_SET, param,
	       "NULL: the drive has none"),
	BB_ROW(bb_index_case, "param_value", BB_U32, BB_ALWAYS, param_value, ""),
};
BB_RECORD(bb_index_case, case_columns, NULL, NULL,
	  "a variant under a drive, with the value of its parameter");

static const struct bb_member run_columns[] = {
	{.key = "run_no", .type = BB_OTHER, .doc = ""},
	BB_ROW(bb_index_run, "file", BB_TEXT, BB_ALWAYS, name, "its name, without .json"),
	BB_ROW(bb_index_run, "id", BB_TEXT, BB_ALWAYS, id, "the same, but for a copy"),
	BB_ROW(bb_index_run, "started", BB_TEXT_OR_NULL, BB_IF_SET, started,
	       "UTC, 2026-11-21T13:17:00Z; NULL: unknown"),
	BB_ROW(bb_index_run, "incomplete", BB_TEXT_OR_NULL, BB_IF_SET, incomplete,
	       "why the run ended early; NULL: it is whole"),
	BB_ROW(bb_index_run, "git_commit", BB_TEXT, BB_ALWAYS, commit, ""),
	BB_ROW_OF(bb_index_run, "machine_no", BB_INDEX, BB_ALWAYS, machine, &bb_fingerprint_record,
		  ""),
	BB_ROW(bb_index_run, "is_comparison", BB_BOOL, BB_ALWAYS, is_comparison,
	       "1: of two builds, and without points"),
	BB_ROW(bb_index_run, "size_bytes", BB_COUNT, BB_ALWAYS, size_bytes, "of the file"),
	BB_ROW(bb_index_run, "changed_ns", BB_COUNT, BB_IF_SET, changed_ns,
	       "mtime of the file since 1970; NULL: it is read again next time"),
};
BB_RECORD(bb_index_run, run_columns, NULL, NULL, "a stored run");

#define FIGURE(name, unit, by, doc)                                                                \
	BB_ROW(bb_run_point, name unit, BB_POSITIVE, BB_IF_SET, figure[by].value, doc),            \
		BB_ROW(bb_run_point, name "_lo" unit, BB_REAL, BB_IF_SET, figure[by].lo, ""),      \
		BB_ROW(bb_run_point, name "_hi" unit, BB_REAL, BB_IF_SET, figure[by].hi, ""),      \
		BB_ROW(bb_run_point, name "_ln_se", BB_POSITIVE, BB_IF_SET, se[by],                \
		       "standard error of its ln")

static const struct bb_member point_columns[] = {
	BB_ROW_OF(bb_run_point, "run_no", BB_INDEX, BB_ALWAYS, run, &bb_index_run_record, ""),
	BB_ROW_OF(bb_run_point, "case_no", BB_INDEX, BB_ALWAYS, what, &bb_index_case_record, ""),
	FIGURE("latency", "_ns", BB_BY_LATENCY, "over loads, with its 95 % interval"),
	FIGURE("ratio", "", BB_BY_RATIO,
	       "to the anchor of the same run; NULL: there is none, or this is it"),
	FIGURE("relative", "", BB_BY_RELATIVE,
	       "in pieces of the reference; NULL: it was not measured"),
	BB_ROW(bb_run_point, "loads", BB_U32, BB_ALWAYS, loads, "that count"),
	BB_ROW(bb_run_point, "voids", BB_U32, BB_ALWAYS, voids, "loads that do not count"),
	BB_ROW(bb_run_point, "is_anchor", BB_BOOL, BB_ALWAYS, is_anchor, ""),
};
static BB_RECORD(bb_run_point, point_columns, NULL, NULL, "a case of a run");

/* Tables are read in this order, so a table stands before the tables that refer to it. */
static const struct bb_member tables[] = {
	BB_LIST(bb_run_index, "machines", BB_ALWAYS, machines, bb_fingerprint_record, ""),
	BB_LIST(bb_run_index, "cases", BB_ALWAYS, cases, bb_index_case_record, ""),
	BB_LIST(bb_run_index, "runs", BB_ALWAYS, runs, bb_index_run_record, ""),
	BB_LIST(bb_run_index, "points", BB_ALWAYS, points, bb_run_point_record, ""),
};
BB_RECORD(bb_run_index, tables, NULL, NULL, "");

/* Writes the columns of items that `record` describes, and returns their number. Machines have a
 * column for each identity field of a fingerprint (env/fingerprint.c). */
static size_t columns_of(const struct bb_record *record, struct bb_member ret_columns[MOST_COLUMNS])
{
	size_t n = record->n_members;

	assert(n <= MOST_COLUMNS);
	memcpy(ret_columns, record->members, n * sizeof(*ret_columns));
	for (size_t i = 0; record == &bb_fingerprint_record && i < bb_n_fingerprint_fields; i++) {
		const struct bb_fingerprint_field *f = &bb_fingerprint_fields[i];

		if (!f->identity)
			continue;
		assert(n < MOST_COLUMNS);
		ret_columns[n++] = (struct bb_member){f->key,  BB_CHARS, BB_ALWAYS, f->offset,
						      f->size, 0,        NULL,      ""};
	}
	return n;
}

static size_t count(const struct bb_member *table, const struct bb_run_index *x)
{
	return *(const size_t *)((const char *)x + table->n_offset);
}

/* Returns the SQL statements that create the tables, joined by ';'. Free the text. */
static char *make_schema(void)
{
	struct bb_member columns[MOST_COLUMNS];
	char *text = NULL;
	size_t len;
	FILE *out = bb_open_memstream(&text, &len);

	for (const struct bb_member *t = tables; t < tables + BB_LEN(tables); t++) {
		size_t n = columns_of(t->of, columns);

		fprintf(out, "%sCREATE TABLE %s ( -- %s\n", t > tables ? ";" : "", t->key,
			t->of->doc);
		for (const struct bb_member *c = columns; c < columns + n; c++)
			fprintf(out, "  %s %s%s%s%s%s\n", c->key, types[c->type],
				c->type != BB_OTHER && c->presence == BB_ALWAYS ? " NOT NULL" : "",
				c + 1 < columns + n ? "," : "", *c->doc ? " -- " : "", c->doc);
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
	struct bb_run_index x;
	/* number of bytes that the texts still to be read may have, at first the size of the
	 * file */
	size_t text_bytes_left;
	/* calls of is_too_much() until reading fails */
	size_t turns_left;
};

static int read_text(struct reading *rd, sqlite3_stmt *query, int i, const struct bb_member *m,
		     void *at)
{
	const char *text = (const char *)sqlite3_column_text(query, i);
	size_t len = text ? strlen(text) : 0;

	if ((!text && m->type != BB_TEXT_OR_NULL) || len > rd->text_bytes_left)
		return -EINVAL;
	rd->text_bytes_left -= len;
	if (m->type == BB_CHARS)
		snprintf(at, m->size, "%s", text);
	else if (text)
		*(char **)at = bb_strdup(text);
	return 0;
}

/* Returns 0, or -EINVAL for a value that bpfbench never writes. */
static int read_column(struct reading *rd, sqlite3_stmt *query, int i, const struct bb_member *m,
		       size_t row, char *item)
{
	static const int64_t most[] =
		{[BB_BOOL] = 1, [BB_U32] = UINT32_MAX, [BB_COUNT] = INT64_MAX};
	/* the type comes first, because reading a value may change it */
	double real = sqlite3_column_type(query, i) == SQLITE_NULL
			      ? (double)NAN
			      : sqlite3_column_double(query, i);
	int64_t number = sqlite3_column_int64(query, i);
	const struct bb_member *table;
	void *at = item + m->offset;

	switch (m->type) {
	case BB_OTHER: return number == (int64_t)row + 1 ? 0 : -EINVAL;
	case BB_INDEX:
		table = BB_FIND(tables, BB_LEN(tables), it->of == m->of);
		if (number < 1 || number > (int64_t)count(table, &rd->x))
			return -EINVAL;
		*(int32_t *)at = (int32_t)(number - 1);
		return 0;
	case BB_U32: *(uint32_t *)at = (uint32_t)number; break;
	case BB_BOOL: *(bool *)at = number; break;
	case BB_COUNT: *(uint64_t *)at = (uint64_t)number; break;
	case BB_REAL:
	/* bb_history_judge() refuses infinite values, and bpfbench writes no negative ones */
	case BB_POSITIVE:
		*(double *)at = real;
		return m->type == BB_POSITIVE && (isinf(real) || real < 0) ? -EINVAL : 0;
	default: return read_text(rd, query, i, m, at);
	}
	return number >= 0 && number <= most[m->type] ? 0 : -EINVAL;
}

static int read_table(struct reading *rd, const struct bb_member *t)
{
	struct bb_member columns[MOST_COLUMNS];
	int rc, step = 0, n_columns = (int)columns_of(t->of, columns);
	char *items = (char *)&rd->x + t->offset, sql[64];
	size_t *n = (size_t *)(void *)((char *)&rd->x + t->n_offset);
	sqlite3_stmt *query = NULL;

	snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY rowid", t->key);
	rc = errno_of(sqlite3_prepare_v2(rd->db, sql, -1, &query, NULL));
	while (!rc && (step = sqlite3_step(query)) == SQLITE_ROW) {
		size_t row = *n;
		void *item = bb_record__append(t->of, items, n);

		for (int i = 0; !rc && i < n_columns; i++)
			rc = read_column(rd, query, i, &columns[i], row, item);
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
	char version[16], *schema = make_schema();
	int rc = open_db(&rd.db);

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
	for (size_t i = 0; !rc && i < BB_LEN(tables); i++)
		rc = read_table(&rd, &tables[i]);
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

static int write_column(sqlite3_stmt *insert, int i, const struct bb_member *m, size_t row,
			const char *item)
{
	const void *at = item + m->offset;

	switch (m->type) {
	case BB_OTHER: return sqlite3_bind_int64(insert, i, (int64_t)row + 1);
	case BB_INDEX: return sqlite3_bind_int64(insert, i, *(const int32_t *)at + 1);
	case BB_U32: return sqlite3_bind_int64(insert, i, *(const uint32_t *)at);
	case BB_BOOL: return sqlite3_bind_int64(insert, i, *(const bool *)at);
	case BB_COUNT:
		if (m->presence == BB_IF_SET && !*(const uint64_t *)at)
			return sqlite3_bind_null(insert, i);
		return sqlite3_bind_int64(insert, i, *(const int64_t *)at);
	case BB_REAL:
	case BB_POSITIVE:
		return sqlite3_bind_double(insert, i, *(const double *)at); /* NAN becomes NULL */
	case BB_CHARS: return sqlite3_bind_text(insert, i, at, -1, SQLITE_STATIC);
	default: return sqlite3_bind_text(insert, i, *(const char *const *)at, -1, SQLITE_STATIC);
	}
}

static int write_table(sqlite3 *db, const struct bb_member *t, const struct bb_run_index *x)
{
	struct bb_member columns[MOST_COLUMNS];
	int failed, n_columns = (int)columns_of(t->of, columns);
	const char *items = *(char *const *)(const void *)((const char *)x + t->offset);
	char sql[64 + 2 * MOST_COLUMNS];
	sqlite3_stmt *insert = NULL;

	snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?", t->key);
	for (int i = 1; i < n_columns; i++)
		strcat(sql, ",?");
	strcat(sql, ")");
	failed = sqlite3_prepare_v2(db, sql, -1, &insert, NULL);
	for (size_t row = 0; !failed && row < count(t, x); row++) {
		for (int i = 0; !failed && i < n_columns; i++)
			failed = write_column(insert, i + 1, &columns[i], row,
					      items + row * t->of->size);
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
	unsigned char *data = NULL;
	sqlite3_int64 len = 0;
	char settings[160], *schema = make_schema();
	sqlite3 *db;
	int rc = open_db(&db);

	snprintf(settings, sizeof(settings),
		 "PRAGMA max_page_count = %d; PRAGMA journal_mode = OFF; PRAGMA user_version = %u; "
		 "BEGIN",
		 FILE_MAX_BYTES / PAGE_BYTES, BB_HISTORY_DB_VERSION);
	if (!rc)
		rc = execute(db, settings);
	if (!rc)
		rc = execute(db, schema);
	free(schema);
	for (size_t i = 0; !rc && i < BB_LEN(tables); i++)
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
