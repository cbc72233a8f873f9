/** Contract suites for stores, fake time, and helpers for tests; start at the contract suites. */
@NullMarked
package io.mortise.testkit;

import org.jspecify.annotations.NullMarked;
