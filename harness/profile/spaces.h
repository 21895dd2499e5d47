/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/perf_event.h>

#include "profile.h"
#include "profile/symtab.h"

/* A file that code is mapped from ("dso": dynamic shared object, as in perf). It is opened when its
 * first mapping is seen: later it may be deleted, or its process may have ended. */
struct bb_dso {
	/* path as the process sees it; "[vdso]" is the page of code that the kernel maps into
	 * processes */
	char *path;
	int fd; /* descriptor of the file; negative if it could not be opened */
};

struct bb_dsos {
	struct bb_dso *v; /* v[n] */
	size_t n;
	struct bb_idmap by_file; /* (device, inode) -> index in `v` */
};

/* Returns the last part of the file's path. */
const char *bb_dso__short_name(const struct bb_dso *dso);

/* A mapping of code: the addresses [start, end) of a process hold the bytes of a file from the
 * offset `file_offset` on. */
struct bb_mapping {
	uint64_t start, end, file_offset;
	uint32_t dso; /* index of the file in bb_dsos.v; BB_NO_ID: not mapped from a file */
};

/* The code in the memory of a process, from one exec or fork to the next. Of overlapping mappings
 * the later mapping counts. */
struct bb_space {
	char comm[BB_PROFILE_COMM];
	struct bb_mapping *mappings;
	size_t n;
	uint32_t older; /* index of the previous space of the process; BB_NO_ID if it had none */
};

/* Kinds of change to a process. */
enum bb_task_event_kind {
	BB_TASK_MAP,  /* the process got `mapping` */
	BB_TASK_FORK, /* the process was forked from the process `parent` */
	BB_TASK_EXEC, /* the process executed another program, `comm`, in new memory */
	BB_TASK_COMM, /* the process changed its name to `comm` */
};

struct bb_task_event {
	uint64_t time_ns; /* time of the event, CLOCK_MONOTONIC */
	enum bb_task_event_kind kind;
	uint32_t pid, parent;
	char comm[BB_PROFILE_COMM];
	struct bb_mapping mapping;
	size_t nth; /* index in the log, which orders events of the same time */
};

/* The address spaces of all processes during the sampling. Events are logged in the order in which
 * they arrive, and replayed at the end in the order of their times. */
struct bb_spaces {
	struct bb_dsos dsos;
	struct bb_task_event *log; /* log[n_log] */
	size_t n_log;
	struct bb_space *v; /* v[n], made by bb_spaces__replay() */
	size_t n;
	struct bb_idmap newest; /* (pid, 0) -> index in `v` of the newest space of the process */
	struct bb_idmap users;  /* (pid, 0) -> user id of the process when we last saw it */
	/* number of mappings that replaced a mapping of another file; samples of both files are
	 * then counted for the later file */
	size_t n_replaced;
};

/* Logs an event: copies it, and sets `nth` of the copy. A zeroed bb_spaces is empty. */
void bb_spaces__log(struct bb_spaces *s, const struct bb_task_event *event);

/* Returns the user id of the process; BB_NO_ID if the process ended before we looked at its
 * user. */
uint32_t bb_spaces__user(const struct bb_spaces *s, uint32_t pid);

/* Logs the process `pid` as /proc shows it at `time_ns`: an exec with the process's name, then its
 * code mappings. Logs nothing if the process has ended. */
void bb_spaces__log_proc(struct bb_spaces *s, pid_t pid, uint64_t time_ns);

/* Logs the code mappings in `maps`, the text of a /proc/PID/maps. */
void bb_spaces__log_maps(struct bb_spaces *s, pid_t pid, uint64_t time_ns, const char *maps);

/* Sorts the log by time and builds the spaces. Call it after the last event. */
void bb_spaces__replay(struct bb_spaces *s);

/* Returns the index of the space to which a sample of the process `pid` with the name `comm`
 * belongs: the newest space of `pid` with that name, else the newest of `pid`; BB_NO_ID if the
 * process is unknown. */
uint32_t bb_spaces__of(const struct bb_spaces *s, uint32_t pid, const char *comm);

/* Returns the mapping that contains the address in the space with the index `space` or, if that
 * space has no such mapping, in an older space of the same process. Returns NULL if there is
 * none. */
const struct bb_mapping *bb_spaces__find(const struct bb_spaces *s, uint32_t space,
					 uint64_t address);

void bb_spaces__done(struct bb_spaces *s);

/* Reads forks, execs, new names and code mappings of all processes from ring buffers of the kernel,
 * one per CPU, and logs them in `spaces`. */
struct bb_task_events {
	struct bb_spaces *spaces;
	/* number of records that the kernel dropped because a ring was full; `spaces` may lack
	 * the mappings in these records */
	uint64_t lost;
	struct perf_buffer *rings;
	int map_fd; /* the perf event array that holds the rings */
};

/* Starts to record the events of all processes. `ret_events` must not move until
 * bb_task_events__close(). Returns 0, or -errno with a message. */
int bb_task_events__open(struct bb_spaces *spaces, struct bb_task_events *ret_events,
			 struct bb_err *err);

/* Logs one record of the kernel, whose last 8 bytes are its time. Ignores unknown types of
 * records. */
void bb_task_events__log(struct bb_task_events *e, const struct perf_event_header *h);

/* Stops recording the events of tasks. Accepts a zeroed struct. */
void bb_task_events__close(struct bb_task_events *e);
