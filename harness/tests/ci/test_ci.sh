#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ci/: packages.txt, deps.sh, as-owner.sh, bencher.sh, fresh.sh and .ci/run, with fakes of dpkg-query, apt-get, sudo and bencher that
# record their calls. Needs no network and no build; only as-owner's change of user needs root.
# shellcheck source=harness/tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# The variables of the CI that runs this test must not reach the scripts under test.
unset "${!BENCHER_@}" "${!GITHUB_@}" "${!SUDO_@}" "${!GIT_@}" MAKEFLAGS MFLAGS MAKELEVEL BB_NO_INSTALL V SAN CC
fake=$TMP/fake
mkdir "$fake"

# fake_tool NAME: makes a program of this name from the script on stdin.
fake_tool() { cat >"$fake/$1"; chmod +x "$fake/$1"; }

# --- packages.txt ---
for release in debian-12 debian-13 ubuntu-24.04; do
	run ci/deps.sh --for test --list "$release"
	expect_grep "$release: libbpf-dev is listed" out '^libbpf-dev$'
	expect_no_grep "$release: only package names are printed" out '[^a-z0-9.+-]'
	expect_eq "$release: no name twice" "$(sort "$TMP/out" | uniq -d)" ""
done
run ci/deps.sh --for test --list ubuntu-24.04
expect_grep "ubuntu-24.04: bpftool comes with linux-tools" out '^linux-tools-generic$'
expect_no_grep "ubuntu-24.04: the Debian name is replaced" out '^bpftool$'
expect_grep "ubuntu-24.04: has clang-format 14" out '^clang-format-14$'
run ci/deps.sh --for test --list debian-13
expect_no_grep "debian-13: what it does not have is not listed" out '^(clang-format.*|-)$'
run ci/deps.sh --list plan-9
expect_status "an unknown release is a usage error" 2
expect_grep "an unknown release: says which are known" err "unknown release 'plan-9'.* debian-12 debian-13 ubuntu-24.04"

run ci/deps.sh --list debian-13
expect_grep "no task: what building needs" out '^libbpf-dev$'
expect_no_grep "no task: nothing that only tests and plots need" out '^(qemu|valgrind|lcov|bpftrace|shellcheck|gnuplot|jq)'
run ci/deps.sh --for plot --list debian-13
expect_eq "plot: what building needs, and gnuplot" "$(comm -13 <(ci/deps.sh --list debian-13 | sort) <(sort "$TMP/out") | tr '\n' ' ')" \
	"fonts-dejavu-core gnuplot-nox "
run ci/deps.sh --for fresh --list debian-13
expect_no_grep "fresh: nothing to build with" out '^gcc$'
run ci/deps.sh --for fun
expect_status "an unknown task is a usage error" 2

