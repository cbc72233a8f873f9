/**
 * Requirements on every store at the level of the SPI, rule by rule: start at {@link
 * io.mortise.testkit.contract.store.LockStoreContract}.
 */
@NullMarked
package io.mortise.testkit.contract.store;

import org.jspecify.annotations.NullMarked;
