/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/repo.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"

#define MAX_WORDS 16
#define LOG_LINES 30u
#define LOG_BYTES 3000u

/* --- git --- */

/* A command in `dir` as the repository's user. Its end, whatever its exit code; then done() it. */
static int run(const struct bb_repo *repo, const char *dir, const char *const *argv,
	       struct bb_process_end *ret_end, struct bb_err *err)
{
	struct bb_process p = {.argv = argv, .dir = dir, .uid = repo->uid, .gid = repo->gid};

	return bb_process__run(&p, ret_end, err);
}

/* What git says of a failure is in its first line. */
static int say_failed(const char *what, const struct bb_process_end *end, struct bb_err *err)
{
	return bb_fail(err, -EBADE, "git %s ended with %d: %.*s", what, end->status,
		       (int)strcspn(end->log, "\n"), end->log);
}

/* git with the words up to NULL, which must succeed; *ret_out (NULL: not wanted) is the first line
 * of its stdout. */
static int git(const struct bb_repo *repo, const char *dir, char **ret_out, struct bb_err *err, ...)
	__attribute__((sentinel));
static int git(const struct bb_repo *repo, const char *dir, char **ret_out, struct bb_err *err, ...)
{
	const char *argv[MAX_WORDS + 2] = {"git"};
	struct bb_process_end end;
	va_list ap;
	int rc;

	va_start(ap, err);
	for (size_t i = 1; i <= MAX_WORDS && (argv[i] = va_arg(ap, const char *)); i++)
		;
	va_end(ap);
	rc = run(repo, dir, argv, &end, err);
	if (rc)
		return rc;
	if (end.status)
		rc = say_failed(argv[1], &end, err);
	if (!rc && ret_out) {
		end.out[strcspn(end.out, "\n")] = '\0';
		*ret_out = end.out;
		end.out = NULL;
	}
	bb_process_end__done(&end);
	return rc;
}

static bool is_shallow(const struct bb_repo *repo)
{
	char *out = NULL;
	bool shallow = !git(repo, repo->top, &out, NULL, "rev-parse", "--is-shallow-repository",
			    NULL) &&
		       !strcmp(out, "true");

	free(out);
	return shallow;
}

/* git ran and said no, or could not be run at all. */
static int explain(const struct bb_repo *repo, int rc, struct bb_err *err, const char *what)
{
	if (rc != -EBADE)
		return rc;
	return bb_fail(err, -ENOENT, "%s%s", what,
		       is_shallow(repo) ? "; this clone is shallow: git fetch --unshallow, or "
					  "fetch-depth: 0 in GitHub Actions, GIT_DEPTH: 0 in "
					  "GitLab CI"
					: "");
}

static int take_commit(char *text, char ret_commit[BB_GIT_COMMIT_SIZE], struct bb_err *err)
{
	int rc = 0;

	if (!bb_git_is_commit(text))
		rc = bb_fail(err, -EBADE, "git answers '%s' where a commit was expected", text);
	else
		memcpy(ret_commit, text, strlen(text) + 1);
	free(text);
	return rc;
}

int bb_repo__resolve(const struct bb_repo *repo, const char *rev,
		     char ret_commit[BB_GIT_COMMIT_SIZE], struct bb_err *err)
{
	char *peeled = NULL, *out = NULL, what[300];
	int rc;

	if (rev[0] == '-')
		return bb_fail(err, -ENOENT, "'%s' is no revision", rev);
	if (asprintf(&peeled, "%s^{commit}", rev) < 0)
		return bb_fail_nomem(err);
	rc = git(repo, repo->top, &out, err, "rev-parse", "--verify", "--quiet", peeled, NULL);
	free(peeled);
	snprintf(what, sizeof(what),
		 "git knows no revision '%s' here: is it misspelt, or to be fetched first?", rev);
	return rc ? explain(repo, rc, err, what) : take_commit(out, ret_commit, err);
}

