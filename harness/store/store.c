/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/store.h"

#include "base/io.h"
#include "base/parse.h"
#include "base/text.h"
#include "store/run_json.h"

#define SUFFIX ".json"
#define SCHEMA "schema" /* schema.json is in the folder of the runs, but is not a run */
/* largest file that is read; a run of ten million samples takes a few MiB */
#define FILE_MAX_BYTES (256L << 20)

/* `dir_fd` is an open folder, which is closed, or the -errno of opening it. */
static int write_and_close(int dir_fd, const char *name, const void *data, size_t len,
			   bool replaces, bool synced)
{
	struct bb_new_file f;
	int rc = dir_fd < 0 ? dir_fd : bb_new_file__open(dir_fd, name, 0644, &f);

	if (!rc)
		rc = bb_new_file__finish(&f, bb_write_all(f.fd, data, len), replaces, synced);
	bb_close(&dir_fd);
	return rc;
}

int bb_store__replace(const char *dir, const char *name, const void *data, size_t len, bool synced)
{
	int dir_fd = bb_own__open(dir, O_RDONLY | O_DIRECTORY), rc;
	sigset_t all, before;

	/* Ctrl-C waits until the temporary file is renamed or removed. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	rc = write_and_close(dir_fd, name, data, len, true, synced);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int bb_store__write_text(const char *dir, const char *name, const char *text, size_t len,
			 bool replaces, char **ret_path, struct bb_err *err)
{
	const char *remedy = "choose another folder with --results DIR, or store nothing with "
			     "--no-store";
	char *path = bb_asprintf("%s/%s", dir, name);
	int dir_fd = bb_own__make_dirs(dir);
	int rc = write_and_close(dir_fd, name, text, len, replaces, true);

	switch (-rc) {
	case ENOSPC:
	case EDQUOT: remedy = "make room there, or choose another folder with --results DIR"; break;
	case EACCES:
	case EPERM:
	case EROFS:
		remedy = "choose a folder that you may write to with --results DIR, or store "
			 "nothing with --no-store";
		break;
	case ENOTDIR:
		remedy = "part of that path is a file: choose another folder with --results DIR";
		break;
	case ELOOP: remedy = "remove the link, or choose another folder with --results DIR"; break;
	case EEXIST:
		remedy = "stored runs are never overwritten: move that file away, or run again";
		break;
	}
	if (rc)
		bb_fail(err, rc, "%s: %s; nothing was stored (%s)", dir_fd < 0 ? dir : path,
			bb_own__strerror(-rc), remedy);
	if (rc || !ret_path)
		free(path);
	else
		*ret_path = path;
	return rc;
}

int bb_store__write(const char *dir, const struct bb_report *r, char **ret_path, struct bb_err *err)
{
	char *text, *name = bb_asprintf("%s" SUFFIX, r->id);
	size_t len;

	assert(r->id && *r->id && *r->id != '.' && !strchr(r->id, '/'));
	bb_run_json__compose(r, &text, &len);
	int rc = bb_store__write_text(dir, name, text, len, r->is_rewritten, ret_path, err);
	free(name);
	free(text);
	return rc;
}

static char *run_path(const char *dir, const char *id)
{
	return bb_asprintf("%s/%s" SUFFIX, dir, id);
}

int bb_store__list(const char *dir, char ***ret_ids, size_t *ret_n, struct bb_err *err)
{
	int fd = bb_own__open(dir, O_RDONLY | O_DIRECTORY);
	int rc = bb_list_and_close(fd, SUFFIX, ret_ids, ret_n);

	if (rc == -ENOENT) {
		*ret_ids = NULL;
		*ret_n = 0;
		return 0;
	}
	if (rc && fd < 0)
		return bb_fail(err, rc,
			       "%s: %s: the folder of stored runs cannot be read (--results DIR "
			       "chooses another)",
			       dir, bb_own__strerror(-rc));
	if (rc)
		return bb_fail(err, rc, "%s: cannot be listed: %m", dir);
	BB_REMOVE(*ret_ids, *ret_n, !strcmp(*it, SCHEMA), free(*it));
	return 0;
}

static int read_path(const char *path, struct bb_report **ret_report, struct bb_err *err)
{
	char *text;
	size_t len;
	int rc = bb_read_own_file(path, FILE_MAX_BYTES, &text, &len, err);

	if (rc)
		return rc;
	FILE *in = fmemopen(text, len, "r");
	if (!in)
		bb_out_of_memory();
	rc = bb_run_json__read(in, path, ret_report, err);
	fclose(in);
	free(text);
	return rc;
}

/* Ids that bpfbench makes begin like this, with '#' for a digit. The user may give a file another
 * name, which is then the id. */
static const char form[] = "########T######Z-";

static bool has_time(const char *id)
{
	for (size_t i = 0; form[i]; i++)
		if (form[i] == '#' ? !isdigit((unsigned char)id[i]) : id[i] != form[i])
			return false;
	return true;
}

/* Picks the run that began last. Of runs that began in the same second, the nanoseconds at the end
 * of the id decide. */
static int pick_latest(char **ids, size_t n, const char *dir, const char **ret_id,
		       struct bb_err *err)
{
	while (n && !has_time(ids[n - 1]))
		n--;
	if (!n)
		return bb_fail(err, -ENOENT,
			       "%s: no runs are stored there yet; measure one (sudo bpfbench "
			       "--object prog.bpf.o), or name another folder (--results DIR)",
			       dir);
	*ret_id = ids[--n];
	while (n-- && !strncmp(ids[n], *ret_id, strlen(form)))
		if (strcmp(strrchr(ids[n], '-'), strrchr(*ret_id, '-')) > 0)
			*ret_id = ids[n];
	return 0;
}

static int pick_prefix(char **ids, size_t n, const char *which, const char *dir,
		       const char **ret_id, struct bb_err *err)
{
	size_t hits = 0, first = 0;

	for (size_t i = 0; i < n; i++)
		if (!strncmp(ids[i], which, strlen(which)) && !hits++)
			first = i;
	if (hits == 1) {
		*ret_id = ids[first];
		return 0;
	}
	if (hits)
		return bb_fail(err, -ENOTUNIQ,
			       "'%s' fits %zu runs in %s, among them %s and %s: give more of the "
			       "id",
			       which, hits, dir, ids[first], ids[first + 1]);
	return bb_fail(err, -ENOENT,
		       "no run '%s' among the %zu in %s%s; `bpfbench list --runs` lists them",
		       which, n, dir,
		       bb_did_you_mean(bb_nearest(which, (const char *const *)ids, n), "").text);
}

int bb_store__read(const char *which, const char *dir, struct bb_report **ret_report,
		   struct bb_err *err)
{
	const char *const places[][3] = {{dir, "/", ""}, {dir, "/", SUFFIX}, {"", "", ""}};
	const char *id = "";
	char *path = NULL, **ids;
	bool found = false;
	struct stat st;
	size_t n;
	int rc;

	if (strchr(which, '/'))
		return read_path(which, ret_report, err);
	if (!*which)
		return bb_fail(err, -EINVAL,
			       "which run? Give an id, its beginning, a path, or 'latest'");
	for (size_t i = 0; i < 3 && !found && strcmp(which, "latest"); i++) {
		free(path);
		path = bb_asprintf("%s%s%s%s", places[i][0], places[i][1], which, places[i][2]);
		found = !stat(path, &st) && S_ISREG(st.st_mode);
	}
	if (!found) {
		free(path);
		rc = bb_store__list(dir, &ids, &n, err);
		if (rc)
			return rc;
		rc = !strcmp(which, "latest") ? pick_latest(ids, n, dir, &id, err)
					      : pick_prefix(ids, n, which, dir, &id, err);
		if (!rc)
			path = run_path(dir, id);
		bb_names_free(ids, n);
		if (rc)
			return rc;
	}
	rc = read_path(path, ret_report, err);
	free(path);
	return rc;
}

#define FOLDER "baselines"
#define BASELINE_NAME_MAX 100
#define BASELINE_MAX_BYTES 1024

static bool is_baseline_name(const char *name)
{
	static const char bytes[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "._-";
	size_t len = strlen(name);

	return len && len <= BASELINE_NAME_MAX && strspn(name, bytes) == len && *name != '.' &&
	       *name != '-' && strcmp(name, "latest");
}

int bb_baseline__save(const char *dir, const char *name, const char *id, struct bb_err *err)
{
	char *path, *folder, *line;
	int rc, fd;

	if (!is_baseline_name(name))
		return bb_fail(err, -EINVAL,
			       "'%.120s' cannot be the name of a baseline: take letters, digits, "
			       "'.', '_' and '-', at most %d, beginning with a letter or digit, "
			       "and not 'latest'",
			       name, BASELINE_NAME_MAX);
	path = run_path(dir, id);
	bool is_stored = *id && !strchr(id, '/') && !access(path, F_OK);
	free(path);
	if (!is_stored)
		return bb_fail(err, -ENOENT,
			       "the run '%s' is not stored in %s: a baseline names one that is", id,
			       dir);
	folder = bb_asprintf("%s/" FOLDER, dir);
	line = bb_asprintf("%s\n", id);
	fd = bb_own__make_dirs(folder);
	rc = fd < 0 ? fd : bb_store__replace(folder, name, line, strlen(line), true);
	bb_close(&fd);
	if (rc)
		bb_fail(err, rc,
			"%s/%s: %s; the baseline was not saved (--results DIR chooses "
			"another folder)",
			folder, name, bb_own__strerror(-rc));
	free(folder);
	free(line);
	return rc;
}

/* The file of a baseline must be one line without '/', so that the id cannot lead out of the
 * folder. Returns -ENOENT without a message if the file does not exist. */
static int read_baseline(const char *dir, const char *name, char ret_id[BASELINE_MAX_BYTES],
			 struct bb_err *err)
{
	char *path = bb_asprintf("%s/" FOLDER "/%s", dir, name), *text = NULL;
	size_t len = 0, line;
	struct stat st;
	int rc;

	if (lstat(path, &st)) {
		rc = errno == ENOENT || errno == ENOTDIR ? -ENOENT
							 : bb_fail(err, -errno, "%s: %m", path);
		free(path);
		return rc;
	}
	rc = bb_read_own_file(path, BASELINE_MAX_BYTES, &text, &len, err);
	if (!rc) {
		line = strcspn(text, "\n");
		if (!line || line >= BASELINE_MAX_BYTES || line + 1 < len || strlen(text) != len ||
		    *text == '.' || memchr(text, '/', line))
			rc = bb_fail(err, -EINVAL,
				     "%s: not a baseline: expected the id of a run and nothing "
				     "else (save it again with --save-baseline)",
				     path);
		else
			snprintf(ret_id, BASELINE_MAX_BYTES, "%.*s", (int)line, text);
	}
	free(text);
	free(path);
	return rc;
}

/* Writes "a, b, c" or "none" into text[size]. Cuts off what does not fit. */
static void list_baselines(const char *dir, char *text, size_t size)
{
	char path[4096];
	const struct dirent *e;

	*text = '\0';
	snprintf(path, sizeof(path), "%s/" FOLDER, dir);
	DIR *d = opendir(path);
	while (d && (e = readdir(d)))
		if (is_baseline_name(e->d_name))
			bb_list_words(text, size, ", ", "%s", e->d_name);
	if (d)
		closedir(d);
	if (!*text)
		snprintf(text, size, "none");
}

int bb_baseline__read(const char *which, const char *dir, struct bb_report **ret_report,
		      struct bb_err *err)
{
	char id[BASELINE_MAX_BYTES], names[512], *path;
	struct bb_err own = {0};
	int rc = is_baseline_name(which) ? read_baseline(dir, which, id, &own) : -ENOENT;

	if (rc == -ENOENT && !own.code) {
		rc = bb_store__read(which, dir, ret_report, &own);
		if (rc == -ENOENT && is_baseline_name(which)) {
			list_baselines(dir, names, sizeof(names));
			return bb_fail(err, rc, "%.2000s. Baselines saved there: %s", own.msg,
				       names);
		}
	} else if (!rc) {
		path = run_path(dir, id);
		if (access(path, F_OK))
			rc = bb_fail(&own, -ENOENT,
				     "the baseline '%s' is the run %s, which is not in %s any more "
				     "(save it again with --save-baseline)",
				     which, id, dir);
		else
			rc = bb_store__read(path, dir, ret_report, &own);
		free(path);
	}
	if (rc && err)
		*err = own;
	return rc;
}
