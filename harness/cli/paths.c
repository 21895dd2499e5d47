/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/paths.h"

#include "base/io.h"
#include "base/parse.h"
#include "base/text.h"

#define YML ".yml"

const struct bb_paths *bb_paths(struct bb_err *err)
{
	static struct bb_paths p;
	char *dir = p.plot_dir ? NULL : bb_program_dir(), *share, *lib;
	const char *bin = dir ? strrchr(dir, '/') : NULL;
	bool is_absolute = BB_BUILD_DIR[0] == '/', is_installed = bin && !strcmp(bin, "/bin");

	if (p.plot_dir)
		return &p;
	if (!dir) {
		bb_fail(err, -ENOENT, "cannot tell where bpfbench is; is /proc mounted?");
		return NULL;
	}
	/* `make install` puts bpfbench into PREFIX/bin. PREFIX may have been moved since. */
	if (is_installed) {
		p.scenario_dir = bb_asprintf("%.*s/share/bpfbench/scenarios", (int)(bin - dir),
					     dir);
		is_installed = !access(p.scenario_dir, F_OK);
		free(p.scenario_dir);
	}
	if (is_installed) {
		share = bb_asprintf("%.*s/share/bpfbench", (int)(bin - dir), dir);
		lib = bb_asprintf("%.*s/lib/bpfbench", (int)(bin - dir), dir);
	} else {
		/* In the source tree, scenarios are beside bpfbench itself. BB_BUILD_DIR is the
		 * value of O= in the build, a folder there or an absolute path. */
		share = bb_strdup(dir);
		lib = bb_asprintf("%s%s%s", is_absolute ? "" : dir, is_absolute ? "" : "/",
				  BB_BUILD_DIR);
	}
	p.scenario_dir = bb_asprintf("%s/scenarios", share);
	p.object_dir = bb_asprintf("%s/bpf", lib);
	p.workload_dir = bb_asprintf("%s/workloads", lib);
	p.qemu_plugin = bb_asprintf("%s/qemu/trace.so", lib);
	p.plot_dir = bb_asprintf("%s/plots", share);
	free(share);
	free(lib);
	free(dir);
	return &p;
}

int bb_scenario_names(char ***ret_names, size_t *ret_n, struct bb_err *err)
{
	const struct bb_paths *paths = bb_paths(err);

	if (!paths)
		return err->code;
	int rc = bb_list_and_close(bb_open(paths->scenario_dir, O_RDONLY | O_DIRECTORY), YML,
				   ret_names, ret_n);
	return rc ? bb_fail(err, rc, "%s: %m", paths->scenario_dir) : 0;
}

int bb_scenario_find(const char *name, bool is_outline, struct bb_scenario **ret_scenario,
		     struct bb_err *err)
{
	char *path = NULL, **names = NULL;
	struct bb_err none;
	size_t n = 0;
	int rc;

	if (strchr(name, '/') || (name[0] != '.' && bb_ends_in(name, YML)))
		return bb_scenario__read(name, is_outline, ret_scenario, err);
	const struct bb_paths *paths = bb_paths(err);
	if (!paths)
		return err->code;
	path = bb_asprintf("%s/%s" YML, paths->scenario_dir, name);
	if (!access(path, F_OK)) {
		rc = bb_scenario__read(path, is_outline, ret_scenario, err);
		free(path);
		return rc;
	}
	free(path);
	bb_scenario_names(&names, &n, &none);
	const char *near = bb_nearest(name, (const char *const *)names, n);
	rc = bb_fail(err, -ENOENT, "no scenario '%s' in %s%s", name, paths->scenario_dir,
		     bb_did_you_mean(near, "; `bpfbench list` shows those there are, and a path to "
					   "a .yml file works too")
			     .text);
	bb_names_free(names, n);
	return rc;
}

int bb_scratch__make(const char *purpose, char **ret_dir, struct bb_err *err)
{
	const char *tmp = getenv("TMPDIR");

	tmp = tmp && *tmp ? tmp : "/tmp";
	char *dir = bb_asprintf("%s/bpfbench-%s-XXXXXX", tmp, purpose);
	if (mkdtemp(dir)) {
		*ret_dir = dir;
		return 0;
	}
	int rc = bb_fail(err, -errno, "%s: no folder can be made there: %m", tmp);
	free(dir);
	return rc;
}
