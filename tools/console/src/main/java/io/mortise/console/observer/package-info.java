/**
 * Looks at a store again and again, at a limited cost, and tells what has changed. Start at {@link
 * io.mortise.console.observer.Observer}.
 */
@NullMarked
package io.mortise.console.observer;

import org.jspecify.annotations.NullMarked;
