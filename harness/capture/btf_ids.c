/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/btf_ids.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

int bb_btf_info(int fd, struct bpf_btf_info *ret_info, char *name, unsigned int name_size)
{
	__u32 len = sizeof(*ret_info);

	memset(ret_info, 0, sizeof(*ret_info));
	memset(name, 0, name_size);
	ret_info->name = (__u64)(uintptr_t)name;
	ret_info->name_len = name_size;
	return bpf_obj_get_info_by_fd(fd, ret_info, &len) ? -errno : 0;
}

int bb_btf_of_kernel(const char *module)
{
	struct bpf_btf_info info;
	char name[64];
	__u32 id = 0;

	while (!bpf_btf_get_next_id(id, &id)) {
		int fd = bpf_btf_get_fd_by_id(id);

		if (fd >= 0 && !bb_btf_info(fd, &info, name, sizeof(name)) && info.kernel_btf &&
		    !strcmp(name, module))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	errno = ENOENT;
	return -1;
}
