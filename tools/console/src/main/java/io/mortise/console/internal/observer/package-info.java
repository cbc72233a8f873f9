/**
 * Looks at a store again and again, at a limited cost, and tells what has changed. Start at {@link
 * io.mortise.console.internal.observer.Observer}.
 */
@NullMarked
package io.mortise.console.internal.observer;

import org.jspecify.annotations.NullMarked;
