# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For signals.sh, objects.sh and inside.sh: random numbers from a seed, the time that a busy machine keeps a command waiting, a command
# in a session of its own, and a search for what it left behind. Source it first; it sources tool.sh. Other users may use this machine:
# what could be theirs is neither counted nor ended.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tool.sh"

SEED=${SEED:-1} FIRST=${FIRST:-0} JOBS=${JOBS:-2}
bpftool=$(find_bpftool) || bpftool=''
stats_before=$(cat /proc/sys/kernel/bpf_stats_enabled)
bad=$TMP/violations log=$TMP/log suspects=$TMP/suspects
touch "$bad" "$log" "$suspects"

usage_error() { printf '%s: %s; see --help\n' "${0##*/}" "$1" >&2; exit 2; }

# numbers NAME...: a usage error unless each of these variables is a number.
numbers() {
	local name

	for name in "$@"; do [[ ${!name} =~ ^[0-9]{1,9}$ ]] || usage_error "$name=${!name} is no number"; done
}

# ready: a usage error unless we are root and all is built.
ready() {
	((EUID == 0)) || usage_error "needs root"
	[[ -x $BPFBENCH && -e $O/tests/bpf/slow.bpf.o ]] || usage_error "make all tests first"
}

# read_clock: sets $now_ms. It prints nothing, so that no subshell is needed: on a busy machine a fork alone can take as long as a bound.
read_clock() { now_ms=${EPOCHREALTIME/[.,]/} now_ms=$((now_ms / 1000)); }

# seeded N: sets the random seed of try N, which does not depend on the job that runs the try.
seeded() { RANDOM=$(((SEED * 7919 + $1 * 104729 + 1) % 32749)); }

# random N: sets $drawn, 0 to N - 1. It prints nothing, because in a subshell RANDOM would not advance for us.
# shellcheck disable=SC2034 # for who sources this
random() { drawn=$(((RANDOM << 15 | RANDOM) % ($1 > 0 ? $1 : 1))); }

# --- how long a command is kept waiting ---
# A command runs in a cgroup of its own. By the cgroup's PSI the kernel reports how long some process in it was ready to run but had no
# CPU: the delay caused by a busy machine. Without PSI, delay counts as the command's own time.
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

