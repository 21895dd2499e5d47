/* SPDX-License-Identifier: GPL-2.0-only */
/* Refused by libbpf or the kernel: it asks for an option that no kernel was built with. */
#include "bb_bpf.h"

extern int CONFIG_BB_NO_SUCH_OPTION __kconfig;

SEC("tc")
int asks(struct __sk_buff *skb)
{
	return CONFIG_BB_NO_SUCH_OPTION;
}
