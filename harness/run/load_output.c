/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/overhead.h"

#include "base/parse.h"

#define MS 1e-3
#define CSV_COLUMNS 8u

struct line {
	const char *begin;
	enum bb_overhead_what figure;
};

static double number_of(const char *text, size_t len)
{
	char word[32];
	double x;

	snprintf(word, sizeof(word), "%.*s", (int)len, text);
	return bb_parse_double(word, &x) ? NAN : x;
}

/* Returns a time such as "250.00us" or "0.123 ms" in s. Without a unit, keeps the number. */
static double quantity_of(const char *text)
{
	static const struct {
		const char *name;
		double s;
	} units[] = {{"us", 1e-6}, {"ms", MS}, {"s", 1}, {"m", 60}, {"h", 3600}};
	size_t len = strspn(text, "0123456789."), n;
	const char *unit = text + len + strspn(text + len, " ");

	n = strspn(unit, "abcdefghijklmnopqrstuvwxyz");
	for (size_t i = 0; i < BB_LEN(units); i++)
		if (n == strlen(units[i].name) && !strncmp(unit, units[i].name, n))
			return number_of(text, len) * units[i].s;
	return number_of(text, len);
}

static int read_lines(const char *text, const struct line *lines, size_t n,
		      struct bb_load_figures *ret_figures)
{
	struct bb_load_figures f = {{NAN, NAN, NAN, NAN}};

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		const char *word = at + strspn(at, " \t");

		for (size_t i = 0; i < n; i++) {
			size_t len = strlen(lines[i].begin);

			if (!strncmp(word, lines[i].begin, len))
				f.x[lines[i].figure - BB_OVERHEAD_LATENCY] =
					quantity_of(word + len + strspn(word + len, " \t"));
		}
	}
	*ret_figures = f;
	return f.x[BB_OVERHEAD_RATE - BB_OVERHEAD_LATENCY] > 0 ? 0 : -EPROTO;
}

static int read_wrk(const char *text, struct bb_load_figures *ret_figures)
{
	static const struct line lines[] = {
		{"Latency  ", BB_OVERHEAD_LATENCY}, /* two blanks exclude "Latency Distribution" */
		{"50%", BB_OVERHEAD_P50},
		{"99%", BB_OVERHEAD_P99},
		{"Requests/sec:", BB_OVERHEAD_RATE},
	};

	return read_lines(text, lines, BB_LEN(lines), ret_figures);
}

static int read_pgbench(const char *text, struct bb_load_figures *ret_figures)
{
	static const struct line lines[] = {
		{"latency average =", BB_OVERHEAD_LATENCY},
		{"tps =", BB_OVERHEAD_RATE},
	};

	return read_lines(text, lines, BB_LEN(lines), ret_figures);
}

/* Reads a CSV row of a name and numbers, all in quotes. Returns false if one is wrong. */
static bool read_row(const char *at, double x[CSV_COLUMNS])
{
	for (size_t i = 0; i < CSV_COLUMNS; i++) {
		if (*at++ != '"')
			return false;
		size_t len = strcspn(at, "\"\n");
		x[i] = i ? number_of(at, len) : 0;
		if (isnan(x[i]) || at[len] != '"')
			return false;
		at += len + 1;
		at += *at == ',';
	}
	return true;
}

/* Reads redis-benchmark's rows, one for each test, and takes the mean over the tests. */
static int read_redis(const char *text, struct bb_load_figures *ret_figures)
{
	double sum[CSV_COLUMNS] = {0}, x[CSV_COLUMNS], n = 0;

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (read_row(at, x)) {
			n++;
			for (size_t i = 0; i < CSV_COLUMNS; i++)
				sum[i] += x[i];
		}
	/* columns: test, rps, avg_latency_ms, min_latency_ms, p50_..., p95_..., p99_..., max_... */
	*ret_figures = (struct bb_load_figures){
		{sum[2] / n * MS, sum[4] / n * MS, sum[6] / n * MS, sum[1] / n}};
	return n > 0 && sum[1] > 0 ? 0 : -EPROTO;
}

const struct bb_load_generator bb_load_generators[BB_N_LOAD_GENERATORS] = {
	{"wrk", "wrk --latency", read_wrk},
	{"redis-benchmark", "redis-benchmark --csv", read_redis},
	{"pgbench", "pgbench", read_pgbench},
};
