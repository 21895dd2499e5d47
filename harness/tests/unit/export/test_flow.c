/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures of a ring: stored and read again, summed up, named in BMF, and the totals for DHAT. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "export/exporter.h"
#include "profile/dhat.h"
#include "store/run_json.h"
#include "unit/report_testing.h"

/* Makes two loads of a pipeline: 30 samples consumed, 10 waiting, and a ring that was three
 * quarters full once. */
static struct bb_report *make_pipeline(void)
{
	struct bb_report *r = make_report("r");
	size_t i = make_case(r, "fixed", "pipeline", "freq_hz", 1000);

	for (uint32_t load = 0; load < 2; load++) {
		struct bb_series *s = make_series(r, i, load);

		add_samples(s, 1000 * (load + 1), 20);
		s->run_cnt = 21;
		s->run_time_ns = 21 * 500;
		s->drops = 1;
		s->flow = calloc(1, sizeof(*s->flow));
		assert_non_null(s->flow);
		s->flow->consumed = 15;
		s->flow->waiting = 5;
		s->flow->ring_bytes = 4096;
		s->flow->consumer_cpu_s = 30e-6;
		bb_ring_use__add_point(s->flow, 10, 0);
		bb_ring_use__add_point(s->flow, 1010, load ? 3072 : 64);
	}
	bb_report__summarise(r);
	return r;
}

static char *text_of(int (*export)(const struct bb_report *, FILE *, struct bb_err *),
		     const struct bb_report *r)
{
	struct bb_err err = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(export(r, out, &err), 0);
	fclose(out);
	return text;
}

static void test_summary(void **state)
{
	struct bb_report *r = make_pipeline();
	const struct bb_summary *s = &r->cases[0].summary;

	(void)state;
	assert_near(s->pipeline.produced.value, 40);
	assert_near(s->pipeline.consumed.value, 30);
	assert_near(s->drops.value, 2);
	assert_near(s->pipeline.lag_max.value, 2000);
	assert_near(s->pipeline.ring_peak.value, 0.75);
	assert_near(s->pipeline.consumer_cpu.value, 2000);
	assert_true(isnan(s->naive_mean.value)); /* it is the program's, and these are lags */
	r->cases[0].series[1].void_why = strdup("so");
	bb_report__summarise(r);
	assert_near(s->pipeline.produced.value, 20);
	assert_near(s->pipeline.lag_max.value, 1000);
	bb_report__free(r);
}

static void test_bmf(void **state)
{
	struct bb_report *r = make_pipeline();
	char *text = text_of(bb_export_bmf, r);

	(void)state;
	assert_non_null(strstr(text, "\"lag\": {\"value\": 1500"));
	assert_non_null(strstr(text, "\"lag-p50\""));
	assert_non_null(strstr(text, "\"lag-max\": {\"value\": 2000}"));
	assert_non_null(strstr(text, "\"drops\": {\"value\": 2}"));
	assert_non_null(strstr(text, "\"consumer-cpu\": {\"value\": 2000}"));
	assert_null(strstr(text, "latency")); /* a threshold on latency is not for lags */
	free(text);
	text = text_of(bb_export_plot, r);
	assert_non_null(strstr(text, "\n# "
				     "backlog\tperf_profiler/fixed/pipeline/"
				     "freq_hz=1000\tperf_profiler\tfixed\tpipeline\tfreq_hz"
				     "\t1000\t-\tlag\n"
				     "perf_profiler/fixed/pipeline/freq_hz=1000\t0.01\t0\n"
				     "perf_profiler/fixed/pipeline/freq_hz=1000\t1.01\t64\n"
				     "perf_profiler/fixed/pipeline/freq_hz=1000\tNaN\tNaN\n"
				     "perf_profiler/fixed/pipeline/freq_hz=1000\t0.01\t0\n"
				     "perf_profiler/fixed/pipeline/freq_hz=1000\t1.01\t3072\n"));
	free(text);
	bb_report__free(r);
}

/* Replaces `from` by `to` in a stored run. Reading it must fail, and the message must name the
 * place. */
static void refuse(const char *text, const char *from, const char *to, const char *why)
{
	const char *at = strstr(text, from);
	struct bb_report *r = NULL;
	struct bb_err err = {0};
	char *changed = NULL;
	FILE *in;

	assert_non_null(at);
	assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) >
		    0);
	in = fmemopen(changed, strlen(changed), "r");
	assert_int_equal(bb_run_json__read(in, "f.json", &r, &err), -EINVAL);
	if (!strstr(err.msg, why))
		fail_msg("'%s' is not in: %s", why, err.msg);
	fclose(in);
	free(changed);
}

