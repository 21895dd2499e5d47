#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Objects without a scenario, measured as root: those of this tree that show what an object may hold. Those of other
# projects are in test_foreign_objects.sh.
# shellcheck source=harness/tests/tool.sh disable=SC2317,SC2046 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("several types" "tail calls" "without BTF" "without a licence" "every program" "compare")
need_root "${names[@]}" && need_exact_faults "${names[@]}" || plan_done

objects=$O/tests/bpf
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# object FILE [ARG...]: measured, but not for long.
object() { real --object "$@" --loads 2 -n 48; }
# measured CASE...: each has a latency above 0 in the BMF of the last run. For `check`.
measured() {
	local case

	for case in "$@"; do more "$(bmf "$TMP/out" "$case" latency)" 0 || { printf '%s\n' "$case"; return 1; }; done
}

# programs_of FILE: the programs of an object, by its symbols: global functions outside of .text.
programs_of() {
	local text

	text=$(readelf -SW "$1" | sed -n 's/^ *\[ *\([0-9]*\)\] \.text .*/\1/p')
	readelf -sW "$1" | awk -v text="$text" '$4 == "FUNC" && $5 == "GLOBAL" && $7 != text {print $8}'
}
# every_one PROGRAM...: the last run has a figure for it, or says why it has none. For `check`.
every_one() {
	local program missing=0

	(($# > 0)) || return 1
	for program in "$@"; do
		grep -qE "/$program/[a-z]|[/ ]$program(/|,|:|\$)" "$TMP/out" "$TMP/err" || { printf '%s\n' "$program"; missing=1; }
	done
	return "$missing"
}

# --- several types, .rodata, .data and .bss, static and global functions, a map that wants to be pinned ---
object "$objects/sections.bpf.o"
expect_status "several types: exit code 0" 0
check "several types: stdout is strictly valid BMF" valid_bmf "$TMP/out"
check "several types: each is measured beside its own floor" measured sections/{empty-xdp,counts}/{step,slope} \
	sections/{empty-sched_cls,on_request}/{step,slope} sections/{empty-perf_event,sampled}/step/stack_depth=32
expect_grep "several types: net of the floor" out '"latency-net"'
expect_eq "several types: what is not driven is named" "$(grep -c '^ *skipped: sections/' "$TMP/err")" 4
check "several types: a kprobe program runs on its event, or on a call of ours" measured sections/{empty-kprobe,probe}/step
check "several types: nothing is pinned" test ! -e /sys/fs/bpf/bpfbench_pin
nothing_left "several types" 1
object "$objects/sections.bpf.o" --program counts
cp "$TMP/out" "$TMP/object.bmf"
"$BPFBENCH" init "$objects/sections.bpf.o" --program counts -o "$WORK/counts.yml"
real --scenario "$WORK/counts.yml" --loads 2 -n 48
expect_eq "init: its file measures the same cases" "$(grep -c . "$TMP/out") $(grep '": {$' "$TMP/out")" \
	"$(grep -c . "$TMP/object.bmf") $(grep '": {$' "$TMP/object.bmf")"

# --- tail calls ---
# The last program's return value shows that it was reached. Its time counts towards the first one.
sed 's/^    # inputs:.*/    inputs: [{name: zeros, hex: "'"$(printf '00%.0s' {1..64})"'", retval: XDP_TX}]/' >"$WORK/tailcall.yml" \
	< <("$BPFBENCH" init "$objects/tailcall.bpf.o" --program first | grep -v 'slope')
sed -i '/^floor:/d; /empty-xdp/d' "$WORK/tailcall.yml"
real --scenario "$WORK/tailcall.yml" --loads 3 -n 300
expect_status "tail calls: exit code 0" 0
expect_no_grep "tail calls: every run returned what the last one returns" err 'void'
object "$objects/tailcall.bpf.o"
expect_status "tail calls: all of them" 0
check "tail calls: they count towards the caller" more "$(bmf "$TMP/out" tailcall/first/step latency-p50)" \
	"$(bmf "$TMP/out" tailcall/empty-xdp/step latency-p50)"
object "$objects/tailcall_beside.bpf.o"
expect_status "tail calls: beside a program that does not load, exit code 0" 0
check "tail calls: beside a program that does not load" measured tailcall_beside/jumps_nowhere/step
check "tail calls: a program that another jumps to, in a section of no hook" measured tailcall_beside/is_jumped_to/step
"$BPFBENCH" show latest --results "$results" --details >"$TMP/details"
expect_grep "tail calls: it is test-run" details '^ +is_jumped_to: own-run \(a test run for the_rest_of_it'
skipped=$(grep '^ *skipped: ' "$TMP/err")
cp "$TMP/out" "$TMP/object.bmf"
cp "$TMP/err" "$TMP/object.err"
"$BPFBENCH" init "$objects/tailcall_beside.bpf.o" -o "$WORK/beside.yml"
real --scenario "$WORK/beside.yml" --loads 2 -n 48
expect_status "init: a refused program is skipped as by --object, exit code 0" 0
expect_eq "init: the same cases and the same skips" "$(grep '": {$' "$TMP/out") $(grep '^ *skipped: ' "$TMP/err")" \
	"$(grep '": {$' "$TMP/object.bmf") $skipped"
real --scenario "$WORK/beside.yml" --loads 2 -n 48 --variant reads_past_the_end
expect_status "init: a refused program that is named ends the run" 1
cp "$TMP/object.err" "$TMP/err"
expect_grep "tail calls: that one is skipped, with the verifier's reason" err \
	"skipped: tailcall_beside/reads_past_the_end: .*rejects program .*: R1 offset is outside of the packet"
same() { [[ $1 == "$2" ]] || { printf 'got: %s\n' "$1"; return 1; }; }
object "$objects/tailcall_other_type.bpf.o"
expect_status "tail calls: beside a program of another type, exit code 0" 0
check "tail calls: that one is measured, too" measured tailcall_other_type/first/step \
	tailcall_other_type/counts_faults/step/stack_depth=32
object "$objects/tailcall_rejected.bpf.o"
expect_status "tail calls: to a program that does not load: exit code 1" 1
expect_grep "tail calls: to a program that does not load: said so" err \
	"skipped .*/first: .*program 'first', or one that a prog array of the object holds .*outside of the packet"
object "$objects/tailcall_rejected.bpf.o" --program first
expect_status "a program that was named must load: exit code 1" 1
expect_grep "a program that was named must load: the verifier's log" err '^The end of its log:$'
object "$objects/tailcall_apart.bpf.o"
check "tail calls: what cannot get to a program that does not load is measured" measured tailcall_apart/{jumps_to_good,passes}/step
check "tail calls: what can get there, by a function and two jumps, is skipped" same \
	"$(grep -oE 'skipped: tailcall_apart/[a-z_]+: .*program .*, or one that' "$TMP/err" | grep -oE '/[a-z_]+: ' | sort -u | tr -d '\n')" \
	"/goes_on: /jumps_to_bad: "
object "$objects/tailcall_multi.bpf.o"
expect_no_grep "tail calls: sections that an old libbpf does not know: loaded" err 'skipped: tailcall_multi/(probe|rest_of_probe): .*cannot load'
check "a tcx program is a tc program" measured tailcall_multi/at_ingress/step
rm -rf "$results"
real compare --object "$objects/tailcall.bpf.o" --object "$objects/tailcall.bpf.o" --program first --drive step --loads 3
expect_status "tail calls: compared" 0
nothing_left "tail calls" 1

# --- without BTF, and without a licence ---
if need_command llvm-objcopy "without BTF"; then
	llvm-objcopy --remove-section .BTF --remove-section .BTF.ext --remove-section .rel.BTF --remove-section .rel.BTF.ext \
		"$objects/test_run.bpf.o" "$WORK/no_btf.o"
	object "$WORK/no_btf.o" --program xdp_says --program tc_shot
	expect_status "without BTF: exit code 0" 0
	check "without BTF: measured" measured no_btf/xdp_says/step no_btf/tc_shot/step
	llvm-objcopy --remove-section .BTF --remove-section .BTF.ext --remove-section .rel.BTF --remove-section .rel.BTF.ext \
		"$objects/sections.bpf.o" "$WORK/no_btf_maps.o"
	object "$WORK/no_btf_maps.o"
	expect_status "without BTF, with maps: an error" 1
	expect_grep "without BTF, with maps: which says it" err 'it has no BTF, which would describe its maps; build it with clang -g'
fi
object "$objects/no_licence.bpf.o"
check "without a licence: what needs none is measured" measured no_licence/free_for_all/step
expect_grep "without a licence: the rest is told of one" err \
	'skipped: no_licence/prints: .*GPL-restricted function.*; char LICENSE.* makes it compatible'

# --- maps that their loader gives a size ---
object "$objects/loader_maps.bpf.o"
expect_status "maps without sizes: exit code 0" 0
check "maps without sizes: all programs are measured" measured \
	loader_maps/{looks_for_ring,writes_ring,writes_events,counts_in_cgroup,counts_by_cpu}/step

# --- more programs than a budget holds ---
real --object "$objects/many.bpf.o" --budget 1 --loads 1 --samples 2
expect_grep "a short budget: the programs that it left out by name, and the budget for all" err \
	'skipped:? many: [0-9]+ of 1001 programs: half of the budget of 1 s was used up .*--budget [0-9]+\): [a-z0-9-]+, p[0-9]+, .*, p[0-9]+'
check "a short budget: each program has a figure or is left out by name" every_one $(programs_of "$objects/many.bpf.o")
rm -rf "$results"

# --- every program has a figure or a reason: of objects, whole and within a short budget, and of a capture ---
for name in sections kernel_hooks network_hooks events; do
	real --object "$objects/$name.bpf.o" --loads 1 -n 20 --budget 2
	check "every program: of $name" every_one $(programs_of "$objects/$name.bpf.o")
done
"$BPFBENCH" capture -o "$WORK/a.capture" --all --for 2 -- "$O/tests/tools/load_all" "$objects/sections.bpf.o" >"$TMP/list" 2>&1
real --object "$WORK/a.capture" --loads 1 -n 20 --budget 4
check "every program: of a capture" every_one $(awk '/^  program / {on = 1; next} /^[^ ]/ {on = 0} on && !/a test of the loader/ {print $1}' "$TMP/list")
rm -rf "$results"

# --- compare, of a type that is not perf_event ---
rm -rf "$results"
cp "$O/bpf/fun_xdp.bpf.o" "$WORK/old.o"
real compare --base-object "$WORK/old.o" --head-object "$O/bpf/fun_xdp.bpf.o" --program v3 --loads 4
expect_status "compare: two builds of an XDP program" 0
expect_grep "compare: a row of the drive" out '^v3/step +latency, ns '
expect_no_grep "compare: no net where nothing changed" out ' net, ns'
run "$BPFBENCH" show --details --results "$results"
expect_grep "show --details of a comparison: net of the empty XDP program" out '^v3/step +net, ns +[0-9]'
nothing_left "compare" 1
for name in "$WORK/old.o" "$O/bpf/fun_xdp.bpf.o"; do object "$name" --program v3 --drive step; done
mapfile -t runs < <("$BPFBENCH" list --runs --results "$results" | cut -d" " -f1 | grep -E "old|fun_xdp" | sort -t- -k2,2r)
run "$BPFBENCH" compare --results "$results" "${runs[@]}"
expect_grep "compare: stored runs of two objects, whose name it is" out "^A: .*its object 'old' takes the name of B's"
expect_grep "compare: stored runs of two objects, their program" out '^fun_xdp/v3/step +latency, ns +[0-9.]+ +[0-9]'

# --- how much of a program runs at all ---
# executed [ARG...]: in the table and in JSON, "N of ALL" of the program that returns early.
executed() {
	object "$objects/early.bpf.o" "$@" --format json
	expect_status "executed: $*: exit code 0" 0
	in_table=$(sed -nE 's/^  .*executed ([0-9]+ of [0-9]+).*/\1/p' "$TMP/err" | head -n 1)
	in_json=$(sed -nE '/returns_early/s/.*"executed_insns": ([0-9]+), "insns": ([0-9]+).*/\1 of \2/p' "$TMP/out" | head -n 1)
	expect_eq "executed: $*: JSON says what the table says" "$in_json" "$in_table"
	few=${in_table% of *} of_all=${in_table#* of }
}
executed
check "executed: by its own event, nearly all: $in_table" test $((4 * few)) -gt $((3 * of_all))
rm -rf "$results" # two runs of one second: either is the latest
printf '%0192d' 0 >"$WORK/zeros.hex"
executed --ctx "$WORK/zeros.hex"
check "executed: on zeros, less than a quarter: $in_table" test $((4 * few)) -lt $((of_all))
"$BPFBENCH" show latest --results "$results" --format html >"$TMP/page.html"
check "executed: the page of the stored run says so, too" grep -q "<td>$in_table</td>" "$TMP/page.html"
printf '0100000000000000%0176d' 0 >"$WORK/one.hex"
executed --ctx "$WORK/one.hex"
check "executed: with an argument, nearly all: $in_table" test $((4 * few)) -gt $((3 * of_all))
rm -rf "$results"

# --- every refusal says its reason, in the same line ---
# refused NAME REASON: the object of refused_NAME.bpf.c is refused with that reason.
refused() {
	object "$objects/refused_$1.bpf.o"
	check "refused: $1: fails" test "$status" = 1 -o "$status" = 4
	expect_grep "refused: $1: the reason" err "skipped refused_$1/[a-z_]+: .*$2"
	expect_no_grep "refused: $1: nobody is sent to check, which does not say it" err 'bpfbench check'
}
refused map "map 'wide_keys' cannot be created .*of type 2 \(array\), with keys of 8 bytes, values of 8, 4 entries"
refused inner "(map in map 'arrays' cannot be created .*of type 2 \(array\), with keys of 8 bytes, values of 8, 3 entries|find vmlinux)"
refused kfunc "bb_no_such_kfunc"
# The compiler may count the instruction to a line nearby.
refused core "it uses struct task_struct.bb_no_such_member \(near refused_core.bpf.c:1[1-6]\), which this kernel does not have; bpf_core_field_exists|unrecognized CO-RE|kernel BTF|find vmlinux"
refused kconfig "CONFIG_BB_NO_SUCH_OPTION|kconfig"

plan_done
