# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Runs the commands of a page of the documentation: the lines of its ```sh blocks, in order, in a scratch folder that looks like the git
# tree of a user who has a program, prog.bpf.c. Source it; it sources tool.sh.
#
# - `sudo` runs the command as root, with the caller's id in SUDO_UID; without root such commands are skipped by name. In a tree that
#   only root can reach, all commands run as root, as for a reader who works as root.
# - ./bpfbench and bpfbench are a script that calls the real one with small budgets (`small` below): the documentation shows commands
#   without a budget, which would take minutes. The last of two equal options counts.
# - make's targets, scripts of ci/ and other programs are looked up and not run: they build, install or take minutes.
# - An HTML comment before a block changes that. `<!-- test: name -->`: its commands are only looked up, as always those of a transcript
#   ("    $ COMMAND"). `<!-- test: exit 0 3 -->`: these exit codes are right. Exit code 4 (nothing here is supported) is a skip, and so is
#   a failure whose only reason is that another process has bpf_stats on, which voids slope.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tool.sh"
# shellcheck source=harness/tests/gate_repo.sh
. "$(dirname "${BASH_SOURCE[0]}")/../gate_repo.sh"

tree=$WORK/tree bin=$WORK/bin
skipped_root=0

as_user() { (cd -- "$tree" && HOME=$WORK PATH=$bin:$PATH "${user[@]}" "$@"); }
as_root() { (cd -- "$tree" && HOME=$WORK PATH=$bin:$PATH "${sudo[@]}" "$@"); }

# Makes the scratch tree with prog.bpf.o, old.bpf.o and new.bpf.o; new.bpf.o does a little more than old.bpf.o.
make_tree() {
	local name

	mkdir -p "$tree/results" "$bin"
	printf '#!/usr/bin/env bash\n%s\nsmall "$@"\nexec %q "$@" "${extra[@]}"\n' "$(declare -f small)" "$BPFBENCH" >"$bin/bpfbench"
	printf '#!/usr/bin/env bash\nexec "$@"\n' >"$bin/sudo"
	chmod 755 "$bin"/*
	cp "$bin/bpfbench" "$tree/bpfbench"
	ln -s "$O" "$tree/build"
	cp "$ROOT/harness/tests/docs/prog.bpf.c" "$tree/"
	make_repo "$WORK/makefile" 0
	cp "$WORK/makefile/Makefile" "$tree/"
	printf '*\n!prog.bpf.c\n!Makefile\n' >"$tree/.gitignore"
	cp "$tree/prog.bpf.c" "$WORK/old.bpf.c"
	sed 's,/\* more \*/,key ^= ip->ttl;,' "$tree/prog.bpf.c" >"$WORK/new.bpf.c"
	for name in old new; do cp "$WORK/$name.bpf.c" "$tree/"; done
	printf 'ffffffffffff 000000000000 0800 4500 0028 0000 0000 4006 0000 0a000001 0a000002' >"$tree/syn.hex"
	cp "$ROOT/harness/tests/golden/run.json" "$tree/results/20261121T131700Z-perf_profiler-1a2b3c4d.json"
	capture >"$tree/syn.pcap"
	((${#user[@]} == 0)) || chown -R "$NOBODY:$NOGROUP" "$WORK"
	as_user git init -q -b main
	as_user git add -A
	as_user git commit -qm 'a program'
}

# Prints a pcap with one Ethernet frame of 60 bytes with IPv4.
capture() {
	printf '\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x01\0\0\0'
	printf '\0\0\0\0\0\0\0\0\x3c\0\0\0\x3c\0\0\0'
	printf '\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\x08\0\x45\0\0\x28\0\0\0\0\x40\x06\0\0\x0a\0\0\x01\x0a\0\0\x02'
	head -c 26 /dev/zero
}

# small ARGUMENT...: sets extra[] to the options that make this bpfbench command short.
# shellcheck disable=SC2034 # of the script that it goes into
small() {
	local command=run

	[[ ${1:-} == -* ]] || command=${1:-}
	extra=()
	[[ " $* " != *' --help '* && " $* " != *' --dry-run '* && " $* " != *' -- '* ]] || return 0
	case $command in
	run) extra=(--budget 10 --loads 1 --samples 12) ;;
	compare)
		if [[ " $* " == *' --exact '* ]]; then
			extra=(--budget 1)
		elif [[ " $* " == *' --base '* || " $* " == *object* ]]; then
			extra=(--budget 1 --loads 1)
		fi
		;;
	gate) extra=(--each 0.2 --budget 5) ;;
	selftest) extra=(--each 0.1 --experiments 1) ;;
	live) extra=(--seconds 0.1) ;;
	profile) extra=(--seconds 0.2) ;;
	esac
}

