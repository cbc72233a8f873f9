/**
 * Locks in the layout of Apache Curator's recipes, so that processes with Curator and processes
 * with Mortise exclude each other on the same paths. Start reading at {@code CuratorStore}; {@code
 * Recipe} says who is before whom, {@code MutexAttempt} how a lock is taken.
 */
@NullMarked
package io.mortise.curator;

import org.jspecify.annotations.NullMarked;
