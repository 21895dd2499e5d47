/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/table_cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "core/drive_kind.h"

#define GROUP_FROM 10000 /* "9999", but "10 000" */

size_t bb_text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

void bb_put_clean(FILE *out, const char *text)
{
	while (*text) {
		size_t len = bb_shown_len(text);

		fwrite(len ? text : "?", 1, len ? len : 1, out);
		text += len ? len : 1;
	}
}

void bb_make_clean(char *text)
{
	while (*text) {
		size_t len = bb_shown_len(text);

		if (!len)
			*text = '?';
		text += len ? len : 1;
	}
}

void bb_put_code(FILE *out, const char *text)
{
	enum { TAB = 8 };
	char line[1024];
	size_t at = 0;

	for (; *text && at + TAB < sizeof(line); text++) {
		if (*text != '\t') {
			line[at++] = *text;
			continue;
		}
		do
			line[at++] = ' ';
		while (at % TAB);
	}
	line[at] = '\0';
	bb_put_clean(out, line);
}

/* A blank between groups of three digits of a whole number. */
static void group(const char *digits, char *ret_text, size_t size)
{
	size_t len = strlen(digits), at = 0, sign = digits[0] == '-';

	for (size_t i = 0; i < len && at + 2 < size; i++) {
		if (i > sign && (len - i) % 3 == 0)
			ret_text[at++] = ' ';
		ret_text[at++] = digits[i];
	}
	ret_text[at] = '\0';
}

struct bb_table_cell bb_table_cell_number(double value, double scale)
{
	struct bb_table_cell cell = {""};
	char digits[64];
	double size = fabs(scale);

	if (!isfinite(value))
		return cell;
	if (fabs(value) >= 1e18)
		snprintf(cell.text, sizeof(cell.text), "%.3e", value);
	else if (size < 9.995)
		snprintf(cell.text, sizeof(cell.text), "%.2f", value);
	else if (size < 999.95)
		snprintf(cell.text, sizeof(cell.text), "%.1f", value);
	else
		snprintf(cell.text, sizeof(cell.text), "%.0f", value);
	if (strspn(cell.text, "-0.") == strlen(cell.text) && cell.text[0] == '-')
		memmove(cell.text, cell.text + 1, strlen(cell.text));
	if (fabs(value) >= GROUP_FROM - 0.5 && fabs(value) < 1e18) {
		snprintf(digits, sizeof(digits), "%.0f", value);
		group(digits, cell.text, sizeof(cell.text));
	}
	return cell;
}

struct bb_table_cell bb_table_cell_value(double value)
{
	return isnan(value) ? (struct bb_table_cell){"-"} : bb_table_cell_number(value, value);
}

static void put_count(uint64_t n, struct bb_table_cell *cell)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%" PRIu64, n);
	if (n >= GROUP_FROM)
		group(digits, cell->text, sizeof(cell->text));
	else
		memcpy(cell->text, digits, sizeof(digits));
}

static void put_percent(double share, struct bb_table_cell *cell)
{
	double percent = 100 * share;

	if (isfinite(share))
		snprintf(cell->text, sizeof(cell->text),
			 percent > 0 && percent < 9.95 ? "%.1f" : "%.0f", percent);
}

/* --- the columns --- */

static void variant(const struct bb_case *c, struct bb_table_cell *cell)
{
	snprintf(cell->text, sizeof(cell->text), "%s", c->variant);
	bb_make_clean(cell->text);
}

static void samples(const struct bb_case *c, struct bb_table_cell *cell)
{
	put_count(c->summary.samples, cell);
}

static void loads(const struct bb_case *c, struct bb_table_cell *cell)
{
	if (c->summary.loads == c->n_series)
		snprintf(cell->text, sizeof(cell->text), "%" PRIu32, c->summary.loads);
	else
		snprintf(cell->text, sizeof(cell->text), "%" PRIu32 "/%zu", c->summary.loads,
			 c->n_series);
}

static void latency(const struct bb_case *c, struct bb_table_cell *cell)
{
	*cell = bb_table_cell_number(c->summary.latency.value, c->summary.latency.value);
	if (!cell->text[0])
		strcpy(cell->text, c->summary.voids ? "void" : "none");
}

static void interval(const struct bb_case *c, struct bb_table_cell *cell)
{
	const struct bb_estimate *e = &c->summary.latency;

	if (isfinite(e->lo) && isfinite(e->hi))
		snprintf(cell->text, sizeof(cell->text), "[%.60s, %.60s]",
			 bb_table_cell_number(e->lo, e->value).text,
			 bb_table_cell_number(e->hi, e->value).text);
}