# Which task's packages does each target of make install? make ends after that, because this as-owner.sh fails.
mkdir -p "$TMP/targets/ci"
cp Makefile "$TMP/targets/"
# shellcheck disable=SC2016 # the inner shell's
printf '#!/bin/sh\necho "$*" >>"$BB_TEST_LOG"\n' >"$TMP/targets/ci/deps.sh"
printf '#!/bin/sh\nexit 1\n' >"$TMP/targets/ci/as-owner.sh"
chmod +x "$TMP"/targets/ci/*.sh
# packages_of TARGET: prints the tasks whose packages this target installs
packages_of() {
	: >"$TMP/log"
	BB_TEST_LOG=$TMP/log make -C "$TMP/targets" "$1" >/dev/null 2>&1 || true
	cat "$TMP/log"
}
expect_eq "make bench: what building and running needs, and nothing else" "$(packages_of bench)" ""
check "make bench: it did ask" test -s "$TMP/log"
for target in test:test test-all:test vm-test:test stress:test plot:plot heap:heap deb:deb fuzz:fuzz; do
	expect_eq "make ${target%:*}: its packages" "$(packages_of "${target%:*}")" "--for ${target#*:}"
done

# list_for ID VERSION LIKE: prints a checksum of the list for a system with these values in os-release.
list_for() {
	printf 'NAME="x"\nID=%s\nVERSION_ID="%s"\nID_LIKE="%s"\n' "$1" "$2" "$3" >"$TMP/os-release"
	BB_OS_RELEASE=$TMP/os-release ci/deps.sh --list 2>"$TMP/list.err" | md5sum
}
list_of() { ci/deps.sh --list "$1" | md5sum; }
expect_eq "os-release: Debian 12" "$(list_for debian 12 '')" "$(list_of debian-12)"
expect_eq "os-release: Ubuntu 24.04" "$(list_for ubuntu 24.04 debian)" "$(list_of ubuntu-24.04)"
expect_eq "os-release: a listed release gives no note" "$(cat "$TMP/list.err")" ""
expect_eq "os-release: Debian testing has Debian 13's names" "$(list_for debian '' '')" "$(list_of debian-13)"
expect_eq "os-release: Debian 11 has Debian 12's" "$(list_for debian 11 '')" "$(list_of debian-12)"
expect_eq "os-release: Mint has Ubuntu's" "$(list_for linuxmint 22 'ubuntu debian')" "$(list_of ubuntu-24.04)"
list_for fedora 40 '' >/dev/null
check "os-release: an unlisted system is named" grep -q 'fedora 40.*debian-12' "$TMP/list.err"

if command -v apt-cache >/dev/null && apt-cache show libbpf-dev >/dev/null 2>&1; then
	run ci/deps.sh --for test --list
	mapfile -t names <"$TMP/out"
	check "apt knows every name on this release" apt-cache show --no-all-versions "${names[@]}"
else
	skip "apt knows every name on this release" "no apt package lists here"
fi

# --- deps.sh ---
# A PATH with only the programs that deps.sh may use; apt-get is added later.
for tool in bash env cat; do ln -s "$(command -v "$tool")" "$fake/$tool"; done
fake_tool dpkg-query <<'EOF'
#!/usr/bin/env bash
for word in "$@"; do
	while read -r name; do
		[[ $name == "$word" ]] && printf '%s installed\n' "$name"
	done <"$BB_TEST_INSTALLED"
	[[ $word == gcc ]] && printf 'gcc config-files\n'	# removed, not purged: not installed
done
exit 1	# as the real one when some name is unknown
EOF
export BB_TEST_INSTALLED=$TMP/installed BB_TEST_LOG=$TMP/log
printf 'PRETTY_NAME="Debian"\nID=debian\nVERSION_ID="12"\n' >"$TMP/os-release"
export BB_OS_RELEASE=$TMP/os-release
ci/deps.sh --list debian-12 >"$TMP/all"
deps() { run env PATH="$fake" "$@" bash ci/deps.sh; }
without() { grep -vxE "$1" "$TMP/all" >"$BB_TEST_INSTALLED" || true; }

cp "$TMP/all" "$BB_TEST_INSTALLED"
deps BB_UID=0
expect_status "deps: nothing missing: succeeds" 0
expect_eq "deps: nothing missing: silent" "$(cat "$TMP/out" "$TMP/err")" ""

without 'gcc|libyaml-dev'
run env PATH="$fake" bash ci/deps.sh --missing
expect_eq "deps --missing: exactly those, removed but not purged ones too" "$(tr '\n' ' ' <"$TMP/out")" "gcc libyaml-dev "
deps BB_UID=0
expect_status "deps: no apt: goes on" 0
expect_grep "deps: no apt: says which are missing" err '^deps: missing packages: gcc libyaml-dev;'
expect_empty "deps: no apt: stdout stays clean" out

fake_tool apt-get <<'EOF'
#!/usr/bin/env bash
if [[ " $* " == *' --assume-no '* ]]; then
	[[ -z ${BB_TEST_SIZES:-} ]] || printf '%s\n' '0 upgraded, 98 newly installed, 0 to remove and 2 not upgraded.' \
		'Need to get 7 MB/148 MB of archives.' 'After this operation, 654 MB of additional disk space will be used.'
	exit 1
fi
printf '%s DEBIAN_FRONTEND=%s\n' "$*" "${DEBIAN_FRONTEND:-}" >>"$BB_TEST_LOG"
echo "apt chatter"
[[ " $* " != *' install '* ]] && exit "${BB_TEST_UPDATE_RC:-0}"
[[ -z ${BB_TEST_INSTALL_RC:-} ]] || { echo "E: no network" >&2; exit "$BB_TEST_INSTALL_RC"; }
[[ -z ${BB_TEST_INSTALL_NOTHING:-} ]] || exit 0
seen=0
for word in "$@"; do
	[[ $word == install ]] && seen=1
	[[ $seen == 1 && $word != -* ]] && echo "$word" >>"$BB_TEST_INSTALLED"
done
exit 0
EOF
: >"$BB_TEST_LOG"
deps BB_UID=1000
expect_status "deps: no root: goes on" 0
expect_grep "deps: no root: gives the command" err \
	'^deps: missing packages: gcc libyaml-dev; install them with: sudo apt-get install --no-install-recommends gcc libyaml-dev$'
deps BB_UID=0 BB_NO_INSTALL=1
expect_grep "deps: BB_NO_INSTALL=1: says the same as root" err '^deps: missing packages: gcc libyaml-dev;'
expect_eq "deps: neither called apt-get" "$(cat "$BB_TEST_LOG")" ""

deps BB_UID=1000 BB_TEST_SIZES=1
expect_grep "deps: no root: says what it brings" err \
	'^deps: missing packages \(98 packages, 7 MB/148 MB to download, 654 MB on disk\): gcc libyaml-dev;'
deps BB_UID=0 BB_TEST_INSTALL_RC=100 BB_TEST_SIZES=1
expect_grep "deps: says beforehand what it brings" err \
	'^deps: installing \(98 packages, 7 MB/148 MB to download, 654 MB on disk\): gcc libyaml-dev$'
deps BB_UID=0 BB_TEST_INSTALL_RC=100
expect_status "deps: apt-get fails: exit code 1" 1
expect_grep "deps: apt-get fails: says so" err '^deps: apt-get could not install: gcc libyaml-dev'
deps BB_UID=0 BB_TEST_INSTALL_NOTHING=1
expect_status "deps: apt-get installs nothing: exit code 1" 1
expect_grep "deps: apt-get installs nothing: says what is missing" err 'still missing: gcc libyaml-dev'

: >"$BB_TEST_LOG"
deps BB_UID=0
expect_status "deps: installs" 0
expect_empty "deps: apt's chatter stays off stdout" out
expect_grep "deps: apt's chatter is on stderr" err '^apt chatter$'
expect_eq "deps: updates first, then installs only what is missing" "$(sed -E 's/.* -q //' "$BB_TEST_LOG")" \
	"update DEBIAN_FRONTEND=noninteractive
install --no-install-recommends gcc libyaml-dev DEBIAN_FRONTEND=noninteractive"
without gcc
deps BB_UID=0 BB_TEST_UPDATE_RC=100
expect_status "deps: a failed update does not stop an install that works" 0

rm "$fake/dpkg-query" "$fake/apt-get"
fake_tool pkg-config <<'EOF'
#!/usr/bin/env bash
[[ " $* " == *' libbpf '* && $1 == --atleast-version=1.0 ]] && exit 1
exit 0
EOF
fake_tool cc </dev/null
for tool in gcc clang clang-format-14 llvm-strip bpftool bpftrace pgrep valgrind gnuplot shellcheck xmllint genhtml qemu-system-x86_64 busybox sqlite3 jq dpkg-shlibdeps man; do ln -sf "$(type -P true)" "$fake/$tool"; done
printf 'ID=fedora\nVERSION_ID=40\n' >"$TMP/os-release"
deps BB_UID=0
expect_status "deps: no dpkg: goes on" 0
expect_grep "deps: no dpkg: looks for the things themselves" err '^deps: missing packages: libbpf-dev;'
run ci/deps.sh --frobnicate
expect_status "deps: an unknown option is a usage error" 2
unset BB_OS_RELEASE

# --- as-owner.sh ---
tree=$TMP/tree
mkdir "$tree"
cat >"$tree/Makefile" <<'EOF'
O ?= build
outer:
	+@$(AS_OWNER) $(MAKE) --no-print-directory inner
inner:
	@mkdir -p $(O)
	@id -u > $(O)/uid
	@printf '%s\n' '$(MAKEFLAGS)' > $(O)/flags
	@printf '%s\n' '$(CFLAGS)' > $(O)/cflags
	@echo noise
EOF
as_make() { run env -u O AS_OWNER="$ROOT/ci/as-owner.sh" "$@"; }
as_make make -C "$tree" --no-print-directory outer
expect_status "as-owner: without sudo it runs the command" 0
expect_eq "as-owner: without sudo as ourselves" "$(cat "$tree/build/uid")" "$EUID"
expect_empty "as-owner: the build's stdout does not reach ours" out
expect_grep "as-owner: it is on stderr" err '^noise$'
run ci/as-owner.sh bash -c 'exit 7'
expect_status "as-owner: the exit code is the command's" 7
run ci/as-owner.sh
expect_status "as-owner: no command is a usage error" 2
if need_root "as-owner: drops to the owner of the tree" "as-owner: gives back what root built" \
	"as-owner: -j goes on with a jobserver of its own" "as-owner: variables with blanks arrive" \
	"as-owner: no jobserver warning" "as-owner: a tree of another user: stays root" \
	"as-owner: an unwritable O: stays root" "as-owner: a user with a name gets their HOME"; then
	# Uid 12345 must be able to reach $TMP and the tree.
	chmod 755 "$TMP"
	chown 12345:12345 "$tree"
	as_make SUDO_UID=12345 SUDO_GID=12345 make -C "$tree" --no-print-directory -j3 'CFLAGS=-O1 -g' outer
	expect_eq "as-owner: drops to the owner of the tree" "$status $(cat "$tree/build/uid")" "0 12345"
	expect_eq "as-owner: gives back what root built" "$(find "$tree/build" ! -uid 12345)" ""
	check "as-owner: -j goes on with a jobserver of its own" grep -q -- '-j3 ' "$tree/build/flags"
	expect_eq "as-owner: variables with blanks arrive" "$(cat "$tree/build/cflags")" "-O1 -g"
	expect_no_grep "as-owner: no jobserver warning" err '[jJ]observer'
	as_make SUDO_UID=12346 SUDO_GID=12346 make -C "$tree" --no-print-directory O=other outer
	expect_eq "as-owner: a tree of another user: stays root" "$(cat "$tree/other/uid")" "0"
	mkdir "$TMP/roots"
	as_make SUDO_UID=12345 SUDO_GID=12345 make -C "$tree" --no-print-directory O="$TMP/roots/out" outer
	expect_eq "as-owner: an unwritable O: stays root" "$(cat "$TMP/roots/out/uid")" "0"
	nobody=$(id -u nobody)
	rm -r "$tree/build"
	chown nobody "$tree"
	# shellcheck disable=SC2016 # the inner shell's
	(cd "$tree" && run env -u O SUDO_UID="$nobody" SUDO_GID="$(id -g nobody)" "$ROOT/ci/as-owner.sh" \
		sh -c 'echo "$(id -un) $HOME"')
	expect_eq "as-owner: a user with a name gets their HOME" "$(cat "$TMP/err")" \
		"nobody $(getent passwd nobody | cut -d: -f6)"
fi

# --- bencher.sh ---
# A small git tree with main and a branch one commit ahead. Its bpfbench prints which of the two it is.
repo=$TMP/repo
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 HOME=$TMP
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t
mkdir -p "$repo/ci"
cp ci/bencher.sh "$repo/ci/"
# bpfbench is built and not committed, like the real one. It prints its arguments, and leaves results as root would.
cat >"$repo/Makefile" <<'EOF'
all:
	@echo building; test ! -e broken
	@printf '#!/bin/sh\nexec sh ./fake-bpfbench "%s" "$$@"\n' "$$(cat version)" > bpfbench
	@chmod +x bpfbench
EOF
cat >"$repo/fake-bpfbench" <<'EOF'
version=$1
shift
case $1 in
check) [ -z "$BB_TEST_NO_TESTBED" ] && echo a-machine ;;
gate)
	echo "$*" | sed 's,/[^ ]*/,,g' >>"$BB_TEST_LOG"
	while [ $# -gt 0 ]; do
		case $1 in
		--base) base=$2 ;;
		--bmf-base) echo "base $(git show "$base:version")" >"$2" ;;
		--bmf-head) echo "head $version" >"$2" ;;
		--markdown) echo "report" >"$2" ;;
		esac
		shift
	done
	exit "${BB_TEST_GATE_RC:-0}" ;;
