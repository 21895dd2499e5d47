/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/gate_build.h"

#include <sys/random.h>
#include <sys/sendfile.h>

#include "base/caller.h"
#include "base/child.h"
#include "base/process.h"
#include "base/deadline.h"

#define MAX_WORDS 20
#define COPY_BYTES (1u << 20)

/* Keeps git from running commands that the repository names, such as hooks. */
#define SAFELY "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"
#define FIRST_WORD 5 /* index in argv of the first word after "git" and SAFELY */

/* Runs a command in `dir` as the user repo->uid. If it fails, returns `code` with a message: `what`
 * and the log's first line. */
static int run_well(const struct bb_repo *repo, const char *dir, const char *const *argv, int code,
		    const char *what, struct bb_err *err)
{
	const struct bb_process p = {.argv = argv, .dir = dir, .uid = repo->uid, .gid = repo->gid};
	struct bb_process_end end;
	int rc = bb_process__run(&p, &end, err);

	if (rc)
		return rc;
	if (end.status)
		rc = bb_fail(err, code, "%s: %.*s", what, (int)strcspn(end.log, "\n"), end.log);
	bb_process_end__done(&end);
	return rc;
}

/* Runs git in `dir`. Its arguments follow `err` and end in NULL. *ret_out is the first line of its
 * stdout, which the caller frees. ret_out may be NULL. Returns -EBADE if git fails. */
static int git(const struct bb_repo *repo, const char *dir, char **ret_out, struct bb_err *err, ...)
	__attribute__((sentinel));
static int git(const struct bb_repo *repo, const char *dir, char **ret_out, struct bb_err *err, ...)
{
	const char *argv[MAX_WORDS + 2] = {"git", SAFELY};
	const struct bb_process p = {.argv = argv, .dir = dir, .uid = repo->uid, .gid = repo->gid};
	struct bb_process_end end;
	va_list ap;

	va_start(ap, err);
	for (size_t i = FIRST_WORD; i <= MAX_WORDS && (argv[i] = va_arg(ap, const char *)); i++)
		;
	va_end(ap);
	int rc = bb_process__run(&p, &end, err);
	if (rc)
		return rc;
	if (end.status)
		rc = bb_fail(err, -EBADE, "git %s ended with %d: %.*s", argv[FIRST_WORD],
			     end.status, (int)strcspn(end.log, "\n"), end.log);
	if (!rc && ret_out) {
		end.out[strcspn(end.out, "\n")] = '\0';
		*ret_out = end.out;
		end.out = NULL;
	}
	bb_process_end__done(&end);
	return rc;
}

/* Copies the commit from git's answer, and frees the answer. If git failed (`rc` is -EBADE),
 * returns -ENOENT with the message `what`, and a hint if the clone is shallow. */
static int take_commit(const struct bb_repo *repo, int rc, char *answer, const char *what,
		       char ret_commit[BB_GIT_COMMIT_SIZE], struct bb_err *err)
{
	char *out = NULL;
	bool shallow;

	if (!rc && !bb_git_is_commit(answer))
		rc = bb_fail(err, -EIO, "git answers '%s' where a commit was expected", answer);
	else if (!rc)
		memcpy(ret_commit, answer, strlen(answer) + 1);
	free(answer);
	if (rc != -EBADE)
		return rc;
	shallow = !git(repo, repo->top, &out, NULL, "rev-parse", "--is-shallow-repository", NULL) &&
		  !strcmp(out, "true");
	free(out);
	return bb_fail(err, -ENOENT, "%s%s", what,
		       shallow ? "; this clone is shallow: git fetch --unshallow, or "
				 "fetch-depth: 0 in GitHub Actions, GIT_DEPTH: 0 in GitLab CI"
			       : "");
}

int bb_repo__resolve(const struct bb_repo *repo, const char *rev,
		     char ret_commit[BB_GIT_COMMIT_SIZE], struct bb_err *err)
{
	char *peeled = NULL, *out = NULL, what[300];

	if (rev[0] == '-')
		return bb_fail(err, -ENOENT, "'%s' is no revision", rev);
	peeled = bb_asprintf("%s^{commit}", rev);
	int rc = git(repo, repo->top, &out, err, "rev-parse", "--verify", "--quiet", peeled, NULL);
	free(peeled);
	snprintf(what, sizeof(what),
		 "git knows no revision '%s' here: is it misspelt, or to be fetched first?", rev);
	return take_commit(repo, rc, out, what, ret_commit, err);
}

int bb_repo__merge_base(const struct bb_repo *repo, const char *a, const char *b,
			char ret_commit[BB_GIT_COMMIT_SIZE], struct bb_err *err)
{
	char *out = NULL, what[300];
	int rc = git(repo, repo->top, &out, err, "merge-base", "--", a, b, NULL);

	snprintf(what, sizeof(what), "git knows no commit that %.12s and %.12s have in common", a,
		 b);
	return take_commit(repo, rc, out, what, ret_commit, err);
}

