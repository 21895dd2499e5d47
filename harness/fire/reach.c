/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/reach.h"

#include <errno.h>
#include <linux/bpf.h>

#include "bpf/code.h"
#include "bpf/insn.h"

bool bb_reach__acts(const struct bb_target *target)
{
	static const int helpers[] = {BPF_FUNC_probe_write_user, BPF_FUNC_override_return,
				      BPF_FUNC_send_signal, BPF_FUNC_send_signal_thread};
	struct bb_code code;
	bool acts = false;

	if (bb_target__code(target, &code, NULL))
		return true;
	for (uint32_t i = 0; i < code.n; i++)
		for (size_t k = 0; k < sizeof(helpers) / sizeof(helpers[0]); k++)
			acts |= bb_insn_is_helper_call(&code.insns[i]) &&
				code.insns[i].imm == helpers[k];
	bb_code__done(&code);
	return acts;
}

/* Is the hook passed by processes other than ours? A cgroup is our own, a function is probed in our
 * own process, and an iterator runs when it is read. */
static bool is_shared(const struct bb_attach_point *point)
{
	if (point->pid || (point->by && point->by->run)) /* not ours, or all that run the file */
		return true;
	switch (point->kind) {
	case BB_AT_TRACEPOINT:
	case BB_AT_RAW_TP:
	case BB_AT_BTF:
	case BB_AT_KPROBE:
	case BB_AT_KPROBE_MULTI: return true;
	default: return false;
	}
}

int bb_reach__check(const struct bb_attach_point *point, const struct bb_target *target,
		    struct bb_err *err)
{
	const char *does = NULL;

	if (!is_shared(point))
		return 0;
	if (point->prog_type == BPF_PROG_TYPE_LSM || point->attach_type == BPF_MODIFY_RETURN)
		does = "can forbid their system calls";
	else if (bb_reach__acts(target))
		does = "sends signals, writes into them or changes the answers that they get";
	return does ? bb_fail(err, -ENOTSUP,
			      "%s: every process of this machine passes there, and the program %s; "
			      "--allow-system-wide measures it all the same",
			      bb_attach_point__words(point).text, does)
		    : 0;
}