/* Its longer side. */
static void half_width(const struct bb_case *c, struct bb_table_cell *cell)
{
	const struct bb_estimate *e = &c->summary.latency;

	if (isfinite(e->lo) && isfinite(e->hi))
		*cell = bb_table_cell_number(fmax(e->hi - e->value, e->value - e->lo), e->value);
}

static void net(const struct bb_case *c, struct bb_table_cell *cell)
{
	double value = c->summary.net.value;

	/* In the decimals of the gross cost: a difference knows no more. */
	snprintf(cell->text, sizeof(cell->text), "%s%.100s", value < 0 ? BB_NEGATIVE_MARK : "",
		 bb_table_cell_number(value, c->summary.latency.value).text);
}

static void outliers(const struct bb_case *c, struct bb_table_cell *cell)
{
	put_percent(c->summary.outlier_share.value, cell);
}

static void outlier_time(const struct bb_case *c, struct bb_table_cell *cell)
{
	put_percent(c->summary.outlier_time_share.value, cell);
}

static void drops(const struct bb_case *c, struct bb_table_cell *cell)
{
	if (isfinite(c->summary.drops.value))
		put_count((uint64_t)c->summary.drops.value, cell);
}

static void steal(const struct bb_case *c, struct bb_table_cell *cell)
{
	put_percent(c->summary.steal.value, cell);
}

static void rate(const struct bb_case *c, struct bb_table_cell *cell)
{
	const struct bb_summary *s = &c->summary;

	if (isfinite(s->rate_achieved.value) && isfinite(s->rate_requested.value))
		snprintf(cell->text, sizeof(cell->text), "%.60s/%.0f",
			 bb_table_cell_number(s->rate_achieved.value, s->rate_requested.value).text,
			 s->rate_requested.value);
	else if (isfinite(s->rate_achieved.value))
		*cell = bb_table_cell_number(s->rate_achieved.value, s->rate_achieved.value);
}

#define REACHED 0.9 /* of the rate: a busy machine still reaches 0.98 */

struct bb_table_cell bb_table_cell_below_rate(const struct bb_case *c)
{
	struct bb_table_cell text = {""};
	double achieved = c->summary.rate_achieved.value;
	double requested = c->summary.rate_requested.value;

	if (achieved < REACHED * requested)
		snprintf(text.text, sizeof(text.text),
			 "%.60s of %.0f Hz: the CPU was busy otherwise, or can do no more; caches "
			 "are as cold as at the lower rate",
			 bb_table_cell_number(achieved, requested).text, requested);
	return text;
}

static void cpu_share(const struct bb_case *c, struct bb_table_cell *cell)
{
	double percent = 100 * c->summary.live.cpu_share.value;

	*cell = bb_table_cell_number(percent, percent);
}

static void consumed(const struct bb_case *c, struct bb_table_cell *cell)
{
	const struct bb_summary *s = &c->summary;
	struct bb_table_cell of = {""};

	if (!isfinite(s->pipeline.consumed.value))
		return;
	put_count((uint64_t)s->pipeline.produced.value, &of);
	put_count((uint64_t)s->pipeline.consumed.value, cell);
	snprintf(cell->text + strlen(cell->text), sizeof(cell->text) - strlen(cell->text), "/%.40s",
		 of.text);
}

static void ring_peak(const struct bb_case *c, struct bb_table_cell *cell)
{
	put_percent(c->summary.pipeline.ring_peak.value, cell);
}

static void slowdown(const struct bb_case *c, struct bb_table_cell *cell)
{
	const struct bb_estimate *e = &c->summary.slowdown.ratio;

	if (isfinite(e->lo) && isfinite(e->hi))
		snprintf(cell->text, sizeof(cell->text), "%.4f [%.4f, %.4f]", e->value, e->lo,
			 e->hi);
	else if (isfinite(e->value))
		snprintf(cell->text, sizeof(cell->text), "%.4f", e->value);
}

static void executed(const struct bb_case *c, struct bb_table_cell *cell)
{
	const char *more = c->goes_on ? ", then more by a tail call" : "";

	for (size_t i = 0; i < c->n_in_vain && !c->goes_on; i++)
		if (c->in_vain[i].is_tail_call)
			more = " without its tail call";
	if (c->n_insns)
		snprintf(cell->text, sizeof(cell->text), "%" PRIu32 " of %" PRIu32 "%s",
			 c->executed_insns, c->n_insns, more);
}