*)
	mkdir -p results
	touch results/run.json
	echo "{\"$version $*/step\": {\"latency\": {\"value\": 1}, \"latency-relative\": {\"value\": 1}}, \"b/step\": {\"latency\": {\"value\": 2}, \"latency-net\": {\"value\": 1}}, \"b/empty/step\": {\"latency\": {\"value\": 1}}, \"b/in-situ/x\": {\"latency\": {\"value\": 3}}}"
	exit "${BB_TEST_BENCH_RC:-0}" ;;
esac
EOF
rm -rf "$fake"
mkdir "$fake"
fake_tool sudo <<'EOF'
#!/usr/bin/env bash
exec "$@"
EOF
# Reads the file, as bencher does, and fails if told to: always, once, each time for another benchmark, for one branch, or by a signal.
fake_tool bencher <<'EOF'
#!/usr/bin/env bash
{ printf '%q ' "$@"; echo; } >>"$BB_TEST_LOG"
words=$*
if [[ $1 == measure ]]; then [[ $2 == update || ${BB_TEST_MEASURE_THERE:-} != 1 ]]; exit; fi
echo "measured: $(tr -d '\n' <"${*: -1}")" >>"$BB_TEST_LOG"
[[ -n $BENCHER_API_KEY || " $* " == *' --host '* ]] || exit 1
alert() { # BENCHMARK [MEASURE]..., as the real one, which is JSON alone only with --quiet
	[[ " $words " == *" --quiet "* ]] || echo 'Benchmark Harness Results:'
	for measure in "${@:2}"; do
		echo "{\"benchmark\": {\"name\": \"$1\"}, \"threshold\": {\"measure\": {\"slug\": \"$measure\"}}}"
	done | jq -s '{alerts: .}'
	exit 1
}
relative='candidate --scenario perf_profiler/step' # has latency-relative, too
for word in "$@"; do
	[[ $word != "${BB_TEST_BENCHER_KILLED:-}" ]] || kill -KILL $$
	[[ $word != "${BB_TEST_BENCHER_BROKEN:-}" ]] || { echo "no such host" >&2; exit 1; }
	[[ $word != "${BB_TEST_BENCHER_FAIL:-}" ]] || alert b/step latency
	[[ $word != "${BB_TEST_BENCHER_NS:-}" ]] || alert "$relative" latency
	[[ $word != "${BB_TEST_BENCHER_BOTH:-}" ]] || alert "$relative" latency latency-relative
	# Like the real one: an alert if the value grew since the last report. The second report compares with the first one of the changed program.
	[[ $word != "${BB_TEST_BENCHER_GREW:-}" || -e $TMP/grew ]] ||
		{ touch "$TMP/grew"; alert b/step latency verified-instructions xlated-bytes; }
	[[ $word != "${BB_TEST_BENCHER_OTHER:-}" ]] || alert "b/$RANDOM$RANDOM" latency
	[[ $word != "${BB_TEST_BENCHER_ONCE:-}" || -e $TMP/once ]] || { touch "$TMP/once"; alert b/step latency; }
