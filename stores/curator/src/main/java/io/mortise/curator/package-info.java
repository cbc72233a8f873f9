/**
 * Locks in the layout of Apache Curator's recipes, so that processes with Curator and processes
 * with Mortise exclude each other on the same paths. Start reading at {@code CuratorStore}; {@code
 * Recipe} defines the order, {@code MutexAttempt} takes a lock.
 */
@NullMarked
package io.mortise.curator;

import org.jspecify.annotations.NullMarked;
