/**
 * The lock client of a Spring Boot application, from properties or from beans. Start reading at
 * {@code MortiseAutoConfiguration}; {@code LockClientOpener} chooses the store.
 */
@NullMarked
package io.mortise.spring.boot;

import org.jspecify.annotations.NullMarked;