int bb_repo__merge_base(const struct bb_repo *repo, const char *a, const char *b,
			char ret_commit[BB_GIT_COMMIT_SIZE], struct bb_err *err)
{
	char *out = NULL, what[300];
	int rc = git(repo, repo->top, &out, err, "merge-base", a, b, NULL);

	snprintf(what, sizeof(what), "git knows no commit that %.12s and %.12s have in common", a,
		 b);
	return rc ? explain(repo, rc, err, what) : take_commit(out, ret_commit, err);
}

int bb_repo__is_dirty(const struct bb_repo *repo, bool *ret_dirty, struct bb_err *err)
{
	char *out = NULL;
	int rc = git(repo, repo->top, &out, err, "status", "--porcelain", "--ignore-submodules",
		     NULL);

	if (!rc)
		*ret_dirty = out[0] != '\0';
	free(out);
	return rc;
}

/* --- the scratch folder --- */

/* In the keeper, once everyone else has closed the pipe: never returns. */
static void clean_up(const struct bb_repo *repo)
{
	static const char script[] = "git -C \"$1\" worktree remove -f -f \"$2/tree\"; rm -rf -- "
				     "\"$2\" || { chmod -R u+rwX -- \"$2\"; sleep 1; rm -rf -- "
				     "\"$2\"; }";
	const char *argv[] = {"sh", "-c", script, "sh", repo->top, repo->scratch, NULL};
	struct bb_process_end end;

	_exit(run(repo, "/", argv, &end, NULL) ? 1 : 0);
}

static int start_keeper(struct bb_repo *repo)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	int ends[2], rc;
	char byte;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	repo->keeper = fork();
	if (repo->keeper == 0) {
		setsid();
		for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
			signal(signals[i], SIG_IGN);
		close(ends[1]);
		while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
			;
		clean_up(repo);
	}
	rc = repo->keeper < 0 ? -errno : 0;
	close(ends[0]);
	if (rc)
		close(ends[1]);
	else
		repo->keeper_fd = ends[1];
	return rc;
}

static int make_scratch(struct bb_repo *repo, struct bb_err *err)
{
	const char *tmp = getenv("TMPDIR");
	int rc = 0;

	snprintf(repo->scratch, sizeof(repo->scratch), "%s/bpfbench-gate.XXXXXX",
		 tmp && tmp[0] == '/' ? tmp : "/tmp");
	if (!mkdtemp(repo->scratch))
		return bb_fail(err, -errno, "%s: %s", repo->scratch, strerror(errno));
	if (snprintf(repo->tree, sizeof(repo->tree), "%s/tree", repo->scratch) >=
	    (int)sizeof(repo->tree))
		rc = bb_fail(err, -ENAMETOOLONG, "%s: the path is too long", repo->scratch);
	else if (geteuid() == 0 && chown(repo->scratch, repo->uid, repo->gid))
		rc = bb_fail(err, -errno, "%s: %s", repo->scratch, strerror(errno));
	if (!rc) {
		rc = start_keeper(repo);
		if (rc)
			bb_fail(err, rc, "no process could be started: %s", strerror(-rc));
	}
	if (rc)
		rmdir(repo->scratch);
	return rc;
}

int bb_repo__open(const char *dir, struct bb_repo *ret_repo, struct bb_err *err)
{
	struct bb_repo *repo = ret_repo;
	struct stat st;
	char *out = NULL;
	int rc;

	if (stat(dir, &st))
		return bb_fail(err, -errno, "%s: %s", dir, strerror(errno));
	*repo = (struct bb_repo){.uid = st.st_uid, .gid = st.st_gid, .keeper_fd = -1};
	rc = git(repo, dir, &out, err, "rev-parse", "--show-toplevel", NULL);
	if (rc == -EBADE) {
		struct bb_err said = *err;

		rc = bb_fail(err, -ENOENT, "what is compared are revisions of a git repository: %s",
			     said.msg);
	}
	if (!rc && snprintf(repo->top, sizeof(repo->top), "%s", out) >= (int)sizeof(repo->top))
		rc = bb_fail(err, -ENAMETOOLONG, "%s: the path is too long", out);
	free(out);
	return rc ? rc : make_scratch(repo, err);
}

