/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/fingerprint.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "env/git.h"
#include "env/sysfile.h"

#ifndef BB_CLANG_VERSION
#define BB_CLANG_VERSION BB_FINGERPRINT_UNKNOWN
#endif
#ifndef BB_VERSION
#define BB_VERSION BB_FINGERPRINT_UNKNOWN
#endif

#ifdef __clang__
#define COMPILER __VERSION__ /* "Debian Clang 14.0.6" */
#else
#define COMPILER "gcc " __VERSION__ /* the number alone */
#endif

#define CPU_DIR "/sys/devices/system/cpu"
#define FIELD(name, identity, doc)                                                                 \
	{                                                                                          \
#name, doc, offsetof(struct bb_fingerprint, name),                                 \
			sizeof(((struct bb_fingerprint *)0)->name), identity                       \
	}

/*
 * libbpf is not identity: it may rewrite a program a little, but then the program's tag differs,
 * which says more. Neither is the number of CPUs, nor anything that names a machine rather than a
 * kind of machine.
 */
const struct bb_fingerprint_field bb_fingerprint_fields[] = {
	FIELD(kernel_release, true, "kernel release (uname -r)"),
	FIELD(kernel_version, true, "kernel build (uname -v)"),
	FIELD(arch, true, "machine architecture (uname -m)"),
	FIELD(hostname, false, "host name"),
	FIELD(machine, false, "vendor and product of the machine or VM (DMI)"),
	FIELD(cpu_model, true, "CPU model"),
	FIELD(microcode, true, "CPU microcode revision"),
	FIELD(cpus_online, false, "number of online CPUs"),
	FIELD(smt, true, "simultaneous multithreading: active or inactive"),
	FIELD(governor, true, "CPU frequency governor of all CPUs, or none"),
	FIELD(hypervisor, true, "whether the CPU says that it is virtual: yes or no"),
	FIELD(container, false, "container runtime, or none"),
	FIELD(clocksource, true, "kernel clock source"),
	FIELD(mitigations, true,
	      "CPU vulnerabilities that concern this CPU, with their mitigations"),
	FIELD(jit_enable, true, "net.core.bpf_jit_enable"),
	FIELD(jit_harden, true, "net.core.bpf_jit_harden"),
	FIELD(unprivileged_bpf_disabled, false, "kernel.unprivileged_bpf_disabled"),
	FIELD(lockdown, false, "kernel lockdown: none, integrity or confidentiality"),
	FIELD(clang, true, "clang that built the BPF objects"),
	FIELD(harness_compiler, false, "compiler that built bpfbench"),
	FIELD(libbpf, false, "libbpf that loaded the programs"),
	FIELD(bpfbench, false, "bpfbench version"),
	FIELD(git_commit, false, "commit of the tree that bpfbench was run in, or none"),
};
const size_t bb_n_fingerprint_fields = sizeof(bb_fingerprint_fields) /
				       sizeof(bb_fingerprint_fields[0]);

/* A member that is an array, so that its size goes along. An empty value says no more than a
 * missing file. */
#define PUT(member, value) put(member, sizeof(member), value)

static void put(char *field, size_t size, const char *value)
{
	size_t n = strnlen(value, size - 1);

	if (!n) {
		put(field, size, BB_FINGERPRINT_UNKNOWN);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)value[i];

		field[i] = isspace(c) ? ' ' : c > ' ' && c < 0x7f ? (char)c : '?';
	}
	memset(field + n, 0, size - n);
}

void bb_fingerprint_init(struct bb_fingerprint *fp)
{
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++)
		put((char *)fp + bb_fingerprint_fields[i].offset, bb_fingerprint_fields[i].size,
		    "");
}

const char *bb_fingerprint_get(const struct bb_fingerprint *fp, size_t i)
{
	return (const char *)fp + bb_fingerprint_fields[i].offset;
}

int bb_fingerprint_set(struct bb_fingerprint *fp, const char *key, const char *value)
{
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++) {
		const struct bb_fingerprint_field *f = &bb_fingerprint_fields[i];

		if (!strcmp(f->key, key)) {
			put((char *)fp + f->offset, f->size, value);
			return 0;
		}
	}
	return -ENOENT;
}

