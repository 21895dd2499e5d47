#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slow: it samples for a minute
# `bpfbench profile` of real programs, as root: programs with known hot spots, built in every way
# that code can be named; time off the CPU; processes that fork, exec or end, and one whose file is
# deleted; flame graphs in a browser; and nothing left behind.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"
# shellcheck source=harness/tests/browser.sh
. "$(dirname "$0")/../browser.sh"

names=("hot spots" "names" "time off the CPU" "targets" "flame graph" "nothing is left behind")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"
chmod 755 "$TMP"

CC=${CC:-gcc}
hot_source=$ROOT/harness/tests/tools/hot_spots.c
hot=$O/tests/tools/hot_spots
hot_line=$(grep -n 'the hot line' "$hot_source" | cut -d: -f1)

profile() { run "$BPFBENCH" profile "$@"; }

# is_program PID FILE: that process now runs FILE.
is_program() { [[ $(readlink "/proc/$1/exe") == "$2" ]]; }

# samples REGEX: the samples of the stacks that match, in $TMP/out in the folded format.
samples() { awk -v re="$1" '$0 ~ re { n += $NF } END { print n + 0 }' "$TMP/out"; }

# near_truth FUNCTION: its share of the samples in the three hot functions is its share of their CPU
# time, which hot_spots printed to stderr. The slices are random, so samples are independent draws:
# |z| of a binomial count is above 4.4 once in 100 000 times.
near_truth() {
	awk -v f="$1" -v k="$(samples ";$1;")" -v n="$(samples ';hot_(sixty|thirty|ten);')" '
		$1 ~ /^hot_/ { all += $2; if ($1 == f) mine = $2 }
		END {
			if (!all || n < 300) { print "too few samples: " n; exit 1 }
			p = mine / all
			z = (k - n * p) / sqrt(n * p * (1 - p))
			printf "%s: %d of %d samples, %.2f %% of the CPU time, z = %.2f\n", f, k, n, 100 * p, z
			exit z < -4.4 || z > 4.4
		}' "$TMP/err"
}

# --- hot spots ---
profile -F 1237 -f folded -- "$hot" 2
expect_status "hot spots: succeeds" 0
for function in hot_sixty hot_thirty hot_ten; do check "hot spots: the share of $function" near_truth "$function"; done
expect_grep "hot spots: what is inlined is a frame of its own" out '^hot_spots;.*;main;.*hot_sixty;inlined_spin_\[i\] [0-9]+$'
expect_grep "hot spots: kernel frames are marked" out '_\[k\]'
if [[ -d /sys/bus/event_source/devices/cpu ]]; then
	skip "hot spots: says that cpu-clock is used" "there is a PMU here"
else
	expect_grep "hot spots: says that cpu-clock is used" err 'no hardware cycles.*cpu-clock'
fi
expect_no_grep "hot spots: nothing is lost" err 'lost|missing|damaged'

# --- in what ways code can be named ---
built() { "$CC" -O2 -g -fno-omit-frame-pointer "$@" "$hot_source" -o "$WORK/hot" && chmod 755 "$WORK/hot"; }

# finds NAME: the function, the function inlined into it, and the line.
finds() {
	profile -F 1237 -v -- "$WORK/hot" 0.5
	expect_grep "$1: the function" out "^    hot_sixty @ 0x[0-9a-f]+\+0x[0-9a-f]+ .*hot_spots.c:[0-9]+$"
	expect_grep "$1: what is inlined, and its line" out "^    inlined_spin \(inlined\) .*hot_spots.c:($hot_line|$((hot_line - 1)))$"
}

if need_command "$CC" "PIE" "not PIE" "separate debug information" "stripped"; then
	chmod 755 "$WORK"
	built -pie -fPIE && finds "PIE"
	built -no-pie -fno-pie && finds "not PIE"
	if need_command g++ "C++"; then
		CC=g++ built -x c++ && finds "C++"
		expect_grep "C++: the mangled name is gone" out '^  .*  hot_sixty$'
		expect_no_grep "C++: and so are all others" out '_ZL?[0-9]'
	fi
	if need_command objcopy "separate debug information" "stripped"; then
		(cd "$WORK" && objcopy --only-keep-debug hot hot.debug && strip hot && objcopy --add-gnu-debuglink=hot.debug hot)
		finds "separate debug information"
		rm -f "$WORK/hot.debug"
		profile -F 1237 -f folded -- "$WORK/hot" 0.5
		expect_grep "stripped: the file's name, for want of the function's" out '^hot;.*\[hot\] [0-9]+$'
		built -rdynamic && strip "$WORK/hot"
		profile -F 1237 -f folded -- "$WORK/hot" 0.5
		expect_grep "stripped: dynamic symbols" out '^hot;.*;hot_sixty [0-9]+$'
	fi
