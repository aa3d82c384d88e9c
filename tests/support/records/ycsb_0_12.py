"""Output of YCSB 0.12, whose package had another name."""

from __future__ import annotations

YCSB_0_12 = """\
/usr/bin/java -cp /opt/ycsb/lib/* com.yahoo.ycsb.Client -db com.yahoo.ycsb.db.HBaseClient10 \
-P workloads/workloada -threads 16 -p recordcount=1000 -p operationcount=2000 -s -t
YCSB Client 0.12.0
Command line: -db com.yahoo.ycsb.db.HBaseClient10 -P workloads/workloada -threads 16 \
-p recordcount=1000 -p operationcount=2000 -s -t
Loading workload...
Starting test.
2017-03-01 12:00:00:100 0 sec: 0 operations; est completion in 0 seconds
2017-03-01 12:00:10:100 10 sec: 2000 operations; 200 current ops/sec; [READ: Count=990, Max=5, Min=1, Avg=2, \
90=3, 99=4, 99.9=5, 99.99=5] [UPDATE: Count=1010, Max=5, Min=1, Avg=2, 90=3, 99=4, 99.9=5, 99.99=5]
[OVERALL], RunTime(ms), 10000.0
[OVERALL], Throughput(ops/sec), 200.0
[READ], Operations, 990.0
[READ], AverageLatency(us), 2.0
[READ], MinLatency(us), 1.0
[READ], MaxLatency(us), 5.0
[READ], 95thPercentileLatency(us), 3.0
[READ], 99thPercentileLatency(us), 4.0
[READ], Return=OK, 990
[UPDATE], Operations, 1010.0
[UPDATE], AverageLatency(us), 2.0
[UPDATE], MinLatency(us), 1.0
[UPDATE], MaxLatency(us), 5.0
[UPDATE], 95thPercentileLatency(us), 3.0
[UPDATE], 99thPercentileLatency(us), 4.0
[UPDATE], Return=OK, 1010
"""
SUMMARY = YCSB_0_12[YCSB_0_12.index("[OVERALL]") :]
