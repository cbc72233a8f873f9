/**
 * Leader election for Apache Camel over Mortise. Start reading at {@link
 * io.mortise.camel.MortiseClusterService}.
 */
@NullMarked
package io.mortise.camel;

import org.jspecify.annotations.NullMarked;
