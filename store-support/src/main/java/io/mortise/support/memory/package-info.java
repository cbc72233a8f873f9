/**
 * The store {@code mem:}, in memory: the reference with which all other stores are compared. Start
 * reading at {@link io.mortise.support.memory.MemStore}.
 */
@NullMarked
package io.mortise.support.memory;

import org.jspecify.annotations.NullMarked;
