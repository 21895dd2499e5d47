/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of the command's programs, loaded with its own maps: which of them the kernel took. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "capture/replay.h"
#include "capture/rights.h"
#include "capture/take.h"

#define LOG_BYTES (1u << 20)

/* The last line of the verifier's log that is no statistic: most often the reason. */
static void last_words(char *log, char *ret_words, size_t size)
{
	*ret_words = '\0';
	for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
		if (strncmp(line, "processed ", strlen("processed ")) &&
		    strncmp(line, "verification time", strlen("verification time")) &&
		    strncmp(line, "stack depth", strlen("stack depth")) && *line)
			snprintf(ret_words, size, "%s", line);
}

static int say_refused(struct bb_replay *r, struct bb_captured_prog *p, size_t prog, int rc)
{
	char *log = calloc(1, LOG_BYTES), words[300];

	if (!log)
		return -ENOMEM;
	bb_replay__load_one(r, prog, 1, log, LOG_BYTES);
	last_words(log, words, sizeof(words));
	free(log);
	return asprintf(&p->refused, "%s%s%s", strerror(-rc), *words ? ": " : "", words) < 0
		       ? -ENOMEM
		       : 0;
}

/* Load it with the command's rights, for the answer alone. 0 or -errno. */
static int try_with(struct bb_replay *r, size_t prog, uint64_t rights)
{
	int slot = r->progs[prog], rc;
	struct bb_rights_before before;

	if (bb_rights__are_whole(rights))
		return 0;
	r->progs[prog] = slot < 0 ? -1 : fcntl(slot, F_DUPFD_CLOEXEC, 0);
	rc = bb_rights__limit(rights, &before);
	if (!rc) {
		rc = bb_replay__load_one(r, prog, 0, NULL, 0);
		bb_rights__restore(&before);
	}
	if (r->progs[prog] >= 0)
		close(r->progs[prog]);
	r->progs[prog] = slot;
	return rc;
}

static int say_lacking(struct bb_captured_prog *p, const struct bb_taken_load *load)
{
	char lacking[128];

	bb_rights__say_lacking(load->rights, lacking, sizeof(lacking));
	return asprintf(&p->refused, "%s to the command, which is without %s",
			strerror(-load->lacks_rights), lacking) < 0
		       ? -ENOMEM
		       : 0;
}

static int load_copy(struct bb_take *t, struct bb_replay *r, size_t prog)
{
	struct bb_captured_prog *p = &t->capture->progs[prog];
	struct bb_taken_load *load = &t->loads[prog];
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);
	int rc;

	if (p->missing)
		return 0;
	load->lacks_rights = try_with(r, prog, load->rights);
	rc = load->lacks_rights == -ENOMEM ? -ENOMEM : bb_replay__load_one(r, prog, 0, NULL, 0);
	if (rc == -ENOMEM)
		return rc;
	if (rc && rc != -EPERM)
		load->lacks_rights = 0;
	if (load->lacks_rights)
		return say_lacking(p, load);
	if (rc)
		return say_refused(r, p, prog, rc);
	if (bpf_obj_get_info_by_fd(r->progs[prog], &info, &len))
		return -errno;
	memcpy(p->tag, info.tag, sizeof(p->tag));
	p->xlated_bytes = info.xlated_prog_len;
	p->jited_bytes = info.jited_prog_len;
	return 0;
}

int bb_take__load_copies(struct bb_take *t, struct bb_err *err)
{
	struct bb_capture *c = t->capture;
	struct bb_replay r;
	int rc = bb_replay__open(c, &r, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < c->n_maps; i++)
		r.maps[i] = t->maps[i].fd;
	for (size_t i = 0; i < c->n_btfs; i++)
		r.btfs[i] = t->btfs[i].fd;
	for (size_t i = 0; !rc && i < c->n_progs; i++) {
		int32_t *target = &c->progs[i].attach_prog;
		struct bb_taken_load *load = &t->loads[i];

		if (load->target_fd >= 0) { /* the original, in the place of a slot that is free */
			*target = (int32_t)i;
			r.progs[i] = load->target_fd;
		}
		rc = bb_must_end() ? bb_must_end_why() : load_copy(t, &r, i);
		*target = BB_CAPTURE_NONE;
		load->target_fd = -1; /* closed, or by the replay in the end */
	}
	for (size_t i = 0; i < c->n_maps; i++)
		r.maps[i] = -1;
	for (size_t i = 0; i < c->n_btfs; i++)
		r.btfs[i] = -1;
	bb_replay__done(&r);
	return rc ? bb_fail(err, rc, "loading copies of the command's programs: %s", strerror(-rc))
		  : 0;
}
