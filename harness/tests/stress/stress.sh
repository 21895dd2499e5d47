# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For signals.sh and objects.sh: a seeded random order, how busy the machine is, a command in a session of its own, and what of it
# is left. Source it first; it sources tool.sh. Others may use this machine: nothing that could be theirs is counted or ended.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tool.sh"

SEED=${SEED:-1} FIRST=${FIRST:-0} JOBS=${JOBS:-2}
bpftool=$(find_bpftool) || bpftool=''
stats_before=$(cat /proc/sys/kernel/bpf_stats_enabled)
bad=$TMP/violations log=$TMP/log suspects=$TMP/suspects
touch "$bad" "$log" "$suspects"

usage_error() { printf '%s: %s; see --help\n' "${0##*/}" "$1" >&2; exit 2; }

# numbers NAME...: each of these variables is a number.
numbers() {
	local name

	for name in "$@"; do [[ ${!name} =~ ^[0-9]{1,9}$ ]] || usage_error "$name=${!name} is no number"; done
}

# ready: what both scripts need is there.
ready() {
	((EUID == 0)) || usage_error "needs root"
	[[ -x $BPFBENCH && -e $O/tests/bpf/slow.bpf.o ]] || usage_error "make all tests first"
}

# sets $now_ms. No subshell: on a busy machine a fork alone takes what a bound allows.
read_clock() { now_ms=${EPOCHREALTIME/[.,]/} now_ms=$((now_ms / 1000)); }

# seeded N: what random follows in try N; the same, whichever job does it.
seeded() { RANDOM=$(((SEED * 7919 + $1 * 104729 + 1) % 32749)); }

# random N: sets $drawn, 0 to N - 1. No subshell: it would not move on.
# shellcheck disable=SC2034 # for who sources this
random() { drawn=$(((RANDOM << 15 | RANDOM) % ($1 > 0 ? $1 : 1))); }

# --- how long a command is kept waiting ---
# A command runs in a cgroup of its own, of which the kernel says how long one of its processes could have run and did not (PSI):
# the delay that this machine gives to this command at this time. Without it, the times of a busy machine count in full.
cgroups=''

make_cgroups() {
	local top

	top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)$(sed -n 's/^0:://p' /proc/self/cgroup)
	if mkdir "$top/stress-$$" 2>/dev/null; then
		cgroups=$top/stress-$$
		[[ -r $cgroups/cpu.pressure ]] && read -r _ <"$cgroups/cpu.pressure" && return 0
	fi
	cgroups=''
	echo "# this kernel does not say how long a process waits for a CPU (psi=1 on its command line): a busy machine looks like a slow command"
}

