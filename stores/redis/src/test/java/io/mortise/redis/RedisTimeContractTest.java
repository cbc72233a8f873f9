package io.mortise.redis;

import io.mortise.spi.LockStore;
import io.mortise.testkit.contract.store.StoreClockContract;
import io.mortise.testserver.RedisServer;

class RedisTimeContractTest extends StoreClockContract {
  private final RedisServer server = RedisServers.REDIS_7.shared();
  private final String namespace = RedisServers.namespace();

  @Override
  protected LockStore open() {
    return openBehind(port());
  }

  @Override
  protected int port() {
    return server.port();
  }

  @Override
  protected LockStore openBehind(int port) {
    String url = server.url().replace(":" + server.port(), ":" + port);
    return RedisStore.open(url + "?timeout=10s&namespace=" + namespace);
  }
}
