/**
 * The guarantees to users on every store, through the API: start at {@link
 * io.mortise.testkit.contract.client.LockClientContract}.
 */
@NullMarked
package io.mortise.testkit.contract.client;

import org.jspecify.annotations.NullMarked;
