/**
 * Locks for suspend functions: {@code SuspendLock} runs a block under a lock of any store. The rest
 * is Kotlin, whose types say where null may be.
 */
@NullMarked
package io.mortise.kotlin;

import org.jspecify.annotations.NullMarked;
