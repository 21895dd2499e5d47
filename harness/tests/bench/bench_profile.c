/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the addresses of one recording to folded stacks: `perf script` piped through a folding script, and `bpfbench profile`'s
 * own way, cold (a new process each), of the same perf.data. And do they agree on where the time was?
 */
#include "bench.h"

#include <linux/perf_event.h>

#include "base/io.h"
#include "profile/fold.h"
#include "profile/recording.h"
#include "profile/task_events.h"

#define TURNS 3u

/* perf's own file format: tools/perf/Documentation/perf.data-file-format.txt */
struct section {
	uint64_t offset, size;
};

struct file_header {
	uint64_t magic, size, attr_size;
	struct section attrs, data;
};

/* What `perf record -g -a` writes of a sample; ID when it has more than one event, which it has for its dummy. */
#define SAMPLE_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | \
		     PERF_SAMPLE_CALLCHAIN)

struct sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint64_t rest[];	/* id, if any; cpu; period; the length of the chain; the chain */
};

struct recording {
	struct bb_samples samples;
	struct bb_spaces spaces;
	struct bb_symtab kernel;
	struct bb_names comms;
	struct bb_idmap comm_of;	/* tid -> name */
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_profile: %s: %s\n", what, why);
	exit(1);
}

static void add_sample(struct recording *r, const struct sample *s, bool has_id)
{
	const uint64_t *chain = s->rest + 3 + has_id, n_chain = chain[-1];
	struct bb_sampled_stack stack = {.pid = s->pid, .weight = 1};
	uint64_t kernel[256], user[256];
	uint32_t comm = bb_idmap__get(&r->comm_of, s->tid, 0);
	bool is_kernel = false;

	if (comm != BB_NO_ID)
		snprintf(stack.comm, sizeof(stack.comm), "%s", bb_names__text(&r->comms, comm));
	for (uint64_t i = 0; i < n_chain; i++) {
		if (chain[i] >= PERF_CONTEXT_MAX)
			is_kernel = chain[i] == PERF_CONTEXT_KERNEL;
		else if (is_kernel && stack.n_kernel < 256)
			kernel[stack.n_kernel++] = chain[i];
		else if (!is_kernel && stack.n_user < 256)
			user[stack.n_user++] = chain[i];
	}
	if (bb_samples__add(&r->samples, &stack, kernel, user))
		die("samples", "out of memory");
}

static void note_comm(struct recording *r, const struct perf_event_header *h)
{
	const struct { struct perf_event_header header; uint32_t pid, tid; char comm[]; } *c = (const void *)h;
	uint32_t name;

	if (bb_names__add(&r->comms, c->comm, strlen(c->comm), &name) || bb_idmap__put(&r->comm_of, c->tid, 0, name))
		die("names", "out of memory");
}

static void read_recording(const char *path, struct recording *r)
{
	struct bb_task_events events = {0};
	struct bb_err err = {0};
	struct file_header f;
	uint64_t nth = 0, sample_type;
	char *data;
	size_t len;

	if (bb_read_file(path, SIZE_MAX, &data, &len, &err))
		die(path, err.msg);
	memcpy(&f, data, sizeof(f));
	sample_type = ((const struct perf_event_attr *)(const void *)(data + f.attrs.offset))->sample_type;
	if (f.data.offset + f.data.size > len || (sample_type & ~(uint64_t)PERF_SAMPLE_ID) != SAMPLE_TYPE)
		die(path, "not a perf.data as expected");
	for (uint64_t at = f.data.offset; at < f.data.offset + f.data.size;) {
		struct perf_event_header *h = (struct perf_event_header *)(void *)(data + at);
		uint64_t *time = (uint64_t *)(void *)(data + at + h->size - sizeof(*time));

		at += h->size;
		if (h->type == PERF_RECORD_SAMPLE) {
			add_sample(r, (const struct sample *)(const void *)h, sample_type & PERF_SAMPLE_ID);
			continue;
		}
		if (h->type == PERF_RECORD_COMM)
			note_comm(r, h);
		if (h->type < PERF_RECORD_MAX && h->size > sizeof(*h) + sizeof(*time)) {
			*time = ++nth;	/* perf has sorted the file: its order will do */
			if (bb_task_events__log(&events, h, &r->spaces))
				die("spaces", "out of memory");
		}
	}
	free(data);
}

