#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The Debian package: built by `make deb`, installed on this machine, run as root from an empty folder, and removed.
# If bpfbench is installed here already, as a package or by `make install PREFIX=/usr`, the test is
# skipped and touches nothing.
# slow: it builds, installs and removes a package
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check and trap call
. "$(dirname "$0")/../tool.sh"

names=("the package is built" "installed" "run" "removed")
need_root "${names[@]}" || plan_done
for tool in dpkg dpkg-deb dpkg-shlibdeps; do
	need_command "$tool" "${names[@]}" || plan_done
done
need_built "${names[@]}" || plan_done
skip_all() { skip_each "$1" "${names[@]}" || plan_done; }
field_of() { dpkg-query -W -f "\${$1}" bpfbench 2>/dev/null || true; }	# nothing where there is no such package
# dpkg_alone ARG...: dpkg, as `run` does it, when nobody else uses dpkg. It runs in a session of its
# own, so that a signal that ends this test does not end it half-way.
dpkg_alone() {
	local end=$((SECONDS + 300))

	run env LC_ALL=C setsid --wait dpkg "$@"
	while ((status == 2 && SECONDS < end)) && grep -q 'was locked by' "$TMP/err"; do
		sleep 0.5
		run env LC_ALL=C setsid --wait dpkg "$@"
	done
}
maintainer='bpfbench test <test@bpfbench.invalid>'
# A package that this test left when it was killed before it could clean up.
[[ $(field_of Maintainer) != "$maintainer" ]] || dpkg_alone --purge bpfbench
[[ -z $(field_of db:Status-Status) ]] || skip_all "a package bpfbench is here already"
for path in /usr/bin/bpfbench /usr/lib/bpfbench /usr/share/bpfbench; do
	[[ ! -e $path ]] || skip_all "$path is here already"
done
! grep -q -- -fsanitize "$O/flags" || skip_all "a build with sanitizers is not for a package"

# --- built ---
run "${make_built[@]}" deb "MAINTAINER=$maintainer"
expect_status "make deb" 0
deb=$(tail -n 1 "$TMP/err")
check "make deb: names the package" test -s "$deb"
[[ -s $deb ]] || plan_done
expect_eq "its version is the tool's" "bpfbench $(dpkg-deb -f "$deb" Version)" "$("$BPFBENCH" --version)"
run dpkg-deb -f "$deb" Depends
expect_grep "it depends on libbpf, by dpkg-shlibdeps" out 'libbpf1 \(>= '
run dpkg-deb -c "$deb"
expect_no_grep "all files are root's" out '^[^ ]+ +(([^r]|r[^o])[^ ]*)/'
if need_command lintian "lintian finds nothing"; then
	run lintian --allow-root --fail-on warning "$deb"
	expect_status "lintian finds nothing" 0
fi

# --- installed ---
# The shell acts on a signal when the command that runs has ended.
trap 'exit 143' HUP INT TERM
trap 'dpkg_alone --purge bpfbench; rm -rf -- "$TMP"' EXIT
dpkg_alone -i "$deb"
expect_status "dpkg -i" 0
dpkg -L bpfbench | while IFS= read -r path; do [[ -d $path ]] || printf '%s\n' "$path"; done >"$TMP/files"
check "it brought files" test "$(wc -l <"$TMP/files")" -gt 20
run dpkg --verify bpfbench
# Files of these folders may be missing: dpkg can be told to leave them out, as docker's images do.
grep -vE ' /usr/share/(doc|man|lintian)/' "$TMP/out" >"$TMP/changed" || true
expect_eq "dpkg --verify" "$(cat "$TMP/changed")" ""
if [[ -e /usr/share/man/man1/bpfbench.1.gz ]] && command -v man >/dev/null; then
	run man -w bpfbench
	expect_eq "man finds the page" "$(cat "$TMP/out")" /usr/share/man/man1/bpfbench.1.gz
else
	skip "man finds the page" "no man here, or this dpkg leaves out manual pages"
fi

# systemd verifies a drop-in together with its unit, if the drop-in is in a folder beside the unit.
if need_command systemd-analyze "the units for live programs are valid"; then
	examples=/usr/share/doc/bpfbench/examples units=$TMP/units
	mkdir -p "$units/agent.service.d"
	cp "$examples"/*.service "$examples"/*.timer "$units/"
	printf '[Service]\nExecStart=/bin/true\n' >"$units/agent.service"
	cp "$examples"/*.conf "$units/agent.service.d/"
	check "the units for live programs are valid" systemd-analyze --man=no verify "$units"/*.service "$units"/*.timer
fi

# --- run ---
mkdir "$TMP/empty"
cd -- "$TMP/empty"
run /usr/bin/bpfbench list
expect_grep "list names the scenarios" out '^perf_profiler'
run /usr/bin/bpfbench --scenario perf_profiler --drive step --variant ringbuf -n 120 --loads 3
expect_status "a scenario runs from an empty folder" 0
check "its result is BMF" valid_bmf "$TMP/out"
check "BMF: it was measured" more "$(bmf "$TMP/out" perf_profiler/ringbuf/step/stack_depth=8 latency)" 0
check "its run is stored in results/ here" only_whole "$TMP/empty/results" 1
run /usr/bin/bpfbench --scenario perf_profiler --drive in-situ --variant ringbuf --loads 3
if (($(nproc) < 2)); then
	skip "in-situ finds its workload" "needs two CPUs"
else
	expect_no_grep "in-situ finds its workload" err 'amicable_pairs'
	check "in-situ: stored, too" only_whole "$TMP/empty/results" 2
fi
cd -- "$ROOT"

# --- removed ---
dpkg_alone --purge bpfbench
expect_status "dpkg --purge" 0
left=''
while IFS= read -r path; do [[ ! -e $path ]] || left+="$path "; done <"$TMP/files"
left+=$(find /usr/{lib,share,share/doc}/bpfbench 2>/dev/null || true)
expect_eq "no file of it is left" "$left" ""
expect_eq "dpkg knows no such package any more" "$(field_of db:Status-Status)" ""

plan_done
