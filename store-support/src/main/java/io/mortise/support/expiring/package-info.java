/**
 * Stores of keys that expire by themselves. Start reading at {@link
 * io.mortise.support.expiring.ExpiringKeyStore}.
 */
@NullMarked
package io.mortise.support.expiring;

import org.jspecify.annotations.NullMarked;