static void test_stored(void **state)
{
	struct bb_report *r = make_pipeline(), *back = NULL;
	struct bb_err err = {0};
	char *text, *again;
	size_t len, len_again;
	FILE *in;

	(void)state;
	bb_run_json__compose(r, &text, &len);
	assert_non_null(strstr(text, "\"backlog\": \"10:0 1000:3072\""));
	in = fmemopen(text, len, "r");
	assert_int_equal(bb_run_json__read(in, "f.json", &back, &err), 0);
	fclose(in);
	bb_run_json__compose(back, &again, &len_again);
	assert_string_equal(text, again);
	refuse(text, "10:0 1000:3072", "10:0 1000:4097", "4097 bytes in a ring of 4096");
	refuse(text, "\"flow\": {", "\"flow\": null, \"x\": {",
	       "series[0].flow: expected an object");
	refuse(text, "10:0 1000:3072", "10:0 x:3072", "flow.backlog");
	refuse(text, "10:0 1000:3072", "10:0 18446744073709551615:1", "flow.backlog");
	refuse(text, "\"consumed\": 15", "\"consumed\": -1", "consumed");
	free(text);
	free(again);
	bb_report__free(back);
	bb_report__free(r);
}

static void test_slowdown(void **state)
{
	struct bb_report *r = make_report("r");
	size_t bare = make_case(r, "bare", "slowdown", "freq_hz", 1000),
	       run = make_case(r, "x", "slowdown", "freq_hz", 1000);
	char *text;

	(void)state;
	for (uint32_t load = 0; load < 6; load++) {
		add_samples(make_series(r, bare, load), 1000 + load, 1);
		add_samples(make_series(r, run, load), 2 * (1000 + load), 1);
	}
	r->cases[run].floor = bare;
	bb_report__summarise(r);
	assert_near(r->cases[run].summary.slowdown.ratio.value, 2);
	assert_near(r->cases[run].summary.slowdown.ratio.lo, 2);
	assert_true(isnan(r->cases[bare].summary.slowdown.ratio.value));
	text = text_of(bb_export_bmf, r);
	assert_non_null(strstr(text, "\"slowdown\": {\"value\": 2, \"lower_value\": 2, "
				     "\"upper_value\": 2}"));
	free(text);
	bb_report__free(r);
}

static int read_dhat(const char *text, struct bb_dhat *ret_dhat, struct bb_err *err)
{
	char path[] = "/tmp/bpfbench-dhat.XXXXXX";
	int fd = mkstemp(path), rc;

	assert_true(fd >= 0);
	spill(path, text, strlen(text));
	close(fd);
	rc = bb_dhat__read(path, ret_dhat, err);
	unlink(path);
	return rc;
}

#define POINT(n) "{\"tb\":" #n ",\"tbk\":1,\"gb\":2,\"gbk\":3,\"eb\":4,\"ebk\":5,\"fs\":[]}"
#define DHAT(points) "{\"dhatFileVersion\":2,\"mode\":\"heap\",\"pps\":[" points "]}"

static void test_dhat(void **state)
{
	static const char *const bad[] = {
		"",
		"{",
		"[]",
		"{\"dhatFileVersion\":1}",
		"{\"dhatFileVersion\":2,\"mode\":\"copy\",\"pps\":[]}",
		"{\"dhatFileVersion\":2,\"mode\":\"heap\"}",
		DHAT("{}"),
		DHAT("7"),
		DHAT(POINT(-1)),
		DHAT(POINT("x")),
	};
	struct bb_err err = {0};
	struct bb_dhat d;

	(void)state;
	assert_int_equal(read_dhat(DHAT(POINT(100) "," POINT(23)), &d, &err), 0);
	assert_int_equal(d.total_bytes, 123);
	assert_int_equal(d.total_blocks, 2);
	assert_int_equal(d.gmax_bytes, 4);
	assert_int_equal(d.end_blocks, 10);
	assert_int_equal(read_dhat(DHAT(""), &d, &err), 0);
	assert_int_equal(d.total_bytes, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_dhat(bad[i], &d, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary), cmocka_unit_test(test_bmf),
		cmocka_unit_test(test_stored),  cmocka_unit_test(test_slowdown),
		cmocka_unit_test(test_dhat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
