/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two looks at live programs: which programs are the same in both, and how slices become series. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "unit/report_testing.h"
#include "run/live_look.h"

/* Adds a program with a case. */
static void add(struct bb_report *r, const char *variant, const char *name, const char *tag,
		const char *agent)
{
	struct bb_program *p = BB_ADD(bb_program_record, r, programs);
	struct bb_case *c = BB_ADD(bb_case_record, r, cases);

	p->name = bb_asprintf("live/%s", variant);
	p->variant = bb_strdup(variant);
	p->program = bb_strdup(name);
	p->type = bb_strdup("xdp");
	p->tag = bb_strdup(tag);
	p->object = bb_strdup(agent);
	c->name = bb_asprintf("live/%s/watch", variant);
	c->variant = bb_strdup(variant);
	c->drive = bb_strdup("watch");
}

static void assert_case(const struct bb_report *r, size_t i, const char *name)
{
	assert_string_equal(r->cases[i].name, name);
	assert_non_null(strstr(name, r->cases[i].variant));
	assert_string_equal(r->programs[i].variant, r->cases[i].variant);
}

static void test_match(void **state)
{
	struct bb_report *base = bb_report__new(), *now = bb_report__new();

	(void)state;
	add(base, "a", "a", "11", "agent");
	add(base, "twin", "twin", "22", "one");
	add(base, "twin-2", "twin", "22", "two");
	add(base, "b", "b", "33", "agent");
	add(base, "gone", "gone", "44", "agent");
	add(now, "b", "b", "99", "agent");           /* changed, found by name */
	add(now, "twin", "twin", "22", "two");       /* found by agent, not by order */
	add(now, "twin-2", "twin", "22", "three");   /* the one that is left */
	add(now, "renamed", "renamed", "11", "x");   /* found by tag */
	add(now, "gone", "gone-not", "55", "agent"); /* another program: base has one of its name */
	add(now, "b-2", "b", "98", "agent");         /* a second program with that name is new */
	bb_live_look__match(base, now);
	assert_case(now, 0, "live/b/watch");
	assert_case(now, 1, "live/twin-2/watch");
	assert_case(now, 2, "live/twin/watch");
	assert_case(now, 3, "live/a/watch");
	assert_case(now, 4, "live/gone-not/watch");
	assert_case(now, 5, "live/b-2/watch");
	bb_report__free(base);
	bb_report__free(now);
}

/* An equal tag is surer than an equal name. */
static void test_tag_before_name(void **state)
{
	struct bb_report *base = bb_report__new(), *now = bb_report__new();

	(void)state;
	add(base, "old", "f", "11", "agent");
	add(base, "g", "g", "22", "agent");
	add(now, "f", "f", "22", "agent");
	add(now, "h", "h", "", "agent"); /* two missing tags are not equal */
	bb_live_look__match(base, now);
	assert_case(now, 0, "live/g/watch");
	assert_case(now, 1, "live/h/watch");
	bb_report__free(base);
	bb_report__free(now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_tag_before_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
