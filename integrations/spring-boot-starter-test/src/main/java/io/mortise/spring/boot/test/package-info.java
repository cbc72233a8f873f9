/** Locks for tests of Spring Boot applications. Start reading at {@code MemoryLocks}. */
@NullMarked
package io.mortise.spring.boot.test;

import org.jspecify.annotations.NullMarked;
