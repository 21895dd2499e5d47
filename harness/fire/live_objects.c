/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/live_objects.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <netinet/in.h>

#include "base/io.h"
#include "base/text.h"
#include "bpf/libbpf_log.h"
#include "bpf/netns.h"

static int bound_socket(int type, struct sockaddr_in *ret_address)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (!bind(fd, (struct sockaddr *)&a, len))
		getsockname(fd, (struct sockaddr *)&a, &len);
	*ret_address = a;
	return fd;
}

/* Two sockets receive a segment and a datagram, so that their queues are not empty. */
static void open_sockets(struct bb_live_objects *o)
{
	struct sockaddr_in a;
	int pair[2];

	o->others[0] = bound_socket(SOCK_STREAM, &a);
	o->fd[BB_LIVE_TCP] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!listen(o->others[0], 1) &&
	    !connect(o->fd[BB_LIVE_TCP], (struct sockaddr *)&a, sizeof(a))) {
		o->others[1] = accept4(o->others[0], NULL, NULL, SOCK_CLOEXEC);
		send(o->others[1], "bpfbench", 8, MSG_NOSIGNAL);
	}
	o->fd[BB_LIVE_UDP] = bound_socket(SOCK_DGRAM, &a);
	sendto(o->fd[BB_LIVE_UDP], "bpfbench", 8, 0, (struct sockaddr *)&a, sizeof(a));
	if (!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		o->fd[BB_LIVE_UNIX] = pair[0];
		o->others[2] = pair[1];
	}
}

enum { PAGE_ZEROS, PAGE_ADDRESSES, PAGE_TEXT, N_PAGES };

#define PAGES_AT 0x20000000L
/* Offset in a page to which pointers point. It is not a multiple of 256, so that a page full of
 * pointers also holds a text that is not empty. */
#define IN_PAGE 0x140L
static const char a_path[] = "/etc/hostname";

static char *page_at(const struct bb_live_objects *o, unsigned int page)
{
	return o->pages + page * (size_t)sysconf(_SC_PAGESIZE);
}

/* If possible, the address is the same in every run of bpfbench. */
static long text_of_ours(const struct bb_live_objects *o)
{
	return o->pages ? (long)page_at(o, PAGE_TEXT) : (long)a_path;
}

static void open_pages(struct bb_live_objects *o)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap((void *)PAGES_AT, N_PAGES * bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == MAP_FAILED)
		return;
	/* before Linux 4.17, the kernel ignores MAP_FIXED_NOREPLACE */
	if (p != (char *)PAGES_AT) {
		munmap(p, N_PAGES * bytes);
		return;
	}
	o->pages = p;
	for (size_t i = 0; i < bytes; i += sizeof(long))
		*(long *)(void *)(page_at(o, PAGE_ADDRESSES) + i) =
			(long)page_at(o, PAGE_ADDRESSES) + IN_PAGE;
	memcpy(page_at(o, PAGE_TEXT), a_path, sizeof(a_path));
}

static int find_addresses(struct bb_live_objects *o, const char *object_dir)
{
	struct bpf_link *link = NULL;
	struct bpf_map *map;
	struct bb_live_record r;
	int fd = -1, pid = getpid(), rc;
	char path[4096];
	size_t size;

	snprintf(path, sizeof(path), "%s/live_objects.bpf.o", object_dir ? object_dir : ".");
	bb_libbpf_log__begin();
	struct bpf_object *obj = bpf_object__open(path);
	if (!obj)
		return -errno;
	/* set the only constant of the program, our pid */
	bpf_object__for_each_map(map, obj)
	{
		if (strstr(bpf_map__name(map), "rodata") && bpf_map__initial_value(map, &size) &&
		    size == sizeof(pid))
			bpf_map__set_initial_value(map, &pid, sizeof(pid));
	}
	rc = bpf_object__load(obj);
	if (!rc)
		link = bpf_program__attach(bpf_object__next_program(obj, NULL));
	if (link)
		fd = bpf_iter_create(bpf_link__fd(link));
	rc = rc ? rc : fd < 0 ? -errno : 0;
	while (!rc && read(fd, &r, sizeof(r)) == sizeof(r))
		for (size_t i = 0; i < BB_N_LIVE_FILES; i++)
			if (o->fd[i] >= 0 && r.fd == (unsigned int)o->fd[i])
				o->record[i] = r;
	bb_close(&fd);
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return rc;
}

void bb_live_objects__open(int netns_fd, const char *object_dir,
			   struct bb_live_objects *ret_objects)
{
	struct bb_live_objects *o = ret_objects;
	int home_fd;

