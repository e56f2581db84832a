# One rank of the check, for any POSIX shell (busybox is enough): writes, reads back, compares, reports.
# The report is the container's termination message: at most 4096 bytes of JSON, no network, no token, no library.
set -u
folder=/data/tau-$TAU_RUN_ID-$JOB_COMPLETION_INDEX
size=$TAU_PARAM_sizeMiB

report() {  # outcome reason message writeMiBps readMiBps
  printf '{"schema":"tau.validation-report.v1","rank":%s,"runID":"%s","outcome":"%s","reason":"%s","message":"%s",' \
    "$JOB_COMPLETION_INDEX" "$TAU_RUN_ID" "$1" "$2" "$3" >/dev/termination-log
  printf '"data":{"sizeMiB":%s,"writeMiBps":%s,"readMiBps":%s}}' "$size" "$4" "$5" >>/dev/termination-log
  rm -rf "$folder"
  exit 0
}
rate() {  # seconds: whole ones, as date gives them
  [ "$1" -gt 0 ] && echo $((size / $1)) || echo null
}

mkdir -p "$folder" || report failed storage_unwritable "the volume cannot be written" null null
began=$(date +%s)
dd if=/dev/urandom of="$folder/data" bs=1M count="$size" 2>/dev/null && sync "$folder/data" ||
  report failed storage_unwritable "writing $size MiB did not succeed" null null
written=$(rate $(($(date +%s) - began)))
sum=$(sha256sum "$folder/data" | cut -c1-64)
cp "$folder/data" "$folder/copy" || report failed storage_unreadable "what was written cannot be read" "$written" null
began=$(date +%s)
again=$(sha256sum "$folder/copy" | cut -c1-64)
read=$(rate $(($(date +%s) - began)))
echo "wrote $sum, read $again"
[ "$sum" = "$again" ] || report failed correctness_error "what was read is not what was written" "$written" "$read"
if [ "$TAU_PARAM_minWriteMiBps" -gt 0 ]; then
  [ "$written" = null ] && report unknown invalid_measurement "too quick to measure; raise sizeMiB" null "$read"
  [ "$written" -ge "$TAU_PARAM_minWriteMiBps" ] ||
    report failed write_rate_below_limit "$written MiB/s is below $TAU_PARAM_minWriteMiBps MiB/s" "$written" "$read"
fi
report passed validation_passed "$size MiB came back as they were written" "$written" "$read"
