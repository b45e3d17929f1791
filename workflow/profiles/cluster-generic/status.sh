#!/bin/sh
# Prints the status of the job with this number, as Snakemake expects it: running, success or failed.
state=$(squeue --noheader --states=all --format=%T --jobs="$1" 2>/dev/null)
[ -n "$state" ] || state=$(sacct --noheader --allocations --format=State --jobs="$1" 2>/dev/null | awk 'NR == 1 {print $1}')
case $state in
  COMPLETED) echo success ;;
  BOOT_FAIL | CANCELLED* | DEADLINE | FAILED | NODE_FAIL | OUT_OF_MEMORY | TIMEOUT) echo failed ;;
  *) echo running ;; # or not listed yet, or no answer this time
esac