done
EOF
here() { (cd "$repo" && "$@"); }
# A machine on which all is done as root may have no sudo, so the fake one is in PATH from here on. The other fakes follow later.
mkdir "$TMP/sudo"
ln -s "$fake/sudo" "$TMP/sudo/sudo"
export PATH=$TMP/sudo:$PATH

export BENCHER_PAUSE=0
if need_command git "bencher.sh"; then
	run ci/bencher.sh --help
	expect_grep "bencher: --help names the modes" out 'ci/bencher.sh candidate'
	run "$repo/ci/bencher.sh" candidate --dry-run --branch x
	expect_status "bencher: candidate outside a git tree: exit code 1" 1
	expect_grep "bencher: candidate outside a git tree: says so" err '^bencher.sh: not a git tree'
	run "$repo/ci/bencher.sh" main --dry-run --testbed t
	expect_status "bencher: main needs no git" 0

	here git init -q -b main
	echo base >"$repo/version"
	here git add ci Makefile version fake-bpfbench
	here git commit -qm base
	base=$(here git rev-parse HEAD)
	here git switch -q -c feature/x
	echo candidate >"$repo/version"
	here git commit -qam candidate
	head=$(here git rev-parse HEAD)
	sut=$repo/ci/bencher.sh

	run env TMPDIR=/tmp "$sut" main --dry-run --project p --testbed t
	of_time='' exact=''
	for measure in latency latency-relative; do
		of_time+=" --threshold-measure $measure --threshold-test t_test --threshold-min-sample-size 10 --threshold-max-sample-size 64 --threshold-upper-boundary BOUNDARY"
	done
	for measure in instructions $(sed -n '/bb_static_metrics\[\]/,$s/.*{"[a-z_]*", "\([a-z-]*\)".*BB_METRIC_EXACT.*/\1/p' harness/core/metric.c); do
		exact+=" --threshold-measure $measure --threshold-test percentage --threshold-max-sample-size 1 --threshold-upper-boundary 0.0"
	done
	check "bencher: core/metric.c has exact measures" test -n "$exact"
	expect_eq "bencher: main: the exact command lines" "$(cat "$TMP/out")" "make all
