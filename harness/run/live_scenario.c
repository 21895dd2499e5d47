/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/live_scenario.h"

#include <fnmatch.h>

#include "base/parse.h"
#include "bpf/loaded.h"
#include "drivers/driver.h"
#include "drivers/test_run_types.h"
#include "plan/field.h"
#include "plan/yaml.h"

#define ID_DIGITS 10
/* Default time for all chosen programs together, s. The command then takes less than 18 s. */
#define TOGETHER_S 12.0

struct chosen {
	struct bb_loaded program;
	/* pin by which the user chose the program; NULL if by id or name */
	const char *pin;
	char name[BB_NAME_MAX_BYTES + 1];
};

struct maker {
	const struct bb_live_opts *opts;
	struct chosen *v;
	size_t n;
};

static int choose(struct maker *m, const struct bb_loaded *program, const char *pin,
		  struct bb_err *err)
{
	const char *slash = pin ? strrchr(pin, '/') : NULL, *called;

	if (BB_ANY(m->v, m->n, it->program.id == program->id))
		return bb_fail(err, -EEXIST, "program '%s' (id %u) is named twice; once is enough",
			       program->name, program->id);
	struct chosen *c = bb_append(&m->v, &m->n, sizeof(*c));
	c->program = *program;
	c->pin = pin;
	called = slash ? slash + 1 : pin ? pin : program->name;
	bb_name_from(called, strnlen(called, BB_NAME_MAX_BYTES - ID_DIGITS - 1), c->name);
	return 0;
}

static int look_up(uint32_t id, const char *pin, struct bb_loaded *ret_program, struct bb_err *err)
{
	int fd, rc = pin ? bb_loaded__open_pinned(pin, &fd, err) : bb_loaded__open(id, &fd, err);

	if (rc)
		return rc;
	rc = bb_loaded__read(fd, ret_program, err);
	close(fd);
	return rc;
}

static int list_all(struct bb_loaded **ret_programs, size_t *ret_n, struct bb_err *err)
{
	struct bb_loaded *program;
	uint32_t id = 0;
	int rc;

	while (!(rc = bb_loaded__next(id, &id, err))) {
		program = bb_append(ret_programs, ret_n, sizeof(*program));
		rc = look_up(id, NULL, program, err);
		if (rc && rc != -ENOENT)
			return rc;
		*ret_n -= rc != 0;
	}
	if (rc != -ENOENT)
		return rc;
	return *ret_n ? 0 : bb_fail(err, rc, "no BPF program is loaded on this machine");
}

static int say_no_match(const char *glob, const struct bb_loaded *programs, size_t n,
			struct bb_err *err)
{
	const char **names = bb_calloc(n, sizeof(*names)), *near;
	char list[80];

	for (size_t i = 0; i < n; i++)
		names[i] = programs[i].name;
	near = bb_nearest(glob, names, n);
	free(names);
	snprintf(list, sizeof(list), "; `bpfbench live --once` lists the %zu that are loaded", n);
	return bb_fail(err, -ENOENT, "no loaded program is called '%s'%s", glob,
		       bb_did_you_mean(near, list).text);
}

static int choose_all(struct maker *m, struct bb_err *err)
{
	const struct bb_live_opts *o = m->opts;
	struct bb_loaded program, *programs = NULL;
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < o->n_ids + o->pins.n; i++) {
		const char *pin = i < o->n_ids ? NULL : o->pins.v[i - o->n_ids];

		rc = look_up(pin ? 0 : o->ids[i], pin, &program, err);
		if (!rc)
			rc = choose(m, &program, pin, err);
	}
	if (!rc && o->globs.n)
		rc = list_all(&programs, &n, err);
	for (size_t g = 0; !rc && g < o->globs.n; g++) {
		size_t before = m->n;

		for (size_t i = 0; !rc && i < n; i++)
			if (!fnmatch(o->globs.v[g], programs[i].name, 0))
				rc = choose(m, &programs[i], NULL, err);
		if (!rc && m->n == before)
			rc = say_no_match(o->globs.v[g], programs, n, err);
	}
	free(programs);
	return rc;
}

static void write_text(const struct maker *m, FILE *out)
{
	double seconds = m->opts->seconds;
	const struct bb_test_run_type *type;
	bool repeats = false;

	fputs("name: live\nvariants:\n", out);
	for (size_t i = 0; i < m->n; i++) {
		const struct bb_loaded *p = &m->v[i].program;

		fprintf(out, "  - {name: \"%s", m->v[i].name);
		if (BB_ANY(m->v, m->n, it != &m->v[i] && !strcmp(it->name, m->v[i].name)))
			fprintf(out, "-%u", p->id);
		fputs("\", ", out);
		if (m->v[i].pin) {
			fputs("pinned: ", out);
			bb_yaml__write(out, m->v[i].pin);
			fputs("}\n", out);
		} else {
			fprintf(out, "id: %u}\n", p->id);
		}
		repeats |= !bb_test_run_type__find(p->type, &type, NULL) && type->takes_repeat;
	}
	fputs("drive:\n", out);
	if (m->opts->by_test_run) {
		fputs("  - {with: step, trigger: test-run}\n", out);
		if (repeats)
			fputs("  - {with: slope}\n", out);
		return;
	}
	if (seconds <= 0)
		seconds = fmin(TOGETHER_S / (double)m->n, bb_driver_live.kind.seconds);
	fprintf(out, "  - {with: live, seconds: %.6g}\n", seconds);
}

int bb_live_scenario__make(const struct bb_live_opts *opts, char **ret_text, struct bb_err *err)
{
	struct maker m = {.opts = opts};
	char *text = NULL;
	size_t size = 0;
	FILE *out = bb_open_memstream(&text, &size);
	int rc = choose_all(&m, err);

	if (!rc)
		write_text(&m, out);
	bb_close_memstream(out);
	free(m.v);
	if (rc)
		free(text);
	else
		*ret_text = text;
	return rc;
}
