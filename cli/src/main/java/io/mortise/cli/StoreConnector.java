package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.LockClientBuilder;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Opens the stores that are on the class path. */
final class StoreConnector implements Surroundings.Connector {
  @Override
  public LockClient connect(String url, @Nullable Duration ttl) {
    LockClientBuilder builder = LockClient.builder().url(url).name("mortise");
    if (ttl != null) {
      builder.ttl(ttl);
    }
    return builder.build();
  }
}
