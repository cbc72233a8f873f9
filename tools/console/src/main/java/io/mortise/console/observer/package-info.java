/**
 * Observes a store continuously, at a limited cost, and reports changes. Start at {@link
 * io.mortise.console.observer.Observer}.
 */
@NullMarked
package io.mortise.console.observer;

import org.jspecify.annotations.NullMarked;
