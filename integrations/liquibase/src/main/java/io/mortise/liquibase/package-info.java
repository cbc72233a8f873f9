/**
 * Liquibase over Mortise: {@link io.mortise.liquibase.MortiseLockService} replaces the table {@code
 * DATABASECHANGELOGLOCK}.
 */
@NullMarked
package io.mortise.liquibase;

import org.jspecify.annotations.NullMarked;
