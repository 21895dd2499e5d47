# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A git repository with a BPF program and a Makefile, as a user has it, for the tests and the bench of `bpfbench gate`.

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t

# set_steps N: in the repository, the program `work` takes N steps. The steps are one chain without jumps, so neither layout nor branches
# influence its time.
set_steps() { sed -i "s/^#define STEPS .*/#define STEPS $1/" prog.bpf.c; }

# make_repo DIR N: makes the repository with one commit on the branch main; `work` takes N steps.
make_repo() {
	mkdir -p "$1"
	cat >"$1/prog.bpf.c" <<-'EOF'
	#include <linux/bpf.h>
	#include <bpf/bpf_helpers.h>

	#define STEPS 0

	__u64 sink;

	SEC("tc")
	int work(struct __sk_buff *ctx)
	{
		__u64 x = __sync_fetch_and_add(&sink, 1);

	#pragma unroll
		for (int i = 0; i < STEPS; i++)
			x = (x ^ x >> 29) * 2862933555777941757ULL;
		__sync_fetch_and_add(&sink, x);
		return 0;
	}

	char LICENSE[] SEC("license") = "GPL";
	EOF
	cat >"$1/Makefile" <<-'EOF'
	all: prog.bpf.o
	%.bpf.o: %.bpf.c; \
	clang -O2 -g -target bpf -idirafter /usr/include/$(shell uname -m)-linux-gnu -c $< -o $@
	EOF
	echo '*.o' >"$1/.gitignore"
	(cd "$1" && set_steps "$2" && git init -q -b main && git add -A && git commit -qm 'a program')
}
