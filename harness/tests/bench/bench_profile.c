/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time to turn a recording of 100 000 stacks, nearly all different, into a file of folded stacks:
 * by `perf script` piped through a folding script, and by the code that `bpfbench profile` runs
 * after its last sample (read the kernel's symbols, look addresses up, fold, write). Both read the
 * same perf.data, from the page cache; `bpfbench profile` itself reads BPF maps. Each time is that
 * of new processes, which open all symbol tables and debug information anew. perf and its script
 * run at the same time if there are two CPUs.
 *
 * Two scripts: a short one in awk, which takes no longer than perf itself; and
 * stackcollapse-perf.pl (github.com/brendangregg/FlameGraph), which most people use, if it is
 * installed.
 *
 * Also compared: the share of every function of hot_spots, once from the same samples, once from a
 * run under each profiler.
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "profile/stacks.h"
#include "profile/recording.h"
#include "profile/spaces.h"

#define TURNS 3u

/* perf's own file format: tools/perf/Documentation/perf.data-file-format.txt */
struct section {
	uint64_t offset, size;
};

struct file_header {
	uint64_t magic, size, attr_size;
	struct section attrs, data;
};

/* The fields of a sample that `perf record -g -a` writes. With more than one event, as with perf's
 * dummy event, there is also an ID. */
#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |                   \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

struct sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint64_t rest[]; /* id, if any; cpu; period; the length of the chain; the chain */
};

struct recording {
	struct bb_samples samples;
	struct bb_spaces spaces;
	struct bb_symtab kernel;
	struct bb_names comms;
	struct bb_idmap comm_of; /* tid -> name */
};

static __attribute__((noreturn)) void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_profile: %s: %s\n", what, why);
	exit(1);
}

static void add_sample(struct recording *r, const struct sample *s, bool has_id)
{
	const uint64_t *chain = s->rest + 3 + has_id, n_chain = chain[-1];
	struct bb_sampled_stack stack = {.pid = s->pid, .weight = 1};
	const uint64_t *kernel = chain, *user = chain;
	uint32_t comm = bb_idmap__get(&r->comm_of, s->tid, 0);
	uint16_t *n = NULL;

	if (comm != BB_NO_ID)
		memccpy(stack.comm, bb_names__text(&r->comms, comm), '\0', sizeof(stack.comm) - 1);
	for (uint64_t i = 0; i < n_chain; i++) { /* a mark precedes kernel and user frames */
		if (chain[i] == PERF_CONTEXT_KERNEL) {
			kernel = chain + i + 1;
			n = &stack.n_kernel;
		} else if (chain[i] == PERF_CONTEXT_USER) {
			user = chain + i + 1;
			n = &stack.n_user;
		} else if (n) {
			++*n;
		}
	}
	bb_samples__add(&r->samples, &stack, kernel, user);
}

static void note_comm(struct recording *r, const struct perf_event_header *h)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[];
	} *c = (const void *)h;

	bb_idmap__put(&r->comm_of, c->tid, 0, bb_names__add(&r->comms, c->comm, strlen(c->comm)));
}

static const struct perf_event_header *header_at(const char *data, uint64_t at)
{
	return (const struct perf_event_header *)(const void *)(data + at);
}

/* Each record that is not a sample ends in TID, TIME, ID (if any), CPU. The time is copied to the
 * record's last word, where bb_task_events__log() expects it. */
static void log_event(struct recording *r, struct bb_task_events *events,
		      const struct perf_event_header *h, bool has_id)
{
	uint64_t copy[UINT16_MAX / sizeof(uint64_t) + 1], *end = copy + h->size / sizeof(*copy);

	if (h->type == PERF_RECORD_SAMPLE || h->type >= PERF_RECORD_MAX ||
	    h->size < sizeof(*h) + 4 * sizeof(*end))
		return;
	if (h->type == PERF_RECORD_COMM)
		note_comm(r, h);
	memcpy(copy, h, h->size);
	end[-1] = end[-2 - has_id];
	bb_task_events__log(events, (const struct perf_event_header *)copy);
}