# read_delay: sets $delay_ms and $cpu_ms, the delay and the CPU time of all processes of $cgroup since it was made
read_delay() {
	local kind total

	delay_ms=0 cpu_ms=0
	[[ -n $cgroup ]] && read -r _ total <"$cgroup/cpu.stat" && cpu_ms=$((total / 1000))
	for kind in cpu io; do
		if [[ -z $cgroup ]] || ! read -r _ _ _ _ total <"$cgroup/$kind.pressure"; then continue; fi
		delay_ms=$((delay_ms + ${total#total=} / 1000))
	done 2>/dev/null
}

# drop_cgroup: removes the cgroup, which must have no process any more.
drop_cgroup() {
	[[ -z $cgroup ]] || rmdir "$cgroup" 2>/dev/null || violation "process left in $cgroup: $(tr '\n' ' ' <"$cgroup/cgroup.procs")"
}

# violation WHAT: records a violation of this try.
violation() { printf '%s\t%s\n' "$try" "$1" >>"$bad"; }

# --- a command in its own session ---
mkfifo "$TMP/never"
exec {never}<>"$TMP/never"

# begin DIR CMD...: starts CMD and sets $pid and $cgroup. Its stdout and stderr go to DIR/stdout and DIR/stderr, temporary files to DIR/tmp.
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

# executed: waits until $pid has executed bpfbench. Until then it ignores SIGINT, as all that bash starts in the background, and a signal
# would be lost.
executed() {
	while [[ -d /proc/$pid && ! /proc/$pid/exe -ef $BPFBENCH ]]; do read -r -t 0.002 -u "$never" || true; done
}

# Prints the state of each process in the session of $pid: its system call and its kernel stack.
states() {
	local p

	for p in $(pgrep -s "$pid"); do
		printf '%s %s, system call %s, in %s; ' "$p" "$(sed -n 's/^State:[[:space:]]*//p' "/proc/$p/status")" \
			"$(cut -d ' ' -f 1 "/proc/$p/syscall")" "$(tr '\n' ' ' <"/proc/$p/stack")"
	done 2>/dev/null
}

# finished MS [BOUND]: waits for $pid, at most MS, then kills its session. Sets $status; $hung: it was killed; $took_ms: the last time at
# which it still ran; $delay_ms and $cpu_ms: its delay and CPU time in that time; $late: its state when it exceeded BOUND ms. This shell
# keeps the time itself: a process for that would be a fork, and a signal between its fork and its exec would run our trap in it.
# shellcheck disable=SC2034 # for who sources this
finished() {
	local before delay_before cpu_before

	read_delay
	read_clock
	before=$now_ms delay_before=$delay_ms cpu_before=$cpu_ms hung=0 status=0 took_ms=0 late=''
	# bash reaps its children as they end, and /proc/$pid goes. The clock is read before that check, so that a delay of this shell does not
	# count as the command's time.
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

# answered_by BOUND: a violation unless it ended within BOUND ms, not counting its delay
answered_by() {
	printf '%s\t%d\t%d\t%d\n' "$name" "$took_ms" "$delay_ms" "$1" >>"$log"
	((hung || took_ms - delay_ms <= $1)) || violation "ended after $took_ms ms, $delay_ms of them kept waiting; bound $1 ms; then: $late"
}

# waited DIR: true if it waited for another bpfbench that measured on its CPU; its time then depends on the other one.
waited() { grep -q '^bpfbench: waiting: ' "$1/stderr"; }

# --- what is left ---
# left_processes DIR: prints the processes in the session of $pid, and those that have DIR in their environment or work in DIR.
left_processes() {
	local p

	{
		pgrep -s "$pid" || true
		grep -lsaF "BB_STRESS=$1" /proc/[0-9]*/environ | grep -oE '[0-9]+' || true
		find /proc/[0-9]*/cwd -maxdepth 0 -lname "$1*" 2>/dev/null | grep -oE '[0-9]+' || true
	} | sort -un | while read -r p; do
		# A zombie only waits for init to reap it.
		grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$p/status" && echo "$p"
	done
}

no_processes() { [[ -z $(left_processes "$1") ]]; }

# nobody_left DIR: a violation for each process that is still there after 1 s, not counting the delay; kills it.
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

# Prints "KIND ID" of all programs, maps and links that no process has open. The others go with their process.
unheld() {
	local kind

	[[ -n $bpftool ]] || return 0
	for kind in prog map link; do
		# bpftool fails if an object goes while it lists.
		{ "$bpftool" "$kind" show 2>/dev/null || true; } | awk -v kind="$kind" '/^[0-9]+:/ { print kind, $1 + 0 }'
	done | sort >"$1.all"
	grep -hsE '^(prog|map|link)_id:' /proc/[0-9]*/fdinfo/* 2>/dev/null | sed -E 's/_id:[[:space:]]*/ /' | sort -u >"$1.held" || true
	comm -23 "$1.all" "$1.held"
}

# Prints things that outlive a process: folders, network namespaces, cgroups and mounts.
places() {
	find /run /tmp -mindepth 1 -maxdepth 1 -name 'bpfbench*' -not -path "$TMP" 2>/dev/null || true
	find /run/netns /sys/fs/bpf -mindepth 1 2>/dev/null || true
	find /sys/fs/cgroup -type d -name '*bpfbench*' 2>/dev/null || true
	awk '{ print "mount", $5 }' /proc/self/mountinfo
}

# Prints all that outlives a process, except the folders of other tests, which their names tell.
outlive() {
	{
		unheld "$1"
		places | grep -vE '^/tmp/bpfbench-tests?\.'
	} | sort -u
}

outlive "$TMP/before" >"$TMP/outlive.before"

# note_suspects DIR: notes what is there now and was not at first, with the number of this try. Most of it belongs to other processes or
# goes soon, so `settle` looks again at the end.
note_suspects() {
	outlive "$1/outlive" | comm -13 "$TMP/outlive.before" - | while IFS= read -r what; do
		grep -qF "	$what	" "$suspects" || printf '%s\t%s\t\n' "$try" "$what" >>"$suspects"
	done
	rm -f "$1"/outlive.*
	[[ $(cat /proc/sys/kernel/bpf_stats_enabled) == "$stats_before" ]] || violation "bpf_stats_enabled is not as before"
}

# settle: a violation for each suspect that is still there a minute after the last try.
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

# control_characters FILE: true if it has control characters other than newlines and tabs.
control_characters() { LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' "$1"; }

# in_jobs COUNT FUNCTION: calls FUNCTION N for each N of FIRST to FIRST + COUNT - 1, in JOBS processes at the same time.
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

# summary WORDS: prints a line for each kind of try in $log ("KIND<TAB>MS<TAB>DELAY<TAB>BOUND"), then the violations; exits.
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