	*o = (struct bb_live_objects){0};
	for (size_t i = 0; i < BB_N_LIVE_FILES; i++)
		o->fd[i] = o->others[i] = -1;
	o->fd[BB_LIVE_REGULAR] = memfd_create("bpfbench", MFD_CLOEXEC);
	if (netns_fd < 0) {
		open_sockets(o);
	} else if (!bb_netns__enter(netns_fd, &home_fd, NULL)) {
		open_sockets(o);
		bb_netns__leave(home_fd, 0, NULL);
	}
	open_pages(o);
	o->btf = btf__load_vmlinux_btf();
	o->why_not = o->btf ? find_addresses(o, object_dir) : -errno;
}

void bb_live_objects__close(struct bb_live_objects *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < BB_N_LIVE_FILES; i++) {
		if (o->fd[i] > 0)
			close(o->fd[i]);
		if (o->others[i] > 0)
			close(o->others[i]);
	}
	if (o->pages)
		munmap(o->pages, N_PAGES * (size_t)sysconf(_SC_PAGESIZE));
	btf__free(o->btf);
	*o = (struct bb_live_objects){0};
}

static const struct {
	const char *type; /* the struct that a parameter points to */
	enum bb_live live;
	/* the file; BB_N_LIVE_FILES means the socket that suits the function's name */
	enum bb_live_file of;
} objects[] = {
	{"task_struct", BB_LIVE_TASK, BB_LIVE_REGULAR},
	{"mm_struct", BB_LIVE_MM, BB_LIVE_REGULAR},
	{"cred", BB_LIVE_CRED, BB_LIVE_REGULAR},
	{"files_struct", BB_LIVE_FILES, BB_LIVE_REGULAR},
	{"signal_struct", BB_LIVE_SIGNAL, BB_LIVE_REGULAR},
	{"nsproxy", BB_LIVE_NSPROXY, BB_LIVE_REGULAR},
	{"net", BB_LIVE_NET, BB_LIVE_REGULAR},
	{"css_set", BB_LIVE_CSS_SET, BB_LIVE_REGULAR},
	{"cgroup", BB_LIVE_CGROUP, BB_LIVE_REGULAR},
	{"file", BB_LIVE_FILE, BB_LIVE_REGULAR},
	{"inode", BB_LIVE_INODE, BB_LIVE_REGULAR},
	{"path", BB_LIVE_PATH, BB_LIVE_REGULAR},
	{"dentry", BB_LIVE_DENTRY, BB_LIVE_REGULAR},
	{"vfsmount", BB_LIVE_VFSMOUNT, BB_LIVE_REGULAR},
	{"super_block", BB_LIVE_SUPER_BLOCK, BB_LIVE_REGULAR},
	{"address_space", BB_LIVE_ADDRESS_SPACE, BB_LIVE_REGULAR},
	{"socket", BB_LIVE_SOCKET, BB_N_LIVE_FILES},
	{"sock", BB_LIVE_SOCK, BB_N_LIVE_FILES},
	{"tcp_sock", BB_LIVE_SOCK, BB_LIVE_TCP},
	{"inet_sock", BB_LIVE_SOCK, BB_LIVE_TCP},
	{"udp_sock", BB_LIVE_SOCK, BB_LIVE_UDP},
	{"unix_sock", BB_LIVE_SOCK, BB_LIVE_UNIX},
	{"sk_buff", BB_LIVE_SK_BUFF, BB_LIVE_UDP},
};

#define A_SIZE 64

/* The value that an argument set gives to all parameters without a live object. */
struct filler {
	/* in words; NULL in set 0, which chooses a value by the parameter's name */
	const char *word;
	long value;
};

static long live_of(const struct bb_live_objects *o, const char *type, const char *function)
{
	enum bb_live_file suggested = strstr(function, "udp")    ? BB_LIVE_UDP
				      : strstr(function, "unix") ? BB_LIVE_UNIX
								 : BB_LIVE_TCP;

	for (size_t i = 0; i < BB_LEN(objects); i++)
		if (!strcmp(objects[i].type, type)) {
			enum bb_live_file of = objects[i].of;

			return (long)o->record[of == BB_N_LIVE_FILES ? suggested : of]
				.v[objects[i].live];
		}
	return 0;
}

/* The kernel stores the registers of our system call at the end of our kernel stack. */
static long own_registers(const struct bb_live_objects *o)
{
#if defined(__x86_64__)
	const long stack_bytes = 16384, registers_bytes = 168;
	__u64 stack = o->record[BB_LIVE_REGULAR].v[BB_LIVE_STACK];

	return stack ? (long)stack + stack_bytes - registers_bytes : 0;
#else
	(void)o;
	return 0;
#endif
}