/* Maps the file, as perf itself does. */
static char *map_file(const char *path, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *data;

	if (fd < 0 || fstat(fd, &st))
		die(path, strerror(errno));
	*ret_len = (size_t)st.st_size;
	data = mmap(NULL, *ret_len, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (data == MAP_FAILED)
		die(path, strerror(errno));
	close(fd);
	return data;
}

static void read_recording(const char *path, struct recording *r)
{
	struct bb_task_events events = {.spaces = &r->spaces};
	struct file_header f;
	uint64_t sample_type;
	size_t len;
	char *data = map_file(path, &len);

	memcpy(&f, data, sizeof(f));
	sample_type = ((const struct perf_event_attr *)(const void *)(data + f.attrs.offset))
			      ->sample_type;
	if (f.data.offset + f.data.size > len ||
	    (sample_type & ~(uint64_t)PERF_SAMPLE_ID) != SAMPLE_TYPE)
		die(path, "not a perf.data as expected");
	/* Events of processes come first: the file is in the order of CPUs, not of time. */
	for (uint64_t at = f.data.offset; at < f.data.offset + f.data.size;
	     at += header_at(data, at)->size)
		log_event(r, &events, header_at(data, at), sample_type & PERF_SAMPLE_ID);
	for (uint64_t at = f.data.offset; at < f.data.offset + f.data.size;
	     at += header_at(data, at)->size)
		if (header_at(data, at)->type == PERF_RECORD_SAMPLE)
			add_sample(r, (const struct sample *)(const void *)(data + at),
				   sample_type & PERF_SAMPLE_ID);
	munmap(data, len);
}

static void fold_recording(const char *path, struct bb_profile *ret_profile)
{
	struct recording r = {0};
	struct bb_fold_opts opts = {.on_cpu_weight = 1, .kernel = &r.kernel};
	struct bb_err err = {0};

	read_recording(path, &r);
	bb_spaces__replay(&r.spaces);
	bb_kernel_symbols(&r.kernel);
	if (bb_fold(&r.samples, &r.spaces, &opts, ret_profile, &err))
		die("folding", err.msg);
	bb_spaces__done(&r.spaces);
	bb_symtab__done(&r.kernel);
	bb_names__done(&r.comms);
	bb_idmap__done(&r.comm_of);
}

/* The work that is timed, in a process of its own: read, look up, fold, write. */
static int fold(const char *recording, const char *folded_path)
{
	struct bb_profile profile;
	FILE *out = fopen(folded_path, "w");

	fold_recording(recording, &profile);
	if (out)
		bb_stacks__write_folded(&profile.stacks, out);
	if (!out || fclose(out))
		die(folded_path, "cannot be written");
	return 0;
}

/* Times the drawing of a flame graph alone, from folded stacks. */
static void measure_flame(const char *dir)
{
	const struct bb_flame_opts opts = {.title = "many_stacks", .unit = "samples"};
	struct bb_profile profile;
	char path[512], measured[128];
	uint64_t began_ns;
	double seconds;
	long size;
	FILE *out;

	snprintf(path, sizeof(path), "%s/data", dir);
	fold_recording(path, &profile);
	snprintf(path, sizeof(path), "%s/flame.svg", dir);
	out = fopen(path, "w");
	began_ns = bb_now_ns();
	if (out)
		bb_flame__write(&profile.stacks, &opts, out);
	if (!out || fflush(out))
		die(path, "cannot be written");
	seconds = bb_seconds_since(began_ns);
	size = ftell(out);
	fclose(out);
	snprintf(measured, sizeof(measured), "%.2f s, %.2f MB, %zu distinct", seconds,
		 (double)size / 1e6, profile.stacks.n);
	bench_judge("profile: a flame graph of 100 000 stacks", "< 1 s, < 2 MB", measured,
		    seconds < 1 && size < 2000000);
	bb_profile__done(&profile);
}

/* The folding script: the work of stackcollapse-perf.pl, in awk. */
static const char fold_awk[] = "/^[^ \\t#]/ { comm = $0; sub(/[ \\t]+[0-9]+(\\/[0-9]+)?[ \\t].*/, "
			       "\"\", comm); stack = \"\"; next }"
			       "/^[ \\t]/ { name = $2; sub(/\\+0x[0-9a-f]+$/, \"\", name); stack = "
			       "\";\" name stack; next }"
			       "/^$/ { if (comm != \"\") count[comm stack]++; comm = \"\" }"
			       "END { for (s in count) print s, count[s] }";

/* Runs a command in a shell. */
static struct bench_child timed(const char *command)
{
	const char *const argv[] = {"sh", "-c", command, NULL};

	return bench_run(argv);
}

#define PERF_SCRIPT "perf script -i %s/data 2>/dev/null"

struct duel {
	char theirs[2048], ours[1024];
	double theirs_cpu_s, ours_cpu_s; /* CPU time of the last turn */
};

static double theirs(void *arg)
{
	struct duel *d = arg;
	struct bench_child child = timed(d->theirs);

	d->theirs_cpu_s = child.cpu_s;
	return child.wall_s;
}

static double ours(void *arg)
{
	struct duel *d = arg;
	struct bench_child child = timed(d->ours);

	d->ours_cpu_s = child.cpu_s;
	return child.wall_s;
}

/*
 * An awk script that compares the shares of functions in two folded files. It prints the number of
 * functions whose names match `pattern`, the largest difference in percentage points, and the
 * function that has it. It skips inlined functions, which not every build of perf shows, and
 * frames without a function name. It removes versions of symbols (@@GLIBC_2.17) and the marks of
 * kernel functions (_[k]) from names.
 */
static const char compare_awk[] = "{ n = $NF; total[FILENAME] += n; sub(/ [0-9]+$/, \"\"); k = "
				  "split($0, f, \";\");"
				  "  for (i = 2; i <= k; i++) {"
				  "    if (f[i] ~ /^\\[|_\\[i\\]$/ || f[i] !~ pattern) continue;"
				  "    sub(/_\\[[kj]\\]$|@.*$/, \"\", f[i]);"
				  "    if (seen[f[i]] != NR) { seen[f[i]] = NR; share[f[i], "
				  "FILENAME] += n; names[f[i]] = 1 } } }"
				  "END { most = -1; for (x in names) {"
				  "    d = 100 * (share[x, ARGV[1]] / total[ARGV[1]] - share[x, "
				  "ARGV[2]] / total[ARGV[2]]); if (d < 0) d = -d;"
				  "    if (d > most) { most = d; which = x } count++ }"
				  "  printf \"%d %.3f %s\\n\", count, most, which }";

#define OWN_FUNCTIONS "^(hot_|main$|descend$)"
#define N_OWN_FUNCTIONS 5u

static void compare_shares(const char *dir, const char *pattern, const char *what)
{
	char command[2048], measured[128], text[128] = "", which[64] = "";
	unsigned int n = 0;
	FILE *in;
	double most;

	snprintf(command, sizeof(command), "awk -v pattern='%s' '%s' %s/theirs %s/ours", pattern,
		 compare_awk, dir, dir);
	in = popen(command, "r");
	if (!in || !fgets(text, sizeof(text), in) ||
	    sscanf(text, "%u %lf %63s", &n, &most, which) != 3)
		die("comparing", "no answer");
	pclose(in);
	snprintf(measured, sizeof(measured), "%.2f points (%.18s), %u functions", most, which, n);
	bench_judge(what, "< 1 point", measured, n >= N_OWN_FUNCTIONS && most < 1);
}

static void run_or_die(const char *what, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void run_or_die(const char *what, const char *format, ...)
{
	char command[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command))
		die(what, "failed");
}

static void judge_speed(const char *what, double theirs_s, double ours_s)
{
	char measured[128];

	snprintf(measured, sizeof(measured), "%.1f x (%.2f s, %.3f s)", theirs_s / ours_s, theirs_s,
		 ours_s);
	bench_judge(what, ">= 20 x", measured, theirs_s >= 20 * ours_s);
}

/* Times both in turns; returns our time, s. */
static double measure_speed(const char *self, const char *dir, const char *build)
{
	struct bench_medians m;
	struct bench_duel d;
	struct duel duel;
	char measured[128];

	run_or_die("perf record",
		   "perf record -q -F 20000 -e cpu-clock -g --sample-cpu -o %s/data "
		   "%s/tests/tools/many_stacks 5.2 "
		   ">/dev/null 2>&1",
		   dir, build);
	snprintf(duel.theirs, sizeof(duel.theirs), PERF_SCRIPT " | awk '%s' > %s/theirs", dir,
		 fold_awk, dir);
	snprintf(duel.ours, sizeof(duel.ours), "%s %s/data %s/ours", self, dir, dir);
	d = bench_duel(theirs, ours, &duel, TURNS);
	m = bench_decide(&d);
	judge_speed("profile: 100 000 stacks, perf script | awk against ours", m.a, m.b);
	snprintf(measured, sizeof(measured), "%.1f x (%.2f s, %.3f s)",
		 duel.theirs_cpu_s / duel.ours_cpu_s, duel.theirs_cpu_s, duel.ours_cpu_s);
	bench_row("... CPU time", "", measured, "-");
	return m.b;
}

/* Measured once only, because it takes longer than all the rest. */
static void measure_perl(const char *dir, double ours_s)
{
	static const char what[] = "profile: likewise, perf script | stackcollapse-perf.pl";
	char command[1024];

	if (system("command -v stackcollapse-perf.pl >/dev/null")) {
		bench_row(what, ">= 20 x", "it is not installed", "-");
		return;
	}
	snprintf(command, sizeof(command),
		 PERF_SCRIPT " | stackcollapse-perf.pl --kernel > %s/theirs", dir, dir);
	judge_speed(what, timed(command).wall_s, ours_s);
}

static void measure_shares(const char *self, const char *dir, const char *build)
{
	const char *hot = "tests/tools/hot_spots 4 >/dev/null 2>&1";

	run_or_die("perf record",
		   "perf record -q -F 9973 -e cpu-clock -g --sample-cpu -o %s/hot %s/%s", dir,
		   build, hot);
	run_or_die("perf script",
		   "perf script --no-inline -i %s/hot 2>/dev/null | awk '%s' > %s/theirs", dir,
		   fold_awk, dir);
	run_or_die("folding", "%s %s/hot %s/ours", self, dir, dir);
	compare_shares(dir, ".",
		       "profile: share of any function, perf's against ours, same stacks");
	run_or_die("bpfbench profile", "./bpfbench profile -F 9973 -f folded -o %s/ours -- %s/%s",
		   dir, build, hot);
	compare_shares(dir, OWN_FUNCTIONS,
		       "profile: share of a function of hot_spots, a run under each");
}

int main(int argc, char **argv)
{
	/* run.sh gives us a folder, and removes it */
	const char *dir = argc > 1 ? argv[1] : "/tmp";
	const char *build = getenv("O") ? getenv("O") : "build";
	double ours_s;

	if (argc == 3)
		return fold(argv[1], argv[2]);
	if (geteuid() || system("command -v perf >/dev/null && command -v awk >/dev/null")) {
		bench_row("profile: 100 000 stacks, perf script | awk against ours", ">= 20 x",
			  "needs root, perf and awk", "-");
		return 0;
	}
	ours_s = measure_speed(argv[0], dir, build);
	measure_flame(dir);
	measure_shares(argv[0], dir, build);
	measure_perl(dir, ours_s);
	return 0;
}
