#!/usr/bin/env bash
# Runs dpscope for action.yml: Markdown into the job summary, a page and SARIF into files. The exit code
# is that of dpscope, except that an inconclusive result can be accepted.
set -u -o pipefail

fail() {
  printf '::error title=dpscope::%s\n' "$1"
  exit 2
}

training=${DPSCOPE_TRAINING-}
fail_above=${DPSCOPE_FAIL_ABOVE-}
version=${DPSCOPE_VERSION:-path}
sarif=${DPSCOPE_SARIF:-dpscope.sarif}
report=${DPSCOPE_REPORT:-dpscope.html}

case $sarif$report in
  *$'\n'*) fail 'sarif and report are paths of one line' ;;
esac

arguments=()
while IFS= read -r line; do
  if [ -n "$line" ]; then
    arguments+=("$line")
  fi
done <<<"${DPSCOPE_ARGUMENTS-}"

if [ -n "$training" ]; then
  if [ -n "$fail_above" ]; then
    fail 'fail-above limits the bound of an audit; the file of a training states its claim'
  fi
  case $training in
    -*) training=./$training ;;
  esac
  arguments=(check "$training" ${arguments[@]+"${arguments[@]}"})
elif [ ${#arguments[@]} -eq 0 ]; then
  fail 'pass training, a file, or arguments, one per line'
elif [ -n "$fail_above" ]; then
  arguments+=("--fail-above=$fail_above")
fi

if [ "$version" != path ]; then
  if ! [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then
    fail 'version is neither path nor a version such as 0.1.0'
  fi
  cargo install dpscope --locked --version "=$version" || fail 'dpscope was not installed'
fi
command -v dpscope >/dev/null || fail 'there is no dpscope on PATH; pass version to install one'

dpscope "${arguments[@]}" --format markdown "--report=$report" "--sarif=$sarif" \
  >>"$GITHUB_STEP_SUMMARY"
code=$?
printf 'exit-code=%s\n' "$code" >>"$GITHUB_OUTPUT"

case $code in
  0 | 3 | 6) printf 'sarif=%s\nreport=%s\n' "$sarif" "$report" >>"$GITHUB_OUTPUT" ;;
esac
if [ "$code" -eq 6 ] && [ "${DPSCOPE_FAIL_ON_INCONCLUSIVE-true}" = false ]; then
  code=0
fi
exit "$code"
