/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/output.h"

#include "base/clean.h"
#include "base/io.h"
#include "base/parse.h"
#include "base/text.h"
#include "cli/options.h"
#include "export/documents.h"
#include "html/html.h"
#include "profile/recording.h"

#define MOST_COLUMNS 10000u /* widest line that COLUMNS may ask for */

const struct bb_exporter bb_exporters[BB_N_EXPORTERS] = {
	{"bmf", "Bencher Metric Format, for `bencher run --adapter json`", .write = bb_export_bmf,
	 .is_for_service = true},
	{"table", "the answer for people", .document = bb_doc_short},
	{"details", "all figures, and what the columns mean (--details)",
	 .document = bb_doc_details},
	{"json", "everything, as it is stored", .write = bb_export_json},
	{"html", "a page to look at, self-contained", .write = bb_export_html},
	{"csv", "one row per figure, for spreadsheets and data frames", .write = bb_export_csv},
	{"markdown", "tables for a job summary or a comment", .document = bb_doc_markdown,
	 .is_markdown = true},
	{"benchfmt", "Go benchmark format, for benchstat", .write = bb_export_benchfmt},
	{"github-action", "github-action-benchmark, customSmallerIsBetter",
	 .write = bb_export_github_smaller, .is_for_service = true},
	{"github-action-bigger", "github-action-benchmark, customBiggerIsBetter",
	 .write = bb_export_github_bigger, .is_for_service = true},
	{"veristat", "static metrics as `veristat -C` reads them", .write = bb_export_veristat},
	{"openmetrics", "OpenMetrics text, for Prometheus' textfile collector",
	 .write = bb_export_openmetrics},
	{"plot", "distributions and costs as columns, for gnuplot", .write = bb_export_plot},
	{"lcov", "executed source lines (drive exact), for genhtml", .write = bb_export_lcov},
};

const struct bb_exporter *bb_exporter_find(const char *name)
{
	return BB_FIND(bb_exporters, BB_N_EXPORTERS, !strcmp(it->name, name));
}

/* The target of an output is looked up once, so that later steps use the same file. */
struct target {
	const char *path;
	/* descriptor that `path` names (/dev/fd/3), or -1 if `path` names a file */
	int own_fd;
	int dir_fd;       /* the folder of the file */
	const char *name; /* name of the file in that folder; points into `path` */
	bool in_place;    /* a pipe or a device, which is written to and not replaced */
};

/* Returns the descriptor of this process that `path` names ("-", /dev/fd/3), or -1. Opening such a
 * path again would check the rights to a terminal, and truncate a file. */
