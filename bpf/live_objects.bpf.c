// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports the addresses of kernel objects that a process holds: an iterator over its open files
 * that writes a record for each. bpfbench runs programs that take kernel objects as arguments with
 * these addresses (fire/live_objects.h).
 */
#include "bb_bpf.h"

#include <bpf/bpf_core_read.h>

#include "live_record.h"

#define KERNEL __attribute__((preserve_access_index))

struct nsproxy {
	void *net_ns;
} KERNEL;

struct css_set {
	void *dfl_cgrp;
} KERNEL;

struct task_struct {
	int tgid;
	void *stack;
	char comm[16];
	void *mm, *cred, *files, *signal;
	struct nsproxy *nsproxy;
	struct css_set *cgroups;
} KERNEL;

struct path {
	void *mnt, *dentry;
} KERNEL;

struct inode {
	void *i_sb, *i_mapping;
} KERNEL;

struct file {
	struct inode *f_inode;
	struct path f_path;
	void *private_data;
} KERNEL;

struct sk_buff_head {
	void *next;
} KERNEL;

struct sock {
	struct sk_buff_head sk_receive_queue;
} KERNEL;

struct socket {
	struct sock *sk;
} KERNEL;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} KERNEL;

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
} KERNEL;

const volatile __s32 of_tgid; /* the process whose objects are reported */

SEC("iter/task_file")
int live_objects(struct bpf_iter__task_file *ctx)
{
	struct bb_live_record r = {0};
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct socket *socket;

	if (!task || !file || task->tgid != of_tgid)
		return 0;
	socket = file->private_data;
	r.fd = ctx->fd;
	r.v[BB_LIVE_TASK] = (__u64)task;
	r.v[BB_LIVE_COMM] = (__u64)&task->comm;
	r.v[BB_LIVE_STACK] = (__u64)task->stack;
	r.v[BB_LIVE_MM] = (__u64)task->mm;
	r.v[BB_LIVE_CRED] = (__u64)task->cred;
	r.v[BB_LIVE_FILES] = (__u64)task->files;
	r.v[BB_LIVE_SIGNAL] = (__u64)task->signal;
	r.v[BB_LIVE_NSPROXY] = (__u64)task->nsproxy;
	r.v[BB_LIVE_NET] = (__u64)BPF_CORE_READ(task, nsproxy, net_ns);
	r.v[BB_LIVE_CSS_SET] = (__u64)task->cgroups;
	r.v[BB_LIVE_CGROUP] = (__u64)BPF_CORE_READ(task, cgroups, dfl_cgrp);
	r.v[BB_LIVE_FILE] = (__u64)file;
	r.v[BB_LIVE_INODE] = (__u64)file->f_inode;
	r.v[BB_LIVE_PATH] = (__u64)&file->f_path;
	r.v[BB_LIVE_DENTRY] = (__u64)file->f_path.dentry;
	r.v[BB_LIVE_VFSMOUNT] = (__u64)file->f_path.mnt;
	r.v[BB_LIVE_SUPER_BLOCK] = (__u64)BPF_CORE_READ(file, f_inode, i_sb);
	r.v[BB_LIVE_ADDRESS_SPACE] = (__u64)BPF_CORE_READ(file, f_inode, i_mapping);
	/* valid only for sockets; the reader of the record knows whether the file is a socket */
	r.v[BB_LIVE_SOCKET] = (__u64)socket;
	r.v[BB_LIVE_SOCK] = (__u64)BPF_CORE_READ(socket, sk);
	r.v[BB_LIVE_SK_BUFF] = (__u64)BPF_CORE_READ(socket, sk, sk_receive_queue.next);
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}
