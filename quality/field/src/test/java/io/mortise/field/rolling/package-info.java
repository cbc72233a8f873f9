/**
 * A deployment that rolls: several hosts with instances of the shop and a cron, customers, faults
 * one after the other and together, and a checker outside.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.field.rolling;
