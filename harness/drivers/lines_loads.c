/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines: the programs that take turns, loaded and put where they are fired. */
#include "drivers/lines_state.h"

#include <unistd.h>

void bb_lines_slot__unload(const struct bb_lines_state *s, struct bb_lines_slot *slot,
			   enum bb_lines_thing thing)
{
	struct bb_lines_loaded *l = &slot->things[thing];

	if (l->attached)
		s->fired->trigger->detach(l->attached);
	if (l->is_ours && l->prog_fd >= 0) {
		bb_stats_reader__close(&l->reader);
		close(l->prog_fd);
	}
	*l = (struct bb_lines_loaded){.prog_fd = -1};
}

static int attach_thing(const struct bb_lines_state *s, struct bb_test_prog *subject,
			struct bb_lines_loaded *l, struct bb_err *err)
{
	int rc = 0;

	if (l->is_ours)
		rc = bb_stats_reader__open(l->prog_fd, &l->reader, err);
	else
		l->reader = *bb_target__reader(subject->target);
	return rc ? rc
		  : s->fired->trigger->attach(s->fired, subject, l->prog_fd, &l->attached, err);
}

int bb_lines_slot__load_program(const struct bb_lines_state *s, struct bb_test_prog *subject,
				struct bb_lines_slot *slot, struct bb_err *err)
{
	struct bb_lines_loaded *program = &slot->things[BB_LINES_PROGRAM];

	program->prog_fd = bb_target__prog_fd(subject->target);
	return attach_thing(s, subject, program, err);
}

int bb_lines_slot__load(const struct bb_lines_state *s, struct bb_test_prog *subject,
			struct bb_lines_slot *slot, struct bb_err *err)
{
	const struct bb_lines_plan *plan = &slot->variant->plan;
	struct bb_lines_loaded *things = slot->things;
	struct bb_cut_form form = plan->form;
	int rc = bb_lines_slot__load_program(s, subject, slot, err);

	for (int i = BB_LINES_CLONE; i < BB_LINES_N_THINGS; i++)
		things[i].is_ours = true;
	if (!rc)
		rc = bb_lines_plan__load(plan, &form, &things[BB_LINES_CLONE].prog_fd, err);
	form.doubled = true;
	if (!rc)
		rc = bb_lines_plan__load(plan, &form, &things[BB_LINES_DOUBLED_CLONE].prog_fd, err);
	if (!rc)
		rc = bb_cut_clone__load_empty(&plan->code, form.retval,
					      &things[BB_LINES_EMPTY].prog_fd, err);
	for (int i = BB_LINES_CLONE; !rc && i < BB_LINES_LOGGER; i++)
		rc = attach_thing(s, subject, &things[i], err);
	return rc;
}

int bb_lines_slot__load_logger(const struct bb_lines_state *s, struct bb_test_prog *subject,
			       struct bb_lines_slot *slot, struct bb_err *err)
{
	struct bb_lines_loaded *l = &slot->things[BB_LINES_LOGGER];
	const struct bb_cut_form form = {.logs = true};
	int rc = bb_lines_plan__load(&slot->variant->plan, &form, &l->prog_fd, err);

	l->is_ours = true;
	return rc ? rc : attach_thing(s, subject, l, err);
}
