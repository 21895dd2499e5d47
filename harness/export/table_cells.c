/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/table_cells.h"

#include "base/text.h"
#include "core/drive_kind.h"

#define NS_SHOWN_AS_MS 999999.5
#define PATH_SHOWN 50 /* of a longer path, only about the last PATH_SHOWN bytes are shown */

static const struct bb_table_cell none = {""};

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

void bb_put_code(FILE *out, const char *text, size_t width)
{
	enum { TAB = 8, NARROW = 60 };
	const size_t tab = width < NARROW ? TAB / 2 : TAB;
	char line[1024];
	size_t at = 0, n = 0;

	for (; *text && at + TAB < sizeof(line); text++) {
		if (*text != '\t') {
			line[at++] = *text;
			continue;
		}
		do
			line[at++] = ' ';
		while (at % tab);
	}
	line[at] = '\0';
	if (bb_text_width(line) <= width) {
		bb_put_clean(out, line);
		return;
	}
	for (at = 0; (n += ((unsigned char)line[at] & 0xc0) != 0x80) < width; at++)
		;
	line[at] = '\0';
	bb_put_clean(out, line);
	fputs("…", out);
}

struct bb_table_cell bb_path_cell(const char *path)
{
	const char *end = path + strlen(path),
		   *at = end > path + PATH_SHOWN ? end - PATH_SHOWN : path;

	if (at > path && !(at = strchr(at, '/')))
		at = strrchr(path, '/') ?: path;
	return bb_table_cell_of("%s%s", at > path ? "…" : "", at);
}

struct bb_table_cell bb_table_cell_of(const char *fmt, ...)
{
	struct bb_table_cell cell;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cell.text, sizeof(cell.text), fmt, ap);
	va_end(ap);
	return cell;
}

struct bb_table_cell bb_table_cell_number(double value, double scale)
{
	double size = fabs(value) < 9999.5 ? fabs(scale) : BB_WHOLE;

	if (!isfinite(value))
		return none;
	if (fabs(value) >= 1e18)
		return bb_table_cell_of("%.3e", value);
	int decimals = size < 9.995 ? 2 : size < 999.95 ? 1 : 0;
	struct bb_table_cell cell = bb_table_cell_of("%.*f", decimals, value);
	if (cell.text[0] == '-' && strspn(cell.text, "-0.") == strlen(cell.text))
		memmove(cell.text, cell.text + 1, strlen(cell.text));
	return cell;
}

bool bb_is_shown_in_ms(double ns)
{
	return fabs(ns) >= NS_SHOWN_AS_MS;
}

struct bb_table_cell bb_table_cell_time(double ns, double scale)
{
	if (!bb_is_shown_in_ms(scale) || !isfinite(ns))
		return bb_table_cell_number(ns, scale);
	return bb_table_cell_of("%s ms", bb_table_cell_number(ns / 1e6, scale / 1e6).text);
}

/* Returns a time of the case in the unit of its drive. */
static struct bb_table_cell time_of(const struct bb_case *c, double ns, double scale)
{
	double unit_ns = bb_drive_kind_named(c->drive)->sample.shown_ns;

	return unit_ns > 0 ? bb_table_cell_number(ns / unit_ns, scale / unit_ns)
			   : bb_table_cell_time(ns, scale);
}

struct bb_table_cell bb_table_cell_value(double value)
{
	return isnan(value) ? (struct bb_table_cell){"-"} : bb_table_cell_number(value, value);
}

static struct bb_table_cell count(uint64_t n)
{
	return bb_table_cell_of("%" PRIu64, n);
}

struct bb_table_cell bb_table_cell_percent(double share)
{
	double percent = 100 * share;

	if (!isfinite(share))
		return none;
	if (percent > 0 && percent < 0.005)
		return bb_table_cell_of("< 0.01");
	return bb_table_cell_of(!(percent > 0) || percent >= 9.95 ? "%.0f"
				: percent >= 0.095                ? "%.1f"
								  : "%.2f",
				percent);
}

static struct bb_table_cell variant(const struct bb_case *c)
{
	struct bb_table_cell cell = bb_table_cell_of("%s", c->variant);

	bb_make_clean(cell.text);
	return cell;
}