int bb_repo__is_dirty(const struct bb_repo *repo, bool *ret_dirty, struct bb_err *err)
{
	char *out = NULL;
	int rc = git(repo, repo->top, &out, err, "status", "--porcelain", "-z",
		     "--untracked-files=normal", "--ignore-submodules", NULL);

	if (!rc)
		*ret_dirty = out[0] != '\0';
	free(out);
	return rc;
}

/* Removes the folder `kept`, which has no subfolders, with root's rights if possible. */
static void remove_kept(const struct bb_repo *repo)
{
	const struct dirent *e;

	bb_root__begin();
	DIR *dir = opendir(repo->kept);
	while (dir && (e = readdir(dir)))
		if (e->d_type != DT_DIR)
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(repo->kept);
	bb_root__end();
}

/* Runs in the keeper process. Removes the folders when all other processes have closed the pipe. */
static int clean_up(void *arg, int alive)
{
	static const char script[] = "rm -rf -- \"$1\" || { chmod -R u+rwX -- \"$1\"; sleep 1; "
				     "rm -rf -- \"$1\"; }";
	const struct bb_repo *repo = arg;
	const char *argv[] = {"sh", "-c", script, "sh", repo->scratch, NULL};

	bb_child__sleep(alive);
	bb_stop_signal = 0;
	remove_kept(repo);
	bb_repo__remove_tree(repo, NULL);
	return run_well(repo, "/", argv, -EBADE, "rm", NULL) != 0;
}

/* Makes `kept` where only root can replace it. Starts the keeper, which removes both folders when
 * bpfbench ends. Makes `scratch` as the user, so that the user may remove it. */
static int make_folders(struct bb_repo *repo, struct bb_err *err)
{
	static const struct bb_child_rules rules = {.link = BB_LINK_TO_CHILD,
						    .signals = BB_SIGNALS_IGNORED,
						    .own_session = true,
						    .outlives = true};
	static const char *const places[] = {"/run", "/tmp"};
	const char *mkdir[] = {"mkdir", "-m", "700", "--", repo->scratch, NULL};
	const char *tmp = getenv("TMPDIR");
	struct bb_child c;
	uint64_t tag;
	int rc = -ENOENT;

	/* chooses the names before the folders are made, so that the keeper always knows them */
	if (getrandom(&tag, sizeof(tag), 0) != sizeof(tag))
		return bb_fail(err, -EIO, "getrandom: %s", strerror(errno));
	if (snprintf(repo->scratch, sizeof(repo->scratch), "%s/bpfbench-gate.%016" PRIx64,
		     tmp && tmp[0] == '/' ? tmp : "/tmp", tag) >= (int)sizeof(repo->scratch) ||
	    snprintf(repo->tree, sizeof(repo->tree), "%s/tree", repo->scratch) >=
		    (int)sizeof(repo->tree))
		return bb_fail(err, -ENAMETOOLONG, "%s: the path is too long", repo->scratch);
	bb_root__begin();
	for (size_t i = 0; rc && i < BB_LEN(places); i++) {
		snprintf(repo->kept, sizeof(repo->kept), "%s/bpfbench-gate.XXXXXX", places[i]);
		rc = mkdtemp(repo->kept) && !chmod(repo->kept, 0750) ? 0 : -errno;
	}
	bb_root__end();
	if (rc)
		return bb_fail(err, rc, "%s: %m", repo->kept);
	rc = bb_child__start(&rules, clean_up, repo, &c);
	repo->keeper = c.pid;
	repo->keeper_fd = c.fd;
	if (rc) {
		remove_kept(repo);
		return bb_fail(err, rc, "no process could be started: %m");
	}
	return run_well(repo, "/", mkdir, -EACCES, "cannot make a scratch folder", err);
}

int bb_repo__open(const char *dir, struct bb_repo *ret_repo, struct bb_err *err)
{
	struct bb_repo *repo = ret_repo;
	char *out = NULL;
	struct stat st;

	*repo = (struct bb_repo){.keeper_fd = -1};
	if (stat(dir, &st))
		return bb_fail(err, -errno, "%s: %m", dir);
	bb_caller(&repo->uid, &repo->gid);
	/* for root, git runs as the folder's owner, so that it leaves no files of root */
	if (repo->uid == 0) {
		repo->uid = st.st_uid;
		repo->gid = st.st_gid;
	}
	int rc = git(repo, dir, &out, err, "rev-parse", "--show-toplevel", NULL);
	if (rc == -EBADE) {
		struct bb_err said = *err;

		rc = bb_fail(err, -ENOENT, "gate compares revisions of a git repository: %s",
			     said.msg);
	}
	if (!rc && snprintf(repo->top, sizeof(repo->top), "%s", out) >= (int)sizeof(repo->top))
		rc = bb_fail(err, -ENAMETOOLONG, "%s: the path is too long", out);
	free(out);
	return rc ? rc : make_folders(repo, err);
}

