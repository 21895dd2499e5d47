/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/hyperfine.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool bb_in_path(const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	while (path && *path) {
		const char *end = strchrnul(path, ':');

		snprintf(file, sizeof(file), "%.*s/%s", (int)(end - path), path, name);
		if (!access(file, X_OK))
			return true;
		path = *end ? end + 1 : NULL;
	}
	return false;
}

/* A word as a shell reads it, in single quotes unless it needs none. */
static void put_word(FILE *out, const char *word)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
					"6789_-+=./:,@%")]) {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
	putc('\'', out);
}

/* "PATH ARG...": hyperfine looks for a name in $PATH only, we look in `dir` first. */
static int compose_command(const char *program, char *const *args, size_t n_args, const char *dir,
			   char **ret_command)
{
	char beside[PATH_MAX] = "";
	size_t size = 0;
	FILE *out = open_memstream(ret_command, &size);

	if (!out)
		return -ENOMEM;
	if (dir && !strchr(program, '/'))
		snprintf(beside, sizeof(beside), "%s/%s", dir, program);
	put_word(out, *beside && !access(beside, X_OK) ? beside : program);
	for (size_t i = 0; i < n_args; i++) {
		putc(' ', out);
		put_word(out, args[i]);
	}
	return fclose(out) ? -ENOMEM : 0;
}

static int compose_shown(struct bb_hyperfine *h)
{
	size_t size = 0;
	FILE *out = open_memstream(&h->shown, &size);

	if (!out)
		return -ENOMEM;
	fputs(h->spec.program, out);
	for (size_t i = 0; i < h->spec.n_args; i++) {
		putc(' ', out);
		put_word(out, h->args[i]);
	}
	return fclose(out) ? -ENOMEM : 0;
}

int bb_hyperfine__open(const char *program, char *const *args, size_t n_args, const char *dir,
		       const struct bb_child_place *place, struct bb_hyperfine *ret_h,
		       struct bb_err *err)
{
	static const char *const options[] = {"-N", "--style", "none", "--warmup",
					      "0",  "--runs",  "1",    "--export-json"};
	struct bb_hyperfine *h = ret_h;
	size_t n = 0;
	int rc;

	*h = (struct bb_hyperfine){.json_fd = -1};
	if (!bb_in_path("hyperfine"))
		return bb_fail(err, -ENOTSUP,
			       "hyperfine, which times the command, is not installed; install the "
			       "package hyperfine");
	/* In memory, so that nothing is left behind; inherited, as hyperfine may run as a user who
	 * could not open it. */
	h->json_fd = memfd_create("hyperfine.json", 0);
	if (h->json_fd < 0) {
		rc = -errno;
		return bb_fail(err, rc, "memfd_create: %s", strerror(-rc));
	}
	snprintf(h->json_path, sizeof(h->json_path), "/proc/self/fd/%d", h->json_fd);
	rc = compose_command(program, args, n_args, dir, &h->command);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		h->args[n++] = (char *)(uintptr_t)options[i];
	h->args[n++] = h->json_path;
	h->args[n++] = h->command;
	h->spec = (struct bb_workload_spec){.program = "hyperfine",
					    .args = h->args,
					    .n_args = n,
					    .is_held = true,
					    .place = *place};
	if (!rc)
		rc = compose_shown(h);
	if (rc) {
		bb_hyperfine__close(h);
		return bb_fail_nomem(err);
	}
	return 0;
}

void bb_hyperfine__close(struct bb_hyperfine *h)
{
	if (!h->command)
		return;
	close(h->json_fd);
	free(h->command);
	free(h->shown);
	memset(h, 0, sizeof(*h));
}

int bb_hyperfine__start(struct bb_hyperfine *h, struct bb_workload *ret_w, struct bb_err *err)
{
	int rc;

	h->spec.args = h->args; /* the struct may have moved */
	h->args[8] = h->json_path;
	rc = ftruncate(h->json_fd, 0) ? -errno : 0;
	if (rc)
		return bb_fail(err, rc, "cannot empty hyperfine's export: %s", strerror(-rc));
	return bb_workload__start(&h->spec, ret_w, err);
}

static int complain(const char *what, struct bb_err *err)
{
	return bb_fail(err, -EPROTO,
		       "hyperfine's export cannot be read: %s; bpfbench reads the JSON of "
		       "hyperfine 1.13 and newer",
		       what);
}

int bb_hyperfine__read(const struct bb_hyperfine *h, uint64_t *ret_ns, struct bb_err *err)
{
	char text[64u << 10];
	ssize_t n = pread(h->json_fd, text, sizeof(text), 0);
	json_t *root = n > 0 ? json_loadb(text, (size_t)n, 0, NULL) : NULL;
	const json_t *result = json_array_get(json_object_get(root, "results"), 0);
	const json_t *time = json_array_get(json_object_get(result, "times"), 0);
	const json_t *code = json_array_get(json_object_get(result, "exit_codes"), 0);
	double s = json_number_value(time);
	int rc = 0;

	if (!json_is_number(time) || !(s > 0) || s > 1e6)
		rc = complain("no results[0].times[0]", err);
	else if (json_is_integer(code) && json_integer_value(code))
		rc = bb_fail(err, -ECHILD, "the command '%s' failed: exit status %d", h->command,
			     (int)json_integer_value(code));
	else
		*ret_ns = (uint64_t)llround(s * 1e9);
	json_decref(root);
	return rc;
}
