#!/bin/sh
# Stores the results in the ConfigMap: the summary, the first findings and the metrics.
set -eu
cd "$RESULTS"
limit=900000   # a ConfigMap holds 1 MiB
if [ "$(wc -c < findings.jsonl)" -gt "$limit" ]; then
  # Whole lines: the last one may be cut.
  head -c "$limit" findings.jsonl | sed '$d' > first.jsonl
  echo "cut at $limit bytes: the first $(wc -l < first.jsonl) of $(wc -l < findings.jsonl) lines" >> summary.txt
else
  cp findings.jsonl first.jsonl
fi
kubectl -n "$NAMESPACE" create configmap policykit-audit --dry-run=client -o yaml \
  --from-file=summary.txt --from-file=findings.jsonl=first.jsonl --from-file=metrics.prom |
  kubectl -n "$NAMESPACE" replace -f -
