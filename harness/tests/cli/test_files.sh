#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Root on other people's files: attacks by another user of this machine, or by the author of a run, an object or a scenario, against
# `sudo bpfbench` and against bpfbench started by root. Also: no escape sequence of theirs reaches the terminal.
# turn: it turns bpf_stats on for moments
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check calls
. "$(dirname "$0")/../tool.sh"

results=$WORK/results

# need_two NAME...: false if we are not root, or have no other user to run as; each NAME is then skipped.
need_two() {
	need_root "$@" && need_user "$@"
}

cat >"$WORK/fake.yml" <<'YML'
name: hist
floor: empty
variants:
  - {name: empty, globals: {location_ns: 100, spread_ns: 2}}
  - {name: plain, globals: {location_ns: 1000}}
drive:
  - {with: fake}
YML

# --- output that cannot be written is a failure ---
for command in list check --help --version 'run --help' "run --dry-run -s $WORK/fake.yml" 'list --help'; do
	status=0
	# shellcheck disable=SC2086 # words
	"$BPFBENCH" $command >/dev/full 2>"$TMP/err" </dev/null || status=$?
	: >"$TMP/out"
	tap_command="bpfbench $command >/dev/full"
	expect_eq "/dev/full: $command fails" "$status" 1
	# check may also exit with 1 because a check failed on this machine
	[[ $command == check ]] || expect_grep "/dev/full: $command says so" err '^bpfbench: stdout: No space left on device$'
done
status=0
"$BPFBENCH" list >&- 2>"$TMP/err" </dev/null || status=$?
expect_eq "a closed stdout: list fails" "$status" 1

# --- "-" is stdout ---
if [[ -e $O/bpf/loops.bpf.o ]]; then
	object=$O/bpf/loops.bpf.o
	run env -C "$WORK" "$BPFBENCH" init "$object" -o -
	expect_grep "init -o -: to stdout" out '^name: '
	check "init -o -: makes no file of that name" test ! -e "$WORK/-"
else
	skip_each "no objects were built" "init -o -: to stdout" "init -o -: makes no file of that name" || true
fi