/* Only where windows are shared at all; elsewhere a column of zeros would only raise questions. */
static void multi(const struct bb_case *c, struct bb_table_cell *cell)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->n_series; i++)
		if (!c->series[i].void_why)
			n += c->series[i].multi;
	if (n || ((isfinite(c->summary.rate_achieved.value) ||
		   isfinite(c->summary.live.run_rate.value)) &&
		  !isfinite(c->summary.pipeline.produced.value)))
		put_count(n, cell);
}

/* Of a drive whose loads are drawn by place where that can be done (run/placement.h). */
static const char *why_not_by_place(const struct bb_case *c)
{
	const struct bb_drive_kind *kind = bb_drive_kind_named(c->drive);

	if (!kind->needs_bpf || kind->seconds > 0)
		return "";
	return c->series[0].jit_mod64 < 0 ? " (no place: JIT off, or hidden)" : " (at random)";
}

static void spread(const struct bb_case *c, struct bb_table_cell *cell)
{
	const struct bb_summary *s = &c->summary;

	if (s->places)
		snprintf(cell->text, sizeof(cell->text), "%s to %s in %" PRIu32 " place%s",
			 bb_table_cell_value(s->layout_best.value).text,
			 bb_table_cell_value(s->layout_worst.value).text, s->places,
			 s->places > 1 ? "s" : "");
	else if (isfinite(s->layout_spread.value))
		snprintf(cell->text, sizeof(cell->text), "%.3f%s", s->layout_spread.value,
			 why_not_by_place(c));
}

static void relative(const struct bb_case *c, struct bb_table_cell *cell)
{
	static const char *const pieces[BB_N_REFERENCES] = {
		[BB_REFERENCE_INSTRUCTIONS] = "stretches of instructions",
		[BB_REFERENCE_MEMORY] = "chains of loads",
		[BB_REFERENCE_WAKEUP] = "wakeups",
	};
	const struct bb_estimate *e = &c->summary.relative;

	if (isfinite(e->value))
		snprintf(cell->text, sizeof(cell->text), "%.4g %s", e->value,
			 pieces[bb_case__reference(c)]);
}

#define ESTIMATE(member) offsetof(struct bb_summary, member)

