/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/object_scenario.h"

#include "base/deadline.h"
#include "bpf/object_info.h"
#include "run/record.h"

int bb_object_loads(const char *path, const struct bb_object_opts *opts, struct bb_report *report,
		    struct bb_err *err)
{
	char object[BB_NAME_MAX_BYTES + 1];
	struct bb_object_info info = {0};
	int rc = bb_object_info__read(path, &info, err);

	if (!rc && opts->type)
		rc = bb_object_info__take_for(&info, opts->type, err);
	bb_object_name_from(basename(path), object);
	for (size_t i = 0; !rc && !bb_stop_signal && i < info.n_programs; i++) {
		const char *name = info.programs[i].name;
		const struct bb_source_spec spec = {.path = path,
						    .program = name,
						    .type = opts->type};
		struct bb_target *target = NULL;
		struct bb_prog_facts facts;
		struct bb_err why = {0};
		struct bb_program *added;

		if (!bb_object_opts__wants(opts, name))
			continue;
		char *variant = opts->full_names ? bb_asprintf("%s.%s", object, name)
						 : bb_strdup(name);
		if (bb_target__open(&spec, &target, &why) || bb_target__load(target, &why) ||
		    bb_target__describe(target, &facts, &why)) {
			/* keeps only the first line, because a verifier log may follow */
			why.msg[strcspn(why.msg, "\n")] = '\0';
			bb_record__skip(report, why.msg, "%s/%s", object, variant);
		} else {
			added = bb_record__facts(report, object, variant, &facts);
			added->program = bb_strdup(name);
			added->object = bb_strdup(path);
		}
		bb_target__free(target);
		free(variant);
	}
	bb_object_info__done(&info);
	return rc;
}