fi
# Overwrites 997 bytes all over the debug information. The symbol table stays whole.
built && read -r at len < <(readelf -SW "$WORK/hot" | sed 's/^ *\[ *[0-9]*\]//' | awk '$1 == ".debug_info" { print $4, $5 }')
for ((i = 0; i < 997; i++)); do
	printf '%b' "\\x$(printf %02x $((i * 37 % 256)))" |
		dd of="$WORK/hot" bs=1 seek=$((0x$at + i * 7919 % 0x$len)) conv=notrunc status=none
done
profile -F 1237 -f folded -- "$WORK/hot" 0.5
expect_status "damaged debug information: succeeds" 0
expect_grep "damaged debug information: the function" out '^hot;.*;hot_sixty'
profile -F 1237 -f folded -- "$O/tests/tools/hot_jit" 0.5
rm -f "$(grep -m 1 '^/tmp/perf-[0-9]*\.map$' "$TMP/err")"
expect_grep "JIT: its own map names the code" out '^hot_jit;.*;jitted_function_\[j\] [0-9]+$'
profile -F 997 -f folded -- "$hot" 0.3 300
expect_grep "a deep stack: marked as cut" out '^hot_spots;\[cut: the stack is deeper\];descend;descend;.*hot_'
profile -F 997 -U -f folded -- "$hot" 0.3
expect_no_grep "--user: no kernel frames" out '_\[k\]'
expect_grep "--user: user frames" out 'hot_sixty'
profile -F 997 -K -f folded -- dd if=/dev/zero of=/dev/null bs=1M count=5000
expect_grep "--kernel: kernel frames" out '_\[k\] [0-9]+$'
expect_no_grep "--kernel: nothing else" out ';[^;]*[^]][; ][0-9]*$'
# `env` prints its environment to its stdout, which goes to our stderr.
BB_SECRET=1 BB_KEPT=1 run "$BPFBENCH" profile --env BB_KEPT -- env
expect_no_grep "targets: the environment of a command is a clean one" err '^BB_SECRET='
expect_grep "targets: but for --env" err '^BB_KEPT=1$'
profile -F 997 -- "$hot" 0.3
expect_grep "text: no kernel stack is said so" out 'No Kernel Stack'
expect_grep "text: process and its number" out '^    hot_spots \([0-9]+\)$'

# --- a user who is not root, and means root harm ---
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if need_command setpriv "a FIFO for a debug link" "a JIT map of somebody else's"; then
	if need_command objcopy "a FIFO for a debug link"; then
		built && (cd "$WORK" && objcopy --only-keep-debug hot hot.debug && strip hot && objcopy --add-gnu-debuglink=hot.debug hot &&
			rm hot.debug && mkfifo -m 666 hot.debug && chown 65534 hot.debug)
		"${as_nobody[@]}" "$WORK/hot" 600 >/dev/null &
		victim=$!
		check "a FIFO for a debug link: it runs" wait_until 10 is_program "$victim" "$WORK/hot"
		profile -p "$victim" --seconds 0.5 -F 997 -f folded
		expect_status "a FIFO for a debug link: does not hang" 0
		expect_grep "a FIFO for a debug link: is not opened" out '^hot;.*\[hot\] [0-9]+$'
		end_processes "$victim"
		rm "$WORK/hot.debug"
	fi
	for owner in 65534 12345; do
		"${as_nobody[@]}" "$O/tests/tools/hot_jit" 600 >/dev/null &
		victim=$!
		map=/tmp/perf-$victim.map
		check "a JIT map: is written" wait_until 10 test -s "$map"
		chown "$owner" "$map"
		profile -p "$victim" --seconds 0.5 -F 997 -f folded
		if [[ $owner = 65534 ]]; then
			expect_grep "a JIT map of the process's user: names the code" out ';jitted_function_\[j\] [0-9]+$'
		else
			expect_no_grep "a JIT map of somebody else's: names nothing" out 'jitted_function'
		fi
		end_processes "$victim"
		rm -f "$map"
	done