# blocks_of PAGE: prints a line for each command, "LINE<TAB>MARKER<TAB>COMMAND"; MARKER is "run", "name" or "exit CODE...".
blocks_of() {
	awk '
	/^<!-- test: .* -->$/ { marker = $0; sub(/^<!-- test: /, "", marker); sub(/ -->$/, "", marker); next }
	/^```sh$/ { inside = 1; next }
	/^```/ { if (inside) { inside = 0; marker = "" } next }
	/^    \$ / { print NR "\tname\t" substr($0, 7); next }
	!inside { if ($0 != "") marker = ""; next }
	/^ *(#|$)/ { next }
	/\\$/ { sub(/\\$/, ""); held = held $0; next }
	{ sub(/  +#.*/, ""); print NR "\t" (marker == "" ? "run" : marker) "\t" held $0; held = "" }' "$1"
}

# has_option COMMAND OPTION: true if --help of this bpfbench command has the option.
has_option() { grep -qE -- "(^|[ ,])$2([=[, ]|\$)" <<<"$("$BPFBENCH" "$1" --help)"; }

# looked_up WORD...: true if the command's program exists, and its options, too, if it is one of ours. Prints why not.
looked_up() {
	local command word

	[[ $1 != sudo ]] || shift
	case $1 in
	make)
		for word in "${@:2}"; do
			[[ $word == *=* ]] || grep -qE "^$word:" "$ROOT/Makefile" || { echo "no target $word"; return 1; }
		done
		;;
	bpfbench | ./bpfbench)
		command=run
		[[ $2 == -* ]] || command=$2
		for word in "${@:2}"; do
			[[ $word != -- ]] || break
			[[ $word != -* ]] || has_option "$command" "${word%%=*}" || { echo "$command has no option $word"; return 1; }
		done
		;;
	ci/*)
		for word in "${@:2}"; do
			[[ $word != --* ]] || grep -qF -- "${word%%=*}" <<<"$("$ROOT/$1" --help)" || { echo "$1 has no option $word"; return 1; }
		done
		[[ -x $ROOT/$1 ]]
		;;
	esac
}

# do_command NAME MARKER COMMAND: runs a command, or looks it up, and prints one TAP line.
do_command() {
	local name=$1 marker=$2 command=$3 codes='0'

	[[ $marker != exit\ * ]] || codes=${marker#exit }
	if [[ $marker == name || $command =~ ^(sudo )?(make|bencher|ci/|systemctl|cp )  ]]; then
		command=${command%%; *}
		eval "set -- ${command%% > *}" # its words; nothing is written
		check "$name (looked up)" looked_up "$@"
		return
	fi
	if [[ $command == sudo\ * ]]; then
		need_root "$name" || { skipped_root=1; return 0; }
		run as_root bash -c "$command"
	else
		run as_user bash -c "$command"
	fi
	if ((status == 4)); then
		skip "$name" "nothing of it is supported here: $(tail -n 1 "$TMP/err")"
	elif ((status == 1)) && grep -qE 'budget (of [0-9.]+ s )?was used up (before|while)' "$TMP/err"; then
		skip "$name" "this machine is too slow for a test of it: $(grep -m 1 'was used up' "$TMP/err")"
	elif [[ " $codes " == *" $status "* ]]; then
		ok "$name"
	elif grep -q 'another process has bpf_stats on' "$TMP/err"; then
		skip "$name" "another process has bpf_stats on"
	elif ((skipped_root)); then
		skip "$name" "it may need the result of a command above, which needs root"
	else
		not_ok "$name" "expected exit code $codes"$'\n'"$(tap_shown)"
	fi
}

# run_page PAGE...: tests the commands of these pages, in one scratch tree. PAGE is a path from the top of the tree.
run_page() {
	local page line marker command

	need_command clang "$*" || return 0
	make_tree
	for command in prog old new; do
		check "$1: there is $command.bpf.o" as_user clang -target bpf -g -O2 \
			-idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$command.bpf.c" -o "$command.bpf.o"
	done
	for page; do
		while IFS=$'\t' read -r line marker command; do
			do_command "$page:$line: $command" "$marker" "$command"
		done < <(blocks_of "$ROOT/$page")
	done
}
