/**
 * The bench: measures Mortise beside other lock libraries and hand-written protocols, on the same
 * stores, in one run. {@link io.mortise.bench.BenchMain} starts it, {@link
 * io.mortise.bench.BenchRunner} runs the workloads, {@link io.mortise.bench.PerformanceTargets}
 * lists the targets.
 */
@NullMarked
package io.mortise.bench;

import org.jspecify.annotations.NullMarked;
