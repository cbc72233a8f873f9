/**
 * A rolling deployment: hosts with instances of the shop and a cron, customers, single and combined
 * faults, and an outside checker.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.field.rolling;