sudo ./bpfbench --scenario perf_profiler >/tmp/bpfbench-bencher.XXXXXX/main.1.json
bencher run --project p --adapter json --testbed t --hash $head --branch main$of_time$exact --thresholds-reset --err --quiet --format json --file /tmp/bpfbench-bencher.XXXXXX/main.1.json"
	expect_empty "bencher: main --dry-run: nothing else is said" err

	run env TMPDIR=/tmp "$sut" candidate --dry-run --project p --testbed t --host http://localhost:6610
	expect_eq "bencher: candidate: the exact command lines" "$(cat "$TMP/out")" "make all
sudo ./bpfbench gate --base $base --scenario perf_profiler --unchanged --markdown /tmp/bpfbench-bencher.XXXXXX/gate.md --bmf-base /tmp/bpfbench-bencher.XXXXXX/base.json --bmf-head /tmp/bpfbench-bencher.XXXXXX/head.json
bencher run --project p --adapter json --testbed t --host http://localhost:6610 --hash $base --branch feature/x-base-t --start-point-reset --file /tmp/bpfbench-bencher.XXXXXX/base.json
bencher run --project p --adapter json --testbed t --host http://localhost:6610 --hash $head --branch feature/x --start-point feature/x-base-t --start-point-reset --threshold-measure latency --threshold-test percentage --threshold-min-sample-size 1 --threshold-max-sample-size 1 --threshold-upper-boundary 0.25$exact --thresholds-reset --err --file /tmp/bpfbench-bencher.XXXXXX/head.json"
	check "bencher: --dry-run ran nothing" test ! -e "$repo/bpfbench"

	run "$sut" candidate --dry-run --base-branch main --branch "it's" --scenario 'b c' --boundary=0.1
	expect_grep "bencher: options: branch names, quoted" out "--branch 'it'\\\\''s' --start-point main --start-point-reset"
	expect_grep "bencher: options: a scenario, quoted" out "gate .* --scenario 'b c' "
	expect_grep "bencher: options: --name=value" out '--threshold-upper-boundary 0.1 '
	run "$sut" candidate --dry-run --scenario a --scenario b
	expect_status "bencher: a candidate has one scenario" 2
	run "$sut" main --dry-run --scenario a --scenario 'b c'
	expect_grep "bencher: options: scenarios, quoted" out "^sudo ./bpfbench --scenario a --scenario 'b c' >"
	run "$sut" main --dry-run --scenario ./fleet.yml --budget 0
	expect_grep "bencher: options: the time for a run" out '^sudo ./bpfbench --scenario ./fleet.yml --budget 0 >'
	run "$sut" main --dry-run --budget 5s
	expect_status "bencher: a budget that is no number: exit code 2" 2
	run env GITHUB_HEAD_REF=pr BENCHER_PROJECT=q BENCHER_TESTBED=u BENCHER_SCENARIO=s BENCHER_BASE_REV=main \
		GITHUB_TOKEN=hush BENCHER_API_KEY=secret "$sut" candidate --dry-run --github-actions
	expect_grep "bencher: the environment does the same" out '--project q .*--testbed u .*--branch pr --start'
	expect_grep "bencher: the environment names the scenario" out '--scenario s '
	# shellcheck disable=SC2016 # printed as it is
	expect_grep "bencher: the token is printed by name" out '--github-actions "\$GITHUB_TOKEN"'
	expect_no_grep "bencher: no secret is printed" out 'hush|secret'

	run "$sut" main --frobnicate
	expect_status "bencher: an unknown option: exit code 2" 2
	expect_grep "bencher: an unknown option: is named" err "unknown option or mode '--frobnicate'"
	run "$sut"
	expect_status "bencher: no mode: exit code 2" 2
	run "$sut" candidate --dry-run --branch
	expect_status "bencher: an option without its value: exit code 2" 2
	run "$sut" candidate --dry-run --branch main
	expect_status "bencher: the default branch is no candidate" 2
	run "$sut" candidate --dry-run --boundary much
	expect_status "bencher: a boundary that is no number: exit code 2" 2
	run "$sut" candidate --dry-run --base-rev nowhere
	expect_status "bencher: an unknown base: exit code 1" 1
	expect_grep "bencher: an unknown base: is named" err "git knows no 'nowhere'"
	run "$sut" candidate --dry-run --main-branch trunk
	expect_grep "bencher: an unknown default branch: what to do" err 'neither origin/trunk nor trunk.*git fetch origin trunk'

	if command -v bencher >/dev/null; then
		skip "bencher: bencher missing: says how to get it" "bencher is installed here"
	else
		run env BENCHER_API_KEY=secret "$sut" main
		expect_grep "bencher: bencher missing: says how to get it" err "no 'bencher' in PATH: install"
	fi
	export PATH=$fake:$PATH
	: >"$BB_TEST_LOG"
	run "$sut" main
	expect_status "bencher: no key: exit code 1" 1
	expect_grep "bencher: no key: is named, forks too" err 'BENCHER_API_KEY is not set.*forks'
	expect_eq "bencher: no key: bencher was not called" "$(cat "$BB_TEST_LOG")" ""

	export BENCHER_API_KEY=secret TMPDIR=$TMP
	attempts() { grep -c "^run .*--branch $1 " "$BB_TEST_LOG"; }
	run "$sut" main
	expect_status "bencher: main runs" 0
	check "bencher: main measured this tree" grep -q '^measured: .*"candidate --scenario perf_profiler/step"' "$BB_TEST_LOG"
	check "bencher: in-situ series raise no alert" grep -q '^measured: .*"b/in-situ/x-bencher-ignore"' "$BB_TEST_LOG"
	check "bencher: the empty program raises no alert" grep -q '^measured: .*"b/empty/step-bencher-ignore"' "$BB_TEST_LOG"
	check "bencher: other programs do" grep -q '^measured: .*"b/step":' "$BB_TEST_LOG"
	check "bencher: two series share 5 %" grep -q -- '--threshold-upper-boundary 0.975 ' "$BB_TEST_LOG"
	check "bencher: the testbed is what bpfbench calls the machine" grep -q -- '--testbed a-machine ' "$BB_TEST_LOG"
	expect_no_grep "bencher: the key is not printed" err secret
	# shellcheck disable=SC2016 # the inner shell's
	check "bencher: the key is on no command line" bash -c '! grep -q secret "$1"' _ "$BB_TEST_LOG"
	expect_empty "bencher: the build's messages are not on stdout" out
	run env BB_TEST_NO_TESTBED=1 "$sut" main
	expect_status "bencher: a machine without a name: exit code 1" 1
	expect_grep "bencher: a machine without a name: says what to give" err 'give --testbed'
	: >"$BB_TEST_LOG"
	run env BB_TEST_BENCH_RC=1 "$sut" main
	expect_status "bencher: main: a case without a sample fails the job" 1
	expect_grep "bencher: main: a case without a sample: why" err 'a case has no valid sample, see above; the others are reported'
	check "bencher: main: a case without a sample: the others are reported" grep -q 'measured: .*b/step' "$BB_TEST_LOG"
	: >"$BB_TEST_LOG"
	run env BB_TEST_BENCHER_FAIL=main "$sut" main
	expect_status "bencher: main with an alert that is confirmed: exit code 1" 1
	expect_eq "bencher: an alert is measured twice" "$(attempts main)" 2
	expect_grep "bencher: the series is named" err 'confirmed by the second measurement: b/step latency'
	: >"$BB_TEST_LOG"
	run env BB_TEST_BENCHER_NS=main "$sut" main
	expect_status "bencher: an alert that pieces of the reference do not show passes" 0
	expect_grep "bencher: an alert of ns alone: says so" err 'none that counts'
	expect_eq "bencher: an alert of ns alone is not measured again" "$(attempts main)" 1
	run env BB_TEST_BENCHER_BOTH=main "$sut" main
	expect_status "bencher: an alert of ns and of pieces of the reference: exit code 1" 1
	expect_grep "bencher: an alert of both: named" err 'confirmed by the second measurement: candidate --scenario perf_profiler/step latency-relative$'
	: >"$BB_TEST_LOG"
	run env BB_TEST_BENCHER_GREW=main "$sut" main
	expect_status "bencher: an exact measure that grew: exit code 1" 1
	expect_grep "bencher: an exact measure that grew: named, and not the others" err \
		'exact measures grew, .*: b/step verified-instructions, b/step xlated-bytes$'
	expect_eq "bencher: an exact measure that grew is not measured again" "$(attempts main)" 1
	rm -f "$TMP/grew"
	run env BB_TEST_BENCHER_OTHER=main "$sut" main
	expect_status "bencher: main with alerts of two series passes" 0
	expect_grep "bencher: main with alerts of two series: says so" err 'not confirmed'
	run env BB_TEST_BENCHER_BROKEN=main "$sut" main
	expect_status "bencher: bencher fails twice: exit code 1" 1
	run env -u BENCHER_API_KEY "$sut" main --host http://localhost:6610
	expect_status "bencher: a server of one's own needs no key" 0
	run env -u BENCHER_API_KEY "$sut" setup --host http://localhost:6610
	expect_status "bencher: setup without a key" 1
	expect_grep "bencher: setup without a key: says so" err 'only with a key'
	: >"$BB_TEST_LOG"
	run "$sut" setup --project p
	expect_status "bencher: setup" 0
	check "bencher: setup: units" grep -q -- 'measure create --name latency --slug latency --units ns p' "$BB_TEST_LOG"
	run env BB_TEST_MEASURE_THERE=1 "$sut" setup --project p
	expect_status "bencher: setup again" 0
	check "bencher: setup again: units" grep -q -- 'measure update --units B p jited-bytes' "$BB_TEST_LOG"
	: >"$BB_TEST_LOG"
	run env BB_TEST_BENCHER_ONCE=main "$sut" main
	expect_status "bencher: main with an alert that is not confirmed passes" 0
	expect_grep "bencher: an alert that is not confirmed is said" err 'measuring a second time'
	expect_eq "bencher: measured twice for that" "$(attempts main)" 2
	rm "$TMP/once"
	: >"$BB_TEST_LOG"
	run env BB_TEST_BENCHER_KILLED=main "$sut" main
	expect_status "bencher: killed: exit code 1" 1
	expect_grep "bencher: killed: says so" err 'bencher was killed by SIGKILL; nothing is known'
	expect_eq "bencher: killed: not tried again" "$(attempts main)" 1

	clean_after() {
		expect_eq "$1: nothing is left" \
			"$(here git worktree list | wc -l) $(find "$TMP" -maxdepth 1 -name 'bpfbench-bencher.*')" "1 "
	}
	: >"$BB_TEST_LOG"
	run env GITHUB_STEP_SUMMARY="$TMP/summary" "$sut" candidate --testbed t
	expect_status "bencher: candidate runs" 0
	expect_eq "bencher: candidate: base first, then the candidate" "$(grep ^measured "$BB_TEST_LOG")" \
		"measured: base base