size_t bb_fingerprint_differences(const struct bb_fingerprint *a, const struct bb_fingerprint *b,
				  const char *ret_keys[], size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < bb_n_fingerprint_fields; i++) {
		const char *va = bb_fingerprint_get(a, i), *vb = bb_fingerprint_get(b, i);

		if (!bb_fingerprint_fields[i].identity || !strcmp(va, vb))
			continue;
		if (!strcmp(va, BB_FINGERPRINT_UNKNOWN) || !strcmp(vb, BB_FINGERPRINT_UNKNOWN))
			continue;
		if (n < max)
			ret_keys[n] = bb_fingerprint_fields[i].key;
		n++;
	}
	return n;
}

/* The file's text into the field, which keeps what it has (unknown) when there is no such file. */
#define PUT_FILE(member, root, path) put_file(member, sizeof(member), root, path)

static void put_file(char *field, size_t size, const char *root, const char *path)
{
	char text[BB_FINGERPRINT_LONG_TEXT];

	if (!bb_sysfile__read(root, path, text, sizeof(text)))
		put(field, size, text);
}

/* Add "sep" + "text" to a list of size bytes; what does not fit is cut. The separator only between
 * entries. */
static void append(char *list, size_t size, const char *sep, const char *text)
{
	size_t used = strlen(list);

	if (snprintf(list + used, size - used, "%s%s", used ? sep : "", text) < 0)
		list[used] = '\0';
}

static void read_uname(struct bb_fingerprint *fp)
{
	struct utsname u;

	if (uname(&u))
		return;
	PUT(fp->arch, u.machine);
}

static void read_machine(const char *root, struct bb_fingerprint *fp)
{
	static const char *const paths[] = {"/sys/class/dmi/id/sys_vendor",
					    "/sys/class/dmi/id/product_name",
					    "/sys/firmware/devicetree/base/model"};
	char text[BB_FINGERPRINT_TEXT] = "", part[BB_FINGERPRINT_TEXT];

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (!bb_sysfile__read(root, paths[i], part, sizeof(part)) && part[0])
			append(text, sizeof(text), " ", part);
	}
	PUT(fp->machine, text);
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = strstr(words, word); at; at = strstr(at + len, word)) {
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	}
	return false;
}

/* Split "key<blanks>: value" in place. False for a line of another form. */
static bool split_line(char *line, const char **ret_key, const char **ret_value)
{
	char *colon = strchr(line, ':'), *end;

	if (!colon)
		return false;
	for (end = line + strlen(line); end > colon && isspace((unsigned char)end[-1]); end--)
		end[-1] = '\0';
	*ret_value = colon + 1 + strspn(colon + 1, " \t");
	for (end = colon; end > line && isspace((unsigned char)end[-1]); end--)
		;
	*end = '\0';
	*ret_key = line;
	return true;
}

/* One CPU's part of cpuinfo. ARM names its parts by number: "implementer 0x41 part 0xd0c", as lscpu
 * starts from. */
static void read_cpuinfo_line(char *line, struct bb_fingerprint *fp, char *arm, size_t arm_size)
{
	const char *key, *value;

	if (!split_line(line, &key, &value))
		return;
	if (!strcmp(key, "model name") || !strcmp(key, "cpu model") || !strcmp(key, "cpu")) {
		PUT(fp->cpu_model, value);
	} else if (!strcmp(key, "microcode")) {
		PUT(fp->microcode, value);
	} else if (!strcmp(key, "flags")) {
		PUT(fp->hypervisor, has_word(value, "hypervisor") ? "yes" : "no");
	} else if (!strncmp(key, "CPU ", 4) && strcmp(key, "CPU architecture")) {
		append(arm, arm_size, " ", key + 4);
		append(arm, arm_size, " ", value);
	}
}

/* Only the first CPU's part: reading on costs up to 20 ms a CPU where the kernel samples the
 * frequency for it. */
static void read_cpuinfo(const char *root, struct bb_fingerprint *fp)
{
	char path[PATH_MAX], arm[BB_FINGERPRINT_TEXT] = "", *line = NULL;
	size_t size = 0;
	FILE *f;

	if (bb_sysfile__path(root, "/proc/cpuinfo", path, sizeof(path)))
		return;
	f = fopen(path, "re");
	if (!f)
		return;
	while (getline(&line, &size, f) > 0 && line[0] != '\n')
		read_cpuinfo_line(line, fp, arm, sizeof(arm));
	if (arm[0] && !strcmp(fp->cpu_model, BB_FINGERPRINT_UNKNOWN))
		PUT(fp->cpu_model, arm);
	free(line);
	fclose(f);
}