int bb_repo__close(struct bb_repo *repo, struct bb_err *err)
{
	int rc = 0;

	if (repo->keeper <= 0)
		return 0;
	close(repo->keeper_fd);
	bb_wait_for(repo->keeper);
	repo->keeper = 0;
	if (!access(repo->kept, F_OK))
		rc = bb_fail(err, -ENOTEMPTY, "%s could not be removed; do it by hand", repo->kept);
	if (!access(repo->scratch, F_OK))
		rc = bb_fail(err, -ENOTEMPTY,
			     "%s could not be removed; do it by hand, and then `git worktree "
			     "prune`",
			     repo->scratch);
	return rc;
}

int bb_repo__check_out(const struct bb_repo *repo, const char *commit, bool with_changes,
		       struct bb_err *err)
{
	static const char copy[] = "t=$1; shift; git \"$@\" ls-files -z --others "
				   "--exclude-standard | xargs -0 -r cp -a --parents -t \"$t\" --";
	const char *copy_argv[] = {"sh", "-c", copy, "sh", repo->tree, SAFELY, NULL};
	char patch[PATH_MAX + 16], option[PATH_MAX + 32], what[PATH_MAX + 64];
	struct stat st;
	int rc = git(repo, repo->top, NULL, err, "worktree", "add", "--detach", "--", repo->tree,
		     commit, NULL);

	if (rc || !with_changes)
		return rc;
	/* copies changes of tracked files by a patch, and untracked files whole */
	snprintf(patch, sizeof(patch), "%s/changes", repo->scratch);
	snprintf(option, sizeof(option), "--output=%s", patch);
	/* Refreshes the index, because otherwise the patch would name files with a new time but the
	 * same contents. Ignores the exit code, which only tells that some files differ. */
	git(repo, repo->top, NULL, NULL, "update-index", "-q", "--refresh", NULL);
	rc = git(repo, repo->top, NULL, err, "diff-index", "-p", "--binary", "--no-ext-diff",
		 "--no-textconv", "--ignore-submodules", option, "HEAD", "--", NULL);
	if (!rc && !stat(patch, &st) && st.st_size)
		rc = git(repo, repo->tree, NULL, err, "apply", "--whitespace=nowarn", "--", patch,
			 NULL);
	if (rc)
		return rc;
	snprintf(what, sizeof(what), "files that git does not track could not be copied to %s",
		 repo->tree);
	return run_well(repo, repo->top, copy_argv, -EBADE, what, err);
}

int bb_repo__remove_tree(const struct bb_repo *repo, struct bb_err *err)
{
	return git(repo, repo->top, NULL, err, "worktree", "remove", "-f", "-f", "--", repo->tree,
		   NULL);
}

/* Opens a file with the user's rights. Returns the descriptor, or -errno. -ENOENT has no
 * message. */
static int open_built(const struct bb_repo *repo, const char *path, struct stat *ret_st,
		      struct bb_err *err)
{
	int fd = bb_open_as(repo->uid, repo->gid, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);

	if (fd == -ENOENT)
		return fd;
	if (fd == -ELOOP)
		return bb_fail(err, fd,
			       "%s is a symbolic link, which is not followed: name the file itself "
			       "by --object",
			       path);
	if (fd < 0)
		return bb_fail(err, fd, "%s, as the user %u who built it: %m", path,
			       (unsigned int)repo->uid);
	if (!fstat(fd, ret_st) && S_ISREG(ret_st->st_mode))
		return fd;
	close(fd);
	return bb_fail(err, -EINVAL, "%s: not a regular file", path);
}

/* Copies `from` to `to`. The size is checked while copying, because `from` may grow. Adds the
 * number of copied bytes to *ret_bytes. Returns -EFBIG if there are more than `max` bytes. */
static int copy(int from, int to, size_t max, size_t *ret_bytes)
{
	while (*ret_bytes <= max) {
		ssize_t n = sendfile(to, from, NULL, COPY_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		*ret_bytes += (size_t)n;
	}
	return -EFBIG;
}

int bb_repo__keep(const struct bb_repo *repo, const char *path, const char *name, size_t max,
		  size_t *ret_bytes, struct bb_err *err)
{
	char whole[2 * PATH_MAX], kept[PATH_MAX + 64];
	struct stat st;
	int from, to = -EFBIG, rc;

	snprintf(whole, sizeof(whole), "%s/%s", repo->tree, path);
	from = open_built(repo, whole, &st, err);
	if (from < 0)
		return from;
	*ret_bytes = 0;
	snprintf(kept, sizeof(kept), "%s/%s", repo->kept, name);
	if ((uint64_t)st.st_size <= max) {
		bb_root__begin();
		to = open(kept, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0440);
		to = to < 0 ? -errno : to;
		bb_root__end();
	}
	rc = to < 0 ? to : copy(from, to, max, ret_bytes);
	if (to >= 0 && close(to) && !rc)
		rc = -errno;
	close(from);
	return rc ? bb_fail(err, rc, "%s cannot be copied to %s: %m", whole, kept) : 0;
}
