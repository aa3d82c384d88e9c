"""The statistics of a finding, on ratios of two variants.

A variant is a sequence of positive numbers, one per unit. The unit is a build if topologies are compared,
and a trial if test cases within a topology are (method 1). All computations use logarithms, so the effect
is a ratio of geometric means, and 1 means no effect.

A repetition is a block: both variants of a comparison stand in it once, so builds are paired by repetition.
Coverage of the 95 % interval, and its half width, by simulation (2000 pairs of variants; normal noise of 2.5
% within a repetition, and more between repetitions), paired and as two samples:

    between repetitions   5 builds: paired   two samples       8 builds: paired   two samples
    0                     95 %, 4.1 %        96 %, 3.7 %       95 %, 2.9 %        95 %, 2.7 %
    2.5 %                 95 %, 4.1 %        99 %, 5.1 %       95 %, 2.9 %        99 %, 3.7 %
    5 %                   95 %, 4.1 %        100 %, 8.0 %      95 %, 2.9 %        100 %, 5.9 %
    10 %                  95 %, 4.1 %        100 %, 15 %       95 %, 2.9 %        100 %, 11 %

Always paired, if each repetition has both variants: a choice by the data would be wrong more often, and the
loss without an effect of repetitions is small. A percentile bootstrap of the mean covers 85 to 91 %.
The test is that of the interval. If the variants are alike, their differences are symmetric whatever the
noise, and Student's t then claims too little, not too much: python -m tests.known_answers paired-test.
tests/unit/analysis/test_statistics.py repeats the simulation.
"""