measured: head candidate"
	expect_eq "bencher: candidate: both measured in turns, once" "$(grep -c '^gate' "$BB_TEST_LOG")" 1
	expect_eq "bencher: candidate: the gate's report is the job's summary" "$(cat "$TMP/summary")" report
	clean_after "bencher: candidate"

	: >"$BB_TEST_LOG"
	run env BB_TEST_BENCHER_FAIL=feature/x "$sut" candidate
	expect_status "bencher: candidate with a confirmed alert: exit code 1" 1
	expect_eq "bencher: candidate with an alert: measured a second time" "$(grep -c '^gate' "$BB_TEST_LOG")" 2
	clean_after "bencher: candidate with an alert"
	run env BB_TEST_BENCHER_ONCE=feature/x "$sut" candidate
	expect_status "bencher: candidate with an alert that is not confirmed passes" 0
	rm "$TMP/once"
	: >"$BB_TEST_LOG"
	run env BB_TEST_GATE_RC=3 "$sut" candidate
	expect_status "bencher: a regression that the gate confirmed: exit code 1" 1
	expect_grep "bencher: a regression: says so" err 'gate found a regression, and confirmed it'
	expect_eq "bencher: a regression is reported to Bencher all the same" "$(attempts feature/x)" 1
	: >"$BB_TEST_LOG"
	run env BB_TEST_GATE_RC=3 BB_TEST_BENCHER_FAIL=feature/x "$sut" candidate
	expect_status "bencher: a regression that Bencher sees, too: exit code 1" 1
	expect_eq "bencher: a regression that Bencher sees, too: not measured again" "$(grep -c '^gate' "$BB_TEST_LOG")" 1
	: >"$BB_TEST_LOG"
	run env BB_TEST_GATE_RC=1 "$sut" candidate
	expect_status "bencher: a gate that errs: exit code 1" 1
	expect_grep "bencher: a gate that errs: says so" err 'could not be measured \(bpfbench gate ended with 1\)'
	expect_eq "bencher: a gate that errs: nothing is reported" "$(attempts '.*')" 0
	clean_after "bencher: a gate that errs"
	: >"$BB_TEST_LOG"
	run env BB_TEST_BENCHER_FAIL=feature/x-base-a-machine "$sut" candidate
	expect_status "bencher: base not reported: exit code 1" 1
	expect_grep "bencher: base not reported: says so" err 'could not be reported'
	expect_eq "bencher: base not reported: the candidate is not judged" "$(attempts feature/x)" 0
	clean_after "bencher: base not reported"
