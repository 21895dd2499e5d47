/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_SPACES_H
#define BB_PROFILE_SPACES_H

#include <linux/perf_event.h>

#include "base/err.h"
#include "base/std.h"
#include "profile.h"
#include "profile/symtab.h"

/*
 * The files that code is mapped from. Each is opened when it is first seen, while a process still
 * has it: later it may have been deleted or replaced, and the process be gone.
 */
struct bb_dso {
	char *path; /* as the process saw it; "[vdso]" is the kernel's page of code */
	int fd;     /* < 0: could not be opened, nor found by its path later */
};

struct bb_dsos {
	struct bb_dso *v;
	size_t n;
	struct bb_idmap by_file; /* (device, inode) */
};

/* The last part of the path. */
const char *bb_dso__short_name(const struct bb_dso *dso);

/* Code of a process: [start, end) is `dso` from file_offset on. */
struct bb_mapping {
	uint64_t start, end, file_offset;
	uint32_t dso; /* BB_NO_ID: no file */
};

/* The memory of a process from one exec (or fork) to the next. Later mappings hide earlier ones. */
struct bb_space {
	char comm[BB_PROFILE_COMM];
	struct bb_mapping *mappings;
	size_t n;
	uint32_t older; /* the process's space before this one; BB_NO_ID */
};

/* A change of the memory of a process, with its time. */
enum bb_task_event_kind {
	BB_TASK_MAP,  /* `mapping` is new */
	BB_TASK_FORK, /* the process is new, a copy of `parent` */
	BB_TASK_EXEC, /* the process runs another program, `comm`, in new memory */
	BB_TASK_COMM, /* the process calls itself `comm` */
};

struct bb_task_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	enum bb_task_event_kind kind;
	uint32_t pid, parent;
	char comm[BB_PROFILE_COMM];
	struct bb_mapping mapping;
	size_t nth; /* in the log: keeps the order of one time */
};

/* All address spaces that there were while samples were taken: events are logged as they come, and
 * replayed in order. */
struct bb_spaces {
	struct bb_dsos dsos;
	struct bb_task_event *log;
	size_t n_log;
	struct bb_space *v;
	size_t n;
	struct bb_idmap newest; /* (pid, 0) -> space */
	struct bb_idmap users;  /* (pid, 0) -> the user that it was last seen to run as */
	/* mappings where another file was mapped before: samples of both count towards the later */
	size_t n_replaced;
};

/* Zeroed is empty. 0 or -ENOMEM. */
int bb_spaces__log(struct bb_spaces *s, const struct bb_task_event *event);

/* As whom the process ran; BB_NO_ID: it ended before anybody looked. */
uint32_t bb_spaces__user(const struct bb_spaces *s, uint32_t pid);

/* Log the mappings that /proc/PID shows at `time_ns`; nothing if the process has ended. */
int bb_spaces__log_proc(struct bb_spaces *s, pid_t pid, uint64_t time_ns);

/* The same of the text of a /proc/PID/maps. */
int bb_spaces__log_maps(struct bb_spaces *s, pid_t pid, uint64_t time_ns, const char *maps);

/* After the last event: put them in order and build the spaces. */
int bb_spaces__replay(struct bb_spaces *s);

/*
 * The space that a sample of `pid` was taken in: the newest in which the process was called `comm`,
 * or else the newest. BB_NO_ID: nothing is known of the process.
 */
uint32_t bb_spaces__of(const struct bb_spaces *s, uint32_t pid, const char *comm);

/* The mapping that holds the address in the space or one before it; NULL. */
const struct bb_mapping *bb_spaces__find(const struct bb_spaces *s, uint32_t space,
					 uint64_t address);

void bb_spaces__done(struct bb_spaces *s);

/* Forks, execs and code mappings of all processes, as the kernel reports them in a ring buffer a
 * CPU: they are logged in `spaces`. */
struct bb_task_events {
	struct bb_spaces *spaces;
	uint64_t lost; /* records that found a ring full: a space may lack a mapping */
	struct perf_buffer *rings;
	int map_fd; /* of the rings */
	int rc;     /* -ENOMEM: a record could not be logged */
};

/* Records come from now on. `ret_events` stays where it is until __close. */
int bb_task_events__open(struct bb_spaces *spaces, struct bb_task_events *ret_events,
			 struct bb_err *err);

/* Log the records that have come. Call it often: else rings overflow, and files are gone before
 * they are opened. 0 or -errno. */
int bb_task_events__drain(struct bb_task_events *e);

/* Log one record, whose last 8 bytes are its time. A record of an unknown kind is passed over. 0 or
 * -ENOMEM. */
int bb_task_events__log(struct bb_task_events *e, const struct perf_event_header *h);

/* Takes zeroed ones, too. */
void bb_task_events__close(struct bb_task_events *e);

#endif