fi

# --- off the CPU ---
profile -F 99 --off-cpu -f folded -- sleep 0.5
expect_status "sleep: succeeds" 0
check "sleep: half a second off the CPU, by nanosleep" more "$(samples '^sleep;.*nanosleep.*;\[off-CPU\] ')" 499000
profile --off-cpu=only -f folded -- "$hot" 0.3
check "off-CPU only: no samples of what runs" test "$(samples '\[off-CPU\] ')" = "$(samples .)"

# --- targets ---
cp "$hot" "$WORK/hot_forked"
profile -F 997 -f folded -- sh -c "\"$WORK/hot_forked\" 0.2; exec \"$hot\" 0.2"
expect_grep "fork and exec: the child's code" out '^hot_forked;.*hot_sixty'
expect_grep "fork and exec: the code that the shell became" out '^hot_spots;.*hot_sixty'
profile -f folded -- true
expect_status "a command that ends at once: succeeds" 0
profile -F 997 -f folded -- sh -c "for i in \$(seq 200); do /bin/true; done"
expect_status "many that end at once: succeeds" 0
profile -F 997 -f folded -- sh -c "\"$hot\" 0.2; exec \"$O/tests/tools/many_stacks\" 0.2"
expect_grep "exec of another program: before" out '^hot_spots;.*;hot_sixty'
expect_grep "exec of another program: and after" out '^many_stacks;.*;function_[0-9]+ [0-9]+$'
expect_no_grep "exec of another program: none for the other" out '^hot_spots;.*;function_|^many_stacks;.*;hot_'
bash -c 'sleep 600 & exec sleep 601' &
parent=$! ended=''
waits_for_nobody() { [[ $(<"/proc/$parent/comm") == sleep ]] && ended=$(pgrep -P "$parent"); }
wait_until 5 waits_for_nobody || not_ok "a process that nobody waits for: it runs"
kill "${ended:-$parent}"
is_zombie() { [[ $(awk '{ print $3 }' "/proc/$ended/stat") == Z ]]; }
check "a process that has ended: nobody waited for it" wait_until 5 is_zombie
profile -p "$ended" --seconds 0.2 -f folded
expect_status "a process that has ended, but nobody waited for it: succeeds" 0
end_processes "$parent"
profile -- false
expect_grep "a command that fails: said so" err "'false' ended with exit code 1"
profile -- "$WORK/nosuch"
complains "a command that is not there" 1 "cannot run '.*nosuch': No such file"

# A program that loads two libraries, one after the other, spins in each and unloads it.
if need_command "$CC" "libraries that are unloaded"; then
	for name in first second; do
		printf 'void %s(void); void %s(void) { for (volatile int i = 0; i < 300000000; i++); }\n' "$name" "$name" |
			"$CC" -O2 -fno-omit-frame-pointer -shared -fPIC -x c - -o "$WORK/lib$name.so"
	done
	cat >"$WORK/unloads.c" <<-'EOF'
		#include <dlfcn.h>

		int main(int argc, char **argv)
		{
			for (int i = 1; i + 1 < argc; i += 2) {
				void *library = dlopen(argv[i], RTLD_NOW);
				void (*spin)(void) = library ? (void (*)(void))dlsym(library, argv[i + 1]) : 0;

				if (!spin)
					return 1;
				spin();
				dlclose(library);
			}
			return 0;
		}
	EOF
	"$CC" -O2 -g -fno-omit-frame-pointer "$WORK/unloads.c" -o "$WORK/unloads" -ldl
	profile -F 997 -f folded -- "$WORK/unloads" "$WORK/libfirst.so" first
	expect_grep "a library that is unloaded: its function" out '^unloads;.*;main;first [0-9]+$'
	profile -F 997 -f folded -- "$WORK/unloads" "$WORK/libfirst.so" first "$WORK/libsecond.so" second
	expect_grep "libraries that are unloaded: the last" out '^unloads;.*;main;second [0-9]+$'
	if ! grep -q ';main;first' "$TMP/out"; then
		expect_grep "libraries in one place: said so" err '1 files were mapped where others had been unloaded'
	fi
fi