fi

# --- .ci/run and the workflows ---
ci_tree=$TMP/ci-tree
mkdir -p "$ci_tree/.ci" "$ci_tree/ci"
cp .ci/run "$ci_tree/.ci/"
printf '#!/bin/sh\n' >"$ci_tree/ci/deps.sh"
# new_machines DEBIAN-12 DEBIAN-13 [SANITIZED]: replaces fresh.sh; each argument is the shell command that runs in place of that machine.
new_machines() {
	# shellcheck disable=SC2016 # the inner shell's
	printf '#!/bin/sh\necho "$*" >>%s\ncase $* in debian-12*) %s ;; *SAN=1*) %s ;; *) %s ;; esac\n' \
		"$TMP/machines" "$1" "${3:-echo 0 passed, 0 failed, 0 skipped}" "$2" >"$ci_tree/ci/fresh.sh"
	chmod +x "$ci_tree"/ci/*.sh
	run "$ci_tree/.ci/run"
}
new_machines 'echo "2 passed, 0 failed, 1 skipped"' 'echo "40 passed, 0 failed, 0 skipped"; echo late'
expect_status ".ci/run: succeeds when all pass" 0
expect_eq ".ci/run: the last line is the sum" "$(tail -n 1 "$TMP/out")" "42 passed, 0 failed, 1 skipped"
expect_eq ".ci/run: one such line" "$(grep -c '^[0-9]* passed' "$TMP/out")" 1
expect_grep ".ci/run: the output of both is there" out '^debian-13: late$'
expect_eq ".ci/run: root's machine and a user's" "$(grep -oE '^(--root )?debian-1[23] (sudo )?bash' "$TMP/machines" | sort | tr '\n' ' ')" \
	"--root debian-13 bash --root debian-13 bash debian-12 sudo bash "
expect_eq ".ci/run: both commands, with all tests" "$(grep -c 'debian-12.*make bench .*make .* test-all' "$TMP/machines")" 1
expect_eq ".ci/run: both commands, and tests of the compiler" \
	"$(grep -c 'debian-13.*make bench .*make .* test TESTS=--second-try .*bpf/test_lines' "$TMP/machines")" 1
expect_eq ".ci/run: the tests with sanitizers in one" "$(grep -c 'SAN=1' "$TMP/machines")" 1
new_machines 'echo "2 passed, 0 failed, 1 skipped"' 'echo "40 passed, 0 failed, 0 skipped"; echo "3 passed, 1 failed, 0 skipped"; exit 1'
expect_eq ".ci/run: two closing lines of one machine count both" "$status: $(tail -n 1 "$TMP/out")" "1: 45 passed, 1 failed, 1 skipped"
new_machines 'echo "2 passed, 1 failed, 0 skipped"; exit 1' 'echo "3 passed, 0 failed, 0 skipped"'
expect_status ".ci/run: fails when a test does" 1
expect_eq ".ci/run: and the sum says so" "$(tail -n 1 "$TMP/out")" "5 passed, 1 failed, 0 skipped"
new_machines 'printf "failed:\n  unit/a\n\n2 passed, 1 failed, 0 skipped\n"; exit 1' 'sleep 0.2; echo "3 passed, 0 failed, 0 skipped"'
expect_eq ".ci/run: and at the end, what failed" "$(tail -n 7 "$TMP/out" | grep -c '^debian-12:   unit/a$')" 1
new_machines 'echo building; exit 2' 'echo "3 passed, 0 failed, 0 skipped"'
expect_status ".ci/run: fails when one does not come to its tests" 1
expect_eq ".ci/run: which is a failure" "$(tail -n 1 "$TMP/out")" "3 passed, 1 failed, 0 skipped"
new_machines 'echo no such suite; exit 4' 'echo "3 passed, 0 failed, 0 skipped"'
expect_status ".ci/run: a machine that cannot be made fails nothing" 0
expect_grep ".ci/run: and is named" err '^ci: debian-12: skipped: no such suite$'
printf 'test-all:\n\t@echo "9 passed, 0 failed, 0 skipped"\n' >"$ci_tree/Makefile"
new_machines 'exit 4' 'exit 4' 'exit 4'
expect_grep ".ci/run: without any, it says so" err '^ci: no new machine can be made here: the tests run on this one$'
expect_eq ".ci/run: and uses this one" "$status: $(tail -n 1 "$TMP/out")" "0: 9 passed, 0 failed, 0 skipped"
printf '#!/bin/sh\nsleep 600\n' >"$ci_tree/ci/fresh.sh"
run env BB_CI_TIMEOUT=1 "$ci_tree/.ci/run"
expect_eq ".ci/run: the time is over: three failures" "$status: $(tail -n 1 "$TMP/out")" "1: 0 passed, 3 failed, 0 skipped"
expect_grep ".ci/run: the time is over: says so" err '^ci: debian-12: ended with exit code 124, after 1 s$'

# --- fresh.sh ---
run ci/fresh.sh --help
expect_grep "fresh: --help has an example" out 'sudo ci/fresh.sh debian-13 sudo make test'
run ci/fresh.sh debian-13
expect_status "fresh: no command: usage" 2
run ci/fresh.sh --root debian-13
expect_status "fresh: --root and no command: usage" 2
run ci/fresh.sh sarge true
expect_status "fresh: an unknown suite: usage" 2
expect_grep "fresh: an unknown suite: which there are" err "unknown suite 'sarge': debian-12 or debian-13"
if need_root "fresh: nothing to make it with: exit code 4" "fresh: says what to install" "fresh: leaves nothing"; then
	mkdir "$TMP/bare" "$TMP/made"
	for tool in bash env cat find mkdir uname rm; do ln -s "$(type -P "$tool")" "$TMP/bare/$tool"; done
	run env PATH="$TMP/bare" XDG_CACHE_HOME="$TMP/made" TMPDIR="$TMP/made" bash ci/fresh.sh debian-13 true
	expect_status "fresh: nothing to make it with: exit code 4" 4
	expect_grep "fresh: says what to install" err 'neither mmdebstrap nor debootstrap here: sudo apt-get install mmdebstrap'
	expect_eq "fresh: leaves nothing" "$(find "$TMP/made" -type f)" ""
fi
run cat ci/github/bpfbench.yml
expect_grep "workflow: main" out 'run: ci/bencher.sh main'
expect_grep "workflow: candidate" out 'run: ci/bencher.sh candidate'
expect_grep "workflow: a fork gets the gate, without secrets" out 'bpfbench gate '
# shellcheck disable=SC2016 # GitHub's and GitLab's
expect_grep "workflow: artifacts of a matrix have names of their own" out 'name: bpfbench-results-\$\{\{ strategy\.job-index \}\}'
for file in ci/github/*.yml; do
	run cat "$file"
	expect_no_grep "$file: no text of the author reaches a shell" out 'run:.*\$\{\{'
	expect_eq "$file: actions are pinned to commits, but bencher's and ours" \
		"$(grep -oE 'uses: [^ ]+' "$file" | grep -vE '@[0-9a-f]{40}$|bencherdev/bencher@main$|OWNER/bpfbench@COMMIT$')" ""
	expect_no_grep "$file: a fork's code gets no secrets" out 'pull_request_target'
	expect_no_grep "$file: no key for every step of a job" out '^      BENCHER_API_KEY'
	expect_grep "$file: a job a runner label" out "runner: .*fromJSON\(vars\.BPFBENCH_RUNNERS \|\| '\[\"ubuntu-24\.04\"\]'\)"
	expect_grep "$file: on that runner" out 'runs-on: \$\{\{ matrix\.runner \}\}'
done
run cat ci/github/gate.yml
expect_no_grep "gate workflow: no secrets" out 'secrets\.'
run cat ci/gitlab/bpfbench.yml
expect_grep "gitlab: main" out 'ci/bencher.sh main'
expect_grep "gitlab: candidate" out 'ci/bencher.sh candidate'
expect_grep "gitlab: a fork gets the gate, without secrets" out 'bpfbench gate '
expect_no_grep "gitlab: a kernel does not wait for another" out 'resource_group: bpfbench$'
for file in ci/gitlab/*.yml; do
	run paste -sd ' ' "$file"
	# shellcheck disable=SC2016
	expect_grep "$file: a job a runner tag" out 'parallel: +matrix: +- RUNNER: \[bpf\] .*tags: \[\$RUNNER\]'
done
check "workflow: ci.yml runs .ci/run" grep -q 'run: bash .ci/run' .github/workflows/ci.yml

plan_done