static struct bb_table_cell samples(const struct bb_case *c)
{
	return count(c->summary.samples);
}

static struct bb_table_cell loads(const struct bb_case *c)
{
	if (c->summary.loads == c->n_series)
		return bb_table_cell_of("%" PRIu32, c->summary.loads);
	return bb_table_cell_of("%" PRIu32 "/%zu", c->summary.loads, c->n_series);
}

/* Returns a figure of the samples in the unit of the drive. If a consumer is behind, the lags of
 * the samples that it did not take are unknown. The figure is then a lower bound, ">12". */
static struct bb_table_cell time_of_samples(const struct bb_case *c, double value)
{
	if (bb_is_behind(c))
		return c->summary.pipeline.consumed.value > 0 && isfinite(value)
			       ? bb_table_cell_of(">%s", time_of(c, value, value).text)
			       : none;
	if (value == round(value) && !bb_is_shown_in_ms(value) &&
	    !(bb_drive_kind_named(c->drive)->sample.shown_ns > 0))
		return bb_table_cell_of("%.0f", value); /* a clock tick is several ns */
	return time_of(c, value, value);
}

static struct bb_table_cell latency(const struct bb_case *c)
{
	double value = c->summary.latency.value;

	if (bb_is_behind(c))
		return time_of_samples(c, value);
	return isfinite(value) ? time_of(c, value, value)
			       : bb_table_cell_of(c->summary.voids ? "void" : "none");
}

static struct bb_table_cell ring_peak(const struct bb_case *c)
{
	double share = c->summary.pipeline.ring_peak.value;

	return isfinite(share) ? bb_table_cell_of("%.1f", 100 * share) : none;
}

static struct bb_table_cell interval(const struct bb_case *c)
{
	const struct bb_estimate *e = &c->summary.latency;

	if (!isfinite(e->lo) || !isfinite(e->hi))
		return none;
	return bb_table_cell_of("[%s, %s]", time_of(c, e->lo, e->value).text,
				time_of(c, e->hi, e->value).text);
}

/* Returns the distance from an estimate to the farther end of its interval, with the decimals of
 * the latency. Empty if there is no interval. */
static struct bb_table_cell half_of(const struct bb_case *c, const struct bb_estimate *e)
{
	return time_of(c, bb_estimate__half(e), c->summary.latency.value);
}

struct bb_table_cell bb_net_half_cell(const struct bb_case *c)
{
	return half_of(c, &c->summary.net);
}

struct bb_table_cell bb_latency_half_cell(const struct bb_case *c)
{
	return bb_is_behind(c) ? none : half_of(c, &c->summary.latency);
}

/* Returns "+-0.9" for the cell "0.9", and an empty cell for an empty one. */
static struct bb_table_cell behind(struct bb_table_cell half)
{
	return half.text[0] ? bb_table_cell_of("+-%.100s", half.text) : none;
}

static struct bb_table_cell behind_net(const struct bb_case *c)
{
	return behind(bb_net_half_cell(c));
}

static struct bb_table_cell behind_latency(const struct bb_case *c)
{
	return behind(bb_latency_half_cell(c));
}

struct bb_table_cell bb_floor_cell(const struct bb_case *c)
{
	const struct bb_summary *s = &c->summary;
	double value = isfinite(s->net.value) ? s->latency.value - s->net.value : s->floor.value;

	return time_of(c, value, c->summary.latency.value);
}

/* Returns the floor's latency if no row shows it, because the floor is not a case of the run. */
static struct bb_table_cell own_floor(const struct bb_case *c)
{
	return c->floor == BB_NO_FLOOR ? bb_floor_cell(c) : none;
}

bool bb_net_is_near_0(const struct bb_case *c)
{
	const struct bb_estimate *net = &c->summary.net;

	return net->value < 0 || (net->value >= 0 && (net->lo <= 0 || net->hi >= 2 * net->value));
}

struct bb_table_cell bb_net_cell(const struct bb_case *c)
{
	/* Use as many decimals as the latency has, because a difference is not more precise. */
	return bb_table_cell_of("%s%s", bb_net_is_near_0(c) ? BB_NEAR_0_MARK : "",
				time_of(c, c->summary.net.value, c->summary.latency.value).text);
}