static long integer_for(const struct bb_live_objects *o, const char *name)
{
	static const char *const sizes[] = {"count", "len", "size", "bytes", "nr"};

	if (!strcmp(name, "pid") || !strcmp(name, "tgid"))
		return getpid();
	if (strstr(name, "fd"))
		return o->fd[BB_LIVE_REGULAR];
	if (BB_ANY(sizes, BB_LEN(sizes), strstr(name, *it)))
		return A_SIZE;
	return 0;
}

/* Skips typedefs and qualifiers. Returns NULL if the type is void or unknown. */
static const struct btf_type *resolve(const struct bb_live_objects *o, __u32 type)
{
	int id = btf__resolve_type(o->btf, type);

	return id < 0 ? NULL : btf__type_by_id(o->btf, (__u32)id);
}

/* Appends the value in words to said[size]. */
static long value_for(const struct bb_live_objects *o, const struct filler *filler, __u32 type,
		      const char *name, const char *function, char *said, size_t size)
{
	const struct btf_type *t = resolve(o, type);
	long value;

	if (!t || !btf_is_ptr(t)) {
		bb_list_words(said, size, ", ", "%s", filler->word ? filler->word : "integer");
		return filler->word ? filler->value : integer_for(o, name);
	}
	t = resolve(o, t->type);
	const char *type_name = t ? btf__name_by_offset(o->btf, t->name_off) : "";
	if (t && btf_is_int(t) && btf_int_bits(t) == 8) {
		type_name = "text";
		/* a path for a system call, otherwise a text in the kernel: our name (comm) */
		value = strstr(function, "sys_") || strstr(function, "user")
				? text_of_ours(o)
				: (long)o->record[BB_LIVE_REGULAR].v[BB_LIVE_COMM];
	} else {
		value = t && !strcmp(type_name, "pt_regs") ? own_registers(o)
							   : live_of(o, type_name, function);
	}
	bb_list_words(said, size, ", ", "%s%s", value || filler->word ? "" : "no ",
		      !value && filler->word ? filler->word
		      : *type_name           ? type_name
					     : "pointer");
	return value ? value : filler->value;
}

static const struct btf_type *find_type(const struct bb_live_objects *o, const char *prefix,
					const char *name, __u32 kind)
{
	char whole[160];

	snprintf(whole, sizeof(whole), "%s%s", prefix, name);
	int id = o->btf ? btf__find_by_name_kind(o->btf, whole, kind) : -ENOENT;
	return id < 0 ? NULL : btf__type_by_id(o->btf, (__u32)id);
}

static const struct btf_type *prototype_of(const struct bb_live_objects *o, const char *function)
{
	/* SEC("ksyscall/NAME") leaves out these prefixes of the function's name */
	static const char *const prefixes[] = {"", "__x64_sys_", "__arm64_sys_"};
	const struct btf_type *t = NULL;

	for (size_t i = 0; !t && i < BB_LEN(prefixes); i++)
		t = find_type(o, prefixes[i], function, BTF_KIND_FUNC);
	return t ? btf__type_by_id(o->btf, t->type) : NULL;
}

/* Returns NULL unless exactly one kernel function begins with `begin`. */
static const char *only_function(const struct bb_live_objects *o, const char *begin)
{
	const char *found = NULL;

	for (__u32 id = 1; o->btf && id < btf__type_cnt(o->btf); id++) {
		const struct btf_type *t = btf__type_by_id(o->btf, id);
		const char *name = btf_is_func(t) ? btf__name_by_offset(o->btf, t->name_off) : "";

		if (strncmp(name, begin, strlen(begin)))
			continue;
		if (found && strcmp(found, name))
			return NULL;
		found = name;
	}
	return found;
}