# sets $delay_ms and $cpu_ms, which they computed, of all processes of $cgroup since it was made
read_delay() {
	local kind total

	delay_ms=0 cpu_ms=0
	[[ -n $cgroup ]] && read -r _ total <"$cgroup/cpu.stat" && cpu_ms=$((total / 1000))
	for kind in cpu io; do
		if [[ -z $cgroup ]] || ! read -r _ _ _ _ total <"$cgroup/$kind.pressure"; then continue; fi
		delay_ms=$((delay_ms + ${total#total=} / 1000))
	done 2>/dev/null
}

# The cgroup goes with its last process.
drop_cgroup() {
	[[ -z $cgroup ]] || rmdir "$cgroup" 2>/dev/null || violation "process left in $cgroup: $(tr '\n' ' ' <"$cgroup/cgroup.procs")"
}

# violation WHAT: of this try.
violation() { printf '%s\t%s\n' "$try" "$1" >>"$bad"; }

# --- a command in its own session ---
mkfifo "$TMP/never"
exec {never}<>"$TMP/never"

# begin DIR CMD...: sets $pid and $cgroup; stdout and stderr go to DIR/stdout and DIR/stderr, temporary files below DIR/tmp.
begin() {
	local dir=$1

	shift
	cgroup=${cgroups:+$cgroups/${dir##*/}}
	[[ -z $cgroup ]] || mkdir "$cgroup"
	(
		trap - EXIT
		[[ -z $cgroup ]] || echo "$BASHPID" >"$cgroup/cgroup.procs"
		exec setsid env --default-signal=INT,PIPE,TERM,HUP "TMPDIR=$dir/tmp" "BB_STRESS=$dir" "$@" >"$dir/stdout" 2>"$dir/stderr" </dev/null
	) &
	pid=$!
}

# executed: $pid is bpfbench by now. Before, SIGINT is ignored, as bash has it for what runs in the background: one sent then is lost.
executed() {
	while [[ -d /proc/$pid && ! /proc/$pid/exe -ef $BPFBENCH ]]; do read -r -t 0.002 -u "$never" || true; done
}

# What the processes of the session of $pid do, one line each.
states() {
	local p

	for p in $(pgrep -s "$pid"); do
		printf '%s %s, system call %s, in %s; ' "$p" "$(sed -n 's/^State:[[:space:]]*//p' "/proc/$p/status")" \
			"$(cut -d ' ' -f 1 "/proc/$p/syscall")" "$(tr '\n' ' ' <"/proc/$p/stack")"
	done 2>/dev/null
}

# finished MS [BOUND]: waits for $pid, no longer than MS; sets $status and $hung, $took_ms (it was still there then) and how much of
# it is $delay_ms and $cpu_ms, and from BOUND ms on what it did then, $late. No other process keeps the time: a signal that meets a
# shell between its fork and its exec makes it run our own trap.
# shellcheck disable=SC2034 # for who sources this
finished() {
	local before delay_before cpu_before

	read_delay
	read_clock
	before=$now_ms delay_before=$delay_ms cpu_before=$cpu_ms hung=0 status=0 took_ms=0 late=''
	# bash buries its children as they end. The clock is read before the look: what keeps us waiting is not the command's time.
	while read_clock && [[ -d /proc/$pid ]]; do
		took_ms=$((now_ms - before))
		if [[ -n ${2:-} && -z $late ]] && ((took_ms > $2)); then
			read_delay
			((took_ms - (delay_ms - delay_before) <= $2)) || late=$(states)
		fi
		if ((took_ms > $1)); then
			hung=1
			kill -KILL -- "-$pid" 2>/dev/null || true
			break
		fi
		read -r -t 0.005 -u "$never" || true
	done
	wait "$pid" 2>/dev/null || status=$?
	read_delay
	delay_ms=$((delay_ms - delay_before)) cpu_ms=$((cpu_ms - cpu_before))
}

# answered_by BOUND: in BOUND ms, beside those that it was kept waiting
answered_by() {
	printf '%s\t%d\t%d\t%d\n' "$name" "$took_ms" "$delay_ms" "$1" >>"$log"
	((hung || took_ms - delay_ms <= $1)) || violation "ended after $took_ms ms, $delay_ms of them kept waiting; bound $1 ms; then: $late"
}

# waited DIR: for a CPU that another bpfbench measured on, so it is that one's time, too.
waited() { grep -q '^bpfbench: waiting: ' "$1/stderr"; }

# --- what is left ---
# Processes of the session of $pid, and those that have DIR in their environment, or their folder in it.
left_processes() {
	local p

	{
		pgrep -s "$pid" || true
		grep -lsaF "BB_STRESS=$1" /proc/[0-9]*/environ | grep -oE '[0-9]+' || true
		find /proc/[0-9]*/cwd -maxdepth 0 -lname "$1*" 2>/dev/null | grep -oE '[0-9]+' || true
	} | sort -un | while read -r p; do
		# One that has ended waits for the first process to bury it.
		grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$p/status" && echo "$p"
	done
}

no_processes() { [[ -z $(left_processes "$1") ]]; }

# nobody_left DIR: within 1 s beside the delay.
nobody_left() {
	local begun delay_before p

	read_delay
	read_clock
	begun=$now_ms delay_before=$delay_ms
	until no_processes "$1"; do
		read_delay
		read_clock
		if ((now_ms - begun - (delay_ms - delay_before) > 1000)); then
			for p in $(left_processes "$1"); do
				[[ $(ps -o stat= -p "$p") == Z* ]] || violation "process left: $(ps -o pid=,ppid=,stat=,wchan=,args= -p "$p")"
				kill -KILL "$p" 2>/dev/null || true
			done
			break
		fi
		sleep 0.02
	done
	drop_cgroup
}

# "KIND ID" of all programs, maps and links that no process holds; of the others somebody takes care.
unheld() {
	local kind

	[[ -n $bpftool ]] || return 0
	for kind in prog map link; do
		# It fails when something goes while it looks.
		{ "$bpftool" "$kind" show 2>/dev/null || true; } | awk -v kind="$kind" '/^[0-9]+:/ { print kind, $1 + 0 }'
	done | sort >"$1.all"
	grep -hsE '^(prog|map|link)_id:' /proc/[0-9]*/fdinfo/* 2>/dev/null | sed -E 's/_id:[[:space:]]*/ /' | sort -u >"$1.held" || true
	comm -23 "$1.all" "$1.held"
}

# Places that outlive a process: folders, network namespaces, cgroups and mounts.
places() {
	find /run /tmp -mindepth 1 -maxdepth 1 -name 'bpfbench*' -not -path "$TMP" 2>/dev/null || true
	find /run/netns /sys/fs/bpf -mindepth 1 2>/dev/null || true
	find /sys/fs/cgroup -type d -name '*bpfbench*' 2>/dev/null || true
	awk '{ print "mount", $5 }' /proc/self/mountinfo
}

# Where a test of somebody else keeps its files is no leftover of ours: its owner is told by the name.
outlive() {
	{
		unheld "$1"
		places | grep -vE '^/tmp/bpfbench-tests?\.'
	} | sort -u
}

outlive "$TMP/before" >"$TMP/outlive.before"

# note_suspects DIR: what there is now that was not there at first, and which try it was seen after. Most is of others, or about to
# go: `settle` looks again when all is done.
note_suspects() {
	outlive "$1/outlive" | comm -13 "$TMP/outlive.before" - | while IFS= read -r what; do
		grep -qF "	$what	" "$suspects" || printf '%s\t%s\t\n' "$try" "$what" >>"$suspects"
	done
	rm -f "$1"/outlive.*
	[[ $(cat /proc/sys/kernel/bpf_stats_enabled) == "$stats_before" ]] || violation "bpf_stats_enabled is not as before"
}

# settle: what is still there of the suspects a minute after the last try.
settle() {
	local i what

	for ((i = 0; i < 60; i++)); do
		outlive "$TMP/settle" | comm -13 "$TMP/outlive.before" - >"$TMP/outlive.now"
		cut -f 2 "$suspects" | grep -qxFf "$TMP/outlive.now" || return 0
		sleep 1
	done
	while IFS=$'\t' read -r try what; do
		what=${what%$'\t'}
		if grep -qxF -- "$what" "$TMP/outlive.now"; then violation "left: $what"; fi
	done <"$suspects"
}

# control_characters FILE: it has some, besides line ends and tabs.
control_characters() { LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' "$1"; }

# in_jobs COUNT FUNCTION: FUNCTION N for each N of FIRST to FIRST + COUNT - 1, in JOBS processes side by side.
in_jobs() {
	local job jobs=()

	for ((job = 0; job < JOBS; job++)); do
		(
			trap - EXIT
			for ((n = FIRST + job; n < FIRST + $1; n += JOBS)); do
				[[ -z ${UNTIL:-} || $(date +%s) -lt $UNTIL ]] || break
				"$2" "$n"
			done
		) &
		jobs+=($!)
	done
	for job in "${jobs[@]}"; do
		wait "$job" || try="job $job" violation "it ended early"
	done
}

# summary WORDS: a line a kind of try from $log ("KIND<TAB>MS<TAB>DELAY<TAB>BOUND"), then the violations; exits.
summary() {
	printf '%-14s %8s %10s %20s %14s\n' "$1" tries 'most (ms)' 'kept waiting (ms)' 'rest of bound'
	sort "$log" | awk -F '\t' '
		{ n[$1]++; all++; if ($2 > most[$1]) most[$1] = $2; if ($3 > wait[$1]) wait[$1] = $3
		  share = $4 ? 100 * ($2 - $3) / $4 : 0; if (share > part[$1]) part[$1] = share }
		END { for (k in n) printf "%-14s %8d %10d %20d %12d %%\n", k, n[k], most[k], wait[k], part[k] | "sort"; close("sort"); print all + 0, "tries" }'
	[[ -z $cgroups ]] || rmdir "$cgroups"/* "$cgroups" 2>/dev/null || true
	if [[ -s $bad ]]; then
		printf '\nViolations (try, what):\n'
		sort -V "$bad"
	fi
	printf '%d violations; seed %s\n' "$(wc -l <"$bad")" "$SEED"
	[[ ! -s $bad && -s $log ]]
}
