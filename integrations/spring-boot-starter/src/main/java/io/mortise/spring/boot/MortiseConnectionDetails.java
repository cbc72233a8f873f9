package io.mortise.spring.boot;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * Where the locks of an application are kept. A bean of this type stands before {@code mortise.url}
 * and before stores over other beans, so that a test or a service connection can lead locks
 * elsewhere. A bean of type {@code LockClient} or {@code Store} stands before it.
 */
@FunctionalInterface
public interface MortiseConnectionDetails extends ConnectionDetails {
  /** The URL of the store, as {@code mortise.url} would have it. Does not block. */
  String url();
}
