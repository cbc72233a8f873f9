/**
 * Tools for tests of stores and of their users: a store under test, sessions driven by hand, links
 * that can be cut, time by hand, bounded waits. Start at {@link io.mortise.testkit.StoreUnderTest};
 * the requirements on a store stand in {@code io.mortise.testkit.contract}.
 */
@NullMarked
package io.mortise.testkit;

import org.jspecify.annotations.NullMarked;