static struct bb_table_cell rate(const struct bb_case *c)
{
	double achieved = c->summary.rate_achieved.value;
	double requested = c->summary.rate_requested.value;

	if (isfinite(achieved) && isfinite(requested))
		return bb_table_cell_of("%s/%.0f", bb_table_cell_number(achieved, requested).text,
					requested);
	return bb_table_cell_number(achieved, achieved);
}

static struct bb_table_cell cpu_share(const struct bb_case *c)
{
	double percent = 100 * c->summary.live.cpu_share.value;

	return bb_table_cell_number(percent, percent);
}

bool bb_is_behind(const struct bb_case *c)
{
	return c->summary.pipeline.consumed.value < 0.9 * c->summary.pipeline.produced.value;
}

static struct bb_table_cell consumed(const struct bb_case *c)
{
	double consumed = c->summary.pipeline.consumed.value;

	if (!isfinite(consumed))
		return none;
	return bb_table_cell_of("%s/%s", count((uint64_t)consumed).text,
				count((uint64_t)c->summary.pipeline.produced.value).text);
}

static struct bb_table_cell slowdown(const struct bb_case *c)
{
	const struct bb_estimate *e = &c->summary.slowdown.ratio;

	if (isfinite(e->lo) && isfinite(e->hi))
		return bb_table_cell_of("%.4f [%.4f, %.4f]", e->value, e->lo, e->hi);
	return isfinite(e->value) ? bb_table_cell_of("%.4f", e->value) : none;
}

struct bb_table_cell bb_executed_cell(const struct bb_case *c)
{
	const char *more = c->goes_on ? ", then more by a tail call"
			   : BB_ANY(c->in_vain, c->n_in_vain, it->is_tail_call) ? " without its "
										  "tail call"
										: "";

	if (!c->n_insns)
		return none;
	return bb_table_cell_of("%" PRIu32 " of %" PRIu32 "%s", c->executed_insns, c->n_insns,
				more);
}

/* Returns how many runs shared a reading of the counters with others. Only drives that watch runs
 * show a 0, because elsewhere a column of zeros would raise questions. */
static struct bb_table_cell multi(const struct bb_case *c)
{
	const struct bb_summary *s = &c->summary;
	bool is_watched = bb_drive_kind_named(c->drive)->fills & BB_FILLS_RUN_RATE;
	bool shares = (isfinite(s->rate_achieved.value) || is_watched) &&
		      !isfinite(s->pipeline.produced.value);
	uint64_t n = BB_SUM(c->series, c->n_series, it->void_why ? 0 : it->multi);

	return n || shares ? count(n) : none;
}

/* Returns the range of latencies over the addresses of the code modulo 64, if bpfbench chose these
 * (run/round.h). Otherwise returns the spread over the loads. */
static struct bb_table_cell spread(const struct bb_case *c)
{
	const struct bb_drive_kind *kind = bb_drive_kind_named(c->drive);
	const struct bb_summary *s = &c->summary;

	if (s->places)
		return bb_table_cell_of("%s to %s in %" PRIu32 " place%s",
					bb_table_cell_value(s->layout_best.value).text,
					bb_table_cell_value(s->layout_worst.value).text, s->places,
					s->places > 1 ? "s" : "");
	if (!isfinite(s->layout_spread.value))
		return none;
	return bb_table_cell_of("%.3f%s", s->layout_spread.value,
				!kind->needs_bpf || kind->seconds > 0 ? ""
				: c->series[0].jit_mod64 < 0 ? " (no place: JIT off, or hidden)"
							     : " (at random)");
}

static struct bb_table_cell relative(const struct bb_case *c)
{
	static const char *const pieces[BB_N_REFERENCES] = {
		[BB_REFERENCE_INSTRUCTIONS] = "",
		[BB_REFERENCE_MEMORY] = " chains of loads",
		[BB_REFERENCE_WAKEUP] = " wakeups",
	};
	double value = c->summary.relative.value;

	return isfinite(value) ? bb_table_cell_of("%.4g%s", value, pieces[bb_case__reference(c)])
			       : none;
}

#define COLUMN(in, how, ...)                                                                       \
	{                                                                                          \
		{__VA_ARGS__}, in, how                                                             \
	}
