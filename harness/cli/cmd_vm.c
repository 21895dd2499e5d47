/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/io.h"
#include "cli/options.h"
#include "cli/vm_run.h"
#include "vm/kernels.h"

struct vm_args {
	/* a verb and then kernels, or "shell", one kernel and then files */
	struct bb_strings words;
	const char *from;
};

#define ARGS struct vm_args

static const struct bb_option options[] = {
	{"from", 0, "FILE.deb", bb_read_once, BB_ARG(from),
	 "fetch the kernel from this package of Debian instead of the network"},
	{0},
};

static void check_args(void *args)
{
	const struct vm_args *a = args;
	const char *what = a->words.n ? a->words.v[0] : "";
	bool lists = !strcmp(what, "list"), fetches = !strcmp(what, "fetch");

	bb_refuse("what? list, fetch KERNEL..., build KERNEL..., remove KERNEL... or shell KERNEL",
		  !lists && !fetches && strcmp(what, "remove") && strcmp(what, "build") &&
			  strcmp(what, "shell"));
	bb_refuse("`vm list` takes no kernel", lists && a->words.n > 1);
	bb_refuse("which kernel? for example 5.10, 6.1 or 6.12", !lists && a->words.n < 2);
	bb_refuse("--from is for `vm fetch` of one kernel",
		  a->from && (!fetches || a->words.n != 2));
}

static const struct bb_usage usage = {
	.arguments = "list | fetch KERNEL... | build KERNEL... | remove KERNEL... | shell KERNEL "
		     "[FILE...]",
	.doc = "List, fetch, build and remove the kernels in which --vm runs programs, or open a "
	       "shell in one.",
	.more = "KERNEL is a release of Debian's kernels: 5.10, 6.1, 6.12. The newest package of "
		"it is fetched by apt, which checks its signature, without root, into "
		"~/.cache/bpfbench/vm. Then, for example: bpfbench --object prog.bpf.o --vm "
		"5.10,6.12. `build` boots a kernel and saves its guest; without it, the first "
		"measurement does so. `shell` opens a shell in a guest, with bpfbench and copies "
		"of "
		"FILEs under their paths; what it changes is lost. `build`, `remove` and `shell` "
		"take the path of a kernel of your own, too; `remove` then removes its saved "
		"guest. A guest needs QEMU (qemu-system-x86) and no KVM.",
	.example = "  bpfbench vm fetch 5.10 6.1 6.12\n"
		   "  bpfbench vm fetch 6.1 --from linux-image-6.1.0-50-amd64.deb\n"
		   "  bpfbench vm shell 6.12 prog.bpf.o\n",
	.sets = {{NULL, options, 0}},
	.argument = {.read = bb_read_strings, BB_ARG(words)},
	.check = check_args,
};

int bb_cmd_vm(int argc, char **argv, struct bb_err *err)
{
	static struct vm_args a;
	char **names = NULL;
	size_t n = 0;
	int rc = 0;

	bb_usage__parse(&usage, argc, argv, &a);
	if (!strcmp(a.words.v[0], "list")) {
		rc = bb_kernels__list(&names, &n, err);
		for (size_t i = 0; i < n; i++)
			printf("%s\n", names[i]);
		if (!rc && !n)
			bb_say("no kernel is here yet: bpfbench vm fetch 6.12");
		bb_names_free(names, n);
		return rc;
	}
	if (!strcmp(a.words.v[0], "build"))
		return bb_vm__build(&(struct bb_strings){a.words.v + 1, a.words.n - 1}, err);
	if (!strcmp(a.words.v[0], "shell"))
		return bb_vm__shell(a.words.v[1],
				    &(struct bb_strings){a.words.v + 2, a.words.n - 2}, err);
	for (size_t i = 1; !rc && i < a.words.n; i++) {
		if (!strcmp(a.words.v[0], "remove")) {
			rc = bb_kernel__remove(a.words.v[i], err);
			continue;
		}
		if (!a.from)
			bb_tell("fetching Linux %s", a.words.v[i]);
		rc = bb_kernel__fetch(a.words.v[i], a.from, err);
	}
	return rc;
}
