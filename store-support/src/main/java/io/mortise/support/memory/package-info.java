/**
 * The store {@code mem:}, in memory: the reference that all other stores are compared with. Start
 * reading at {@link io.mortise.support.memory.MemStore}.
 */
@NullMarked
package io.mortise.support.memory;

import org.jspecify.annotations.NullMarked;
