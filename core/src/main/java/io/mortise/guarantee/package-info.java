/**
 * The guarantees of each store under each fault, from {@code META-INF/mortise/guarantees.ini} in
 * this module's jar: start at {@link io.mortise.guarantee.GuaranteeTable}. The page
 * docs/reference/guarantees.md, {@code mortise guarantees} and {@code mortise doctor} are made from
 * it.
 */
@NullMarked
package io.mortise.guarantee;

import org.jspecify.annotations.NullMarked;