/* Returns NULL if unknown. Programs do not see the prototype's first parameter. */
static const struct btf_type *event_of(const struct bb_live_objects *o, const char *event)
{
	const struct btf_type *t = find_type(o, "btf_trace_", event, BTF_KIND_TYPEDEF);

	t = t ? btf__type_by_id(o->btf, t->type) : NULL;
	t = t && btf_is_ptr(t) ? btf__type_by_id(o->btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? t : NULL;
}

static long value_of_user(const struct bb_live_objects *o, enum bb_user_value kind)
{
	switch (kind) {
	case BB_VALUE_TEXT: return text_of_ours(o);
	case BB_VALUE_POINTER: return o->pages ? (long)page_at(o, PAGE_ADDRESSES) + IN_PAGE : 0;
	case BB_VALUE_INTEGER: return A_SIZE;
	default: return 0;
	}
}

/* Floats, and arguments after the sixth, are only named in p->said. */
static void make_for_user(const struct bb_live_objects *o, struct bb_attach_point *p)
{
	static const char *const words[] = {"nothing", "integer", "text", "page of pointers",
					    "float"};
	const struct bb_user_prototype *known = &p->prototype;
	char list[200] = "";
	size_t n = 0;

	for (uint32_t i = 0; i < known->n; i++) {
		if (known->parameters[i] != BB_VALUE_FLOAT && n < 6)
			p->args[n++] = value_of_user(o, known->parameters[i]);
		bb_list_words(list, sizeof(list), ", ", "%s", words[known->parameters[i]]);
	}
	p->args[6] = value_of_user(o, known->result);
	snprintf(p->said, sizeof(p->said), "arguments made: %.150s%s%s", *list ? list : "none",
		 p->is_return ? "; returns " : "", p->is_return ? words[known->result] : "");
}

/* For a function with an unknown prototype. p->said begins with `why`. */
static void make_unknown(const struct bb_live_objects *o, const struct filler *filler,
			 const char *why, struct bb_attach_point *p)
{
	for (size_t i = 0; i < 7; i++)
		p->args[i] = filler->word ? filler->value : A_SIZE;
	if (!filler->word)
		p->args[6] = text_of_ours(o);
	snprintf(p->said, sizeof(p->said), "%sarguments made: %s%s", why,
		 filler->word ? "all " : "integers", filler->word ? filler->word : "");
}

/* Programs do not see the first parameter of an event's prototype. */
static void make_by_prototype(const struct bb_live_objects *o, const struct filler *filler,
			      const struct btf_type *proto, const char *function,
			      struct bb_attach_point *p)
{
	unsigned int skip = p->kind == BB_AT_OWN_RUN;
	bool counts = strstr(function, "read") || strstr(function, "write") ||
		      strstr(function, "msg");
	char said[200] = "", result[200] = "";

	for (size_t i = 0; i < 6 && i + skip < btf_vlen(proto); i++) {
		const struct btf_param *param = &btf_params(proto)[i + skip];

		p->args[i] = value_for(o, filler, param->type,
				       btf__name_by_offset(o->btf, param->name_off), function, said,
				       sizeof(said));
	}
	/* a result that is no error: 0, or the number of bytes that the function transfers */
	p->args[6] = value_for(o, filler, proto->type, counts ? "count" : "", function, result,
			       sizeof(result));
	if (filler->word)
		p->args[6] = filler->value;
	snprintf(p->said, sizeof(p->said), "arguments made: %.150s%s%s", *said ? said : "none",
		 p->is_return ? "; returns " : "",
		 !p->is_return  ? ""
		 : filler->word ? filler->word
				: result);
}

bool bb_live_objects__make_arguments(const struct bb_live_objects *o, unsigned int set,
				     struct bb_attach_point *p)
{
	long task = (long)o->record[BB_LIVE_REGULAR].v[BB_LIVE_TASK];
	const struct filler fillers[BB_N_ARGUMENT_SETS] = {
		{NULL, 0},
		{"0", 0},
		{"1", 1},
		{"page", o->pages ? (long)page_at(o, PAGE_ZEROS) : 0},
		{"page of pointers", o->pages ? (long)page_at(o, PAGE_ADDRESSES) + IN_PAGE : 0},
		{"text", o->pages ? (long)page_at(o, PAGE_TEXT) : 0},
		{"task_struct", o->why_not ? 0 : task},
	};
	const struct filler *filler = &fillers[set];
	char function[128];

	if (set > 2 && !filler->value)
		return false;
	p->argument_set = set;
	snprintf(function, sizeof(function), "%.*s", (int)strcspn(p->target, "+"), p->target);
	const struct btf_type *proto = p->kind == BB_AT_OWN_RUN ? event_of(o, function)
								: prototype_of(o, function);
	if (!set && p->prototype.is_known)
		make_for_user(o, p);
	else if (proto && !o->why_not)
		make_by_prototype(o, filler, proto, function, p);
	else
		make_unknown(o, filler,
			     !o->why_not && *function && !strpbrk(function, ":/*?[")
				     ? "the kernel has no such function; "
				     : "",
			     p);
	return true;
}

void bb_live_objects__stand_in(const struct bb_live_objects *o, const char *program,
			       struct bb_attach_point *p)
{
	char name[128];

	for (int is_bare = 0; !*p->target && is_bare < 2; is_bare++) {
		const char *function = NULL;

		bb_program__named_after(program, is_bare, name, sizeof(name));
		/* the kernel truncates the name of a program without BTF */
		if (prototype_of(o, name))
			function = name;
		else if (!is_bare && strcspn(program, ".") == BPF_OBJ_NAME_LEN - 1)
			function = only_function(o, name);
		snprintf(p->target, sizeof(p->target), "%s", function ? function : "");
	}
	bb_user_target__prototype(p->target, &p->prototype);
	bb_live_objects__make_arguments(o, 0, p);
}
