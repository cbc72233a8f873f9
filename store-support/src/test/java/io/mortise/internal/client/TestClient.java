package io.mortise.internal.client;

import io.mortise.internal.runtime.SystemEnv;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import java.time.Duration;

/** Clients on the system's clock, for tests of threads. */
public final class TestClient {
  private TestClient() {}

  /** A client that closes its threads, not its store. */
  public static EngineClient on(LockStore store) {
    SystemEnv system = new SystemEnv();
    return new EngineClient(
        store, system.env(Duration.ofSeconds(10), new ClientLabel("-", 1, "test")), system::close);
  }
}