static void read_cpus(const char *root, struct bb_fingerprint *fp)
{
	char list[4096], text[16];
	uint32_t n;

	if (!bb_sysfile__read(root, CPU_DIR "/online", list, sizeof(list)) &&
	    !bb_cpulist_count(list, &n) && n) {
		snprintf(text, sizeof(text), "%u", n);
		PUT(fp->cpus_online, text);
	}
	if (!bb_sysfile__read(root, CPU_DIR "/smt/active", text, sizeof(text)))
		PUT(fp->smt, !strcmp(text, "1") ? "active" : !strcmp(text, "0") ? "inactive" : "");
}

/* The governors of all CPUs, each once: "performance", or "performance,powersave" where somebody
 * forgot one. */
static void read_governor(const char *root, struct bb_fingerprint *fp)
{
	char pattern[PATH_MAX], text[BB_FINGERPRINT_TEXT] = "", one[64], words[BB_FINGERPRINT_TEXT];
	glob_t found;

	if (bb_sysfile__path(root, CPU_DIR "/cpu[0-9]*/cpufreq/scaling_governor", pattern,
			     sizeof(pattern)))
		return;
	PUT(fp->governor, "none");
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (bb_sysfile__read("", found.gl_pathv[i], one, sizeof(one)) || !one[0])
			continue;
		memcpy(words, text, sizeof(words));
		for (char *p = words; *p; p++)
			*p = *p == ',' ? ' ' : *p;
		if (!has_word(words, one))
			append(text, sizeof(text), ",", one);
	}
	globfree(&found);
	PUT(fp->governor, text);
}

static void read_container(const char *root, struct bb_fingerprint *fp)
{
	static const char *const files[][2] = {{"/.dockerenv", "docker"},
					       {"/run/.containerenv", "podman"}};
	char path[PATH_MAX];

	PUT(fp->container, "none");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!bb_sysfile__path(root, files[i][0], path, sizeof(path)) && !access(path, F_OK))
			PUT(fp->container, files[i][1]);
	}
	/* systemd-nspawn, lxc, ... by name */
	PUT_FILE(fp->container, root, "/run/systemd/container");
}

static int not_hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	/* alphasort() would follow the user's locale */
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_mitigations(const char *root, struct bb_fingerprint *fp)
{
	char dir[PATH_MAX], path[PATH_MAX], value[512];
	char text[BB_FINGERPRINT_LONG_TEXT] = "";
	struct dirent **entries;
	int n;

	if (bb_sysfile__path(root, CPU_DIR "/vulnerabilities", dir, sizeof(dir)))
		return;
	n = scandir(dir, &entries, not_hidden, by_name);
	if (n < 0)
		return;
	for (int i = 0; i < n; i++) {
		int len = snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);

		if (len > 0 && (size_t)len < sizeof(path) &&
		    !bb_sysfile__read("", path, value, sizeof(value)) &&
		    strcmp(value, "Not affected")) {
			append(text, sizeof(text), "; ", entries[i]->d_name);
			append(text, sizeof(text), "=", value);
		}
		free(entries[i]);
	}
	free(entries);
	PUT(fp->mitigations, text[0] ? text : "none");
}

/* The level that "none [integrity] confidentiality" has in brackets. */
static void put_bracketed(char *field, size_t size, char *levels)
{
	char *open = strchr(levels, '['), *close = open ? strchr(open, ']') : NULL;

	if (!close)
		return;
	*close = '\0';
	put(field, size, open + 1);
}

/*
 * No file is "none" where securityfs is mounted (it then has `lsm`). Where it is not, the command
 * line may tell; silence there proves nothing, because Secure Boot locks down too.
 */