cp "$hot" "$WORK/deleted"
"$WORK/deleted" 600 >/dev/null &
deleted=$!
check "a process whose file is deleted: it runs" wait_until 5 is_program "$deleted" "$WORK/deleted"
rm "$WORK/deleted"
profile -p "$deleted" --seconds 0.5 -F 997 -f folded
expect_status "a process: succeeds" 0
expect_grep "a process whose file is deleted: its code is named all the same" out '^deleted;.*hot_sixty'
# samples_now: $child samples. For wait_until.
samples_now() { [[ -n $(find "/proc/$child/fd" -lname '*perf_event*' 2>/dev/null) ]]; }
start "$BPFBENCH" profile -p "$deleted" -F 97 -f folded
check "a process that ends: is sampled" wait_until 10 samples_now
end_processes "$deleted"
finish
expect_status "a process that ends: so does the profile" 0
profile -p "$deleted" --seconds 1
complains "a process that is not there" 1 "no process $deleted"
"$hot" 600 >/dev/null &
other=$!
profile --seconds 0.5 -F 997 -f folded
expect_status "the whole system: succeeds" 0
expect_grep "the whole system: others are in it" out '^hot_spots;.*hot_sixty'
end_processes "$other"

# --- signals, and files that cannot be written ---
# spinning: the hot_spots that $child started runs; those of others do not count.
spinning() { pid=$(pgrep -P "$child" -x hot_spots); }
has_ended() { ! kill -0 "$pid" 2>/dev/null || [[ $(ps -o stat= -p "$pid") == Z* ]]; }
start "$BPFBENCH" profile -F 997 -f folded -- "$hot" 99999
check "Ctrl-C: the command runs" wait_until 10 spinning
spinning || true
# It is sampled from its beginning on: a tenth of a second of CPU time is a hundred samples.
has_run() { (($(awk '{ print $14 }' "/proc/$pid/stat") * 10 >= $(getconf CLK_TCK))); }
check "Ctrl-C: it is sampled" wait_until 10 has_run
stop_child INT
expect_status "Ctrl-C: succeeds" 0
expect_grep "Ctrl-C: what was sampled is shown" out '^hot_spots;.*hot_sixty'
check "Ctrl-C: the command is ended" wait_until 3 has_ended
start "$BPFBENCH" profile -F 997 -o "$WORK/killed.svg" -f flame -- "$hot" 99999
check "SIGKILL: the command runs" wait_until 10 spinning
spinning || true
stop_child KILL
check "SIGKILL: the command is ended" wait_until 3 has_ended
check "SIGKILL: no file" test ! -e "$WORK/killed.svg"
profile --seconds 0.2 -o /dev/full
expect_status "no space: exit code 1" 1
expect_grep "no space: said so" err '/dev/full: No space left'
profile --seconds 0.2 -o "$WORK/nosuch/a.svg"
complains "a folder that is not there" 1 'nosuch/a.svg: cannot be written'

# --- the flame graph, in a browser ---
profile -F 1237 -f flame -o "$WORK/flame.svg" -- "$hot" 0.5
expect_empty "flame graph: to the file only" out
if need_command xmllint "flame graph: well-formed"; then
	check "flame graph: well-formed" xmllint --noout "$WORK/flame.svg"
fi
if [[ -z $browser ]]; then
	skip "flame graph: search and zoom in a browser" "no chromium here"
else
	dom "file://$WORK/flame.svg#zoom=0&search=hot_"
	found=$(grep -oE 'found: [0-9.]+' "$TMP/out" | cut -d' ' -f2)
	check "flame graph: the search finds nearly all" near "${found:-0}" 99 2
	expect_grep "flame graph: and marks it" out 'class="u[0-2] m".*<title>hot_(sixty|thirty|ten)'
	id=$(grep -oE 'class="u[0-2]( m)?" .* id="f[0-9]+"><title>hot_ten$' "$TMP/out" | grep -oE 'id="f[0-9]+"' | tr -dc '0-9\n' | head -n 1)
	width=$(grep -oE 'width="[0-9]+" height="16" id="f'"$id"'"' "$TMP/out" | cut -d'"' -f2)
	dom "file://$WORK/flame.svg#zoom=$id&search="
	expect_grep "flame graph: zoomed to a function" out "viewBox=\"[0-9]+ 0 $width [0-9]+\""
	expect_grep "flame graph: zoomed, it has a label as wide as the picture" out '<text x="13" y="[0-9]+">hot_ten</text>'
fi
rm -rf "$WORK/browser"
nothing_left "profile" 0

plan_done