static int own_fd_of(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	uint64_t fd;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < BB_LEN(folders); i++) {
		size_t len = strlen(folders[i]);

		if (!strncmp(path, folders[i], len) && !bb_parse_u64(path + len, &fd) &&
		    fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}

/* The caller closes p->dir_fd, even after an error. */
static int find_target(const char *path, struct target *p, struct bb_err *err)
{
	const char *slash = strrchr(path, '/');
	struct stat st;

	*p = (struct target){.path = path, .own_fd = own_fd_of(path), .dir_fd = -1};
	if (p->own_fd >= 0)
		return 0;
	p->name = slash ? slash + 1 : path;
	char *dir = slash ? bb_strndup(path, (size_t)(slash - path) + 1) : bb_strdup(".");
	if (!*p->name) /* `path` is "" or ends in "/" */
		p->name = ".";
	p->dir_fd = *path ? bb_own__open(dir, O_PATH | O_DIRECTORY) : -ENOENT;
	free(dir);
	if (p->dir_fd < 0)
		return bb_fail(err, p->dir_fd, "%s: cannot be written: %s", path,
			       bb_own__strerror(-p->dir_fd));
	if (fstatat(p->dir_fd, p->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : bb_fail(err, -errno, "%s: %m", path);
	p->in_place = S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode);
	if (S_ISREG(st.st_mode) || p->in_place)
		return 0;
	if (S_ISDIR(st.st_mode))
		return bb_fail(err, -EISDIR, "%s: is a folder; --output takes a file", path);
	if (S_ISLNK(st.st_mode))
		return bb_fail(err, -ELOOP,
			       "%s: is a symbolic link, and outputs do not follow one; name the "
			       "file that it leads to",
			       path);
	return bb_fail(err, -EINVAL, "%s: is neither a file nor a pipe", path);
}

int bb_output_check(const char *path, struct bb_err *err)
{
	struct target p;
	int rc = path ? find_target(path, &p, err) : 0;
	bool ok;

	if (!path)
		return 0;
	/* AT_EACCESS checks with the rights that open() will use. */
	if (p.own_fd >= 0)
		ok = fcntl(p.own_fd, F_GETFD) >= 0;
	else if (p.in_place)
		ok = !faccessat(p.dir_fd, p.name, W_OK, AT_EACCESS);
	else
		ok = !faccessat(p.dir_fd, ".", W_OK | X_OK, AT_EACCESS);
	if (!rc && !ok)
		rc = bb_fail(err, -errno, "%s: cannot be written: %m", path);
	bb_close(&p.dir_fd);
	return rc;
}

/* O_NONBLOCK makes open() fail if a pipe has no reader, instead of waiting for one. */
static int open_in_place(const struct target *p)
{
	int fd = openat(p->dir_fd, p->name,
			O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || (!S_ISCHR(st.st_mode) && !S_ISFIFO(st.st_mode)) ||
	    fcntl(fd, F_SETFL, 0)) {
		close(fd);
		return -EAGAIN; /* another file has taken the name since find_target() */
	}
	return fd;
}

static int write_and_close(bb_output_writer writer, void *arg, FILE *out, const char *name,
			   struct bb_err *err)
{
	int rc = writer(arg, out, err);

	if (!rc)
		rc = bb_clean__check(out, name, err);
	if (out != stdout && fclose(out) && !rc)
		rc = bb_fail(err, -errno, "%s: %m", name);
	return rc;
}

static int write_target(bb_output_writer writer, void *arg, struct target *p, struct bb_err *err)
{
	bool is_new = p->own_fd < 0 && !p->in_place;
	struct bb_new_file f;
	int fd, rc;

	if (p->own_fd >= 0) {
		fflush(stdout);
		fd = fcntl(p->own_fd, F_DUPFD_CLOEXEC, 0);
		fd = fd < 0 ? -errno : fd;
	} else if (p->in_place) {
		fd = open_in_place(p);
	} else {
		/* mode 0666 less the umask, as with a shell's ">" */
		rc = bb_new_file__open(p->dir_fd, p->name, 0666, &f);
		fd = rc ? rc : f.fd;
		f.fd = -1;
	}
	if (fd < 0)
		return bb_fail(err, fd, "%s: %s", p->path,
			       fd == -ENXIO ? "nobody reads this pipe" : strerror(-fd));
	FILE *out = bb_clean__open(fd, _IOFBF);
	rc = write_and_close(writer, arg, out, p->path, err);
	if (is_new) {
		int written = rc;

		rc = bb_new_file__finish(&f, rc, true, false);
		if (rc && !written)
			bb_fail(err, rc, "%s: %m", p->path);
	}
	return rc;
}

int bb_output_of(bb_output_writer writer, void *arg, const char *path, struct bb_err *err)
{
	struct target p;

	if (!path)
		return write_and_close(writer, arg, stdout, "stdout", err);
	int rc = find_target(path, &p, err);
	if (!rc)
		rc = write_target(writer, arg, &p, err);
	bb_close(&p.dir_fd);
	return rc;
}

int bb_write_stacks(void *stacks_output, FILE *out, struct bb_err *)
{
	const struct bb_stacks_output *o = stacks_output;

	if (o->opts)
		bb_flame__write(o->stacks, o->opts, out);
	else
		bb_stacks__write_folded(o->stacks, out);
	return 0;
}

int bb_output_stacks(const struct bb_stacks *stacks, const struct bb_flame_opts *opts,
		     const char *path, struct bb_err *err)
{
	struct bb_stacks_output o = {stacks, bb_ends_in(path, ".folded") ? NULL : opts};

	return bb_output_of(bb_write_stacks, &o, path, err);
}

struct bb_doc_look bb_output_look(FILE *stream)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
	const char *columns = getenv("COLUMNS");
	struct bb_doc_look look = bb_doc_plain_look;
	int fd = stream == stdout ? STDOUT_FILENO : STDERR_FILENO;
	struct winsize size;
	uint64_t n;

	if (!isatty(fd)) {
		if (columns && !bb_parse_u64(columns, &n) && n && n <= MOST_COLUMNS)
			look.width = n;
		return look;
	}
	look.terse = true;
	look.colour = (!no_colour || !*no_colour) && term && strcmp(term, "dumb");
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		look.width = size.ws_col;
	return look;
}

int bb_output_document(struct bb_doc *d, FILE *stream, struct bb_err *err)
{
	struct bb_doc_look look = bb_output_look(stream);

	bb_doc__text(d, &look, stream);
	bb_doc__done(d);
	return stream == stdout ? bb_clean__check(stdout, "stdout", err) : 0;
}

void bb_output_render(struct bb_doc *d, bool is_markdown, const char *path, FILE *out)
{
	struct bb_doc_look look = path ? bb_doc_plain_look : bb_output_look(stdout);

	if (is_markdown)
		bb_doc__markdown(d, out);
	else
		bb_doc__text(d, &look, out);
	bb_doc__done(d);
}

struct formatted {
	const struct bb_report *report;
	const struct bb_exporter *format;
	struct bb_doc_look look;
};

static int write_report(void *arg, FILE *out, struct bb_err *err)
{
	const struct formatted *f = arg;

	return bb_export(f->format, f->report, &f->look, out, err);
}

int bb_output(const struct bb_report *report, const struct bb_exporter *format, const char *path,
	      bool has_table, struct bb_err *err)
{
	struct formatted f = {report, format, path ? bb_doc_plain_look : bb_output_look(stdout)};
	int rc = bb_output_of(write_report, &f, path, err);
	struct bb_doc d = {0};

	if (!rc && format->is_for_service && !has_table) {
		bb_doc_in_vain(report, NULL, &d);
		rc = bb_output_document(&d, stderr, err);
	}
	return rc || !format->is_for_service ? rc : bb_export_say_left_out(report, err);
}

void bb_say_lost(const struct bb_recording *r, const struct bb_profile *p, bool want_kernel)
{
	const struct bb_sampler_stats *s = &r->stats;

	if (s->is_cpu_clock)
		bb_tell("there are no hardware cycles to count here; cpu-clock sets the rate");
	if (s->lost_stacks)
		bb_tell("%llu stacks collided with others and are lost; their time is shown as "
			"[stack lost]",
			(unsigned long long)s->lost_stacks);
	if (s->drops)
		bb_tell("%llu samples are missing: the maps are full; sample less, or fewer "
			"processes",
			(unsigned long long)s->drops);
	if (r->lost_task_events)
		bb_tell("%llu records of new mappings came too fast and are lost; some code is "
			"[unknown]",
			(unsigned long long)r->lost_task_events);
	if (r->spaces.n_replaced)
		bb_tell("%zu files were mapped where others had been unloaded, whose samples are "
			"shown as theirs",
			r->spaces.n_replaced);
	if (p->symbols.n_damaged)
		bb_tell("%u damaged files, of which not all symbols could be read: %s",
			p->symbols.n_damaged, p->symbols.damaged);
	if (p->unknown_kernel && want_kernel && !r->kernel.n)
		bb_tell("/proc/kallsyms shows no addresses, so that kernel functions have no names "
			"(kernel.kptr_restrict)");
}