# --- the stored command can be run again ---
mkdir "$WORK/it's a folder"
[[ ${#user[@]} == 0 ]] || chown "$NOBODY" "$WORK/it's a folder"
cp "$WORK/fake.yml" "$WORK/it's a folder/a b\$(id).yml"
run "${user[@]}" "$BPFBENCH" run -s "$WORK/it's a folder/a b\$(id).yml" --results "$results" --quiet -n 600 --seed 7
expect_status "a path with blanks and quotes: a run" 0
cp "$TMP/out" "$TMP/first.bmf"
command=$(jq -r .command "$results"/*.json 2>/dev/null || sed -nE 's/^ *"command": "(.*)",$/\1/p' "$results"/*.json | sed 's/\\\\/\\/g')
run "${user[@]}" bash -c "${command/bpfbench run/\"\$BPFBENCH\" run} --no-store"
expect_status "a path with blanks and quotes: its command runs again" 0
check "a path with blanks and quotes: and is the same run" cmp "$TMP/first.bmf" "$TMP/out"

# --- escape sequences of others are not printed ---
stored=$(echo "$results"/*.json)
# the texts of the run get an escape sequence, a C1 control, a character that reverses the direction of text, and a carriage return
sed -E 's/"(name|scenario|variant|drive|param|command|cpu_model|kernel_release|hostname|compiler|floor)": "([^"]+)"/"\1": "\2\\u001b]0;owned\\u0007\\u009b31m\\u202e\\r"/g
	s/"void": null/"void": "\\u001b[2J void"/; s/"incomplete": null/"incomplete": "\\u001b[2J cut"/' "$stored" >"$WORK/evil.json"
run "$BPFBENCH" show "$WORK/evil.json" --format table
expect_status "escapes: the run can be read" 0
expect_grep "escapes: its texts are there" out 'void|cut'
cat >"$WORK/counted.json" <<'JSON'
 "counted": [{"name": "hist/plain\u001b[31m/exact", "scenario": "hist", "variant": "plain", "n_insns": 9, "n_blocks": 2,
 "clone_insns": 20, "runs": 10, "instructions": 80, "paths": 1, "tail_calls": 0,
 "cases": [{"name": "hist/plain\u001b[31m/exact", "param": null, "param_value": 0, "runs": 10, "least": 8, "most": 8,
  "instructions": 80, "paths": 1, "void": null}],
 "lines": [{"file": "/nowhere/\u001b[31ma.bpf.c", "line": 5, "text": "\u001b[31mreturn\r 0;\u009b", "n_insns": 8,
  "executions": 10, "instructions": 80}],
 "calls": [{"name": "map_\u001b[31mlookup", "calls": 10}]}],
JSON
awk 'FNR == NR { counted = counted $0 "\n"; next } /^ *"cases": \[$/ { printf "%s", counted } { print }' \
	"$WORK/counted.json" "$WORK/evil.json" >"$WORK/evil-counted.json"

# harmless FILE...: they have no control character but newline and tab, none of C1, and no character that reverses text.
harmless() {
	local file

	for file; do
		if LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]' "$file"; then
			printf '%s: ' "$file"
			LC_ALL=C grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]' "$file" | head -n 3 | cat -v
			return 1
		fi
	done
}

formats=$("$BPFBENCH" show --help | sed -nE 's/^ {2,}([a-z]+) +[a-z].*/\1/p' | sort -u)
for format in $(for f in bmf table csv markdown benchfmt openmetrics veristat lcov json html $formats; do echo "$f"; done | sort -u); do
	for run in evil evil-counted; do
		run "$BPFBENCH" show "$WORK/$run.json" --format "$format"
		[[ $status != 2 ]] || continue
		check "escapes: show $run --format $format" harmless "$TMP/out" "$TMP/err"
	done
done
run "$BPFBENCH" show "$WORK/evil.json" --format table -o "$WORK/evil.txt"
expect_status "escapes: into a file" 0
check "escapes: into a file, for who will look at it" harmless "$WORK/evil.txt"
run "$BPFBENCH" annotate "$WORK/evil-counted.json"
expect_grep "escapes: annotate shows the line" out 'return\? 0;'
check "escapes: annotate" harmless "$TMP/out" "$TMP/err"
run "$BPFBENCH" annotate "$WORK/evil-counted.json" --colour always
check "escapes: annotate in colour has its own and no other" \
	bash -c 'sed "s/\x1b\[\(0\|31\|1;33\)m//g" "$1" >"$1.plain"; ! grep -q $'"'\\033\\|\\r'"' "$1.plain" && grep -q $'"'\\033'"' "$1"' - "$TMP/out"
mkdir "$WORK/evil"
cp "$WORK/evil.json" "$WORK/evil/$(basename "$stored")"
cp "$WORK/evil.json" "$WORK/evil/"$'20260101T000000Z-\033[31m.json'
for command in list history 'compare latest latest' 'compare --force latest latest' 'report -o -' annotate; do
	# shellcheck disable=SC2086 # words
	run "$BPFBENCH" $command --results "$WORK/evil"
	check "escapes: $command" harmless "$TMP/out" "$TMP/err"
done
run "$BPFBENCH" $'\033[31m'
check "escapes: an unknown command" harmless "$TMP/out" "$TMP/err"
run "$BPFBENCH" show $'--\033[31m'
check "escapes: an unknown option" harmless "$TMP/out" "$TMP/err"
run "$BPFBENCH" run -s $'\033[31m.yml'
check "escapes: a scenario that is not there" harmless "$TMP/out" "$TMP/err"
sed $'s/plain/"pl\\\\e[31main"/' "$WORK/fake.yml" >"$WORK/evil.yml"
for command in 'run --dry-run' 'run --no-store -n 600'; do
	# shellcheck disable=SC2086 # words
	run "${user[@]}" "$BPFBENCH" $command -s "$WORK/evil.yml"
	check "escapes: $command of a scenario" harmless "$TMP/out" "$TMP/err"
done

evil=$WORK/$'e\033[31mv'
cp "$BASH" "$evil"
name="escapes: profile of a process with such a name"
if need_root "$name"; then
	# shellcheck disable=SC2016 # in the other shell
	run "$BPFBENCH" profile --seconds 0.5 -F 997 -f folded -- "$evil" -c 'while :; do :; done'
	if grep -q '^e?\[31mv;' "$TMP/out"; then
		check "$name" harmless "$TMP/out" "$TMP/err"
	elif ((status)); then
		skip "$name" "no profile here: $(tail -n 1 "$TMP/err")"
	else
		not_ok "$name" "$(tap_shown)"
	fi
fi

# --- annotate and the page read no file that only root may read ---
tree=$WORK/tree
mkdir -p "$tree/src" "$tree/.git" "$WORK/outside"
printf 'int a;\nint hidden_by_root;\nint c;\n' >"$TMP/secret.c"
chmod 600 "$TMP/secret.c"
for path in "$WORK/outside/a.c" "$tree/src/a.c" "$tree/src/notes" "$tree/.git/a.c"; do
	printf 'int a;\nint between_the_two;\nint c;\n' >"$path"
done
printf '{\n\n}\n' >"$tree/src/blank.c"
ln -s "$WORK/outside/a.c" "$tree/src/link.c"
ln -s .git "$tree/git"
mkfifo "$tree/src/fifo.c"
[[ ${#user[@]} == 0 ]] || chown -R "$NOBODY" "$WORK/tree" "$WORK/outside"

# of_file PATH [TEXT1 TEXT3]: writes $WORK/named.json, a run that claims that lines 1 and 3 of its program are in that file.
of_file() {
	cat >"$WORK/named" <<-JSON
	 "counted": [{"name": "hist/plain/exact", "scenario": "hist", "variant": "plain", "n_insns": 9, "n_blocks": 2,
	 "clone_insns": 20, "runs": 10, "instructions": 80, "paths": 1, "tail_calls": 0,
	 "cases": [{"name": "hist/plain/exact", "param": null, "param_value": 0, "runs": 10, "least": 8, "most": 8,
	  "instructions": 80, "paths": 1, "void": null}],
	 "lines": [{"file": "$1", "line": 1, "text": "${2-int a;}", "n_insns": 8, "executions": 10, "instructions": 80},
	  {"file": "$1", "line": 3, "text": "${3-int c;}", "n_insns": 1, "executions": 0, "instructions": 0}], "calls": []}],
	JSON
	awk 'FNR == NR { counted = counted $0 "\n"; next } /^ *"cases": \[$/ { printf "%s", counted } { print }' \
		"$WORK/named" "$stored" >"$WORK/named.json"
}

# between NAME WANT PREFIX...: checks whether `annotate` and the page, started by PREFIX in the tree, show line 2 of that file.
between() {
	local name=$1 want=$2 got=''

	shift 2
	run timeout 60 "$@" env -C "$tree" "$BPFBENCH" annotate "$WORK/named.json"
	[[ $status == 0 ]] && got+=$(grep -cE 'between_the_two|hidden_by_root|root:' "$TMP/out" || true)
	run timeout 60 "$@" env -C "$tree" "$BPFBENCH" report "$WORK/named.json" --results "$WORK/none" -o -
	[[ $status == 0 ]] && got+=" $(grep -cE 'between_the_two|hidden_by_root|root:' "$TMP/out" || true)"
	expect_eq "$name" "$got" "$want $want"
}

of_file "$tree/src/a.c"
between "source: of the tree, where the text matches" 1 "${sudo[@]}"
of_file src/a.c
between "source: by a path from here" 1 "${sudo[@]}"
of_file ./src/../src/a.c
between "source: by a path that stays in the tree" 1 "${sudo[@]}"
of_file "$tree/src/a.c" '' ''
between "source: not where the BTF has no text" 0 "${sudo[@]}"
of_file "$tree/src/a.c" ' ' ' '
between "source: not where its text is blank" 0 "${sudo[@]}"
of_file "$tree/src/a.c" 'int a;' 'int d;'
between "source: not where it says something else" 0 "${sudo[@]}"
of_file "$WORK/outside/a.c"
between "source: not outside of the tree" 0 "${sudo[@]}"
of_file ../outside/a.c
between "source: not by .. out of the tree" 0 "${sudo[@]}"
of_file "$tree/src/link.c"
between "source: not through a symbolic link" 0 "${sudo[@]}"
of_file "$tree/git/a.c"
between "source: not through a linked folder" 0 "${sudo[@]}"
of_file "$tree/.git/a.c"
between "source: nothing hidden" 0 "${sudo[@]}"
of_file "$tree/src/notes"
between "source: nothing that is not source" 0 "${sudo[@]}"
of_file "$tree/src/fifo.c"
between "source: a pipe hangs nobody" 0 "${sudo[@]}"
of_file /etc/passwd "$(sed -n 1p /etc/passwd)" "$(sed -n 3p /etc/passwd)"
run "$BPFBENCH" annotate "$WORK/named.json"
expect_no_grep "source: not /etc/passwd" out "$(sed -n 2p /etc/passwd)"
if need_two "source: not what root alone may read, in the tree"; then
	cp --preserve=mode,ownership "$TMP/secret.c" "$tree/src/secret.c"
	of_file "$tree/src/secret.c"
	between "source: not what root alone may read, in the tree" 0 "${sudo[@]}"
fi

# --- outputs ---
# $WORK/theirs is a folder of user nobody; $TMP/root, with a file in it, belongs to root.
mkdir -p "$TMP/root" "$WORK/theirs"
echo untouched >"$TMP/root/file"
chmod 755 "$TMP/root"
[[ ${#user[@]} == 0 ]] || chown "$NOBODY" "$WORK/theirs"

untouched() { [[ $(<"$TMP/root/file") == untouched && $(ls "$TMP/root") == file ]]; }

# show_to FILE PREFIX...: `show` writes to FILE; PREFIX starts it, as root or as another user.
show_to() {
	local file=$1

	shift
	run "$@" "$BPFBENCH" show "$stored" --format csv -o "$file"
}

show_to "$WORK/theirs/plain.csv" "${sudo[@]}"
expect_status "output: a new file" 0
show_to "$WORK/theirs/plain.csv" "${sudo[@]}"
expect_status "output: a file that is there is replaced" 0
expect_eq "output: nothing else is left" "$(ls -A "$WORK/theirs")" plain.csv
for file in - /dev/stdout /dev/fd/1 /proc/self/fd/1; do
	show_to "$file" "${sudo[@]}"
	check "output: $file is stdout" cmp "$TMP/out" "$WORK/theirs/plain.csv"
done
show_to /dev/null "${sudo[@]}"
expect_status "output: /dev/null" 0
check "output: which is a device still" test -c /dev/null
mkfifo "$WORK/theirs/fifo"
[[ ${#user[@]} == 0 ]] || chown "$NOBODY" "$WORK/theirs/fifo"
run timeout 60 "${sudo[@]}" "$BPFBENCH" show "$stored" --format csv -o "$WORK/theirs/fifo"
complains "output: a pipe that nobody reads hangs nobody" 1 'theirs/fifo: nobody reads this pipe'
timeout 250 cat "$WORK/theirs/fifo" >"$TMP/read" &
reader=$!
show_piped() { "${sudo[@]}" "$BPFBENCH" show "$stored" --format csv -o "$WORK/theirs/fifo"; }
check "output: a pipe that somebody reads" wait_until 20 show_piped
wait "$reader"
check "output: who gets it all" cmp "$TMP/read" "$WORK/theirs/plain.csv"
rm "$WORK/theirs/fifo"
ln -s "$TMP/root/file" "$WORK/theirs/link"
show_to "$WORK/theirs/link" "${sudo[@]}"
complains "output: a symbolic link is refused" 1 'theirs/link: is a symbolic link'
run "${sudo[@]}" "$BPFBENCH" report "$stored" --results "$WORK/none" -o "$WORK/theirs/link"
complains "output: by the page, too" 1 'theirs/link: is a symbolic link'
rm "$WORK/theirs/link"
check "output: root's file is as it was" untouched

if need_two "output: belongs to the caller" "output: not into root's folder" "output: not over root's file" \
	"output: not through a linked folder of the caller's into root's" "output: not through a linked folder of another's" \
	"output: root's files are as they were"; then
	expect_eq "output: belongs to the caller" "$(stat -c %u:%g "$WORK/theirs/plain.csv")" "$NOBODY:$NOGROUP"
	show_to "$TMP/root/new" "${sudo[@]}"
	complains "output: not into root's folder" 1 'root/new: Permission denied'
	show_to "$TMP/root/file" "${sudo[@]}"
	complains "output: not over root's file" 1 'root/file: Permission denied'
	ln -s "$TMP/root" "$WORK/theirs/folder"
	chown -h "$NOBODY" "$WORK/theirs/folder"
	show_to "$WORK/theirs/folder/new" "${sudo[@]}"
	complains "output: not through a linked folder of the caller's into root's" 1 'folder/new: Permission denied'
	show_to "$WORK/theirs/folder/new"
	complains "output: not through a linked folder of another's" 1 "folder/new: .*a symbolic link that is not the caller's"
	rm "$WORK/theirs/folder"
	check "output: root's files are as they were" untouched
fi

# --- a path that another user replaces again and again while we write ---
# toggle NAME: starts a process of user nobody that makes NAME in its folder a file and a link to root's file, in turns, until it is killed.
toggle() {
	# shellcheck disable=SC2016 # in the other shell
	"${user[@]}" env -C "$WORK/theirs" bash -c '
		trap "exit 0" TERM
		while :; do
			echo mine >"$1.file"; mv -fT "$1.file" "$1"
			ln -sfn "$2" "$1.link"; mv -fT "$1.link" "$1"
		done' - "$1" "$TMP/root/file" 2>/dev/null &
	toggler=$!
}

toggler=''
rounds=40
if need_two "toggled: sudo's outputs of $rounds rounds leave root's file alone" \
	"toggled: root's outputs of $rounds rounds leave root's file alone" "toggled: it was one, now and then"; then
	links=0 written=0
	for who in "sudo" root; do
		declare -a prefix=()
		[[ $who == root ]] || prefix=("${sudo[@]}")
		toggle out
		for ((i = 0; i < rounds; i++)); do
			show_to "$WORK/theirs/out" "${prefix[@]}"
			if ((status == 0)); then written=$((written + 1)); fi
			if grep -q 'symbolic link' "$TMP/err"; then links=$((links + 1)); fi
		done
		kill "$toggler"
		wait "$toggler" || true
		check "toggled: $who's outputs of $rounds rounds leave root's file alone" untouched
	done
	check "toggled: it was one, now and then" test "$((links > 0 && written > 0))" = 1
	printf '# %d links refused, %d files written\n' "$links" "$written"
fi

# --- results/ ---
if need_two "results: sudo's run belongs to the caller" "results: a link of the caller's into root's folder stores nothing" \
	"results: root's run does not follow another's link" "results: nor does its list" "results: nor a link in the middle" \
	"results: nor a linked folder of baselines" "results: nor a linked run" "results: root's folder is as it was" \
	"sudo: a scenario that root alone may read" "sudo: an object that root alone may read" "sudo: a capture that root alone may read"; then
	measure() { run "$@" --quiet -n 600 -s "$WORK/fake.yml" --results "$WORK/theirs/results"; }
	measure "${sudo[@]}" "$BPFBENCH"
	expect_eq "results: sudo's run belongs to the caller" \
		"$(stat -c %u:%g "$WORK/theirs/results" "$WORK"/theirs/results/*.json | sort -u)" "$NOBODY:$NOGROUP"
	mv "$WORK/theirs/results" "$WORK/theirs/real"
	ln -s "$TMP/root" "$WORK/theirs/results"
	chown -h "$NOBODY" "$WORK/theirs/results"
	measure "${sudo[@]}" "$BPFBENCH"
	expect_grep "results: a link of the caller's into root's folder stores nothing" err 'Permission denied; nothing was stored'
	measure "$BPFBENCH"
	expect_grep "results: root's run does not follow another's link" err "a symbolic link that is not the caller's.*nothing was stored"
	run "$BPFBENCH" list --results "$WORK/theirs/results"
	complains_of_link() { ((status == 1)) && grep -q "a symbolic link that is not the caller's" "$TMP/err"; }
	check "results: nor does its list" complains_of_link
	run "$BPFBENCH" -s "$WORK/fake.yml" --quiet -n 600 --results "$WORK/theirs/results/more"
	check "results: nor a link in the middle" complains_of_link
	rm "$WORK/theirs/results"
	ln -s "$TMP/root" "$WORK/theirs/real/baselines"
	chown -h "$NOBODY" "$WORK/theirs/real/baselines"
	run "$BPFBENCH" compare latest --save-baseline main --results "$WORK/theirs/real"
	check "results: nor a linked folder of baselines" complains_of_link
	ln -s "$stored" "$WORK/theirs/real/linked.json"
	chown -h "$NOBODY" "$WORK/theirs/real/linked.json"
	run "$BPFBENCH" show linked --results "$WORK/theirs/real"
	check "results: nor a linked run" complains_of_link
	check "results: root's folder is as it was" untouched

	# --- files that it reads ---
	for file in scenario.yml object.bpf.o capture.pcap; do
		echo "hidden_by_root" >"$TMP/root/$file"
		chmod 600 "$TMP/root/$file"
	done
	run "${sudo[@]}" "$BPFBENCH" -s "$TMP/root/scenario.yml"
	complains "sudo: a scenario that root alone may read" 1 'scenario.yml: .*Permission denied'
	run "${sudo[@]}" "$BPFBENCH" --object "$TMP/root/object.bpf.o"
	complains "sudo: an object that root alone may read" 1 'object.bpf.o: .*Permission denied'
	run "${sudo[@]}" "$BPFBENCH" --object "$O/bpf/fun_xdp.bpf.o" --packet "$TMP/root/capture.pcap"
	complains "sudo: a capture that root alone may read" 1 'capture.pcap: .*Permission denied'
fi
# --- leftovers of a killed run: the next output to the same file removes them, and no other files ---
left=$WORK/left
mkdir "$left"
for name in .out.json.0123abcd .out.json.young000 .out.json.locked00 .out.json.longername .other.json.0123abcd; do echo half >"$left/$name"; done
find "$left" -type f ! -name '*young*' -exec touch -d '5 minutes ago' {} +
((${#user[@]} == 0)) || chown -R "$NOBODY" "$left"
exec 8<"$left/.out.json.locked00"
flock 8
run "${user[@]}" "$BPFBENCH" show --format bmf "$ROOT/harness/tests/golden/run.json" -o "$left/out.json"
exec 8<&-
expect_status "leftovers: the output is written" 0
expect_eq "leftovers: those of dead runs are gone" "$(cd "$left" && find . -type f | sort | tr '\n' ' ')" \
	"./.other.json.0123abcd ./.out.json.locked00 ./.out.json.longername ./.out.json.young000 ./out.json "

plan_done
