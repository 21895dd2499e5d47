/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_SELF_FIELD_H
#define BB_PLAN_SELF_FIELD_H

#include "plan/field.h"
#include "plan/self.h"

/* {pid: self}, {comm: self} or {cgroup: self}; `what` it stands for is for messages. */
int bb_field__self(const struct bb_reader *r, const struct bb_yaml *node, const char *what,
		   enum bb_self *ret_self);

#endif
