# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Helpers for the shell tests that look at a page in headless Chromium. Source it after tool.sh. $browser is empty if there is none: skip
# the checks by name then. Chromium's own files are in $WORK/browser.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)

# dom URL [FLAG]...: loads a page and runs its scripts. $TMP/out is then the document, $TMP/err has Chromium's messages.
dom() {
	local url=$1

	shift
	run timeout 60 "$browser" --headless --no-sandbox --disable-gpu --enable-logging=stderr \
		--user-data-dir="$WORK/browser" "$@" --dump-dom "$url"
}

# probe FILE WIDTH SCRIPT [FLAG]...: loads the page in a frame of that width (Chromium's window is at least 500 px wide) and runs SCRIPT,
# which has `page` (the document) and `view` (the window). Each say(name, value) is a line "name: value" in $TMP/out.
probe() {
	local file=$1 width=$2 script=$3

	shift 3
	cat >"$WORK/probe.html" <<-HTML
	<!DOCTYPE html><body><iframe id=frame src="file://$file" width=$width height=900></iframe><pre id=said></pre><script>
	document.getElementById('frame').onload = function () {
		var view = this.contentWindow, page = this.contentDocument, said = [];
		function say(name, value) { said.push(name + ': ' + value); }
		$script
		document.getElementById('said').textContent = said.join('\n') + '\n';
	};
	</script></body>
	HTML
	dom "file://$WORK/probe.html" --allow-file-access-from-files "$@"
	sed -n '/<pre id="said">/,/<\/pre>/{s,.*<pre id="said">,,; s,</pre>.*,,; p}' "$TMP/out" >"$TMP/said"
	mv "$TMP/said" "$TMP/out"
	sed -i '/CONSOLE/!d' "$TMP/err"
}
