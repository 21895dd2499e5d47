# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Helpers for the shell tests that run ./bpfbench itself. Source it first; it sources lib.sh.
#
# ${user[@]} before a command runs it without root. If we are root, that is as user nobody, or, if nobody cannot reach this tree, as its
# owner; if root owns the tree, too, the command runs as root. $NOBODY and $NOGROUP are the ids of that user, $WORK is a folder that it
# may write to. ${sudo[@]} before a command runs it as if that user had called it by sudo; without root or such a user it changes nothing.
# shellcheck source=harness/tests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

declare -a user=() sudo=()
WORK=$TMP/work
mkdir "$WORK"
NOBODY=$(id -u nobody) NOGROUP=$(id -g nobody)

# may_be_user UID GID: sets $user to run commands with these ids and no other group. False if they cannot reach this tree.
may_be_user() {
	user=(setpriv "--reuid=$1" "--regid=$2" --clear-groups)
	(($1)) && "${user[@]}" test -x "$BPFBENCH" && "${user[@]}" test -r "$ROOT/scenarios" || return 1
	NOBODY=$1 NOGROUP=$2
}

if ((EUID == 0)); then
	chmod 755 "$TMP"
	if ! may_be_user "$NOBODY" "$NOGROUP" && ! may_be_user "$(stat -c %u .)" "$(stat -c %g .)"; then
		printf '# nobody but root can reach %s: run as root\n' "$ROOT"
		user=()
	fi
	# shellcheck disable=SC2034 # the tests use it
	((${#user[@]} == 0)) || sudo=(env "SUDO_UID=$NOBODY" "SUDO_GID=$NOGROUP")
	chown "$NOBODY:$NOGROUP" "$WORK"
fi
export WORK NOBODY NOGROUP

# need_user NAME...: true if commands can be run without root. Otherwise skips each NAME, and returns false.
need_user() {
	((EUID == 0 && ${#user[@]} == 0)) || return 0
	skip_each "nobody but root can reach this tree" "$@"
}

# need_built NAME...: sets $make_built, a make command for this tree. It has the flags of the build, so that it builds nothing again, and
# builds nothing as root in a tree of the user who called sudo. If ./bpfbench was built for another O, skips each NAME and returns false.
declare -a make_built=()
need_built() {
	local flags cflags

	[[ $(realpath -m -- "$(<.built-for)") == "$O" ]] || skip_each "./bpfbench is not of $O" "$@" || return 1
	flags=$(<"$O/flags") cflags=${flags#* -std=gnu11 }
	make_built=(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${sudo_caller[@]}" make --no-print-directory "O=$(<.built-for)"
		"CC=${flags%% -std=gnu11 *}" "CFLAGS=${cflags%% -Wall -Wextra *}")
	[[ $flags != *' -fsanitize='* ]] || make_built+=(SAN=1)
}

# disturbed: true if another process had bpf_stats on during the last `run`, which voids a part of its figures.
disturbed() { grep -q 'another process has bpf_stats on' "$TMP/err"; }

# run_undisturbed CMD...: like `run`; repeats it up to two times if it was disturbed.
run_undisturbed() {
	local try

	for try in 1 2 3; do
		((try == 1)) || sleep 1
		run "$@"
		disturbed || return 0
	done
}

# wait_until SECONDS CMD...: waits until CMD succeeds. False after ten times SECONDS, because a machine may be busy or emulated.
wait_until() {
	local end=$((SECONDS + 10 * $1 + 1))

	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || return 1
		sleep 0.05
	done
}

# start CMD...: like `run`, but in the background, as $child; `finish` waits for it and sets $status.
child=''
# A test that ends early must not leave $child running.
trap '[[ -z $child ]] || kill "$child" 2>/dev/null || true; rm -rf -- "$TMP"' EXIT
start() {
	# shellcheck disable=SC2034 # lib.sh's: for what it shows of a failure
	tap_command="$*"
	: >"$TMP/out"
	: >"$TMP/err"
	"$@" >"$TMP/out" 2>"$TMP/err" </dev/null &
	child=$!
}

finish() {
	status=0
	wait "$child" || status=$?
	child=''
}

# stop_child SIGNAL: sends $child the signal and waits for it by `finish`. If it had ended before, $status shows that.
stop_child() {
	kill -s "$1" "$child" 2>/dev/null || true
	finish 2>/dev/null
}

# end_processes PID...: ends processes of this test, if they are still there.
end_processes() {
	(($#)) || return 0
	kill "$@" 2>/dev/null || true
	wait "$@" 2>/dev/null || true
}

# ticks: prints the CPU time that $child has used, in clock ticks; 0 if it has ended.
ticks() {
	local -a stat=()

	{ read -ra stat <"/proc/$child/stat"; } 2>/dev/null || true
	echo $((${stat[13]:-0} + ${stat[14]:-0}))
}

# used N: true if $child has used N ticks of CPU time, so it is well into its work. For wait_until.
used() { (($(ticks) >= $1)); }

# only_whole DIR N: true if DIR has N stored runs that `show` can read, and no other file, hidden ones included. For `check`.
only_whole() {
	local dir=$1 want=$2 n=0 path

	if [[ -d $dir ]]; then
		while IFS= read -r path; do
			n=$((n + 1))
			if [[ $path != *.json || ${path##*/} == .* ]] || ! "$BPFBENCH" show "$path" >/dev/null; then
				printf 'not a whole run: %s\n' "$path"
				return 1
			fi
		done < <(find "$dir" -mindepth 1)
	fi
	((n == want)) || { printf '%d runs in %s, expected %d\n' "$n" "$dir" "$want"; return 1; }
}

# complains NAME CODE REGEX: the last `run` ended with CODE, printed nothing on stdout, and on stderr one line "bpfbench...: TEXT" with a
# TEXT that matches REGEX. Other lines that are allowed: argp's "Try `bpfbench --help' ...", AddressSanitizer's about makecontext(), and
# those that another process measures on the CPU, or that a container's cgroup grants no real-time priority.
complains() {
	local why=''

	[[ $status == "$2" ]] || why+="expected exit code $2; "
	[[ ! -s $TMP/out ]] || why+="stdout should be empty; "
	[[ $(grep -vcE "^Try \`bpfbench|^bpfbench: (waiting: |no real-time priority )|^==[0-9]+==WARNING: ASan " "$TMP/err") == 1 ]] || why+="stderr should be one line; "
	grep -qE -- '^bpfbench( [a-z]+)?: ' "$TMP/err" || why+="stderr should begin with 'bpfbench: '; "
	grep -qE -- "$3" "$TMP/err" || why+="stderr should match: $3; "
	if [[ -z $why ]]; then ok "$1"; else not_ok "$1" "$why"$'\n'"$(tap_shown)"; fi
}

# valid_bmf FILE: true if FILE is strictly valid BMF and nothing else. For `check`.
valid_bmf() { "$O/tests/tools/bmf_check" <"$1"; }

# differ A B: true if both files are there, not empty, and not equal. For `check`.
differ() { [[ -s $1 && -s $2 ]] && ! cmp -s "$1" "$2"; }

# bmf FILE CASE MEASURE [FIELD]: prints that number from a BMF file of bpfbench, which has one line for each measure; nothing if absent.
bmf() {
	awk -v want="\"$2\":" -v measure="\"$3\":" -v field="\"${4:-value}\":" '
		/^  "/ { name = $1 }
		/^    "/ && name == want && $1 == measure {
			gsub(/[{},]/, " ")
			for (i = 2; i < NF; i++)
				if ($i == field)
					print $(i + 1)
		}' "$1"
}

# near A B PERCENT: true if A is a number within PERCENT of B. For `check`.
near() {
	awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN {
		if (a == "" || (a < b ? b - a : a - b) > b * p / 100) { printf "%s is not within %s %% of %s\n", a, p, b; exit 1 }
	}'
}

# more A B: true if A and B are numbers and A > B. For `check`.
more() {
	awk -v a="$1" -v b="$2" 'BEGIN { if (a == "" || b == "" || a + 0 <= b + 0) { print a " is not above " b; exit 1 } }'
}