int bb_repo__close(struct bb_repo *repo, struct bb_err *err)
{
	int rc = 0;

	if (repo->keeper <= 0)
		return 0;
	close(repo->keeper_fd);
	while (waitpid(repo->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	repo->keeper = 0;
	if (!access(repo->scratch, F_OK))
		rc = bb_fail(err, -ENOTEMPTY,
			     "%s could not be removed; do it by hand, and then `git worktree "
			     "prune`",
			     repo->scratch);
	return rc;
}

/* --- revisions --- */

/* What is not committed: the difference of tracked files as a patch, and a copy of the others. */
static int copy_changes(const struct bb_repo *repo, struct bb_err *err)
{
	static const char copy[] = "git ls-files -z --others --exclude-standard | xargs -0 -r cp "
				   "-a --parents -t \"$1\"";
	const char *copy_argv[] = {"sh", "-c", copy, "sh", repo->tree, NULL};
	char patch[PATH_MAX + 16], option[PATH_MAX + 32];
	struct bb_process_end end;
	struct stat st;
	int rc;

	snprintf(patch, sizeof(patch), "%s/changes", repo->scratch);
	snprintf(option, sizeof(option), "--output=%s", patch);
	/* Files that were only touched would be in the difference, without a line. Its exit code
	 * says that some differ. */
	git(repo, repo->top, NULL, NULL, "update-index", "-q", "--refresh", NULL);
	rc = git(repo, repo->top, NULL, err, "diff-index", "-p", "--binary", "--no-ext-diff",
		 "--ignore-submodules", option, "HEAD", NULL);
	if (!rc && !stat(patch, &st) && st.st_size)
		rc = git(repo, repo->tree, NULL, err, "apply", "--whitespace=nowarn", patch, NULL);
	if (rc)
		return rc;
	rc = run(repo, repo->top, copy_argv, &end, err);
	if (rc)
		return rc;
	if (end.status)
		rc = bb_fail(err, -EBADE,
			     "files that git does not track could not be copied to %s: %.*s",
			     repo->tree, (int)strcspn(end.log, "\n"), end.log);
	bb_process_end__done(&end);
	return rc;
}

int bb_repo__check_out(const struct bb_repo *repo, const char *commit, bool with_changes,
		       struct bb_err *err)
{
	int rc = git(repo, repo->top, NULL, err, "worktree", "add", "--detach", repo->tree, commit,
		     NULL);

	return rc || !with_changes ? rc : copy_changes(repo, err);
}

int bb_repo__remove_tree(const struct bb_repo *repo, struct bb_err *err)
{
	return git(repo, repo->top, NULL, err, "worktree", "remove", "-f", "-f", repo->tree, NULL);
}

/* The last lines of a log, as far as they have room in a message. */
static const char *log_end(const char *log)
{
	size_t len = strlen(log), at = len, lines = 0;

	while (at && len - at < LOG_BYTES &&
	       (log[at - 1] != '\n' || at == len || ++lines < LOG_LINES))
		at--;
	return log + at;
}

static bool has_makefile(const char *tree)
{
	static const char *const names[] = {"GNUmakefile", "makefile", "Makefile"};
	char path[PATH_MAX + 16];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", tree, names[i]);
		if (!access(path, F_OK))
			return true;
	}
	return false;
}

int bb_repo__build(const struct bb_repo *repo, const char *command, const char *what,
		   struct bb_err *err)
{
	const char *argv[] = {"sh", "-c", command ? command : "make", NULL};
	struct bb_process p = {.argv = argv,
			       .dir = repo->tree,
			       .together = true,
			       .uid = repo->uid,
			       .gid = repo->gid};
	struct bb_process_end end;
	int rc;

	if (!command && !has_makefile(repo->tree))
		return bb_fail(err, -EBADE,
			       "%s has no Makefile at its top; what makes its objects? --build "
			       "COMMAND",
			       what);
	rc = bb_process__run(&p, &end, err);
	if (rc)
		return rc;
	if (end.status)
		rc = bb_fail(err, -EBADE,
			     "%s does not build: `%s` ended with %d; the end of what it said:\n%s",
			     what, argv[2], end.status, log_end(end.out));
	bb_process_end__done(&end);
	return rc;
}