static void read_lockdown(const char *root, struct bb_fingerprint *fp)
{
	static const char key[] = "lockdown=";
	char text[4096];

	if (!bb_sysfile__read(root, "/sys/kernel/security/lockdown", text, sizeof(text))) {
		put_bracketed(fp->lockdown, sizeof(fp->lockdown), text);
		return;
	}
	if (!bb_sysfile__read(root, "/sys/kernel/security/lsm", text, sizeof(text))) {
		PUT(fp->lockdown, "none");
		return;
	}
	if (bb_sysfile__read(root, "/proc/cmdline", text, sizeof(text)))
		return;
	for (char *save = NULL, *word = strtok_r(text, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		if (!strncmp(word, key, sizeof(key) - 1))
			PUT(fp->lockdown, word + sizeof(key) - 1);
	}
}

/* A CI job may check out a merge commit or a tree without .git; what it calls the commit is what
 * people look for. */
static void read_commit(const char *tree_dir, struct bb_fingerprint *fp)
{
	static const char *const variables[] = {"GITHUB_SHA", "CI_COMMIT_SHA"};
	char commit[BB_GIT_COMMIT_SIZE];
	int err;

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = getenv(variables[i]);

		if (value && bb_git_is_commit(value)) {
			PUT(fp->git_commit, value);
			return;
		}
	}
	err = bb_git_commit__read(tree_dir, commit);
	if (!err)
		PUT(fp->git_commit, commit);
	else if (err == -ENOENT)
		PUT(fp->git_commit, "none");
}

int bb_fingerprint__read(const char *root, const char *tree_dir, struct bb_fingerprint *ret_fp,
			 struct bb_err *err)
{
	char path[PATH_MAX];
	int ret = bb_sysfile__path(root, "/proc/", path, sizeof(path));

	if (ret)
		return bb_fail(err, ret, "%s: this path is too long to put /proc behind it", root);
	if (access(path, X_OK)) {
		ret = -errno;
		return bb_fail(err, ret, "%s: %s: mount it (sudo mount -t proc proc /proc)", path,
			       strerror(-ret));
	}
	bb_fingerprint_init(ret_fp);
	PUT_FILE(ret_fp->kernel_release, root, "/proc/sys/kernel/osrelease");
	PUT_FILE(ret_fp->kernel_version, root, "/proc/sys/kernel/version");
	PUT_FILE(ret_fp->hostname, root, "/proc/sys/kernel/hostname");
	PUT_FILE(ret_fp->clocksource, root,
		 "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	PUT_FILE(ret_fp->jit_enable, root, "/proc/sys/net/core/bpf_jit_enable");
	PUT_FILE(ret_fp->jit_harden, root, "/proc/sys/net/core/bpf_jit_harden");
	PUT_FILE(ret_fp->unprivileged_bpf_disabled, root,
		 "/proc/sys/kernel/unprivileged_bpf_disabled");
	read_uname(ret_fp);
	read_machine(root, ret_fp);
	read_cpuinfo(root, ret_fp);
	read_cpus(root, ret_fp);
	read_governor(root, ret_fp);
	read_container(root, ret_fp);
	read_mitigations(root, ret_fp);
	read_lockdown(root, ret_fp);
	read_commit(tree_dir, ret_fp);
	PUT(ret_fp->clang, BB_CLANG_VERSION);
	PUT(ret_fp->harness_compiler, COMPILER);
	PUT(ret_fp->libbpf, libbpf_version_string());
	PUT(ret_fp->bpfbench, BB_VERSION);
	return 0;
}

void bb_testbed_name(const struct bb_fingerprint *fp, char ret_name[BB_TESTBED_SIZE])
{
	uint32_t hash = 2166136261u; /* FNV-1a, Fowler, Noll & Vo */
	size_t n = 0;

	for (const char *c = fp->cpu_model; *c && n < BB_TESTBED_SIZE - sizeof("-01234567"); c++) {
		char lower = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);

		if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9'))
			ret_name[n++] = lower;
		else if (n && ret_name[n - 1] != '-')
			ret_name[n++] = '-';
	}
	n -= n && ret_name[n - 1] == '-';
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++) {
		const char *value = bb_fingerprint_get(fp, i);

		/* With the NUL, so that no two lists of values run together. */
		for (size_t k = 0; bb_fingerprint_fields[i].identity && k <= strlen(value); k++)
			hash = (hash ^ (unsigned char)value[k]) * 16777619u;
	}
	snprintf(ret_name + n, BB_TESTBED_SIZE - n, "%s%08x", n ? "-" : "", (unsigned int)hash);
}
