package io.mortise.spring.boot;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * The place of an application's locks. A bean of this type overrides {@code mortise.url} and stores
 * over other beans, so that a test or a service connection can redirect locks. A bean of type
 * {@code LockClient} or {@code Store} overrides it.
 */
@FunctionalInterface
public interface MortiseConnectionDetails extends ConnectionDetails {
  /** The URL of the store, in the form of {@code mortise.url}. Does not block. */
  String url();
}
