/* SPDX-License-Identifier: GPL-2.0-only */
/* The record that live_objects.bpf.c writes for each open file, and fire/live_objects.c reads. */
#ifndef BB_LIVE_RECORD_H
#define BB_LIVE_RECORD_H

#include <linux/types.h>

enum bb_live {
	BB_LIVE_TASK,
	BB_LIVE_COMM, /* name of the task, a string in the kernel */
	BB_LIVE_STACK,
	BB_LIVE_MM,
	BB_LIVE_CRED,
	BB_LIVE_FILES,
	BB_LIVE_SIGNAL,
	BB_LIVE_NSPROXY,
	BB_LIVE_NET,
	BB_LIVE_CSS_SET,
	BB_LIVE_CGROUP,
	BB_LIVE_FILE,
	BB_LIVE_INODE,
	BB_LIVE_PATH,
	BB_LIVE_DENTRY,
	BB_LIVE_VFSMOUNT,
	BB_LIVE_SUPER_BLOCK,
	BB_LIVE_ADDRESS_SPACE,
	BB_LIVE_SOCKET,
	BB_LIVE_SOCK,
	BB_LIVE_SK_BUFF,
	BB_N_LIVE
};

struct bb_live_record {
	__u32 fd, unused;
	__u64 v[BB_N_LIVE]; /* addresses, by enum bb_live */
};

#endif