/* What is timed, in a process of its own: read, look up, fold, write. */
static int fold(const char *recording, const char *folded_path)
{
	struct recording r = {0};
	struct bb_fold_opts opts = {.on_cpu_weight = 1, .kernel = &r.kernel};
	struct bb_profile profile;
	struct bb_err err = {0};
	FILE *out = fopen(folded_path, "w");

	read_recording(recording, &r);
	if (!out || bb_spaces__replay(&r.spaces) || bb_kernel_symbols(&r.kernel, &err) ||
	    bb_fold(&r.samples, &r.spaces, &opts, &profile, &err) || bb_tree__write_folded(&profile.tree, out))
		die("folding", err.msg);
	fclose(out);
	return 0;
}

/* The folding script: what stackcollapse-perf.pl does, in awk. */
static const char fold_awk[] =
	"/^[^ \\t#]/ { comm = $0; sub(/[ \\t]+[0-9]+(\\/[0-9]+)?[ \\t].*/, \"\", comm); stack = \"\"; next }"
	"/^[ \\t]/ { name = $2; sub(/\\+0x[0-9a-f]+$/, \"\", name); stack = \";\" name stack; next }"
	"/^$/ { if (comm != \"\") count[comm stack]++; comm = \"\" }"
	"END { for (s in count) print s, count[s] }";

/* Run in a shell with stderr thrown away; how long it took, in seconds. */
static double timed(const char *command)
{
	const char *const argv[] = {"sh", "-c", command, NULL};

	return bench_run(argv).wall_s;
}

struct duel {
	char theirs[1200], ours[600];
};

static double theirs(void *arg)
{
	return timed(((struct duel *)arg)->theirs);
}

static double ours(void *arg)
{
	return timed(((struct duel *)arg)->ours);
}

/* The largest difference between the shares of any function in both, as an awk script prints it, in percentage points. */
static const char compare_awk[] =
	"{ n = $NF; total[FILENAME] += n; sub(/ [0-9]+$/, \"\"); gsub(/_\\[[kij]\\]/, \"\"); k = split($0, f, \";\");"
	"  split(\"\", seen); for (i = 2; i <= k; i++) if (f[i] ~ /^function_/ && !(f[i] in seen)) { seen[f[i]] = 1;"
	"    share[f[i], FILENAME] += n; names[f[i]] = 1 } }"
	"END { for (x in names) { d = 100 * (share[x, ARGV[1]] / total[ARGV[1]] - share[x, ARGV[2]] / total[ARGV[2]]);"
	"  if (d < 0) d = -d; if (d > most) most = d; count++ } printf \"%d %.4f\\n\", count, most }";

static void compare_shares(const char *dir)
{
	char command[2048], measured[128], text[128] = "";
	unsigned int n = 0;
	FILE *in;
	double most;

	snprintf(command, sizeof(command), "awk '%s' %s/theirs %s/ours", compare_awk, dir, dir);
	in = popen(command, "r");
	if (!in || !fgets(text, sizeof(text), in) || sscanf(text, "%u %lf", &n, &most) != 2)
		die("comparing", "no answer");
	pclose(in);
	snprintf(measured, sizeof(measured), "%.3f points, %u functions", most, n);
	bench_judge("profile: share of a function, perf's against ours", "< 1 point", measured, n == 32 && most < 1);
}

int main(int argc, char **argv)
{
	char command[1024], measured[128];
	const char *dir = argc > 1 ? argv[1] : "/tmp";	/* run.sh gives us one, and removes it */
	const char *build = getenv("O") ? getenv("O") : "build";
	struct bench_duel d;
	struct bench_medians m;
	struct duel duel;

	if (argc == 3)
		return fold(argv[1], argv[2]);
	if (geteuid() || system("command -v perf >/dev/null && command -v awk >/dev/null")) {
		bench_row("profile: 100 000 stacks, perf script | fold against ours", ">= 20 x", "needs root, perf and awk", "-");
		return 0;
	}
	snprintf(command, sizeof(command), "perf record -q -F 20000 -e cpu-clock -g --sample-cpu -o %s/data %s/tests/tools/many_stacks "
		 "5.2 >/dev/null 2>&1", dir, build);
	if (system(command))
		die("perf record", "failed");
	snprintf(duel.theirs, sizeof(duel.theirs), "perf script -i %s/data 2>/dev/null | awk '%s' > %s/theirs", dir, fold_awk,
		 dir);
	snprintf(duel.ours, sizeof(duel.ours), "%s %s/data %s/ours", argv[0], dir, dir);
	d = bench_duel(theirs, ours, &duel, TURNS);
	m = bench_decide(&d);
	snprintf(measured, sizeof(measured), "%.1f x (%.2f s, %.3f s)", m.ratio, m.a, m.b);
	bench_judge("profile: 100 000 stacks, perf script | fold against ours", ">= 20 x", measured, m.ratio >= 20);
	compare_shares(dir);
	return 0;
}
