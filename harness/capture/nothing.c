/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command of whose programs none can be measured: why, and what to do. */
#include <errno.h>
#include <string.h>

#include "capture/rights.h"
#include "capture/take.h"

/* Programs that are no tests of the loader's, and that the kernel refuses whoever asks. */
static bool is_bad(const struct bb_take *t, size_t prog)
{
	const struct bb_captured_prog *p = &t->capture->progs[prog];

	return p->refused && !p->probe && !t->loads[prog].lacks_rights;
}

/* A loader may load one again, to hear the verifier's words. */
static int say_refused(const struct bb_take *t, const char *how_ended, struct bb_err *err)
{
	const struct bb_capture *c = t->capture;
	const struct bb_captured_prog *first = NULL;
	bool others = false;

	for (size_t i = 0; i < c->n_progs; i++)
		if (is_bad(t, i)) {
			first = first ? first : &c->progs[i];
			others |= strcmp(c->progs[i].kernel_name, first->kernel_name) != 0;
		}
	return bb_fail(err, -ENOTSUP,
		       "'%s'%s loaded no program that the kernel takes; '%s'%s is refused: %s; "
		       "mend it, or capture the command on a kernel that takes it",
		       c->command, how_ended, first->name, others ? ", as the others," : "",
		       first->refused);
}

/* errno of the kernel's answer */
static int say_rights(const struct bb_take *t, int error, const char *how_ended, struct bb_err *err)
{
	char lacking[128];
	bool are_ours = !bb_rights__are_whole(bb_rights__of(0));

	bb_rights__say_lacking(t->rights, lacking, sizeof(lacking));
	return bb_fail(err, -ENOTSUP,
		       "'%s'%s has not the right to load BPF programs: it asked the kernel "
		       "without %s, and was told '%s'; %s",
		       t->capture->command, how_ended, lacking, strerror(error),
		       are_ours ? "run bpfbench as root, with sudo"
				: "bpfbench ran it as root, so the command gave these rights up "
				  "itself (by setpriv, su, a container or the user of a service): "
				  "capture it without that, or let it keep CAP_SYS_ADMIN");
}

bool bb_take__has_nothing(const struct bb_take *t)
{
	for (size_t i = 0; i < t->capture->n_progs; i++)
		if (!t->capture->progs[i].probe && !t->capture->progs[i].refused)
			return false;
	return true;
}

/* Programs that a BPF program loads inside the kernel, where no system call shows them. */
static int say_light(const struct bb_take *t, const char *how_ended, struct bb_err *err)
{
	return bb_fail(err, -ENOTSUP,
		       "'%s'%s loads its programs by a light skeleton (bpftool gen skeleton -L), "
		       "inside the kernel, where they cannot be copied: capture a build with an "
		       "ordinary skeleton, or measure the running ones in place, by --prog-name",
		       t->capture->command, how_ended);
}

static int say_unreadable(const struct bb_take *t, const char *how_ended, struct bb_err *err)
{
	return bb_fail(err, -ENOTSUP,
		       "'%s'%s ran, and its descriptors and memory could not be copied "
		       "(pidfd_getfd, "
		       "process_vm_readv: %s), so its BPF programs are not known; Yama "
		       "(kernel.yama.ptrace_scope=3) or the seccomp filter of a container or "
		       "service refuses that: allow both calls, "
		       "and CAP_SYS_PTRACE",
		       t->capture->command, how_ended, strerror(-t->unreadable));
}

int bb_take__say_nothing(const struct bb_take *t, const char *how_ended, struct bb_err *err)
{
	const struct bb_capture *c = t->capture;

	if (t->unreadable)
		return say_unreadable(t, how_ended, err);
	for (size_t i = 0; i < c->n_progs; i++)
		if (is_bad(t, i))
			return say_refused(t, how_ended, err);
	for (size_t i = 0; i < c->n_progs; i++)
		if (t->loads[i].lacks_rights)
			return say_rights(t, -t->loads[i].lacks_rights, how_ended, err);
	for (size_t i = 0; i < c->n_progs; i++)
		if (bb_captured_prog__is_light_loader(&c->progs[i]))
			return say_light(t, how_ended, err);
	if (c->n_progs)
		return bb_fail(err, -ENOTSUP,
			       "'%s'%s loaded its loader's tests of the kernel (%zu), and no "
			       "program: give it the arguments with which it loads programs, or "
			       "more time by --for",
			       c->command, how_ended, c->n_progs);
	if (!bb_rights__are_whole(t->rights))
		return say_rights(t, EPERM, how_ended, err);
	return bb_fail(err, -ENOTSUP,
		       "'%s'%s loaded no BPF program%s; one that a daemon loads for it is not seen",
		       c->command, how_ended, how_ended[0] ? ": its own messages may say why" : "");
}