#define ESTIMATE(member) .estimate = offsetof(struct bb_summary, member)
#define PERCENT(member) ESTIMATE(member), .is = BB_A_SHARE
#define COUNT(member) ESTIMATE(member), .is = BB_A_COUNT
#define RATE(member) ESTIMATE(member), .is = BB_A_RATE
#define OF_SAMPLES(member) ESTIMATE(member), .is = BB_A_TIME_OF_SAMPLES

const struct bb_case_column bb_case_columns[] = {
	COLUMN(BB_BOTH, .cell = variant, BB_TEXT("variant")),
	COLUMN(BB_BOTH, .cell = bb_net_cell, BB_NUMBER("net"),
	       .doc = "latency less that of the empty program (the floor) in the same load, over "
		      "all loads"),
	COLUMN(BB_BOTH, .cell = behind_net, BB_TEXT("+-"), .close = true,
	       .doc = "the longer side of the 95 % interval of net, over loads"),
	COLUMN(BB_BOTH, .cell = latency, BB_NUMBER("latency"),
	       .doc = "gross cost of one run: mean over the places of the code, where not known "
		      "median over loads"),
	COLUMN(BB_SHORT_NO_NET, .cell = behind_latency, BB_TEXT("+-"), .close = true,
	       .doc = "the longer side of the 95 % interval of the latency, over loads"),
	COLUMN(BB_DETAILS, .cell = interval, BB_TEXT("95 % interval"), .close = true,
	       .doc = "of the latency, over loads, and between runs as far as stored runs or "
		      "selftest tell"),
	COLUMN(BB_SHORT, .cell = own_floor, BB_NUMBER("floor"),
	       .doc = "the same event with an empty program"),
	COLUMN(BB_DETAILS, ESTIMATE(floor), BB_NUMBER("floor"), .spill = 4,
	       .doc = "latency of the empty program of the same type in this run"),
	COLUMN(BB_ALL, OF_SAMPLES(p50), BB_NUMBER("p50"), .spill = 13,
	       .doc = "median of all samples"),
	COLUMN(BB_DETAILS | BB_SENTENCE, OF_SAMPLES(p90), BB_NUMBER("p90"), .spill = 9,
	       .doc = "90th percentile of all samples, outliers included (needs 100)"),
	COLUMN(BB_ALL, OF_SAMPLES(p99), BB_NUMBER("p99"),
	       .doc = "99th percentile of all samples, outliers included (needs 1000)"),
	COLUMN(BB_ALL, ESTIMATE(live.worst), BB_NUMBER("worst"), .doc = "longest run"),
	COLUMN(BB_ALL, OF_SAMPLES(pipeline.lag_max), BB_NUMBER("max"), .spill = 12, .drop = 1,
	       .doc = "largest lag of all samples"),
	COLUMN(BB_ALL, .cell = slowdown, BB_TEXT("slowdown"),
	       .doc = "latency / floor, load by load, with its 95 % interval"),
	COLUMN(BB_DETAILS | BB_SENTENCE, PERCENT(outlier_share), BB_NUMBER("outliers %"),
	       .spill = 11,
	       .doc = "share of the samples above median + max(5 IQR, 3 ticks, 10 ns)"),
	COLUMN(BB_DETAILS, PERCENT(outlier_time_share), BB_NUMBER("outlier time %"),
	       .doc = "share of the run time that outliers take"),
	COLUMN(BB_DETAILS, COUNT(drops), BB_NUMBER("drops"),
	       .doc = "runs whose result the program threw away"),
	COLUMN(BB_ALL, .cell = consumed, BB_NUMBER("consumed"),
	       .doc = "samples that the consumer had finished, of those that got into the ring; of "
		      "less than 90 %, times are at least (>)"),
	COLUMN(BB_ALL, .cell = ring_peak, BB_NUMBER("ring %"),
	       .doc = "highest fill of the ring that was seen, as a share of its size"),
	COLUMN(BB_ALL, ESTIMATE(pipeline.consumer_cpu), BB_NUMBER("CPU/sample"),
	       .doc = "CPU time of the consumer per sample"),
	COLUMN(BB_ALL, COUNT(map_bytes), BB_NUMBER("map bytes"),
	       .doc = "memory of the maps that are filled to several sizes"),
	COLUMN(BB_DETAILS, .cell = bb_executed_cell, BB_NUMBER("executed"), .spill = BB_DOC_BELOW,
	       .doc = "instructions that the runs execute at least once, of all in the program"),
	COLUMN(BB_DETAILS, .cell = samples, BB_NUMBER("samples"),
	       .doc = "runs timed one by one, in the series that count"),
	COLUMN(BB_DETAILS, .cell = loads, BB_NUMBER("loads"),
	       .doc = "times the program was loaded anew (of a live one: slices of time); 22/24: "
		      "two do not count"),
	COLUMN(BB_DETAILS, PERCENT(steal), BB_NUMBER("steal %"), .spill = 1,
	       .doc = "CPU time that the hypervisor took meanwhile"),
	COLUMN(BB_DETAILS, ESTIMATE(naive_mean), BB_NUMBER("naive"), .spill = 10,
	       .doc = "naive mean, run_time_ns / run_cnt: the usual figure, for contrast; steal is "
		      "in it"),
	COLUMN(BB_DETAILS, .cell = rate, BB_NUMBER("Hz"), .spill = 3,
	       .doc = "runs a second of the workload's CPU time, packets or requests a second: "
		      "achieved/requested"),
	COLUMN(BB_ALL, PERCENT(live.path_share), BB_NUMBER("runs %"),
	       .doc = "share of the program's runs that take this path, or that this input stands "
		      "for"),
	COLUMN(BB_ALL, RATE(live.run_rate), BB_NUMBER("runs/s"),
	       .doc = "of wall time, on all CPUs together; those that shared a reading of the "
		      "counters too"),
	COLUMN(BB_ALL, .cell = cpu_share, BB_NUMBER("CPU %"),
	       .doc = "share of one CPU that all the runs take"),
	COLUMN(BB_DETAILS, .cell = multi, BB_NUMBER("multi"), .spill = 2,
	       .doc = "runs that shared a reading of the counters with others: counted, but no "
		      "sample"),
	COLUMN(BB_DETAILS, ESTIMATE(slope.intercept), BB_NUMBER("call"), .spill = 5,
	       .doc = "cost of the system call around the runs, ns"),
	COLUMN(BB_DETAILS, RATE(slope.cycles), BB_NUMBER("cycles"), .spill = 6,
	       .doc = "of a run, by the PMU"),
	COLUMN(BB_DETAILS, RATE(slope.instructions), BB_NUMBER("insns"), .spill = 7,
	       .doc = "machine instructions of a run, by the PMU"),
	COLUMN(BB_DETAILS, RATE(slope.llc_misses), BB_NUMBER("LLC misses"), .spill = 8,
	       .doc = "reads of a run that missed the last level cache, by the PMU"),
	COLUMN(BB_DETAILS, .cell = spread, BB_NUMBER("layout"), .spill = BB_DOC_BELOW,
	       .doc = "latency where the JIT places the code best and worst; p90/p10 over loads if "
		      "not known"),
	COLUMN(BB_DETAILS, .cell = relative, BB_NUMBER("relative"), .spill = BB_DOC_BELOW,
	       .doc = "latency in pieces of a fixed work timed in the same rounds (stretches of "
		      "instructions, where no other is named), which takes the machine's own speed "
		      "out"),
};

const size_t bb_n_case_columns = BB_LEN(bb_case_columns);

struct bb_table_cell bb_case_cell(const struct bb_case *c, const struct bb_case_column *column)
{
	if (column->cell)
		return column->cell(c);
	const struct bb_estimate *e =
		(const struct bb_estimate *)((const char *)&c->summary + column->estimate);
	switch (column->is) {
	case BB_A_SHARE: return bb_table_cell_percent(e->value);
	case BB_A_COUNT: return isfinite(e->value) ? count((uint64_t)e->value) : none;
	case BB_A_RATE: return bb_table_cell_number(e->value, e->value);
	case BB_A_TIME_OF_SAMPLES: return time_of_samples(c, e->value);
	case BB_A_TIME: break;
	}
	return time_of(c, e->value, e->value);
}
