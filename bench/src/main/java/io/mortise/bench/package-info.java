/** The bench: one workload for every lock library, run against the same servers. */
@NullMarked
package io.mortise.bench;

import org.jspecify.annotations.NullMarked;