const struct bb_case_column bb_case_columns[] = {
	{.as = {BB_TEXT("variant")}, .in = BB_BOTH, .cell = variant},
	{.as = {BB_NUMBER("net"), .doc = "latency minus floor, load by load"},
	 .in = BB_BOTH,
	 .cell = net},
	{.as = {BB_NUMBER("latency"), .doc = "gross cost of one run: mean over the places of the "
					     "code, "
					     "where not "
					     "known median over loads"},
	 .in = BB_BOTH,
	 .cell = latency},
	{.as = {BB_TEXT("+-"), .close = true,
		.doc = "half the 95 % interval of the latency, over loads"},
	 .in = BB_SHORT,
	 .cell = half_width},
	{.as = {BB_TEXT("95 % interval"), .close = true,
		.doc = "of the latency, over loads, and between runs as far as selftest has "
		       "measured "
		       "that here"},
	 .in = BB_DETAILS,
	 .cell = interval},
	{.as = {BB_NUMBER("floor"), .spill = 4,
		.doc = "latency of the empty program of the same type in this run"},
	 .in = BB_BOTH,
	 .estimate = ESTIMATE(floor)},
	{.as = {BB_NUMBER("p50"), .doc = "median of all samples"},
	 .in = BB_BOTH,
	 .estimate = ESTIMATE(p50)},
	{.as = {BB_NUMBER("p90"), .spill = 9,
		.doc = "90th percentile of all samples, outliers included (needs 100)"},
	 .in = BB_BOTH,
	 .estimate = ESTIMATE(p90)},
	{.as = {BB_NUMBER("p99"), .doc = "99th percentile of all samples, outliers included (needs "
					 "1000)"},
	 .in = BB_BOTH,
	 .estimate = ESTIMATE(p99)},
	{.as = {BB_NUMBER("max"), .doc = "largest lag of all samples"},
	 .in = BB_BOTH,
	 .estimate = ESTIMATE(pipeline.lag_max)},
	{.as = {BB_TEXT("slowdown"), .doc = "latency / floor, load by load, with its 95 % "
					    "interval"},
	 .in = BB_BOTH,
	 .cell = slowdown},
	{.as = {BB_NUMBER("outliers %"), .doc = "share of the samples above median + max(5 IQR, 3 "
						"ticks, 10 ns)"},
	 .in = BB_BOTH,
	 .cell = outliers},
	{.as = {BB_NUMBER("their time %"), .doc = "share of the run time that outliers take"},
	 .in = BB_DETAILS,
	 .cell = outlier_time},
	{.as = {BB_NUMBER("drops"), .doc = "runs whose result the program threw away"},
	 .in = BB_DETAILS,
	 .cell = drops},
	{.as = {BB_NUMBER("consumed"), .doc = "samples that the consumer had finished, of those "
					      "that got "
					      "into the "
					      "ring"},
	 .in = BB_BOTH,
	 .cell = consumed},
	{.as = {BB_NUMBER("ring %"), .doc = "highest fill of the ring that was seen, as a share of "
					    "its "
					    "size"},
	 .in = BB_BOTH,
	 .cell = ring_peak},
	{.as = {BB_NUMBER("CPU"), .doc = "CPU time of the consumer a sample, ns"},
	 .in = BB_BOTH,
	 .estimate = ESTIMATE(pipeline.consumer_cpu)},
	{.as = {BB_NUMBER("executed"), .spill = BB_DOC_BELOW,
		.doc = "instructions that the runs execute at least once, of all in the program"},
	 .in = BB_BOTH,
	 .cell = executed},
	{.as = {BB_NUMBER("samples"), .doc = "runs timed one by one, in the series that count"},
	 .in = BB_DETAILS,
	 .cell = samples},
	{.as = {BB_NUMBER("loads"), .doc = "times the program was loaded anew (of a live one: "
					   "slices of "
					   "time); "
					   "22/24: two do not count"},
	 .in = BB_DETAILS,
	 .cell = loads},
	{.as = {BB_NUMBER("steal %"), .spill = 1,
		.doc = "CPU time that the hypervisor took meanwhile"},
	 .in = BB_DETAILS,
	 .cell = steal},
	{.as = {BB_NUMBER("naive"), .spill = 10,
		.doc = "naive mean, run_time_ns / run_cnt: the usual figure, for contrast; steal "
		       "is in "
		       "it"},
	 .in = BB_DETAILS,
	 .estimate = ESTIMATE(naive_mean)},
	{.as = {BB_NUMBER("Hz"), .spill = 3,
		.doc = "runs per second of the workload's CPU time, or packets or requests per "
		       "second: "
		       "achieved/requested"},
	 .in = BB_DETAILS,
	 .cell = rate},
	{.as = {BB_NUMBER("runs/s"), .doc = "of wall time, those that shared a reading of the "
					    "counters "
					    "too"},
	 .in = BB_BOTH,
	 .estimate = ESTIMATE(live.run_rate)},
	{.as = {BB_NUMBER("CPU %"), .doc = "share of one CPU that all the runs take"},
	 .in = BB_BOTH,
	 .cell = cpu_share},
	{.as = {BB_NUMBER("multi"), .spill = 2,
		.doc = "runs that shared a reading of the counters with others: counted, but no "
		       "sample"},
	 .in = BB_DETAILS,
	 .cell = multi},
	{.as = {BB_NUMBER("call"), .spill = 5,
		.doc = "cost of the system call around the runs, ns"},
	 .in = BB_DETAILS,
	 .estimate = ESTIMATE(slope.intercept)},
	{.as = {BB_NUMBER("cycles"), .spill = 6, .doc = "of a run, by the PMU"},
	 .in = BB_DETAILS,
	 .estimate = ESTIMATE(slope.cycles)},
	{.as = {BB_NUMBER("insns"), .spill = 7, .doc = "machine instructions of a run, by the PMU"},
	 .in = BB_DETAILS,
	 .estimate = ESTIMATE(slope.instructions)},
	{.as = {BB_NUMBER("LLC misses"), .spill = 8,
		.doc = "reads of a run that missed the last level cache, by the PMU"},
	 .in = BB_DETAILS,
	 .estimate = ESTIMATE(slope.llc_misses)},
	{.as = {BB_NUMBER("layout"), .spill = BB_DOC_BELOW,
		.doc = "latency where the JIT places the code best and worst; p90/p10 over loads "
		       "if not "
		       "known"},
	 .in = BB_DETAILS,
	 .cell = spread},
	{.as = {BB_NUMBER("relative"), .spill = BB_DOC_BELOW,
		.doc = "latency in pieces of a fixed work timed in the same rounds, which takes "
		       "the "
		       "machine's own speed out"},
	 .in = BB_DETAILS,
	 .cell = relative},
};

const size_t bb_n_case_columns = sizeof(bb_case_columns) / sizeof(bb_case_columns[0]);

struct bb_table_cell bb_case_cell(const struct bb_case *c, const struct bb_case_column *column)
{
	struct bb_table_cell cell = {""};
	const struct bb_estimate *e;

	if (column->cell) {
		column->cell(c, &cell);
		return cell;
	}
	e = (const struct bb_estimate *)((const char *)&c->summary + column->estimate);
	return bb_table_cell_number(e->value, e->value);
}
